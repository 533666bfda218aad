"""The client against programs that misbehave: it says why, in time, and leaves no process behind."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

import pytest
from offspring import Offspring

from tengen.arena.gtp_client import GtpClient, ProgramError

HOSTILE = Path(__file__).parent / "hostile.py"


def command_line(kind: str) -> str:
    return shlex.join([sys.executable, str(HOSTILE), kind])


def test_answers_with_ids_chatter_and_blank_lines(offspring: Offspring) -> None:
    with GtpClient(command_line("polite")) as client:
        assert client.name == "polite"
        assert client.knows("genmove") and not client.knows("final_score")
        assert client.ask("genmove b") == "pass"
    assert offspring.gone(0)


def test_a_slow_start_is_waited_for() -> None:
    with GtpClient(command_line("slow-start"), startup_seconds=30) as client:
        assert client.ask("genmove w") == "pass"


@pytest.mark.parametrize(
    ("kind", "reason", "words"),
    [("refuses", "refused", "cannot think"), ("floods-stdout", "timeout", "genmove")],
)
def test_a_bad_answer_has_a_reason(kind: str, reason: str, words: str, offspring: Offspring) -> None:
    with GtpClient(command_line(kind)) as client:
        with pytest.raises(ProgramError, match=words) as caught:
            client.ask("genmove b", seconds=1)
        assert caught.value.reason == reason
    assert offspring.gone(0)


def test_a_program_that_dies_leaves_its_last_words() -> None:
    with GtpClient(command_line("dies")) as client:
        client.ask("genmove b")
        client.ask("genmove b")
        with pytest.raises(ProgramError) as caught:
            client.ask("genmove b")
        assert caught.value.reason == "died"
        assert caught.value.last_words == ("out of memory, goodbye",)
        with pytest.raises(ProgramError):
            client.ask("genmove b")


def test_a_program_that_hangs_is_late_and_is_ended(offspring: Offspring) -> None:
    start = time.monotonic()
    with GtpClient(command_line("hangs")) as client:
        for _ in range(2):
            client.ask("genmove b")
        with pytest.raises(ProgramError) as caught:
            client.ask("genmove b", seconds=0.3)
        assert caught.value.reason == "timeout"
    assert offspring.gone(0)
    assert time.monotonic() - start < 10


def test_a_program_that_hangs_at_the_start() -> None:
    with pytest.raises(ProgramError) as caught:
        GtpClient(command_line("hangs-at-start"), startup_seconds=0.3)
    assert caught.value.reason == "timeout"


@pytest.mark.parametrize("kind", ["will-not-quit", "leaves-a-child"])
def test_no_process_outlives_the_client(kind: str, offspring: Offspring) -> None:
    client = GtpClient(command_line(kind))
    client.close()
    client.close()
    assert offspring.gone(0.2)


def test_a_flood_on_stderr_costs_no_memory() -> None:
    with GtpClient(command_line("floods-stderr")) as client:
        assert client.ask("genmove b", seconds=30) == "pass"
        assert len(client.last_words) <= 20


def test_an_unknown_program_is_named() -> None:
    with pytest.raises(ProgramError, match="no-such-program") as caught:
        GtpClient("no-such-program --gtp")
    assert caught.value.reason == "not found"
