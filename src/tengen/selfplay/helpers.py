"""Processes that help a run which another one leads: more games, or its rating."""

from __future__ import annotations

import time
from pathlib import Path

from tengen.data.format import read_manifest
from tengen.errors import RecipeError, StoreError
from tengen.runs.interruption import ShutdownFlag
from tengen.selfplay.config import ZeroConfig
from tengen.selfplay.folder import RunFolder
from tengen.selfplay.loop import cycle_events, hours_of, rate_network
from tengen.selfplay.pending import PendingGames
from tengen.selfplay.play import CyclePlayer, RecentGames, Terms
from tengen.selfplay.watcher import Watcher

_POLL_SECONDS = 1.0


def help_generate(config: ZeroConfig, path: Path, watcher: Watcher, stop: ShutdownFlag) -> None:
    """Play games of whatever cycle the run is at, until its last; the leader waits for what was begun here.

    Raises RecipeError when there is no run, or another one, in the folder; KeyboardInterrupt on a wish to stop.
    """
    folder = _join(config, path)
    player, recent = CyclePlayer(config, folder, stop), RecentGames(folder)
    while (cycle := cycles_played(folder)) < config.cycles:
        stop.check()
        if not folder.network(config.playing_network(cycle)).exists() or not folder.pending(cycle).exists():
            time.sleep(_POLL_SECONDS)
            continue
        terms = Terms.of(config, recent.before(cycle), cycle)
        player.help(cycle, terms, PendingGames(folder.pending(cycle)), watcher.playing)
        time.sleep(_POLL_SECONDS)


def help_rate(config: ZeroConfig, path: Path, watcher: Watcher, stop: ShutdownFlag) -> None:
    """Rate the networks of a run whose turn it is, as they appear, until the last; the leader leaves that to this.

    A network is rated once its cycle is in the log, so that the hours of its rating are known. One whose file is gone
    by then was not to be rated when its time came, and is passed over. Raises as help_generate does, and RecipeError
    when another process rates already.
    """
    folder, recent = _join(config, path), RecentGames(RunFolder(path))
    with folder.locked("rate") as free:
        if not free:
            raise RecipeError(f"{path}: another process rates the networks of this run")
        for number in config.rated_cycles():
            while len(events := cycle_events(folder)) < number:
                stop.check()
                time.sleep(_POLL_SECONDS)
            if not folder.network(number).exists():
                continue
            watcher.rating(number - 1)
            terms = Terms.of(config, recent.before(number - 1), number - 1)
            watcher.rated(str(rate_network(config, folder, number, terms, hours_of(events[:number]), stop)))


def cycles_played(folder: RunFolder) -> int:
    """Cycles whose games are all in the store."""
    try:
        return len(read_manifest(folder.games)["shards"])
    except StoreError:
        return 0


def _join(config: ZeroConfig, path: Path) -> RunFolder:
    folder = RunFolder(path)
    if not folder.recipe.exists():
        raise RecipeError(f"{path} holds no run yet: start it with 'tengen zero {config.name} --out {path}' first")
    folder.check_same(config)
    return folder
