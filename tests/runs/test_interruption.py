"""Ctrl-C once ends cleanly, twice at once."""

import signal
import threading

import pytest

from tengen.runs.interruption import ShutdownFlag


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_sets_the_flag_and_the_second_interrupts(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with ShutdownFlag() as stop:
        assert not stop
        stop.check()
        signal.raise_signal(number)
        assert stop
        assert stop.event.is_set()
        with pytest.raises(KeyboardInterrupt):
            stop.check()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert signal.getsignal(number) == before


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
