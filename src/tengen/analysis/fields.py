"""Fields of the JSON objects of the analysis protocol: their readers, and the error about one."""

from __future__ import annotations

from typing import Any

from tengen.coords import from_gtp, pass_point
from tengen.errors import IllegalMove, TengenError
from tengen.game import BLACK, WHITE

Fields = dict[str, Any]
"""A JSON object by the names of its fields."""

_PLAYERS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}
_MISSING = object()


class QueryError(TengenError):
    """A query that cannot be answered: `field` is the field that is wrong."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


def read_moves(fields: Fields, name: str, size: int, may_pass: bool = True) -> list[tuple[int, int]]:
    """(color, point) of each pair of an array, a field that is there; a pass is `size * size`.

    Raises QueryError for anything else, and for a pass where there may be none.
    """
    form = 'an array of pairs ["B" or "W", vertex] expected'
    if not isinstance(fields[name], list):
        raise QueryError(name, form)
    found = []
    for pair in fields[name]:
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(word, str) for word in pair)):
            raise QueryError(name, form)
        found.append((read_player(name, pair[0]), read_vertex(name, pair[1], size)))
        if not may_pass and found[-1][1] == pass_point(size):
            raise QueryError(name, "a pass is no stone")
    return found


def read_player(name: str, value: object) -> int:
    """The color of a player, such as `B` or `white`. Raises QueryError about the field `name` for anything else."""
    color = _PLAYERS.get(value.lower()) if isinstance(value, str) else None
    if color is None:
        raise QueryError(name, f'"B" or "W" expected, not {shown(value)}')
    return color


def read_vertex(name: str, value: object, size: int) -> int:
    """The point of a vertex on a board of this size. Raises QueryError about the field `name` for anything else."""
    try:
        if not isinstance(value, str):
            raise IllegalMove(f"a vertex expected, not {shown(value)}")
        return from_gtp(value, size)
    except IllegalMove as error:
        raise QueryError(name, str(error)) from error


def read_integer(fields: Fields, name: str, low: int, high: int, span: str = "") -> int:
    """The whole number of a field, in this range, of which errors speak as `span`. Raises QueryError for anything else,
    and where there is none."""
    value = fields.get(name, _MISSING)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise QueryError(name, f"a whole number from {span or f'{low} to {high}'} expected{_not(value)}")
    return value


def read_integers(fields: Fields, name: str) -> list[int]:
    """The whole numbers of a field that is there, 1.0 as 1. Raises QueryError for anything else."""
    value = fields[name]
    form = "an array of whole numbers expected"
    if not isinstance(value, list):
        raise QueryError(name, form + _not(value))
    for one in value:
        if not (type(one) is int or (isinstance(one, float) and one.is_integer())):
            raise QueryError(name, form + _not(one))
    return [int(one) for one in value]


def read_number(fields: Fields, name: str, low: float, high: float) -> float:
    """The number of a field, in this range. Raises QueryError for anything else, and where there is none."""
    value = fields.get(name, _MISSING)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise QueryError(name, f"a number from {low:g} to {high:g} expected{_not(value)}")
    return float(value)


def read_seconds(fields: Fields, name: str) -> float | None:
    """The seconds of a field, from 0.001 up; None where there is none. Raises QueryError for anything else."""
    return read_number(fields, name, 0.001, 1_000_000) if name in fields else None


def read_flag(fields: Fields, name: str) -> bool:
    """The truth value of a field, false where there is none. Raises QueryError for anything else."""
    value = fields.get(name, False)
    if not isinstance(value, bool):
        raise QueryError(name, f"true or false expected{_not(value)}")
    return value


def _not(value: object) -> str:
    return "" if value is _MISSING else f", not {shown(value)}"


def shown(value: object) -> str:
    """A value as errors show it, cut after 40 characters."""
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."
