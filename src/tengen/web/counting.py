"""The count at the end of a game: groups, territory and the points of each side."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tengen.coords import neighbors
from tengen.game import BLACK, EMPTY, WHITE, Game
from tengen.web.language import N_, _
from tengen.web.words import color_names

# The parts of a count or an estimate, in the order in which they are shown.
PARTS = {
    "stones": N_("stones {n}"),
    "territory": N_("territory {n}"),
    "prisoners": N_("prisoners {n}"),
    "resumed play": N_("resumed play {n}"),
    "group tax": N_("group tax {n}"),
    "komi": N_("komi {komi:g}"),
    "handicap": N_("handicap {n}"),
    "button": N_("button {n}"),
    "bonus": N_("bonus {points:g}"),
}

Points = dict[str, float]
"""Points of a color by the part of the count (`PARTS`); below 0 what the rules take."""


def region(start: int, inside: Collection[int], size: int) -> set[int]:
    """The points of `inside` that are connected to `start`, itself included."""
    found, pending = {start}, [start]
    while pending:
        for near in neighbors(pending.pop(), size):
            if near in inside and near not in found:
                found.add(near)
                pending.append(near)
    return found


def group_of(board: NDArray[np.int8], point: int) -> set[int]:
    """The stones that live or die with the stone on `point`: those of its color in the same region."""
    size, flat = len(board), board.ravel()
    color = int(flat[point])
    reach = region(point, set(np.flatnonzero(flat != 1 - color).tolist()), size)
    return {at for at in reach if flat[at] == color}


def territory(game: Game, dead: Collection[int]) -> str:
    """The owner of each empty point and dead stone: `b`, `w`, or `.` for neither and for living stones; row-major."""
    living = game.board.ravel() != EMPTY
    living[list(dead)] = False
    owners = game.owners(dead=sorted(dead)).ravel()
    return "".join("." if lives else "bw."[owner] for lives, owner in zip(living, owners, strict=True))


def points_of(game: Game, dead: Collection[int]) -> tuple[Points, Points]:
    """What each color has by the rules of the game, Black's points first; their sums differ by `game.score(dead)`.

    `resumed play` are the stones that were played after the passes and do not count as played by territory scoring
    (`native/board/score.h`).
    """
    size, board, rules = game.size, game.board.ravel(), game.rules
    chains = (region(stone, set(np.flatnonzero(board == board[stone]).tolist()), size) for stone in dead)
    gone = np.isin(np.arange(size * size), list(set().union(*chains))) & (board != EMPTY)
    owners, untaxed = (one.owners(dead=sorted(dead)).ravel() for one in (game, _without_tax(game)))
    open_points, eyes = (board == EMPTY) | gone, owners != untaxed  # the eyes of a seki, which the tax takes
    both: tuple[Points, Points] = {}, {}
    for color, points in enumerate(both):
        if rules.scoring == "area":
            points["stones"] = int(((board == color) & ~gone).sum())
        points["territory"] = int((open_points & (owners == color)).sum())
        if rules.scoring == "territory":
            points["prisoners"] = game.captures[color] + int((gone & ~eyes & (board == 1 - color)).sum())
        if rules.tax == "all":
            surrounded = set(np.flatnonzero(open_points & ~eyes).tolist())
            points["group tax"] = -sum(min(2, len(group & surrounded)) for group in _groups(untaxed == color, size))
    button = game.button if game.button is not None else game.to_play
    taken = 0.0
    if game.button is not None:
        taken = 0.5 if button == WHITE else -0.5
    if rules.button:
        both[button]["button"] = 0.5
    both[WHITE].update({"komi": game.komi, "handicap": game.white_bonus - taken})
    black, white = (sum(points.values()) for points in both)
    free = game.score(dead=sorted(dead)) - (black - white)
    both[BLACK if free > 0 else WHITE]["resumed play"] = abs(free)
    black_points, white_points = ({part: points[part] for part in PARTS if part in points} for points in both)
    return black_points, white_points


def points_lines(game: Game, dead: Collection[int]) -> list[str]:
    """The count of each color with its parts."""
    return [sum_text(color, points) for color, points in enumerate(points_of(game, dead))]


def sum_text(color: int, points: Points) -> str:
    """The points of a color with their parts: `White: stones 30 + territory 12 + komi 7.5 = 49.5`. A bonus or komi of 0
    is left out."""
    parts = ""
    for part, value in points.items():
        if value or part in ("stones", "territory", "prisoners"):
            number = f"{abs(value):g}"
            sign = " \u2212 " if value < 0 else " + "
            parts += sign + _(PARTS[part], n=number, komi=abs(value), points=abs(value))
    total = f"{sum(points.values()):g}".replace("-", "\u2212")
    name = color_names()[color]
    return _("{color}: {sum} = {total}", color=name, sum=parts.removeprefix(" + "), total=total)


def _without_tax(game: Game) -> Game:
    """The position of a game under the same rules but for the tax."""
    black, white = (np.flatnonzero(game.board == color).tolist() for color in (BLACK, WHITE))
    return Game(game.size, replace(game.rules, tax="none")).setup(black, white)


def _groups(points: NDArray[np.bool_], size: int) -> Iterator[set[int]]:
    """The connected regions of some points."""
    rest = set(np.flatnonzero(points).tolist())
    while rest:
        group = region(min(rest), rest, size)
        rest -= group
        yield group


def lost_result(loser: int, how: str) -> str:
    """The result of a game that a color lost, as SGF writes it: `how` is R, by resignation, or T, on time."""
    return f"{'WB'[loser]}+{how}"
