"""report.html of a run: games against its parent and the pool, and what the updates did."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from tengen.errors import SgfError
from tengen.reinforce.config import ReinforceConfig
from tengen.runs.boards import game_picture
from tengen.runs.events import read_events
from tengen.runs.plots import ACCENT, FAINT, SECOND, percent_axis, plot, smooth
from tengen.runs.report import Board, Tile, read_recipe, write_page
from tengen.sgf import read_game

Events = Sequence[dict[str, Any]]

_BOARDS = 4  # games shown, the newest
_FIGURES = {
    "entropy": "Entropy of the policy (nats)",
    "kl": "KL divergence of an update (nats)",
    "explained": "Explained variance of the results",
    "length": "Length of games (moves)",
}


def write_reinforce_report(folder: Path, config: ReinforceConfig, parent: str) -> Path:
    """Write FOLDER/report.html from the run's log and evaluation games; return its path."""
    train, best = read_events(folder, "train"), read_events(folder, "evaluation", "final")
    drawn = [{"step": event["step"], **event["drawn"]} for event in best if "drawn" in event]  # older ones have none
    return write_page(
        folder / "report.html",
        "reinforce.html",
        title=config.name,
        what=config.method,
        description=config.description,
        tiles=_tiles(config, parent, train, {config.drawn: drawn, "best moves": best}),
        plots=[
            plot(f"Score against the parent, {config.drawn}", "updates", lambda axes: _scores(axes, drawn)),
            plot("Score against the parent, best moves", "updates", lambda axes: _scores(axes, best)),
            plot("Score against the opponent pool", "updates", lambda axes: _line(axes, train, "score", percent=True)),
            *(
                plot(title, "updates", partial(_line, train=train, name=name))
                for name, title in _FIGURES.items()
                if not train or name in train[-1]
            ),
        ],
        boards=_boards(folder),
        recipe=read_recipe(folder),
    )


def _tiles(config: ReinforceConfig, parent: str, train: Events, judged: dict[str, Events]) -> list[Tile]:
    shown = [Tile("updates", f"{train[-1]['step'] if train else 0:,}", f"of {config.iterations:,}")]
    for how, events in judged.items():
        if events:
            last = events[-1]
            games = last["wins"] + last["draws"] + last["losses"]
            below = f"{last['low']:.1%} to {last['high']:.1%} of {games} games"
            shown.append(Tile(f"against {parent}, {how}", f"{last['score']:.1%}", below))
    if train:
        shown.append(Tile("games", f"{train[-1]['step'] * config.games:,}", f"{train[-1]['hours']:.2f} hours"))
    return shown


def _boards(folder: Path) -> list[Board]:
    """The newest games against the parent; files that cannot be read are left out."""
    shown = []
    for path in sorted((folder / "games").glob("*.sgf"))[-_BOARDS:]:
        try:
            game, info = read_game(path)
        except (OSError, SgfError):
            continue
        result = str(info.result)
        below = f"{result}, {len(game.moves)} moves, after {int(path.stem.split('-')[0])} updates"
        shown.append(Board(game_picture(game, result), f"{info.black} \N{EN DASH} {info.white}", below))
    return shown


def _scores(axes: Axes, evaluations: Events) -> None:
    updates = [event["step"] for event in evaluations]
    scores, low, high = ([100 * event[key] for event in evaluations] for key in ("score", "low", "high"))
    errors = [np.subtract(scores, low), np.subtract(high, scores)]
    axes.axhline(50, color=FAINT)
    axes.errorbar(updates, scores, yerr=errors, color=ACCENT, capsize=2, marker="o", markersize=3)
    percent_axis(axes)
    _count_updates(axes)


def _line(axes: Axes, train: Events, name: str, *, percent: bool = False) -> None:
    updates, values = [event["step"] for event in train], [(100 if percent else 1) * event[name] for event in train]
    axes.plot(updates, values, color=ACCENT, alpha=0.3, linewidth=0.8)
    axes.plot(updates, smooth(values), color=SECOND)
    if percent:
        axes.yaxis.set_major_formatter("{x:g}%")
    _count_updates(axes)


def _count_updates(axes: Axes) -> None:
    axes.set_xlim(left=0)  # around a single evaluation the ticks would be fractions
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
