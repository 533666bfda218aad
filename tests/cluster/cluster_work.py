"""Work and workers of the tests of clusters, which a worker imports without the tests."""

from __future__ import annotations

import errno
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tengen.cluster import Worker
from tengen.errors import TengenError


class Squares:
    """The squares of numbers, each with the process that computed it."""

    def do(self, items: Iterator[int], stop: threading.Event) -> Iterator[tuple[list[int], tuple[int, int]]]:
        for number in items:
            yield [number], (number**2, os.getpid())

    def close(self) -> None:
        pass


class Both(Squares):
    """Squares, as soon as two workers are at it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def do(self, items: Iterator[int], stop: threading.Event) -> Iterator[tuple[list[int], tuple[int, int]]]:
        (self._folder / str(os.getpid())).touch()
        while len(list(self._folder.iterdir())) < 2:
            assert not stop.wait(0.05)
        yield from super().do(items, stop)


class Stuck(Squares):
    """The worker that gets the first item does not get on with anything until it is stopped."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def do(self, items: Iterator[int], stop: threading.Event) -> Iterator[tuple[list[int], tuple[int, int]]]:
        for number in items:
            if number == 0 and not (self._folder / "stuck").exists():
                (self._folder / "stuck").touch()
                assert stop.wait(300)
                (self._folder / "stopped").touch()
                return
            yield [number], (number**2, os.getpid())


class Opened(Squares):
    """Keeps a file while it is open. The worker that gets the first item takes half a second to stop."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def do(self, items: Iterator[int], stop: threading.Event) -> Iterator[tuple[list[int], tuple[int, int]]]:
        (self._folder / str(os.getpid())).touch()
        for number in items:
            yield [number], (number**2, os.getpid())
            if number == 0:
                stop.wait(300)
                time.sleep(0.5)

    def close(self) -> None:
        (self._folder / str(os.getpid())).unlink()


class Wrong(Squares):
    def do(self, items: Iterator[int], stop: threading.Event) -> Iterator[tuple[list[int], tuple[int, int]]]:
        raise TengenError(f"{next(items)} is no number")
        yield


def here(folder: Path) -> bool:
    """Whether this is the machine on which this was asked first."""
    import ray

    with suppress(FileExistsError), (folder / "bad").open("x") as file:
        file.write(ray.get_runtime_context().get_node_id())
    time.sleep(0.01)
    return (folder / "bad").read_text() == ray.get_runtime_context().get_node_id()


class Slow(Squares):
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def do(self, items: Iterator[int], stop: threading.Event) -> Iterator[tuple[list[int], tuple[int, int]]]:
        for number in items:
            time.sleep(0.05)
            yield [number], (number**2, os.getpid())


class FullDisk(Slow):
    """The machine that is the first to have an item has no room on its disk."""

    def do(self, items: Iterator[int], stop: threading.Event) -> Iterator[tuple[list[int], tuple[int, int]]]:
        if here(self._folder):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        yield from super().do(items, stop)


class Hanging(Squares):
    """The process that gets item 5 hangs, unless one has."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def do(self, items: Iterator[int], stop: threading.Event) -> Iterator[tuple[list[int], tuple[int, int]]]:
        for number in items:
            if number == 5 and not (self._folder / "hung").exists():
                (self._folder / "hung").touch()
                os.kill(os.getpid(), signal.SIGSTOP)
            yield [number], (number**2, os.getpid())


class Old(Worker):
    def version(self) -> tuple[str, str]:
        return "0.0.1", super().version()[1]


class OldThere(Worker):
    """On the machine where a worker starts first."""

    folder = Path()

    def version(self) -> tuple[str, str]:
        found = super().version()
        return ("0.0.1", found[1]) if here(self.folder) else found


class DyingThere(OldThere):
    def version(self) -> tuple[str, str]:
        return Worker.version(self)

    def run(self, *words: Any) -> Any:
        if here(self.folder):
            os._exit(1)
        yield from super().run(*words)


class Bare(Worker):
    def __init__(self) -> None:
        raise ModuleNotFoundError("No module named 'tengen'")


class Dying(Worker):
    def run(self, *_: Any) -> Any:
        os._exit(1)
        yield b""


class DyingAtStep(Worker):
    """Dies, unless one has, before it takes this step of a training."""

    step = 0
    marker = Path()

    def run(self, *words: Any) -> Any:
        from tengen.training.trainer import Trainer

        step, marker, real = self.step, self.marker, Trainer.train_step

        def train_step(trainer: Trainer[Any], batch: Any) -> Any:
            if trainer.step == step and not marker.exists():
                marker.touch()
                os._exit(1)
            return real(trainer, batch)

        Trainer.train_step = train_step  # type: ignore[method-assign]
        yield from super().run(*words)


class DyingOnce(Worker):
    """Dies, unless one has, after it has given a checkpoint of a training."""

    marker = Path()

    def run(self, *words: Any) -> Any:
        from tengen.training import cluster

        cluster._LOOK_SECONDS = 0.02
        seen = False
        for data in super().run(*words):
            if seen and not self.marker.exists():
                self.marker.touch()
                time.sleep(0.5)  # what it gave before is on its way
                os._exit(1)
            yield data
            seen |= b"checkpoints/" in data
