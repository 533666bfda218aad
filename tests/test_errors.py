"""The line about a value that pydantic refuses, and errors between processes."""

from __future__ import annotations

import inspect
import pickle
import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError, field_validator, model_validator

from tengen.analysis.fields import QueryError
from tengen.errors import MissingExtra, RecipeError, TengenError, printable, refused_value
from tengen.evaluators.installed_networks import UnknownNetwork
from tengen.gtp.client import ProgramError
from tengen.match.failures import FailedPlayers
from tengen.match.player import PlayerError
from tengen.sgf.main_line import SgfProblem


class Inner(BaseModel):
    number: int = 0
    low: int = 0
    high: int = 1

    @field_validator("number")
    @classmethod
    def _small(cls, number: int) -> int:
        if number > 9:
            raise RecipeError(f"{number} is too large")
        if number > 5:
            raise ValueError("too large")
        return number

    @model_validator(mode="after")
    def _in_order(self) -> Inner:
        if self.low > self.high:
            raise ValueError("low must be below high")
        return self


class Outer(BaseModel):
    inner: Inner = Inner()
    table: dict[str, int] = {}


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ({"inner": {"number": "x"}}, r"inner\.number: Input should be a valid integer \(found 'x'\)"),
        ({"inner": {"number": 10}}, r"inner\.number: 10 is too large"),  # our own message names the value
        ({"inner": {"number": 6}}, r"inner\.number: too large \(found 6\)"),
        ({"inner": 5}, r"inner: Input should be keys with values, as in \{key: value\} \(found 5\)"),
        ({"table": [1]}, r"table: Input should be keys with values, as in \{key: value\} \(found \[1\]\)"),
        ({"inner": {"low": 3, "high": 2}}, r"inner: low must be below high"),  # not the whole table, most of it right
        ({"table": "x" * 10_000}, r"table: .* \(found 'x{96}\.\.\.\)"),
    ],
)
def test_refused_values(data: Any, line: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Outer.model_validate(data)
    error = refused.value.errors()[0]
    found = refused_value(error, ".".join(map(str, error["loc"])))
    assert re.fullmatch(line, found), found


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("b\x1b[2J", r"b\x1b[2J"),
        ("c\r\nd\te\x7f\x9b", r"c\r\nd\te\x7f\x9b"),
        ("\udcff\u2028", r"\udcff\u2028"),
        ("辜\u3000é\xa0\u200d😀", "辜\u3000é\xa0\u200d😀"),
    ],
)
def test_what_a_terminal_would_obey_is_escaped_and_no_letter_else(text: str, line: str) -> None:
    assert printable(text) == printable(line) == line


def test_a_file_that_is_no_json_is_not_repeated() -> None:
    with pytest.raises(ValidationError) as refused:
        Outer.model_validate_json(b"[" * 1000)
    assert "[[" not in refused_value(refused.value.errors()[0])


def below(error: type[TengenError]) -> Iterator[type[TengenError]]:
    yield error
    for further in error.__subclasses__():
        yield from below(further)


ARGUMENTS: dict[type[TengenError], tuple[Any, ...]] = {
    MissingExtra: ("training", "train"),
    QueryError: ("komi", "not a number"),
    UnknownNetwork: ("unknown network", "nosuchnet"),
    ProgramError: ("gnugo", "died", "it ended", ("one", "two")),
    FailedPlayers: ({"a": "died"}, 3, {"games": 2}),
    PlayerError: ("nosuchnet", "no such network"),
    SgfProblem: ("unknown move", "B[??]"),
}


@pytest.mark.parametrize("kind", [kind for kind in below(TengenError) if kind.__module__.startswith("tengen.")])
def test_errors_survive_pickling(kind: type[TengenError]) -> None:
    assert kind in ARGUMENTS or "__init__" not in vars(kind), f"give arguments: {inspect.signature(kind)}"
    error = kind(*ARGUMENTS.get(kind, ("a message",)))
    error.add_note("a note")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        copy = pickle.loads(pickle.dumps(error, protocol))
        assert (type(copy), str(copy), copy.args, vars(copy)) == (kind, str(error), error.args, vars(error))
