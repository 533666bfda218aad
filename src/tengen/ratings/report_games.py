"""What the records of a tournament show: boards of a few games."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tengen.errors import SgfError
from tengen.game import Game
from tengen.match.game import Outcome
from tengen.match.referee import PLAYOUTS
from tengen.ratings.pool import Lot
from tengen.ratings.report_tables import record_link
from tengen.runs import boards
from tengen.sgf import read_game

_SAMPLES = 8


def sample_games(games: Sequence[tuple[Lot, Outcome]], out: Path) -> str:
    """The final boards of a few games, of different pairings first; in each that of middle length."""
    shown = []
    for lot, outcome in _chosen(games):
        game = _read(lot, outcome)
        if game is None:
            continue
        picture = boards.game_picture(game, outcome.result, _owners(game, outcome))
        link = f'<a href="{record_link(lot, outcome, out)}">{picture}</a>'
        below = f"{outcome.result}, {outcome.moves} moves, game {outcome.index}"
        shown.append(boards.figure(link, f"{outcome.black} - {outcome.white}", below))
    note = "The stones bear the numbers of their moves; the points of a counted game the tint of their owner."
    return f'<p class="state">{note}</p><div class="boards">{"".join(shown)}</div>' if shown else ""


def _chosen(games: Sequence[tuple[Lot, Outcome]]) -> list[tuple[Lot, Outcome]]:
    """Up to eight games, in turn from each pairing, those whose length is nearest to its median first."""
    met: dict[tuple[str, str], list[tuple[Lot, Outcome]]] = defaultdict(list)
    for lot, outcome in games:
        one, other = sorted((outcome.black, outcome.white))
        met[one, other].append((lot, outcome))
    for found in met.values():
        middle = float(np.median([outcome.moves for _, outcome in found]))
        found.sort(key=lambda game: (abs(game[1].moves - middle), game[1].index))
    turns = [(turn, place) for place, found in enumerate(met.values()) for turn in range(len(found))]
    pairings = list(met.values())
    return [pairings[place][turn] for turn, place in sorted(turns)[:_SAMPLES]]


def _read(lot: Lot, outcome: Outcome) -> Game | None:
    try:
        return read_game(lot.source / "games" / f"{outcome.index:05d}.sgf", partial=True)[0]
    except (OSError, SgfError):
        return None


def _owners(game: Game, outcome: Outcome) -> npt.NDArray[np.uint8] | None:
    """Final owners of a counted game by our playouts."""
    if not outcome.counts:
        return None
    return game.owners(game.dead_by_playouts(PLAYOUTS)).astype(np.uint8).ravel()
