"""The client against programs that misbehave: an error with the reason, in time, and no process left."""

from __future__ import annotations

import subprocess
import sys
import time

import psutil
import pytest
from hostile import PROGRAM, command_line
from offspring import Offspring

from tengen.gtp.client import GtpClient, ProgramError
from tengen.gtp.process import Child
from tengen.pipes import PipeReader, _ThreadReader

pytestmark = pytest.mark.usefixtures("no_process_is_left")


@pytest.mark.parametrize(
    "kind",
    ["polite", "dos", "own-ids", "version:1.2", "refuses:version", "refuses:name", "refuses:list_commands"],
)
def test_answers_with_ids_chatter_blank_lines_and_carriage_returns(kind: str) -> None:
    with GtpClient(command_line(kind)) as client:
        refused = "name" in kind
        assert client.name == (sys.executable if refused else kind.partition(":")[0])
        assert client.version == ("1.2" if kind == "version:1.2" else "")
        assert client.knows("genmove") == ("list" not in kind) and not client.knows("final_score")
        assert client.ask("genmove b") == "pass"
        assert client.ask("play b A1") == ""
        assert client.last_words == (() if refused else ("some chatter",))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "reason"), [("dies", "crash"), ("hangs", "timeout"), ("floods-stdout", "invalid answer")]
)
def test_threads_read_where_a_system_cannot_wait_for_pipes(
    monkeypatch: pytest.MonkeyPatch, kind: str, reason: str
) -> None:
    monkeypatch.setattr(PipeReader, "of", _ThreadReader)
    with GtpClient(command_line(kind, 2)) as client:
        client.ask("genmove b")
        with pytest.raises(ProgramError) as caught:
            client.ask("genmove b", 0.5 if reason == "timeout" else 60)
        assert caught.value.reason == reason


def test_a_slow_start_is_waited_for() -> None:
    with GtpClient(command_line("slow-start"), startup_seconds=30) as client:
        assert client.ask("genmove w") == "pass"


@pytest.mark.parametrize(
    ("kind", "seconds", "reason", "says"),
    [
        ("hangs", 2, "timeout", "no answer to 'genmove b' in time"),
        ("late", 0.3, "timeout", "no answer to 'genmove b' in time"),
        ("dies", 20, "crash", "ended with status 1 during 'genmove b'"),
        pytest.param(
            "kills-itself", 20, "crash", "killed by signal 9 .Killed. during 'genmove b'", marks=pytest.mark.posix
        ),
        ("dies-and-leaves-a-child", 20, "crash", "ended with status 1 during 'genmove b'"),
        ("closes-stdout", 20, "crash", "closed its output, but still runs, during 'genmove b'"),
        ("refuses-to-move", 20, "refused", "'genmove b' was answered with '[?] cannot think'"),
        ("nonsense", 2, "timeout", "no answer to 'genmove b' in time"),
        ("floods-stdout", 60, "invalid answer", "too much output at 'genmove b'"),
        ("floods-stdout-in-one-line", 60, "invalid answer", "too much output at 'genmove b'"),
        ("floods-stderr-for-ever", 0.5, "timeout", "no answer to 'genmove b' in time"),
        ("never-ends", 2, "timeout", "the answer to 'genmove b' has no empty line at its end in time"),
        ("never-stops", 60, "invalid answer", "too much output at 'genmove b'"),
        ("ignores-sigterm", 0.3, "timeout", "no answer"),
    ],
)
def test_a_failure_has_a_reason_and_last_words(kind: str, seconds: float, reason: str, says: str) -> None:
    with GtpClient(command_line(kind, 2), called="my bot") as client:
        client.ask("genmove b")
        with pytest.raises(ProgramError, match=f"my bot: .*{says}") as caught:
            client.ask("genmove b", seconds)
        error = caught.value
        assert error.reason == reason
        words = {
            "hangs": "thinking deeply",
            "dies": "out of memory, goodbye",
            "kills-itself": "something is wrong",
            "dies-and-leaves-a-child": "out of memory, goodbye",
            "closes-stdout": "my pipe is gone",
            "nonsense": "===== pass =====",
        }
        if kind in words:
            assert words[kind] in error.last_words
        assert len(error.last_words) <= 20 and all(len(line) <= 500 for line in error.last_words)
        if reason == "refused":
            assert client.ask("play b A1") == ""
        else:
            depths = []
            for _ in range(3):
                with pytest.raises(ProgramError, match=says) as caught:
                    client.ask("play b A1")
                depths.append(len(caught.traceback))
            assert len(set(depths)) == 1, "an error that is raised again grows no traceback"


