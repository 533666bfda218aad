"""Rows of the tables of a ratings report: players, pairings, failures, and every game with a link to its record."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from tengen.errors import SgfError
from tengen.game import BLACK, WHITE, Game
from tengen.match.counting import PLAYOUTS
from tengen.match.folder import record_path
from tengen.match.outcome import Outcome
from tengen.ratings.charts import ending, is_failure, seconds_a_move, time_text, visits_a_move
from tengen.ratings.pool import GameSet
from tengen.ratings.standings import Standings
from tengen.runs.boards import game_picture
from tengen.runs.report import Board, with_minus
from tengen.sgf import read_game
from tengen.sgf.values import score_text
from tengen.statistics import Tally

PlayedGame = tuple[GameSet, Outcome]
Row = dict[str, Any]
Folders = dict[Path, str]
"""The addresses of folders of SGF files, relative to that of a report."""

DENSE = 12
"""Players above which a matrix shows the score alone."""

_BLUE, _RED = "95,179,209", "238,138,112"
_OPACITY = 0.75  # of a cell whose player won everything or nothing
_SAMPLES = 8
_BOLD, _SMALL = Markup("<b>{}</b>").format, Markup("<small>{}</small>").format


def ratings(standings: Standings, outcomes: Sequence[Outcome]) -> list[list[str]]:
    """All players, best first."""
    seconds = seconds_a_move(outcomes, WHITE if standings.has_handicap else BLACK)
    visits = visits_a_move(outcomes)
    rows = []
    for rank, name in enumerate(standings.players, 1):
        elo, interval = standings.text(name)
        whole = standings.whole(name)
        rows.append(
            [
                str(rank),
                name,
                _BOLD(with_minus(elo)),
                _SMALL(with_minus(interval)),
                f"{whole.games:,}",
                _results(whole),
                *(f"{tally.score:.1%}" if tally.games else "" for tally in (whole, *standings.by_color[name])),
                time_text(median(seconds[name])) if name in seconds else "",
                f"{median(visits[name]):,.0f}" if name in visits else "",
            ]
        )
    return rows


def matrix(standings: Standings) -> list[list[Row | None]]:
    """The score of each row's player against each column's: the deeper the blue the better, red below a half."""
    names = standings.players
    return [[_cell(standings.pair(one, other), one, other) for other in names] for one in names]


def pairs(standings: Standings) -> list[list[str]]:
    """Every pairing with its interval, the expected score by the ratings, and the probability of being stronger."""
    rows = []
    for pair in standings.pairs:
        tally = pair.tally
        low, high = tally.interval()
        rows.append(
            [
                pair.first,
                pair.second,
                f"{tally.games:,}",
                _results(tally),
                _BOLD(f"{tally.score:.1%}"),
                _SMALL(f"{low:.1%} to {high:.1%}"),
                "" if pair.expected is None else f"{pair.expected:.1%}",
                f"{tally.superiority():.1%}",
            ]
        )
    return rows


def failures(games: Sequence[PlayedGame], out: Path) -> list[Row]:
    """Games that were lost by a crash, on time or by an illegal move, with the program's last words."""
    folders = _folders(games, out)
    return [
        {
            **_record(game_set, outcome, folders),
            "loser": outcome.loser or "none",
            "ending": ending(outcome),
            "detail": outcome.detail,
            "last_words": "\n".join(outcome.last_words),
        }
        for game_set, outcome in games
        if is_failure(outcome)
    ]


def disagreements(games: Sequence[PlayedGame], out: Path) -> list[Row]:
    """Games in which the players' dead stones led to different scores."""
    folders = _folders(games, out)
    return [
        {
            **_record(game_set, outcome, folders),
            "black": outcome.black,
            "white": outcome.white,
            "result": outcome.result,
            "counts": "; ".join(f"{who}: {score_text(score, 'draw')}" for who, score in outcome.counts.items()),
            "winners": "different winners" if outcome.disputed else "",
        }
        for game_set, outcome in games
        if outcome.counts_differ
    ]


def games_by_pairing(games: Sequence[PlayedGame], out: Path) -> list[Row]:
    """All games by pairing, each with a link to its record."""
    found, folders = [], _folders(games, out)
    for (one, other), played in sorted(_by_pairing(games).items()):
        tally = Tally(*(sum(outcome.winner == who for _, outcome in played) for who in (one, None, other)))
        title = f"{one} {tally.points:g} : {tally.games - tally.points:g} {other}"
        found.append({"title": title, "games": [_game(game_set, outcome, folders) for game_set, outcome in played]})
    return found


