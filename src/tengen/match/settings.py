"""A match as it is asked for: players, schedule, conditions and length."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from tengen.disk import file_name
from tengen.errors import RecipeError, unknown_name
from tengen.evaluators.installed_networks import find_network, find_network_on
from tengen.evaluators.playout_file import find_playout
from tengen.gtp.process import find_program
from tengen.machine import split_command_line
from tengen.match.conditions import Conditions
from tengen.match.length import games_enough, games_left
from tengen.match.openings import list_path, opening_files
from tengen.match.outcome import Outcome
from tengen.match.schedule import Pairing, Schedule
from tengen.match.spec import PLAYERS, WEIGHTS, PlayerSpec, distinct
from tengen.match.sprt import Sprt

_GAMES = 60  # of a pairing, by default
_SPRT_GAMES = 20_000  # by default: 60 games cannot accept elo1 of a test of 0 against 20, even if all are won
_WRITTEN = (".log", ".sgf", ".out")  # suffixes of files in command lines that a program rather writes than reads
MAX_GAMES = 1_000_000  # of a pairing: more than a score within 0.1 points needs

FindNetwork: TypeAlias = Callable[[str], Path]


class MatchSettings(BaseModel):
    """The players, schedule, conditions and length of a match.

    `players` are words or mappings as `PlayerSpec.of` reads them, and `defaults` are the fields of those that do not
    say otherwise. `games` are those of each pairing, half of them with each color. Two players meet head to head and
    more in a round robin unless `schedule` says otherwise. With `sprt` a match of two ends as soon as the test is
    decided, or after all games. With `within` a pairing ends as soon as both ends of the 95% interval of its score lie
    within that many percentage points of the score, or after all its games. `name` is the default name of the folder.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, ignored_types=(cached_property,))

    name: Annotated[str, AfterValidator(file_name)] = "match"
    defaults: dict[str, Any] = {}
    players: tuple[PlayerSpec, ...]
    schedule: Schedule = Field(None, validate_default=True)
    within: float | None = Field(None, ge=0.1, lt=50)
    sprt: Sprt | None = None
    games: int = Field(None, ge=2, le=MAX_GAMES, validate_default=True)
    conditions: Conditions = Conditions()

    @classmethod
    def of(cls, *players: str | Mapping[str, Any] | PlayerSpec, **fields: Any) -> MatchSettings:
        """A match of these players, whatever form they have; raises ValidationError for invalid ones."""
        return cls.model_validate({"players": players, **fields})

    @field_validator("defaults")
    @classmethod
    def _check_defaults(cls, defaults: dict[str, Any]) -> dict[str, Any]:
        known = [field for field in PlayerSpec.model_fields if field not in ("player", "name")]
        for field in defaults:
            if field not in known:
                raise RecipeError(unknown_name("field of players in defaults:", field, known))
        return defaults

    @field_validator("players", mode="before")
    @classmethod
    def _read_players(cls, players: Any, info: ValidationInfo) -> Any:
        if not isinstance(players, Sequence) or isinstance(players, str) or len(players) < 2:
            raise RecipeError(f"a match needs a list of two players or more, not {players!r}")
        read = []
        for i, line in enumerate(players):
            if not isinstance(line, str | dict | PlayerSpec):
                raise RecipeError(f"player {i + 1} is {line!r}: write a word such as default@400, or fields")
            try:
                read.append(line if isinstance(line, PlayerSpec) else PlayerSpec.of(line, info.data.get("defaults")))
            except RecipeError as error:
                if isinstance(line, str):  # it names the word
                    raise
                name = f" ({line['name']})" if isinstance(line, dict) and line.get("name") else ""
                raise RecipeError(f"player {i + 1}{name}: {error}") from error
        return distinct(read)

    @field_validator("schedule", mode="before")
    @classmethod
    def _default_schedule(cls, schedule: Any, info: ValidationInfo) -> Any:
        """A word stands for a schedule of its kind."""
        if schedule is None or (isinstance(schedule, dict) and "kind" not in schedule):
            kind = "head-to-head" if len(info.data.get("players", ())) == 2 else "round-robin"
            schedule = {"kind": kind, **(schedule or {})}
        if isinstance(schedule, dict):
            for field, kind in (("anchors", "gauntlet"), ("back", "ladder")):
                if field in schedule and schedule["kind"] != kind:
                    raise RecipeError(f"{field} {schedule[field]} is for a {kind}, not for a {schedule['kind']}")
        return {"kind": schedule} if isinstance(schedule, str) else schedule

    @field_validator("games", mode="before")
    @classmethod
    def _default_games(cls, games: Any, info: ValidationInfo) -> Any:
        """By default as many as `within` may need, or enough that few tests stay undecided."""
        if games is not None:
            return games
        if (within := info.data.get("within")) is not None:
            return games_enough(within)
        return _GAMES if info.data.get("sprt") is None else _SPRT_GAMES

    @field_validator("games")
    @classmethod
    def _check_even_games(cls, games: int) -> int:
        if games % 2:
            raise RecipeError(f"games must be an even number, not {games}: both players take each color")
        return games

    @field_validator("sprt", mode="before")
    @classmethod
    def _check_sprt_hypotheses(cls, sprt: Any) -> Any:
        """Error probabilities need the hypotheses of a test."""
        if isinstance(sprt, dict) and sprt and set(sprt) <= {"alpha", "beta"}:
            given = " and ".join(f"{field} {value}" for field, value in sprt.items())
            raise RecipeError(
                f"{given} without a sequential test: alpha and beta need --sprt ELO0,ELO1, or elo0 and elo1"
            )
        return sprt

    @model_validator(mode="after")
    def _check_match(self) -> Self:
        if len(self.pairings) > 1 and self.sprt is not None:
            raise RecipeError(f"a sequential test is for two players, not for a {self.schedule.kind} of more")
        if self.sprt is not None and self.within is not None:
            raise RecipeError("a match ends by sprt (which player is stronger) or by within (by how much), not by both")
        self.conditions.check_opening()
        return self

    @cached_property
    def pairings(self) -> list[Pairing]:
        """Who meets whom, by name."""
        return self.schedule.pairings([spec.name for spec in self.players])

    def indices(self) -> range:
        """The numbers of all games."""
        return range(self.games * len(self.pairings))

    def left(self, outcomes: Mapping[int, Outcome]) -> Iterator[int]:
        """The numbers of the games still to play after these, which may grow meanwhile (see `games_left`)."""
        return games_left(self.pairings, self.games, self.within, outcomes)

    @property
    def timed(self) -> bool:
        """Whether the strength of a player depends on how fast the machine is at that moment."""
        return any(spec.seconds is not None or spec.time is not None for spec in self.players)

    @property
    def without_search(self) -> bool:
        """Whether no player searches: many games side by side in one process are then fastest."""
        return all(spec.kind in ("policy", "raw", "random") for spec in self.players)

    @property
    def threads(self) -> int:
        """Cores that a game needs: the players think in turn."""
        return max(spec.threads for spec in self.players)

    def registered(self) -> list[str]:
        """The names in `PLAYERS` of players that were registered in this process: see `check_registered`."""
        return [spec.plugin for spec in self.players if spec.kind == "plugin" and PLAYERS.is_registered(spec.plugin)]

    def about(self, find: FindNetwork = find_network) -> dict[str, Any]:
        """The content of match.json; all but `games` must stay the same. `find` gives the file of a network."""
        return {
            "schedule": self.schedule.model_dump(),
            "players": [{"name": spec.name, **spec.model_dump()} for spec in self.players],
            "conditions": self.conditions.model_dump(),
            "games": self.games,
            "sprt": None if self.sprt is None else self.sprt.model_dump(),
            "within": self.within,
            "files": self._files(find),
            "program_files": self._program_files(),
        }

    def _files(self, find: FindNetwork) -> dict[str, str]:
        """The first digits of SHA-256 of all networks, playout weights and openings, so that games of others do not mix
        in."""
        paths = self.networks(find)
        if "default" in paths:
            paths["default"] = find_network_on("default", self.conditions.size)
        playouts = {spec.subject for spec in self.players if spec.kind == "playouts"}
        paths |= {name: find_playout(name.removeprefix(WEIGHTS)) for name in playouts if name.startswith(WEIGHTS)}
        found = {name: _digest([path]) for name, path in paths.items()}
        if path := self.openings():
            found[self.conditions.openings] = _digest(opening_files(path))
        return found

    def _program_files(self) -> dict[str, str]:
        """The first digits of SHA-256 of the files that the command lines of programs name: executables, scripts,
        networks, configurations. By the words of the command lines."""
        found = {}
        for spec in self.players:
            if spec.kind != "program":
                continue
            executable, *words = split_command_line(spec.subject)
            paths = {word: word for word in words if Path(word).suffix not in _WRITTEN}
            for word, path in {executable: find_program(executable), **paths}.items():
                if path is not None and os.path.isfile(path) and os.access(path, os.R_OK):
                    found[word] = _digest([Path(path)])
        return dict(sorted(found.items()))

    def networks(self, find: FindNetwork = find_network) -> dict[str, Path]:
        """The files of the networks that players and openings name, by these names."""
        networks = {spec.subject for spec in self.players if spec.has_network} - {"none", "uniform"}
        if self.conditions.opening_network is not None:
            networks.add(self.conditions.opening_network)
        return {network: find(network) for network in sorted(networks)}

    def openings(self) -> Path | None:
        """The path of the list of openings; None where openings are drawn."""
        return list_path(self.conditions.openings) if self.conditions.are_openings_listed else None


def _digest(paths: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
