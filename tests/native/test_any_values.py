"""Arbitrary Python values at every native function: no crash, clear errors, nothing out of range accepted.

What there is to call comes from the stub of the module, so that new functions are tried as soon as they are there.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from native_calls import Call, Caller

from tengen import _native
from tengen.coords import MAX_SIZE

STUB = Path(_native.__file__).with_name("_native.pyi")
# UnicodeDecodeError: the message about a file whose name is not UTF-8.
CLEAR = {"TypeError", "ValueError", "IndexError", "MemoryError", "RuntimeError", "UnicodeDecodeError"}
NAMES = [*_native.rule_names(), *_native.plane_set_names(), *_native.playout_policies(), "puct", "uct", "rave"]
NAMES += [*_native.pass_policies(), *_native.dead_stone_rules()]
# Where more means more work and any number is right, only small ones are tried.
WORK = {"playouts", "simulations", "seconds", "slots"}
POINTS = range(0, 19 * 19 + 1)  # pass included
# What the numbers of these names may be; anything else must be refused.
RANGES: dict[str, range] = {
    "size": range(2, MAX_SIZE + 1),
    "color": range(3),
    "symmetry": range(8),
    "playouts": range(1, 1 << 31),
    "threads": range(1, 1025),
    **dict.fromkeys(("point", "stone", "dead", "stones", "allow", "avoid"), POINTS),
}
# These answer questions about any number.
ANY_NUMBER = {("Game", "legality", "point"), ("GameColumns", "__init__", "size")}


class Parameter(NamedTuple):
    name: str
    annotation: str
    optional: bool


class Function(NamedTuple):
    owner: str
    name: str
    parameters: list[Parameter]


def read_stub() -> Iterator[Function]:
    """All functions, methods, constructors and properties of the stub."""
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            yield Function("", node.name, parameters(node))
        for member in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(member, ast.FunctionDef):
                decorators = {ast.unparse(decorator) for decorator in member.decorator_list} - {"staticmethod"}
                prefix = "get " if "property" in decorators else "set " if decorators else ""
                yield Function(node.name, prefix + member.name, parameters(member, member.name if prefix else ""))


def parameters(node: ast.FunctionDef, named: str = "") -> list[Parameter]:
    """The parameters without self; the one of a property goes by the property's name."""
    places = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    required = len(places) - len(node.args.defaults)
    return [
        Parameter(named or place.arg, ast.unparse(place.annotation), index >= required)
        for index, place in enumerate(places)
        if place.annotation
    ]


FUNCTIONS = list(read_stub())
OWNERS = list(dict.fromkeys(function.owner for function in FUNCTIONS))
CLASSES = {owner for owner in OWNERS if owner}

HUGE = [1 << bits for bits in (15, 16, 31, 32, 63, 64, 100)]
numbers = st.one_of(st.integers(-3, 25), st.integers(-3, 400), st.sampled_from([*HUGE, *(-n for n in HUGE)]))
strange_floats = st.sampled_from([math.nan, math.inf, -math.inf, 1e38, -1e39, 1e308, -0.0, 1e-45])
floats = st.one_of(st.integers(-20, 20).map(lambda n: n / 2), strange_floats)
texts = st.one_of(st.sampled_from([*NAMES, "ko=simple,suicide=true"]), st.text(max_size=12))
junk = st.one_of(st.none(), numbers, floats, texts, st.binary(max_size=4), st.lists(numbers, max_size=3), st.just({}))
rows, edges = st.shared(st.integers(0, 3), key="rows"), st.shared(st.sampled_from([5, 9, 19]), key="edge")


def rarely(usual: SearchStrategy[Any], odd: SearchStrategy[Any], one_in: int = 25) -> SearchStrategy[Any]:
    return st.integers(1, one_in).flatmap(lambda n: odd if n == one_in else usual)


def values(name: str, annotation: str) -> SearchStrategy[Any]:
    """Values for a parameter: mostly of its type, of any size; now and then anything at all."""
    if annotation in CLASSES:
        return rarely(st.just({"object": annotation}), junk)
    if annotation.endswith(" | None"):
        return st.one_of(st.none(), values(name, annotation.removesuffix(" | None")))
    if " | " in annotation and "[" not in annotation:
        return st.one_of([values(name, part) for part in annotation.split(" | ")])
    if annotation.startswith("Sequence["):
        items = values(name, annotation.removeprefix("Sequence[").removesuffix("]"))
        return rarely(st.lists(items, max_size=3), junk)
    if annotation.startswith("Annotated[NDArray"):
        return rarely(arrays(name, annotation), junk)
    if name in WORK:
        return rarely(st.integers(-2, 40), st.sampled_from([None, -(1 << 40), "2", math.nan]))
    plain = {"int": numbers, "float": floats, "bool": st.booleans(), "str": texts, "bytes": st.binary(max_size=64)}
    usual = plain.get(annotation, junk)  # junk alone reaches little: a new kind of parameter deserves values here
    return rarely(usual, junk)


