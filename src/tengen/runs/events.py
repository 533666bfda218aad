"""The log of a run: log.jsonl for programs, TensorBoard for eyes."""

import json
import os
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengen.disk import write_text
from tengen.runs.log import read_log

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter


class Journal:
    """Appends events to FOLDER/log.jsonl, one JSON object a line with `event`, `step`, `time`; numbers to TensorBoard.

    With `curves` off nothing goes to TensorBoard, and PyTorch is not needed. Opened at `step`, it first drops what a
    killed run logged after that step, since those steps will come again, and all events named in `again`.
    """

    def __init__(self, folder: Path, step: int, *, curves: bool = True, again: Collection[str] = ()) -> None:
        self.path = folder / "log.jsonl"
        kept = [entry for entry in read_log(self.path) if entry["step"] <= step and entry["event"] not in again]
        write_text(self.path, "".join(json.dumps(entry) + "\n" for entry in kept))
        self._file = self.path.open("a", encoding="utf-8")
        self._board: SummaryWriter | None = None
        if curves:
            from torch.utils import tensorboard

            self._board = tensorboard.SummaryWriter(str(folder / "tensorboard"), purge_step=step + 1)

    def write(self, event: str, step: int, values: Mapping[str, Any], *, durable: bool = False) -> None:
        """Log one event; numbers among the values become curves named `event/name`, of mappings `event/name/key`.

        What is `durable` survives a loss of power too, once this returns.
        """
        entry = {"event": event, "step": step, "time": round(time.time(), 3), **values}
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()
        if durable:
            os.fsync(self._file.fileno())
        if self._board is None:
            return
        for name, number in _numbers(event, values):
            self._board.add_scalar(name, number, step)

    def close(self) -> None:
        self._file.close()
        if self._board is not None:
            self._board.close()


def _numbers(prefix: str, values: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """All numbers of nested mappings with their paths; lists and texts have no curve."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _numbers(f"{prefix}/{name}", value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{prefix}/{name}", value
