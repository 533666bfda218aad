"""The processes that help a self-play run which another process leads. Needs no PyTorch."""

from __future__ import annotations

import time
from pathlib import Path

from tengen.errors import RecipeError
from tengen.runs.interruption import ShutdownFlag
from tengen.selfplay.conditions import CycleConditions
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.events import hours_of
from tengen.selfplay.folder import SelfPlayFolder
from tengen.selfplay.play import CyclePlayer, RecentGames
from tengen.selfplay.progress import Observer
from tengen.selfplay.rate import rate_network
from tengen.selfplay.transport import FolderTransport

_POLL_SECONDS = 1.0


def help_generate(config: SelfPlayConfig, path: Path, observer: Observer, stop: ShutdownFlag) -> None:
    """Play games of the current cycle of a run that another process leads, until its last cycle.

    Every cycle is played with the stages of the run's own recipe, which also says how many there are. Raises
    RecipeError when there is no run, or another one, in the folder, and when other code than this leads it;
    KeyboardInterrupt on a requested shutdown.
    """
    folder = _join(config, path)
    transport = FolderTransport(folder)
    recent = RecentGames(transport)
    while (cycle := transport.cycles_stored()) < folder.with_stages(config).cycles:
        stop.check()
        folder.check_code()  # the lead may be started again with another
        if transport.network(config.playing_network(cycle)) and transport.cycle_games(cycle).is_open():
            now = folder.with_stages(config)  # of a cycle that is open: they no longer change
            conditions = CycleConditions.of(now, recent.before(cycle), cycle)
            CyclePlayer(now, transport, stop).help(cycle, conditions, observer.playing)
        time.sleep(_POLL_SECONDS)


def help_rate(config: SelfPlayConfig, path: Path, observer: Observer, stop: ShutdownFlag) -> None:
    """Rate the networks of a run that another process leads as they appear, until the last.

    A network is rated once its cycle is in the log, which has the hours of its rating. A network whose file is gone by
    then did not have to be rated and is skipped. The lead does not wait for the ratings: once all cycles are in the log
    each rating is followed by a new report. Raises as help_generate does, and RecipeError when another process
    rates already.
    """
    folder = _join(config, path)
    recent = RecentGames(FolderTransport(folder))
    with folder.locked("rate") as free:
        if not free:
            raise RecipeError(f"{path}: another process rates the networks of this run")
        rated = 0  # the newest network that was rated or skipped
        while True:
            stop.check()
            folder.check_code()
            now, events = folder.with_stages(config), folder.events("cycle")
            number = next((number for number in now.rated_networks() if number > rated), None)
            if number is None:
                return
            if len(events) < number:
                time.sleep(_POLL_SECONDS)
                continue
            rated = number
            if not folder.network(number).exists():
                continue
            cycle = number - 1  # the one that made this network
            observer.rating(cycle)
            conditions = CycleConditions.of(now, recent.before(cycle), cycle)
            observer.rated(str(rate_network(now, folder, number, conditions, hours_of(events[:number]), stop)))
            if len(folder.events("cycle")) >= now.cycles:  # before, the lead writes it, and knows when the run ends
                from tengen.selfplay.report import write_report  # needs Matplotlib

                write_report(path, now)


def _join(config: SelfPlayConfig, path: Path) -> SelfPlayFolder:
    folder = SelfPlayFolder(path)
    if not folder.recipe.exists():
        raise RecipeError(f"{path} holds no run yet: start it with 'tengen zero {config.name} --out {path}' first")
    folder.check_config(config)
    folder.check_code()
    return folder
