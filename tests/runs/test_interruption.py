"""Ctrl-C once ends cleanly, twice at once."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from tengen.runs.interruption import ShutdownFlag

# In a process of its own, as in use: only the main thread handles signals, and a wrong step would end the tests.
TWO_SIGNALS = """
import signal, sys
from tengen.runs.interruption import ShutdownFlag

number = signal.Signals(int(sys.argv[1]))
before = signal.getsignal(number)
with ShutdownFlag() as stop:
    assert not stop
    stop.check()
    signal.raise_signal(number)
    assert stop and stop.event.is_set()
    for interrupt in (stop.check, lambda: signal.raise_signal(number)):
        try:
            interrupt()
        except KeyboardInterrupt as interruption:
            print(type(interruption).__name__)
assert signal.getsignal(number) == before
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_sets_the_flag_and_the_second_interrupts(number: signal.Signals) -> None:
    command = [sys.executable, "-c", TWO_SIGNALS, str(int(number))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    kind = "Terminated" if number == signal.SIGTERM else "KeyboardInterrupt"
    assert (done.returncode, done.stdout.split()) == (0, [kind, kind]), done.stderr


HANGUP = """
import signal
from tengen.runs.interruption import ShutdownFlag, sigterm_interrupts

def hang_up():
    for _ in range(2):  # from the shell, and from the kernel at its end
        signal.raise_signal(signal.SIGHUP)

with ShutdownFlag() as stop:
    hang_up()
    assert stop
    try:
        stop.check()
    except KeyboardInterrupt as interruption:
        print(type(interruption).__name__)
try:
    with sigterm_interrupts():
        try:
            hang_up()
        finally:
            hang_up()  # while the work ends
except KeyboardInterrupt as interruption:
    print(type(interruption).__name__)
assert signal.getsignal(signal.SIGHUP) == signal.SIG_DFL
signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
with sigterm_interrupts(), ShutdownFlag() as stop:
    hang_up()
    print(bool(stop))
"""


@pytest.mark.posix
def test_a_closed_terminal_ends_the_work_once_unless_nohup_ignores_it() -> None:
    done = subprocess.run([sys.executable, "-c", HANGUP], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.split()) == (0, ["Terminated", "Terminated", "False"]), done.stderr


ON_A_TERMINAL = """
import os, sys, time
os.login_tty(0)
from pathlib import Path
from tengen.cli.app import guarded
from tengen.cli.interruption import report_interruption
from tengen.runs.interruption import sigterm_interrupts
from tengen.runs.progress import new_bar

def work():
    with report_interruption(Path("missing")), sigterm_interrupts(), new_bar() as bar:
        bar.add_task("games")
        print("begun", flush=True)
        while True:
            time.sleep(0.1)  # Python handles a signal that comes right before a system call after it

sys.exit(guarded(work, debug=False))
"""


@pytest.mark.posix
def test_bars_and_messages_to_a_closed_terminal_do_not_replace_the_interruption() -> None:
    """They raised OSError, and the status was 1."""
    ours, theirs = os.openpty()
    process = subprocess.Popen([sys.executable, "-c", ON_A_TERMINAL], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = b""
    while b"begun" not in said:
        said += os.read(ours, 1024)
    os.close(ours)
    assert process.wait(60) == 143, said


def test_other_threads_leave_signals_alone() -> None:
    found = []

    def work() -> None:
        before = signal.getsignal(signal.SIGINT)
        with ShutdownFlag() as stop:
            found.append(signal.getsignal(signal.SIGINT) == before)
            stop.set()
            found.append(bool(stop))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [True, True]
