"""Boards drawn as SVG: finished games with move numbers and owners, positions with a line, shares of first moves.

The gradients that the pictures refer to are in `templates/base.html`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from tengen.coords import GTP_COLUMNS
from tengen.game import Game

_CELL = 40
_MARGIN = 34  # left of and below a board with coordinates
_LABELLED = 9.0  # radius of a spot that holds its percentage
_OWNED = ("#000", "#fff")
_TINT = (0.24, 0.45)  # opacity of Black's and White's points


def game_picture(game: Game, result: str, owners: npt.NDArray[np.uint8] | None = None) -> Markup:
    """The last position of a game: each stone with the number of its move, the last move with a ring.

    With `owners` [size * size] (0 black, 1 white, 2 neutral) each point is tinted by its final owner, and stones that
    are dead at the end are pale.
    """
    board, size = game.board, game.size
    points = [point for _, point in game.moves]
    numbers = {point: ply + 1 for ply, point in enumerate(points)}
    parts = [_board(size)]
    owned = None if owners is None else owners.reshape(board.shape)
    if owned is not None:
        parts += [_owned(row, col, int(owned[row, col])) for row, col in np.argwhere(owned < 2).tolist()]
    for row, col in np.argwhere(board < 2).tolist():
        color = int(board[row, col])
        dead = owned is not None and int(owned[row, col]) == 1 - color
        parts.append(_stone(row, col, color, numbers.get(row * size + col), 0.5 if dead else 1))
    if points and not game.last_was_pass and board.flat[points[-1]] < 2:
        row, col = divmod(points[-1], size)
        where = f'cx="{_middle(col)}" cy="{_middle(row)}" r="18.6"'
        parts.append(f'<circle {where} fill="none" stroke="#e2574c" stroke-width="2.2"/>')
    return _svg(size, "".join(parts), f"final position, {result}")


def position_picture(game: Game, label: str, played: int, color: int, line: Sequence[int] = ()) -> Markup:
    """A position with coordinates, a cross where `color` played next, and a better line as numbered pale stones.

    Of several moves of the line on one point the first is shown. Passes are left out.
    """
    board, size = game.board, game.size
    parts = [_board(size, _MARGIN), _coordinates(size)]
    parts += [_stone(row, col, int(board[row, col]), None) for row, col in np.argwhere(board < 2).tolist()]
    for number, point in reversed(list(enumerate(line))):
        if point != game.pass_point:
            parts.append(_stone(*divmod(point, size), color ^ (number & 1), number + 1, 0.8))
    if game.moves and not game.last_was_pass:
        row, col = divmod(game.moves[-1][1], size)
        where = f'cx="{_middle(col)}" cy="{_middle(row)}" r="7"'
        parts.append(f'<circle {where} fill="none" stroke="#8a8f94" stroke-width="2.6"/>')
    if played != game.pass_point:
        row, col = divmod(played, size)
        x, y, d = _middle(col), _middle(row), 11
        cross = f"M{x - d} {y - d}L{x + d} {y + d}M{x - d} {y + d}L{x + d} {y - d}"
        parts.append(f'<path d="{cross}" stroke="#e2574c" stroke-width="5" stroke-linecap="round"/>')
    return _svg(size, "".join(parts), label, _MARGIN)


def first_move_picture(counts: Sequence[Sequence[int]]) -> Markup:
    """The share of games that begin at each point: the area of a circle, with the percentage where it fits in."""
    shares: npt.NDArray[np.float64] = np.array(counts, float)
    shares /= max(1.0, shares.sum())
    size = len(shares)
    parts = [_board(size)]
    for row, col in np.argwhere(shares > 0).tolist():
        share = float(shares[row, col])
        radius = max(2.0, min(0.95, share**0.5 * 1.5) * _CELL / 2)
        where = f'cx="{_middle(col)}" cy="{_middle(row)}" r="{radius:.1f}"'
        parts.append(f'<circle {where} style="fill:var(--spot)" fill-opacity=".85"/>')
        if radius >= _LABELLED:
            parts.append(_text(_middle(col), _middle(row), f"{100 * share:.0f}", "#fff", 15))
    return _svg(size, "".join(parts), "share of the first moves by point")


def _svg(size: int, inside: str, label: str, margin: int = 0) -> Markup:
    edge = size * _CELL + margin
    head = Markup('<svg viewBox="{0} 0 {1} {1}" role="img" aria-label="{2}">').format(-margin, edge, label)
    return head + Markup(inside + "</svg>")


def _board(size: int, margin: int = 0) -> str:
    edge, low, high = size * _CELL + margin, _middle(0), _middle(size - 1)
    lines = "".join(f"M{low} {_middle(i)}H{high}M{_middle(i)} {low}V{high}" for i in range(size))
    stars = "".join(f'<circle cx="{_middle(c)}" cy="{_middle(r)}" r="4"/>' for r, c in _star_points(size))
    return (
        f'<rect x="{-margin}" width="{edge}" height="{edge}" rx="6" fill="url(#wood)"/>'
        f'<path d="{lines}" style="stroke:var(--grid)" stroke-width="1.3" stroke-linecap="square"/>'
        f'<g style="fill:var(--grid)">{stars}</g>'
    )


def _coordinates(size: int) -> str:
    """The numbers of the rows left of the board, and the letters of the columns below it."""
    beside, below = -_MARGIN / 2 + 2, size * _CELL + _MARGIN / 2 - 4
    rows = (_text(beside, _middle(i), str(size - i), "var(--grid)", 24) for i in range(size))
    columns = (_text(_middle(i), below, GTP_COLUMNS[i], "var(--grid)", 24) for i in range(size))
    return "".join([*rows, *columns])


def _star_points(size: int) -> list[tuple[int, int]]:
    """Corner points of the third or fourth line and the centre, as boards have them; sides on large boards only."""
    line, middle = (2 if size < 13 else 3), size // 2
    if size < 7:
        return [(middle, middle)] if size % 2 else []
    ends = [line, size - 1 - line]
    points = [(r, c) for r in ends for c in ends]
    if size % 2:
        points += [(middle, middle)]
    if size % 2 and size >= 15:
        points += [place for end in ends for place in ((end, middle), (middle, end))]
    return points


def _stone(row: int, col: int, color: int, number: int | None, opacity: float = 1.0) -> str:
    name, ink = (("black-stone", "#fff"), ("white-stone", "#161616"))[color]
    x, y = _middle(col), _middle(row)
    shadow = f'<circle cx="{x + 1.2:g}" cy="{y + 1.8:g}" r="18" fill="#000" fill-opacity=".28"/>'
    stone = f'{shadow}<circle cx="{x}" cy="{y}" r="18" fill="url(#{name})"/>'
    text = "" if number is None else _text(x, y, str(number), ink, min(22, 48 // len(str(number))))
    return f'<g opacity="{opacity:g}">{stone}{text}</g>'


def _owned(row: int, col: int, owner: int) -> str:
    place = f'x="{col * _CELL}" y="{row * _CELL}" width="{_CELL}" height="{_CELL}"'
    return f'<rect {place} fill="{_OWNED[owner]}" fill-opacity="{_TINT[owner]}"/>'


def _text(x: float, y: float, text: str, color: str, size: int) -> str:
    """Text around a point."""
    place = f'x="{x:g}" y="{y + size * 0.36:.1f}"'
    return f'<text {place} font-size="{size}" text-anchor="middle" style="fill:{color}">{text}</text>'


def _middle(index: int) -> int:
    return index * _CELL + _CELL // 2