def arrays(name: str, annotation: str) -> SearchStrategy[Any]:
    """Arrays of the type and number of axes that are asked for, mostly of shapes that fit each other."""
    dtype = annotation.removeprefix("Annotated[NDArray[numpy.").partition("]")[0]
    axes = annotation.partition("shape=(")[2].partition(")")[0].count("None")
    planes, scalars = map(len, _native.plane_set("tengen"))
    items = floats if dtype.startswith("float") else st.booleans() if dtype == "bool_" else integers_of(dtype)

    def shape(row: int, edge: int) -> list[int]:
        if name in ("policy", "target", "reply") and axes == 2:
            return [row, edge * edge + 1]
        if name.endswith("offsets"):
            return [row + 1]
        if name in ("planes", "mask", "ownership", "scalars"):
            inner = {"planes": [planes, edge, edge], "scalars": [scalars]}.get(name, [edge, edge])
            return ([row] * axes + inner)[-axes:]
        return [row] * axes

    shapes = st.builds(shape, rows, edges)
    if name in ("moves", "codes", "black_stones", "white_stones", "black_setup", "white_setup"):
        shapes = st.lists(st.integers(0, 30), min_size=1, max_size=1)
    odd = st.lists(st.integers(0, 6), min_size=axes, max_size=axes)
    contents = st.lists(items, min_size=1, max_size=6)
    return st.builds(
        lambda shape, contents: {"array": dtype.removesuffix("_"), "shape": shape, "values": contents},
        rarely(shapes, odd, 40),
        contents,
    )


def integers_of(dtype: str) -> SearchStrategy[int]:
    bits = int(dtype.strip("uint"))
    low, high = (0, (1 << bits) - 1) if dtype.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)
    small = st.integers(max(low, -3), min(high, 25))
    return st.one_of(small, small, st.sampled_from([low, high, *(n for n in (81, 82, 361, 362, 1 << 15) if n <= high)]))


def calls_of(function: Function) -> SearchStrategy[Call]:
    required = {p.name: values(p.name, p.annotation) for p in function.parameters if not p.optional}
    optional = {p.name: values(p.name, p.annotation) for p in function.parameters if p.optional}
    arguments = st.fixed_dictionaries(required, optional=optional)
    return arguments.map(lambda given: Call(function.owner, function.name, given))


def out_of_range(call: Call) -> list[str]:
    """The numbers of a call that it must not accept; settings are judged together, by the search that gets them."""
    found: list[str] = []
    if call.owner == "SearchParams":
        return found
    for name, value in call.arguments.items():
        if name not in RANGES or (call.owner, call.name, name) in ANY_NUMBER:
            continue
        for number in value if isinstance(value, list) else [value]:
            if isinstance(number, int) and not isinstance(number, bool) and number not in RANGES[name]:
                found.append(f"{name} {number}")
    return found


@pytest.fixture(scope="module")
def caller() -> Iterator[Caller]:
    caller = Caller()
    yield caller
    caller.close()


@pytest.mark.parametrize(
    "owner",
    [pytest.param(owner, marks=[pytest.mark.slow] * (owner == "GameColumns")) for owner in OWNERS],
    ids=lambda owner: owner or "functions",
)
def test_any_values(owner: str, caller: Caller) -> None:
    members = [calls_of(function) for function in FUNCTIONS if function.owner == owner]
    helpers = [calls_of(function) for function in FUNCTIONS if function.owner in CLASSES - {owner}]
    anything = st.one_of(st.sampled_from(members).flatmap(lambda call: call),
                         st.sampled_from(members).flatmap(lambda call: call),
                         st.sampled_from(helpers).flatmap(lambda call: call))  # fmt: skip

    @settings(max_examples=60)
    @given(calls=st.lists(anything, min_size=1, max_size=8))
    def try_out(calls: list[Call]) -> None:
        for call, (error, message) in zip(calls, caller.run(calls), strict=True):
            assert error in ("", *CLEAR), f"{call} raised {error}: {message}"
            assert not error or (message and not message.startswith(("std::", "vector::", "basic_"))), (
                f"{call}: {message!r}"
            )
            assert error or not out_of_range(call), f"{call} accepted {out_of_range(call)}"

    try_out()


def test_everything_can_be_called(caller: Caller) -> None:
    """A crash is told with the calls that led to it, and there is an object of every class to call methods of."""
    for owner in CLASSES:
        assert caller.run([Call(owner, "get __class__", {})]) == [("", "")], f"defaults lacks {owner}"
    assert len(FUNCTIONS) > 100