@pytest.mark.parametrize(
    ("kind", "reason", "says"),
    [
        ("hangs-at-start", "timeout", "no answer to 'name'"),
        ("dies-at-start", "crash", "status 1 during 'name'; its output: out of memory, goodbye"),
        pytest.param(
            "kills-itself-at-start", "crash", "signal 9 .*; its output: something is wrong", marks=pytest.mark.posix
        ),
        ("garbage-at-start", "invalid answer", "too much output"),
        ("ignores-sigterm-at-start", "timeout", "no answer"),
    ],
)
def test_a_program_that_does_not_start(kind: str, reason: str, says: str) -> None:
    patience = 0.5 if reason == "timeout" else 60.0
    with pytest.raises(ProgramError, match=says) as caught:
        GtpClient(command_line(kind), startup_seconds=patience)
    assert caught.value.reason == reason


@pytest.mark.parametrize("kind", ["will-not-quit", "leaves-a-child", "leaves-a-daemon", "ignores-sigterm"])
def test_no_process_outlives_the_client(kind: str, offspring: Offspring) -> None:
    client = GtpClient(command_line(kind, 1))
    if kind == "ignores-sigterm":
        with pytest.raises(ProgramError):
            client.ask("genmove b", 0.3)
    else:
        client.ask("genmove b")
    assert offspring.begun(2 if "leaves" in kind else 1)
    client.close()
    assert offspring.alive() == []
    client.close()


def test_a_program_ends_when_its_start_is_interrupted() -> None:
    def interrupt(client: GtpClient) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        GtpClient(command_line("will-not-quit"), on_process=interrupt)


@pytest.mark.parametrize("after", [True, False])
def test_no_process_is_left_where_a_signal_comes_while_it_starts(
    after: bool, monkeypatch: pytest.MonkeyPatch, offspring: Offspring
) -> None:
    """It was left for ever, with our pipes, as nobody knew of it."""

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *args: object, **options: object) -> None:
            if after:
                super().__init__(*args, **options)  # type: ignore[call-overload]
            raise SystemExit

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(SystemExit):
        Child([sys.executable, str(PROGRAM), "hangs", "0"])
    assert offspring.gone()


def test_environments_of_older_processes_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine may have thousands of them."""
    read: list[float] = []
    environ = psutil.Process.environ

    def noted(process: psutil.Process) -> dict[str, str]:
        read.append(process.create_time())
        return environ(process)

    monkeypatch.setattr(psutil.Process, "environ", noted)
    began = time.time()
    Child(["cat"]).end()
    assert all(created > began - 100 for created in read)


def test_a_program_that_quits_is_not_killed_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has longer than this test to quit."""
    monkeypatch.setattr(Child.end, "__defaults__", (1000.0, False))
    client = GtpClient(command_line("polite"))
    client.close()
    assert client._child._process.returncode == 0


def test_a_flood_on_stderr_costs_no_memory() -> None:
    with GtpClient(command_line("floods-stderr", 1)) as client:
        assert client.ask("genmove b", seconds=60) == "pass"
        assert client.remarks[-1] == client.last_words[-1]
        assert len(client.remarks) <= 1000 and len(client.last_words) <= 20
        end = time.monotonic() + 20  # the last lines may come after the answer, which has a pipe of its own
        while "noise 199999" not in client.last_words and time.monotonic() < end:
            client.ask("name")
        assert "noise 199999" in client.last_words


def test_remarks_are_of_the_last_command_alone() -> None:
    with GtpClient(command_line("thinks-aloud")) as client:
        for _ in range(20):
            client.ask("genmove b")
            assert client.remarks[0].startswith(" pass -> ") and len(client.remarks) == 2
        client.ask("play b A1")
        assert client.remarks == ()


def test_output_between_commands_is_not_an_answer() -> None:
    with GtpClient(command_line("twice", 1)) as client:
        assert client.ask("genmove b") == "pass"
        time.sleep(0.2)
        assert client.ask("play b A1") == ""
        assert "= E5" in client.last_words


def test_garbage_before_an_answer_is_skipped() -> None:
    with GtpClient(command_line("garbage", 1)) as client:
        assert client.ask("genmove b", 20).startswith("\ufffd")


@pytest.mark.parametrize("line", ["no-such-program --gtp", str(PROGRAM)])
def test_a_program_that_cannot_be_started_is_named(line: str) -> None:
    with pytest.raises(ProgramError, match=r"no-such-program|hostile.py") as caught:
        GtpClient(line)
    assert caught.value.reason == "not found"
