"""The description of a player: a word of a command line or a mapping in YAML, checked before anything starts."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator

from tengen.disk import expand_home
from tengen.engine.clock import TimeControl, parse_seconds
from tengen.engine.params import PassPolicy, SearchParams, playout_params, set_params
from tengen.engine.style import Style
from tengen.errors import RecipeError, refused_value, unknown_name
from tengen.machine import Device, Precision
from tengen.match.names import command_words, default_name, network_name, program_identity
from tengen.match.player import Player
from tengen.plugins import Registry

Kind = Literal["random", "playouts", "policy", "raw", "network", "program", "plugin"]

VISITS: dict[Kind, int] = {"network": 400, "playouts": 1000}
"""Default visits of players that search."""

_PREFIXES: dict[str, Kind] = {"policy": "policy", "raw": "raw", "gtp": "program"}
PLAYERS: Registry[Callable[[PlayerSpec, int], Player]] = Registry(
    "player", "tengen.players", {}, RecipeError, reserved=("random", "playouts", *_PREFIXES), forbidden=":=@/"
)
"""Players of other packages. The word `NAME` or `NAME:REST` opens `PLAYERS[NAME](spec, games)`, where `spec.subject` is
REST and `games` is the number of games at once. NAME is none of Tengen's own words (random, playouts, policy, raw, gtp)
and has none of the characters : = @ /."""


def check_registered(names: Iterable[str]) -> None:
    """Raise RecipeError for a player that the process of the match has registered, and this one, a worker, has not."""
    for name in names:
        if name not in PLAYERS:
            raise RecipeError(
                f"the player {name!r} was registered in the process of the match, and a worker knows it only where the "
                "import of the script registers it too: play the match with InBatch(), or give the player an entry "
                "point"
            )


WEIGHTS = "linear:"
"""What stands before the name or file of a playout policy."""
_NAME = re.compile(r"(?P<name>[^:=@/]+)=(?P<word>.*)", re.DOTALL)
_LIMITS = ("visits", "seconds", "time")
_NETWORK = frozenset({"threads", "device", "precision"})
_SEARCH = frozenset({*_LIMITS, "diversity", "preset", "search", "threads", "pass_policy", "temperature"})
_TAKES: dict[Kind, frozenset[str]] = {
    "random": frozenset({"time"}),
    "playouts": _SEARCH,
    "policy": _NETWORK | {"time", "symmetries", "pass_policy", "temperature", "style"},
    "raw": _NETWORK | {"time"},
    "network": _SEARCH | _NETWORK | {"batch", "symmetries", "style"},
    "program": frozenset({"seconds", "time", "move_seconds", "startup_seconds"}),
    "plugin": frozenset({*_LIMITS, "temperature", "threads"}),
}
_ENGINE_ONLY = ("batch", "seconds", "diversity", "symmetries", "style")  # fields that need pass_policy = engine


class PlayerSpec(BaseModel):
    """A player and its limits. Raises ValidationError for values out of range; `parse` and `of` raise RecipeError.

    `player` is one of: `random`, any legal move but own eyes; `playouts` or `playouts:POLICY`, a search without a
    network; `policy:NETWORK`, the best move of a network without search; `raw:NETWORK`, the same with the first move
    drawn from the policy, passes where the policy passes; `gtp:COMMAND LINE`; a player of another package (`PLAYERS`);
    or the name or file of a network, which searches.

    The first of `visits`, `seconds` (a move) and `time` (a control as `TimeControl.parse` reads it) that is reached
    ends a search. The defaults are 400 visits for a network and 1,000 for playouts. A GTP program is sent `seconds` or
    `time`; every player can be held to a `time`. `diversity` plays the second move half of the time when it has more
    than half of the best one's visits (the rule of the mobile networks' tournament, Cazenave 2020). With `symmetries` a
    network sees each position under a symmetry drawn from the seed of the game. `batch` positions of a search are
    evaluated at once, by default as many as in `load_engine`; 1 is strongest at equal visits.

    `pass_policy` decides when to pass and resign:

    - `engine`: the engine, by the rules of the game (docs/reference/rules.md). It also resigns, and stops a search when
      no other move can overtake. The default of networks, playouts and `policy`.
    - `free`: the search or policy; exact visits, no resignation. The next two are the same with fewer passes.
    - `no-useful-move`: passes only when nothing is left but own true eyes and, unless the match counts no stone as
      dead, pass-alive area.
    - `no-legal-move`: passes only when no other move is legal.

    `temperature` draws the move: by probability ** (1 / temperature) for `policy`, by visits ** (1 / temperature) for a
    search, which must then not pass by the `engine`. `style` has fields of `tengen.engine.Style` by name, such as
    `mean_loss`, which gives points away. `preset` and `search` change the search
    (docs/reference/search.md), `threads` are the player's own, `device` and `precision` are those of
    `load_evaluator`. A program has `startup_seconds` for each command before its first move and, unless it has a clock,
    `move_seconds` for all commands of a move.

    `name` is the player's name in a match, made from the other fields where it is not given.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, ignored_types=(cached_property,))

    player: str
    seconds: float | None = Field(None, gt=0)
    time: str | None = None
    visits: int | None = Field(None, ge=1, validate_default=True)
    diversity: bool = False
    symmetries: bool = False
    batch: int | None = Field(None, ge=1, le=1024)
    preset: str | None = None
    search: dict[str, str | int | float | bool] = {}
    style: dict[str, int | float | bool] = {}
    temperature: float = Field(0.0, ge=0, le=100)
    pass_policy: PassPolicy | Literal["engine"] = "engine"
    precision: Precision = "auto"
    name: str = Field("", validate_default=True)
    threads: int = Field(1, ge=1)
    device: Device = "auto"
    move_seconds: float = Field(180.0, gt=0)
    startup_seconds: float = Field(60.0, gt=0)

    @classmethod
    def parse(cls, word: str, defaults: Mapping[str, Any] | None = None) -> PlayerSpec:
        """The player of one argument `[NAME=]PLAYER[@LIMIT]`; RecipeError says what is wrong with it.

        LIMIT is `400` (visits), `2s` (a move) or a time control such as `10m+5x30s`. `defaults` are fields for a player
        that can use them and does not say otherwise: visits, seconds and time where it has no limit of its own (seconds
        not for a program, which has settings of its own).
        """
        try:
            spec = cls.of(_fields(word), defaults)
            if spec.kind == "network" and " " in spec.subject and network_name(spec.subject) == spec.subject:
                raise RecipeError(f"no network has such a name; a GTP program is written gtp:{spec.subject}")
            return spec
        except RecipeError as error:
            raise RecipeError(f"player {word!r}: {error}") from error

    @classmethod
    def of(cls, line: str | Mapping[str, Any], defaults: Mapping[str, Any] | None = None) -> PlayerSpec:
        """The player of a line of YAML: a word as `parse` reads it, or a mapping of the fields."""
        if isinstance(line, str):
            return cls.parse(line, defaults)
        fields = dict(line)
        player = fields.get("player")
        if not isinstance(player, str):
            raise RecipeError(f"a player needs the field player, such as 'player: default', in {fields}")
        kind = _split(player)[0]
        limited = any(fields.get(name) is not None for name in _LIMITS)
        for name, value in (defaults or {}).items():
            bounds = name in _LIMITS and (limited or (kind, name) == ("program", "seconds"))
            if name in _TAKES[kind] and not bounds:
                fields.setdefault(name, value)
        try:
            return cls(**fields)
        except ValidationError as error:
            raise RecipeError(_explain(error)) from error

    @property
    def kind(self) -> Kind:
        return _split(self.player)[0]

    @property
    def is_named(self) -> bool:
        """Whether the name is not the default one."""
        return self.name != default_name(self.kind, self.subject, self.model_dump())

    @property
    def subject(self) -> str:
        """The network, the policy of the playouts, the command line or what follows a plugin's name."""
        return _split(self.player)[1]

    @property
    def has_network(self) -> bool:
        """Whether `subject` is a network."""
        return self.kind in ("network", "policy", "raw")

    @property
    def plugin(self) -> str:
        """The name in `PLAYERS` of a player of kind `plugin`."""
        return self.player.partition(":")[0]

    @cached_property
    def play_style(self) -> Style:
        """How the engine chooses the move, for `pass_policy = engine`."""
        given: dict[str, Any] = {"policy_temperature": self.temperature or None, **self.style}
        return Style(**given)

    @cached_property
    def control(self) -> TimeControl | None:
        """The time of a game, if the player is held to one."""
        return None if self.time is None else TimeControl.parse(self.time)

    @cached_property
    def params(self) -> SearchParams:
        """The settings of its search."""
        if self.preset is not None:
            params = SearchParams.preset(self.preset)
        else:
            params = playout_params(self.subject) if self.kind == "playouts" else SearchParams()
        changed = {"diversity": 0.5} if self.diversity else {}
        return set_params(params, {**changed, **self.search})

    @field_validator("player")
    @classmethod
    def _check_player(cls, player: str) -> str:
        kind, subject = _split(player)
        if kind == "program":
            command_words(subject)
        elif not subject and kind not in ("random", "plugin"):
            raise ValueError(f"{player!r} names no player")
        elif kind == "playouts" and (number := re.search(r"\d+$", subject)) and not subject.startswith(WEIGHTS):
            raise ValueError(f"{player!r} is not a policy of playouts: visits follow an @, as in playouts@{number[0]}")
        elif "@" in player and _limit(player.rpartition("@")[2]):
            raise ValueError(f"{player!r} contains a limit: with other fields write it as visits, seconds or time")
        return player

    @field_validator("time")
    @classmethod
    def _read_time(cls, time: str | None) -> str | None:
        return None if time is None else str(TimeControl.parse(time))

    @field_validator("visits")
    @classmethod
    def _default_visits(cls, visits: int | None, info: ValidationInfo) -> int | None:
        found = info.data
        if visits is None and "player" in found and not found.get("seconds") and not found.get("time"):
            return VISITS.get(_split(found["player"])[0])
        return visits

    @field_validator("pass_policy", mode="before")
    @classmethod
    def _check_pass_policy(cls, pass_policy: Any) -> Any:
        known = ("engine", *get_args(PassPolicy))
        if pass_policy not in known:
            raise RecipeError(unknown_name("pass policy", str(pass_policy), known))
        return pass_policy

    @field_validator("style")
    @classmethod
    def _check_style(cls, style: dict[str, Any]) -> dict[str, Any]:
        known = [field.name for field in fields(Style)]
        for name in style:
            if name not in known:
                raise RecipeError(unknown_name("field of a style", name, known))
        Style(**style)
        return style

    @field_validator("name")
    @classmethod
    def _read_name(cls, name: str, info: ValidationInfo) -> str:
        name = name.strip()
        if name == "playouts":
            raise ValueError("the name 'playouts' is reserved for the referee's count; write playouts@400")
        if not name.isprintable():
            raise ValueError(f"{name!r} cannot be a player's name: use printable characters")
        needed = {"player", "seconds", "time", "visits", "pass_policy", "temperature", "style", "precision"}
        whole = needed <= info.data.keys()
        return name or (default_name(*_split(info.data["player"]), info.data) if whole else "")

    @model_validator(mode="after")
    def _check_fields(self) -> PlayerSpec:
        fields = type(self).model_fields
        for field in sorted(frozenset().union(*_TAKES.values()) - _TAKES[self.kind]):
            if getattr(self, field) != fields[field].default:
                raise ValueError(
                    f"{self.player} does not take {field}; it takes {', '.join(sorted(_TAKES[self.kind]))}"
                )
        if self.kind in VISITS:
            _ = self.params
        if self.pass_policy == "engine":
            if self.temperature and self.kind in VISITS:
                raise ValueError(f"{self.player}: temperature needs another pass_policy than engine")
            if self.temperature and "policy_temperature" in self.style:
                raise ValueError(f"{self.player}: temperature and style.policy_temperature are the same: give one")
            return self
        for field in _ENGINE_ONLY:
            if getattr(self, field):
                raise ValueError(f"{self.player}: {field} needs pass_policy = engine, not {self.pass_policy}")
        if self.kind in VISITS and (self.visits or 0) < 2:
            raise ValueError(f"{self.player}: pass_policy = {self.pass_policy} needs 2 visits or more")
        return self


