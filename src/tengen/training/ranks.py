"""The processes that train one network together, a device each. Rank 0 is the process that was called: it alone logs,
validates and saves. The others, its followers, compute their rows of each batch."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn, Self

import torch
from lightning_fabric.plugins.environments.lightning import LightningEnvironment, find_free_network_port
from lightning_fabric.strategies.ddp import DDPStrategy

from tengen.errors import TengenError
from tengen.machine import when_parent_ends
from tengen.runs.interruption import TERMINAL_SIGNALS

_PATIENCE = 20.0  # seconds in which a follower ends after the last step
FOREVER = timedelta(days=7)
"""Followers wait while rank 0 validates; the end of a process breaks the connection at once."""


@dataclass(frozen=True)
class Rank:
    """One of `ranks` processes, which meet at `port` of this machine. It calls `ready` just before."""

    rank: int = 0
    ranks: int = 1
    port: int = 0
    ready: Callable[[], None] | None = None


ALONE = Rank()


class Environment(LightningEnvironment):
    """Tells Fabric of a rank; by itself Fabric reads environment variables and starts the command once more."""

    def __init__(self, rank: Rank) -> None:
        super().__init__()
        self._main_port = rank.port
        self._rank = rank.rank

    @property
    def creates_processes_externally(self) -> bool:
        return True

    @property
    def main_address(self) -> str:
        return "127.0.0.1"

    @property
    def main_port(self) -> int:
        return int(self._main_port)

    def local_rank(self) -> int:
        return self._rank

    def node_rank(self) -> int:
        return 0


def ddp() -> DDPStrategy:
    """Each rank holds the network; gradients are averaged. Heads without a loss have no gradient in any rank."""
    return DDPStrategy(timeout=FOREVER, find_unused_parameters=True)


class Followers:
    """Starts ranks 1 to `ranks` - 1, each of which calls `follow(rank, *arguments)`, and ends them with its block.

    On entering it waits until all followers are ready to meet. Raises the TengenError of a follower, and TengenError
    when one died.
    """

    def __init__(self, ranks: int, follow: Callable[..., None], *arguments: Any) -> None:
        self.leader = Rank(0, ranks, find_free_network_port() if ranks > 1 else 0)
        self._follow = follow
        self._arguments = arguments
        self._processes: dict[Connection, BaseProcess] = {}

    def __enter__(self) -> Self:
        context = multiprocessing.get_context("spawn")
        try:
            with _ignored(signal.SIGINT):  # Ctrl-C reaches all processes of a terminal: followers never see it
                for number in range(1, self.leader.ranks):
                    ours, theirs = context.Pipe()
                    rank = Rank(number, self.leader.ranks, self.leader.port)
                    process = context.Process(
                        target=_run,
                        args=(self._follow, rank, theirs, self._arguments),
                        name=f"rank {number}",
                        daemon=True,
                    )
                    process.start()
                    theirs.close()
                    self._processes[ours] = process
            for connection in self._processes:
                self._receive(connection)
        except BaseException:
            self._end(0)
            raise
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            # Collective operations fail with RuntimeError when a follower is gone; say why it is.
            if isinstance(error, RuntimeError):
                for connection, process in self._processes.items():
                    process.join(2)
                    if not process.is_alive() and process.exitcode != 0:
                        self._receive(connection)
        finally:
            self._end(_PATIENCE if error is None or isinstance(error, KeyboardInterrupt) else 0)

    def _receive(self, connection: Connection) -> None:
        try:
            answer = connection.recv()
        except (EOFError, ConnectionError):
            process = self._processes[connection]
            process.join(5)
            raise TengenError(
                f"{process.name} of the training died (status {process.exitcode}); the same command continues the run "
                "from its last checkpoint"
            ) from None
        if isinstance(answer, str):
            raise TengenError(f"{self._processes[connection].name} of the training: {answer}")

    def _end(self, patience: float) -> None:
        """Leave the group; wait for the followers, and kill those that do not end. They hold nothing to be saved."""
        if len(self._processes) and torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
        for connection, process in self._processes.items():
            process.join(patience)
            process.kill()
            process.join()
            connection.close()
        self._processes.clear()


@contextmanager
def _ignored(number: signal.Signals) -> Iterator[None]:
    """Ignore a signal, in processes that start within the block for good."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(number, before)


def _run(follow: Callable[..., None], rank: Rank, leader: Connection, arguments: tuple[Any, ...]) -> None:
    """A follower's main function. Rank 0 ends it, not a signal to all processes, unless rank 0 is gone."""
    for number in (*TERMINAL_SIGNALS, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    when_parent_ends(_leave)
    try:
        follow(Rank(rank.rank, rank.ranks, rank.port, lambda: leader.send(None)), *arguments)
    except Exception as error:
        leader.send(f"{error}" if isinstance(error, TengenError) else f"{type(error).__name__}: {error}")
        _leave()
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def _leave() -> NoReturn:
    # At once: threads that draw batches, or wait for the other ranks, would hold an ordinary exit.
    os._exit(1)
