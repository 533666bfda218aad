"""The event log of a run: log.jsonl for programs, its numbers for TensorBoard."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tengen.disk import json_text, on_disk, write_text

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

_FILE = "log.jsonl"


def read_events(folder: Path, *names: str) -> list[dict[str, Any]]:
    """The events of these names in the log of a run, by step; all events without names.

    Lines that cannot be read are left out: the last one, which a kill cut short, and damaged ones.
    """
    events = [event for line in _lines(folder) if (event := _event(line)) and (not names or event["event"] in names)]
    return sorted(events, key=lambda event: event["step"])


def _lines(folder: Path) -> list[bytes]:
    path = folder / _FILE
    return path.read_bytes().split(b"\n") if path.exists() else []


def _event(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except ValueError:  # no JSON, or no UTF-8
        return None
    known = isinstance(event, dict) and isinstance(event.get("event"), str) and isinstance(event.get("step"), int)
    return event if known else None


class EventLog:
    """Appends events to FOLDER/log.jsonl, one JSON object a line with `event`, `step`, `time`.

    Numbers go to TensorBoard too, which needs PyTorch, unless `tensorboard` is off. A log that is opened at `step`
    drops the events after that step, which a killed run wrote and the resumed run repeats, and all events named in
    `again`. A log with damaged lines is kept beside it as log.jsonl.damaged. Use it as a context manager or close it.
    """

    def __init__(self, folder: Path, step: int, *, tensorboard: bool = True, again: Collection[str] = ()) -> None:
        self.path = folder / _FILE
        if any(line.strip() and not _event(line) for line in _lines(folder)[:-1]):
            shutil.copyfile(self.path, self.path.with_name(f"{_FILE}.damaged"))
        kept = [event for event in read_events(folder) if event["step"] <= step and event["event"] not in again]
        write_text(self.path, "".join(json_text(event) + "\n" for event in kept))
        self._file = self.path.open("a", encoding="utf-8")
        self._scalars: SummaryWriter | None = None
        if tensorboard:
            from torch.utils.tensorboard import SummaryWriter

            self._scalars = SummaryWriter(str(folder / "tensorboard"), purge_step=step + 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, event: str, step: int, values: Mapping[str, Any], *, durable: bool = False) -> None:
        """Log one event; numbers among the values become scalars `event/name`, of mappings `event/name/key`.

        With `durable` the event survives a power failure once this returns.
        """
        entry = {"event": event, "step": step, "time": round(time.time(), 3), **values}
        with on_disk(self.path):
            self._file.write(json_text(entry) + "\n")
            self._file.flush()
            if durable:
                os.fsync(self._file.fileno())
        if self._scalars is not None:
            for name, number in _numbers(event, values):
                self._scalars.add_scalar(name, number, step)

    def close(self) -> None:
        self._file.close()
        if self._scalars is not None:
            self._scalars.close()


def _numbers(prefix: str, values: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """All numbers of nested mappings with their paths; lists and texts have no scalar."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _numbers(f"{prefix}/{name}", value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{prefix}/{name}", value
