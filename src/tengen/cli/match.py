"""`tengen match`: who is stronger, by how much, and how sure."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tengen.arena.outcome import Outcome

_PLAYER = "a network's name or file, policy:NETWORK or raw:NETWORK (no search), playouts, random, or gtp:COMMAND LINE"


def command(
    a: Annotated[str, typer.Argument(help=f"player A: {_PLAYER}", show_default=False)],
    b: Annotated[str, typer.Argument(help="player B, likewise", show_default=False)],
    games: Annotated[int, typer.Option(help="games in all; half of them with each colour")] = 60,
    size: Annotated[int, typer.Option(help="board size, 5 to 19")] = 19,
    komi: Annotated[float, typer.Option(help="points for White")] = 7.5,
    rules: Annotated[str, typer.Option(help="rule set by name")] = "chinese",
    visits: Annotated[int, typer.Option(help="search of a network or by playouts, visits a move")] = 400,
    seconds: Annotated[float | None, typer.Option(help="seconds a move instead")] = None,
    opening: Annotated[int, typer.Option(help="moves drawn before the players take over")] = 4,
    seed: Annotated[int, typer.Option(help="of openings and players")] = 1,
    move_seconds: Annotated[float, typer.Option(help="a GTP program that takes longer for a move loses")] = 180.0,
    workers: Annotated[int, typer.Option(help="games at the same time")] = 1,
    out: Annotated[Path | None, typer.Option(help="folder of the match; a rerun goes on there")] = None,
) -> None:
    """Play games between two players under equal conditions and say who is stronger, and how sure that is.

    Both play every opening with both colours. Our own rules decide what is legal and count, with the dead stones on
    which the players agree. The folder keeps every game; the same command goes on after an interruption.
    """
    from tengen.arena.conditions import Conditions
    from tengen.arena.match import play_match
    from tengen.arena.summary import report
    from tengen.arena.table import MatchSettings, Strength
    from tengen.errors import RecipeError

    if workers < 1:
        raise RecipeError(f"workers must be 1 or more, not {workers}")
    conditions = Conditions(size, komi, rules, opening, seed)
    settings = MatchSettings(a, b, games, conditions, Strength(visits, seconds), move_seconds)
    folder = out or Path("matches") / f"{_slug(a)}-{_slug(b)}"
    print(report(play_match(settings, folder, workers, _Printer(games))))
    print(f"the games and summary.json are in {folder}")


class _Printer:
    """Prints a line a game, with the standing and the time that the rest will take."""

    def __init__(self, games: int) -> None:
        self._games = games
        self._outcomes: list[Outcome] = []
        self._a = ""
        self._earlier = 0
        self._begun = 0.0

    def started(self, names: tuple[str, str], earlier: Sequence[Outcome]) -> None:
        self._a = names[0]
        self._outcomes = list(earlier)
        self._earlier = len(earlier)
        self._begun = time.monotonic()
        print(f"A is {names[0]}, B is {names[1]}; {len(earlier)} of {self._games} games are there", flush=True)

    def played(self, outcome: Outcome) -> None:
        from tengen.arena.summary import game_line, score_line, tally

        self._outcomes.append(outcome)
        done = len(self._outcomes)
        each = (time.monotonic() - self._begun) / (done - self._earlier)
        left = each * (self._games - done) / 60
        print(f"[{done}/{self._games}, {left:.0f} min left] {game_line(outcome)}", flush=True)
        print(f"    {score_line(tally(self._outcomes, self._a))}", flush=True)


def _slug(player: str) -> str:
    """A word of the command line as part of a folder's name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", Path(player).name if "/" in player else player).strip("-")[:40]