def distinct(specs: Sequence[PlayerSpec]) -> tuple[PlayerSpec, ...]:
    """The same players under distinct names: equal default names are numbered.

    Raises RecipeError when two players were given one name.
    """
    given = Counter(spec.name for spec in specs if spec.is_named)
    if clash := next((name for name, count in given.items() if count > 1), None):
        raise RecipeError(f"two players are called {clash!r}: give each a name of its own, as in NAME=PLAYER")
    taken = set(given)
    named = []
    for spec in specs:
        name, number = spec.name, 1
        while name in taken and not spec.is_named:
            number += 1
            name = f"{spec.name} ({number})"
        taken.add(name)
        named.append(spec.model_copy(update={"name": name}))
    return tuple(named)


def _fields(word: str) -> dict[str, Any]:
    """The fields of one argument."""
    fields: dict[str, Any] = {}
    if found := _NAME.fullmatch(word):
        fields["name"], word = found["name"], found["word"]
        if not fields["name"].strip():
            raise RecipeError("the name before = is empty")
    word = expand_home(word)  # the command line leaves a ~ behind a name with spaces
    player, at, tail = word.rpartition("@")
    limit = _limit(tail)
    # The text after the last @ of a command line is a limit only if it looks like one: it may be part of an address.
    # So it may be part of the name of a file.
    is_program = word.startswith("gtp:") and not re.fullmatch(r"\d\S*", tail)
    if not at or is_program or (limit is None and os.path.isfile(_split(word)[1])):
        return {**fields, "player": word}
    if limit is None:
        raise RecipeError(f"{tail!r} is not a limit: write @400 (visits), @2s (a move) or a time such as @10m+5x30s")
    return {**fields, "player": player, **limit}


