"""Boards drawn as SVG: a finished game with its move numbers and owners, and where games begin."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tengen.game import Game

STYLE = """
:root{--wood:#e3bb76;--wood-edge:#d3a75d;--grid:#6a4d1e;--spot:#1f6f8b}
@media(prefers-color-scheme:dark){:root{--wood:#c29a58;--wood-edge:#a88045;--grid:#4a3613;--spot:#0f4f68}}
.boards{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:1rem}
.maps{display:grid;grid-template-columns:repeat(auto-fill,minmax(10rem,1fr));gap:1rem}
figure figcaption{padding:.5rem .3rem .2rem;font-size:.85rem;line-height:1.35}figure figcaption small{opacity:.7}
"""

DEFINITIONS = (
    '<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>'
    '<radialGradient id="black-stone" cx=".35" cy=".3" r=".75"><stop offset="0" stop-color="#6d6d70"/>'
    '<stop offset=".45" stop-color="#2b2b2e"/><stop offset="1" stop-color="#0d0d0f"/></radialGradient>'
    '<radialGradient id="white-stone" cx=".35" cy=".3" r=".8"><stop offset="0" stop-color="#fff"/>'
    '<stop offset=".6" stop-color="#f1eee8"/><stop offset="1" stop-color="#c9c4ba"/></radialGradient>'
    '<linearGradient id="wood" x2=".2" y2="1"><stop offset="0" style="stop-color:var(--wood)"/>'
    '<stop offset="1" style="stop-color:var(--wood-edge)"/></linearGradient></defs></svg>'
)
"""Colours that all pictures of a page share; to be put into the page once."""

_CELL = 40
_LABELLED = 9.0  # radius of a spot that holds its percentage
_OWNED = ("#000", "#fff")
_TINT = (0.24, 0.45)  # opacity of Black's and White's points


def game_picture(game: Game, result: str, owners: npt.NDArray[np.uint8] | None = None) -> str:
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
        parts.append(_stone(row, col, color, numbers.get(row * size + col), dead))
    last = points[-1] if points else size**2
    if last < size**2 and board.flat[last] < 2:
        row, col = divmod(last, size)
        where = f'cx="{_middle(col)}" cy="{_middle(row)}" r="18.6"'
        parts.append(f'<circle {where} fill="none" stroke="#e2574c" stroke-width="2.2"/>')
    return _svg(size, "".join(parts), f"final position, {result}")


def first_move_picture(counts: Sequence[Sequence[int]]) -> str:
    """How often games begin at each point: a spot whose area is the share, with its percentage where it fits in."""
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
            parts.append(_text(row, col, f"{100 * share:.0f}", "#fff", 15))
    return _svg(size, "".join(parts), "share of the first moves by point")


def figure(picture: str, title: str, below: str = "") -> str:
    """A picture with its title and a line below, both plain text."""
    small = f"<br><small>{html.escape(below)}</small>" if below else ""
    return f"<figure>{picture}<figcaption>{html.escape(title)}{small}</figcaption></figure>"


def _svg(size: int, inside: str, label: str) -> str:
    edge = size * _CELL
    return f'<svg viewBox="0 0 {edge} {edge}" role="img" aria-label="{html.escape(label)}">{inside}</svg>'


def _board(size: int) -> str:
    edge, low, high = size * _CELL, _middle(0), _middle(size - 1)
    lines = "".join(f"M{low} {_middle(i)}H{high}M{_middle(i)} {low}V{high}" for i in range(size))
    stars = "".join(f'<circle cx="{_middle(c)}" cy="{_middle(r)}" r="4"/>' for r, c in _star_points(size))
    return (
        f'<rect width="{edge}" height="{edge}" rx="6" fill="url(#wood)"/>'
        f'<path d="{lines}" style="stroke:var(--grid)" stroke-width="1.3" stroke-linecap="square"/>'
        f'<g style="fill:var(--grid)">{stars}</g>'
    )


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


def _stone(row: int, col: int, color: int, number: int | None, dead: bool) -> str:
    name, ink = (("black-stone", "#fff"), ("white-stone", "#161616"))[color]
    x, y = _middle(col), _middle(row)
    shadow = f'<circle cx="{x + 1.2:g}" cy="{y + 1.8:g}" r="18" fill="#000" fill-opacity=".28"/>'
    stone = f'{shadow}<circle cx="{x}" cy="{y}" r="18" fill="url(#{name})"/>'
    text = "" if number is None else _text(row, col, str(number), ink, 17 if number < 100 else 14)
    return f'<g opacity="{0.5 if dead else 1}">{stone}{text}</g>'


def _owned(row: int, col: int, owner: int) -> str:
    place = f'x="{col * _CELL}" y="{row * _CELL}" width="{_CELL}" height="{_CELL}"'
    return f'<rect {place} fill="{_OWNED[owner]}" fill-opacity="{_TINT[owner]}"/>'


def _text(row: int, col: int, text: str, color: str, size: int) -> str:
    place = f'x="{_middle(col)}" y="{_middle(row) + size * 0.36:.1f}"'
    return f'<text {place} font-size="{size}" text-anchor="middle" fill="{color}">{text}</text>'


def _middle(index: int) -> int:
    return index * _CELL + _CELL // 2
