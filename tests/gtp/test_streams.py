"""The queue of input lines, and which lines stop a running search."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from tengen.gtp import streams
from tengen.gtp.parse import parse_line
from tengen.gtp.streams import InputQueue, read_lines


def test_lines_come_in_order_and_then_the_end() -> None:
    lines = InputQueue()
    lines.put("a", "b")
    lines.close()
    assert [lines.get(), lines.get(), lines.get(), lines.get()] == ["a", "b", None, None]


def test_a_line_is_known_to_have_waited() -> None:
    times = [1.0]
    lines = InputQueue(lambda: times[-1])
    assert lines.arrived == 1
    for when in (2.0, 5.0):
        times.append(when)
        lines.put("name")
    times.append(9.0)
    assert [(lines.get(), lines.arrived) for _ in range(2)] == [("name", 2), ("name", 5)]


def test_waiting_for_a_line_ends_when_it_comes() -> None:
    lines = InputQueue()
    threading.Timer(0.05, lines.put, ["late"]).start()
    assert lines.get() == "late"


@pytest.mark.parametrize("line", ["stop", "3 stop", "\tstop # now", "quit"])
def test_a_search_is_stopped_by_what_comes_while_it_runs(line: str) -> None:
    lines = InputQueue()
    lines.search_begins()
    assert not lines.stop_requested()
    lines.put("name")
    assert not lines.stop_requested() and lines.pending()
    lines.put(line)
    assert lines.stop_requested()


def test_the_end_of_the_input_stops_the_search_that_runs() -> None:
    lines = InputQueue()
    lines.search_begins()
    lines.close()
    assert lines.stop_requested()


@pytest.mark.parametrize("rest", [["quit"], ["genmove w", "quit"], []])
def test_a_script_that_was_there_before_does_not_stop_the_search(rest: list[str]) -> None:
    lines = InputQueue()
    lines.put(*rest)
    if not rest:
        lines.close()
    lines.search_begins()
    lines.close()
    assert not lines.stop_requested()


def test_stop_counts_in_a_script_too() -> None:
    lines = InputQueue()
    lines.put("stop", "quit")
    lines.search_begins()
    assert lines.stop_requested()


def test_a_stop_behind_other_commands_of_a_script_is_for_a_later_search() -> None:
    lines = InputQueue()
    lines.put("genmove w", "kata-analyze b", "stop")
    lines.search_begins()
    assert not lines.stop_requested()
    lines.put("stop")  # while the search runs
    assert lines.stop_requested()
    lines.get()
    lines.search_begins()
    assert not lines.stop_requested()
    lines.get()
    lines.search_begins()
    assert lines.stop_requested()


def test_a_stop_counts_while_it_waits_and_waiting_lines_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(streams, "parse_line", lambda line: read.append(line) or parse_line(line))  # type: ignore[func-returns-value]
    lines = InputQueue()
    lines.search_begins()
    lines.put("name", "# interrupt", *1000 * ["play b D4"])
    for waiting in (True, True, False):
        assert [lines.stop_requested() for _ in range(50)] == 50 * [waiting]
        lines.get()
    assert len(read) == 1002


def test_a_descriptor_is_read_by_lines_whatever_its_pieces() -> None:
    reading, writing = os.pipe()
    lines = InputQueue()
    thread = read_lines(reading, lines)
    for piece in (b"\xef\xbb", b"\xbfna", b"me\r\nver", b"sion\n\xff\n", b"last"):
        os.write(writing, piece)
        time.sleep(0.01)
    os.close(writing)
    thread.join(timeout=5)
    os.close(reading)
    assert [lines.get() for _ in range(5)] == ["name\r", "version", "\udcff", "last", None]


def test_a_long_line_is_read_in_a_time_that_grows_with_its_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each piece was joined to all before it: a line of 50 MB took 43 s."""
    (tmp_path / "lines").write_bytes(b"a" * 2_000_000 + b"\nname\n")
    monkeypatch.setattr(streams, "_CHUNK", 16)
    lines = InputQueue()
    with (tmp_path / "lines").open("rb") as file:
        thread = read_lines(file.fileno(), lines)
        thread.join(timeout=10)
        assert not thread.is_alive()
    assert [len(lines.get() or "") for _ in range(3)] == [2_000_000, 4, 0]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("= é", "= é".encode()),
        ("? \udcff", b"? \xff"),
        ("? \ud83d", b"? \\ud83d"),
        ("? \ud83d\udcff", rb"? \ud83d\udcff"),
    ],
)
def test_any_answer_can_be_written(text: str, answer: bytes) -> None:
    """Half of a surrogate pair in JSON ended the session."""
    assert streams._encode(text) == answer