def sample_games(games: Sequence[PlayedGame], out: Path) -> list[Board]:
    """The final boards of a few games, of different pairings first; in each the game of middle length."""
    shown, folders = [], _folders(games, out)
    for game_set, outcome in _chosen(games):
        if (game := _read(game_set, outcome)) is not None:
            picture = game_picture(game, outcome.result, _owners(game, outcome))
            below = f"{outcome.result}, {outcome.moves} moves, game {outcome.index}"
            title = f"{outcome.black} \N{EN DASH} {outcome.white}"
            shown.append(Board(picture, title, below, _link(game_set, outcome, folders)))
    return shown


def _by_pairing(games: Sequence[PlayedGame]) -> dict[tuple[str, str], list[PlayedGame]]:
    met: dict[tuple[str, str], list[PlayedGame]] = defaultdict(list)
    for game_set, outcome in games:
        one, other = sorted((outcome.black, outcome.white))
        met[one, other].append((game_set, outcome))
    return met


def _chosen(games: Sequence[PlayedGame]) -> list[PlayedGame]:
    """Up to eight games, in turn from each pairing, those whose length is nearest to its median first."""
    pairings = list(_by_pairing(games).values())
    for found in pairings:
        middle = float(np.median([outcome.moves for _, outcome in found]))
        found.sort(key=lambda game: (abs(game[1].moves - middle), game[1].index))
    turns = [(turn, place) for place, found in enumerate(pairings) for turn in range(len(found))]
    return [pairings[place][turn] for turn, place in sorted(turns)[:_SAMPLES]]


def _read(game_set: GameSet, outcome: Outcome) -> Game | None:
    try:
        return read_game(record_path(game_set.source, outcome.index), partial=True)[0]
    except (OSError, SgfError):
        return None


def _owners(game: Game, outcome: Outcome) -> npt.NDArray[np.uint8] | None:
    """Final owners of a counted game by our playouts."""
    if not outcome.counts:
        return None
    return game.owners(game.dead_by_playouts(PLAYOUTS)).astype(np.uint8).ravel()


def _game(game_set: GameSet, outcome: Outcome, folders: Folders) -> Row:
    black, white = (
        time_text(outcome.seconds[name]) if name in outcome.seconds else "" for name in (outcome.black, outcome.white)
    )
    return {
        **_record(game_set, outcome, folders),
        "black": outcome.black,
        "white": outcome.white,
        "winner": outcome.winner,
        "result": outcome.result,
        "ending": "too long" if outcome.reason == "limit" else ending(outcome),
        "moves": outcome.moves,
        "black_time": black,
        "white_time": white,
    }


def _record(game_set: GameSet, outcome: Outcome, folders: Folders) -> Row:
    return {"number": outcome.index, "link": _link(game_set, outcome, folders)}


def _link(game_set: GameSet, outcome: Outcome, folders: Folders) -> str:
    """The address of a game's SGF."""
    return f"{folders[game_set.source]}/{record_path(game_set.source, outcome.index).name}"


def _folders(games: Sequence[PlayedGame], out: Path) -> Folders:
    """The folders of the SGF files of these games by their sources, each resolved once."""
    end = out.resolve()
    return {source: _address(source.resolve() / "games", end) for source in {game_set.source for game_set, _ in games}}


def _address(folder: Path, out: Path) -> str:
    """The address of a folder relative to `out`; whole where that is on another drive of Windows."""
    try:
        path = os.path.relpath(folder, out)
    except ValueError:
        return folder.as_uri()
    return quote(os.fsencode(path.replace(os.sep, "/")))


def _cell(tally: Tally | None, one: str, other: str) -> Row | None:
    if one == other:
        return {"is_self": True}
    if tally is None:
        return None
    low, high = tally.interval()
    strength = _OPACITY * abs(2 * tally.score - 1)
    interval = f"{tally.score:.1%} [{low:.1%} to {high:.1%}]"
    return {
        "is_self": False,
        "score": f"{100 * tally.score:.0f}",
        "games": tally.games,
        "color": f"rgba({_BLUE if tally.score >= 0.5 else _RED},{strength:.2f})",
        "words": f"{one} against {other}: {tally.points:g} of {tally.games}, {interval}",
    }


def _results(tally: Tally) -> str:
    return f"{tally.wins} \N{EN DASH} {tally.draws} \N{EN DASH} {tally.losses}"
