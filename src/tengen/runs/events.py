"""The event log of a run: log.jsonl for programs, its numbers for TensorBoard."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tengen.disk import json_text, write_text

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

_FILE = "log.jsonl"


def read_events(folder: Path, *names: str) -> list[dict[str, Any]]:
    """The events of these names in the log of a run, oldest first; all events without names.

    A last line that a kill cut short is left out.
    """
    path = folder / _FILE
    events = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            event = json.loads(line)
        except json.JSONDecodeError:
            continue
        if not names or event["event"] in names:
            events.append(event)
    return events


class EventLog:
    """Appends events to FOLDER/log.jsonl, one JSON object a line with `event`, `step`, `time`.

    Numbers go to TensorBoard too, which needs PyTorch, unless `tensorboard` is off. A log that is opened at `step`
    drops the events after that step, which a killed run wrote and the resumed run repeats, and all events named in
    `again`. Use it as a context manager or close it.
    """

    def __init__(self, folder: Path, step: int, *, tensorboard: bool = True, again: Collection[str] = ()) -> None:
        self.path = folder / _FILE
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
