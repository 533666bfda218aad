"""The log of a run that was killed says each thing once."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="training needs the extra [train]")

from tengen.runs.events import EventLog, read_events


def test_what_comes_again_is_dropped(tmp_path: Path) -> None:
    log = EventLog(tmp_path, 0)
    for step in (10, 20, 30):
        log.write("train", step, {"policy": 1.5, "note": "text"})
    log.close()
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"event": "tra')
    assert [entry["step"] for entry in read_events(tmp_path)] == [10, 20, 30]
    again = EventLog(tmp_path, 20)
    again.write("train", 30, {"policy": 1.25})
    again.close()
    entries = read_events(tmp_path)
    assert [(entry["step"], entry["policy"]) for entry in entries] == [(10, 1.5), (20, 1.5), (30, 1.25)]
    assert not list(tmp_path.glob("*.partial"))


def test_damaged_lines_cost_themselves_alone(tmp_path: Path) -> None:
    """What follows them is kept, and so is the file that was damaged."""
    path = tmp_path / "log.jsonl"
    lines = [b'{"event": "a", "step": 1}', b'{"event": "a", "st', b"\xff\x00", b"[1]", b'{"event": "a"}', b"7"]
    path.write_bytes(b"\n".join([*lines, b'{"event": "a", "step": 2, "x": NaN}', b'{"eve']))
    assert [event["step"] for event in read_events(tmp_path, "a")] == [1, 2]
    damaged = path.read_bytes()
    EventLog(tmp_path, 2, tensorboard=False).close()
    assert path.read_bytes() == b'{"event": "a", "step": 1}\n{"event": "a", "step": 2, "x": null}\n'
    assert (tmp_path / "log.jsonl.damaged").read_bytes() == damaged


def test_curves_keep_what_the_log_keeps(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for first in (0, 2):
        log = EventLog(tmp_path, first)
        for step in range(first + 1, first + 4):
            log.write("train", step, {"policy": 10.0 * first + step})
        log.close()
    curves = EventAccumulator(str(tmp_path / "tensorboard"))
    curves.Reload()
    logged = [(entry["step"], entry["policy"]) for entry in read_events(tmp_path)]
    assert [(event.step, event.value) for event in curves.Scalars("train/policy")] == logged
    assert logged == [(1, 1), (2, 2), (3, 23), (4, 24), (5, 25)]


def test_what_a_run_says_at_its_end_alone_is_said_once(tmp_path: Path) -> None:
    for _ in range(2):
        log = EventLog(tmp_path, 10, again=("final",))
        log.write("final", 10, {"top1": 0.5})
        log.close()
    assert len(read_events(tmp_path)) == 1


def test_no_log_is_an_empty_log(tmp_path: Path) -> None:
    assert read_events(tmp_path) == []


def test_numbers_in_mappings_become_curves(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    log = EventLog(tmp_path, 0)
    for step in (1, 2):
        log.write("cycle", step, {"games": 5 * step, "losses": {"policy": 2.5}, "deep": {"a": {"b": 1, "c": None}}})
        log.write("cycle", step, {"maps": [[1, 2]], "name": "x", "ready": True})
    log.close()
    curves = EventAccumulator(str(tmp_path / "tensorboard"))
    curves.Reload()
    assert sorted(curves.Tags()["scalars"]) == ["cycle/deep/a/b", "cycle/games", "cycle/losses/policy"]
    assert [(event.step, event.value) for event in curves.Scalars("cycle/games")] == [(1, 5), (2, 10)]