def _limit(text: str) -> dict[str, Any] | None:
    """The field of a limit; None where the text does not look like one."""
    if text.isascii() and text.isdecimal():
        return {"visits": int(text)}
    if "+" in text and text[0].isdigit():
        return {"time": text}
    seconds = parse_seconds(text)
    return None if seconds is None else {"seconds": seconds}


def _split(player: str) -> tuple[Kind, str]:
    """The kind of a player and what follows the colon."""
    word, colon, rest = player.partition(":")
    if player == "random":
        return "random", ""
    if word in PLAYERS:
        return "plugin", rest
    if word == "playouts":
        return "playouts", rest if colon else "local"
    if colon and word in _PREFIXES:
        return _PREFIXES[word], rest
    return "network", player


def fields_taken(player: str) -> frozenset[str]:
    """The fields beside `player` and `name` that a player of this word takes."""
    return _TAKES[_split(player)[0]]


def identity(player: str, digest: str | None) -> str:
    """The player of a word, independent of its spelling; `digest` is that of its network file, where it is known."""
    kind, subject = _split(player)
    if digest is not None:
        return f"{kind} {digest}"
    return program_identity(subject) if kind == "program" else player


def _explain(error: ValidationError) -> str:
    """The first error, in one line."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][:1])
    if first["type"] == "extra_forbidden":
        return unknown_name("field", where, PlayerSpec.model_fields)
    return refused_value(first, "" if where in ("player", "name", "time") else where)
