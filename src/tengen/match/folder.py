"""The folder of a match: its settings, a line of JSON a finished game, and every game as SGF.

An interrupted match continues where it stopped: a game counts once its line is complete, and its SGF is written before
the line. The line ends with the SHA-256 of itself and the SGF.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from filelock import BaseFileLock
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tengen.checksums import with_digest
from tengen.disk import PARTIAL, json_text, on_disk, try_lock, write_whole
from tengen.errors import TengenError, os_reason, refused_value, unknown_name
from tengen.match.conditions import BoardSize, RuleSet
from tengen.match.outcome import Outcome
from tengen.match.schedule import Schedule
from tengen.match.sprt import Sprt
from tengen.runs.folder import difference

VERSION = 2

# A match may be made longer; all else must stay as it was.
_MAY_CHANGE = frozenset({"games"})
# What is known of programs is compared where the folder knows it too: one of an earlier version does not, and a program
# may say its version at one start and not at another.
_OF_PROGRAMS = ("program_files", "programs")
_SINCE = {"precision": "auto"}  # values of fields that players in older folders lack or have as null
_RENAMED = {"sure": "majority", "died": "crash", "nonsense": "invalid answer"}  # reasons in older folders


class PlayedRecord(NamedTuple):
    """A finished game as the folder keeps it: its outcome, and its record as SGF."""

    outcome: Outcome
    sgf: bytes


class OtherMatchError(TengenError):
    """The folder holds another match."""


class _RepeatedGame(TengenError):
    """A file of games has a number twice."""


class _Player(BaseModel):
    model_config = ConfigDict(strict=True)

    name: str


class _GameRules(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    size: BoardSize
    rules: RuleSet
    komi: float = Field(ge=-400, le=400)
    handicap: int | None = Field(None, ge=0)


class _Types(BaseModel):
    """The types of what `match.json` says. Players and conditions have further fields, of other versions too."""

    model_config = ConfigDict(strict=True)

    schedule: Schedule
    players: list[_Player]
    conditions: _GameRules
    games: int
    within: float | None = None
    sprt: Sprt | None = None
    files: dict[str, str] = {}
    program_files: dict[str, str] = {}
    programs: dict[str, str] = {}


_OUTCOME = TypeAdapter(Outcome)


@dataclass(frozen=True)
class About:
    """The content of `match.json`: players, schedule, conditions and games. A player's fields begin with `name`."""

    schedule: dict[str, Any]
    players: tuple[dict[str, Any], ...]
    conditions: dict[str, Any]
    games: int
    more: dict[str, Any]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the players, in the order of the schedule."""
        return tuple(player["name"] for player in self.players)


def read_folder(folder: Path) -> tuple[About, list[Outcome]]:
    """The match in this folder and its finished games by number. Raises TengenError when it holds none."""
    path = folder / "match.json"
    try:
        fields = _object(path.read_bytes())
        version = fields.pop("version")
        if version != VERSION:
            raise TengenError(f"{path} has version {version!r}; this Tengen knows {VERSION}")
        saved = dict(fields)
        schedule, players, conditions, games = (
            fields.pop(key) for key in ("schedule", "players", "conditions", "games")
        )
        _Types.model_validate(saved)
        about = About(schedule, tuple(map(_filled, players)), conditions, games, fields)
    except FileNotFoundError:
        raise TengenError(f"{folder} holds no match: {path.name} is missing") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise TengenError(f"{path} is not the file of a match: {_what_is_wrong(error)}") from error
    outcomes = _read_lines(folder / "games.jsonl", about.names)
    return about, [outcomes[i] for i in sorted(outcomes)]


def _filled(player: dict[str, Any]) -> dict[str, Any]:
    """The fields of a player with those that an older folder does not have."""
    return {**player, **{name: value for name, value in _SINCE.items() if player.get(name) is None}}


def record_path(folder: Path, index: int) -> Path:
    """The record of a game of the match in `folder`, by the number of the game from 0."""
    return folder / "games" / f"{index:05d}.sgf"


def remove_match(folder: Path) -> None:
    """Remove the folder of a match, its `match.json` last: what a kill leaves is still known as that match."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != "match.json":
            path.unlink()
    shutil.rmtree(folder)


class MatchFolder:
    """The folder of a match; `begin` makes it. Use it as a context manager.

    Raises TengenError for a folder of something else.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lines = folder / "games.jsonl"
        self._lock: BaseFileLock | None = None
        if (foreign := _foreign(folder)) is not None:
            raise TengenError(f"{folder} holds {foreign} but no match.json; choose another folder with --out")
        self.about: About | None = None
        self.outcomes: dict[int, Outcome] = {}
        self._read()

    def __enter__(self) -> MatchFolder:
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.release()

    def _read(self) -> None:
        if (self.folder / "match.json").exists():
            self.about, outcomes = read_folder(self.folder)
            self.outcomes.update({outcome.index: outcome for outcome in outcomes})

    def check(self, about: Mapping[str, Any]) -> None:
        """Raise OtherMatchError when the folder holds another match than this."""
        if self.about is None:
            return
        saved = {**asdict(self.about), **self.about.more}
        now = {**saved, **about}
        for key in _OF_PROGRAMS:
            known = saved.get(key, {})
            now[key] = {**known, **{name: value for name, value in now.get(key, {}).items() if name in known}}
        if found := _other_players(saved["players"], now["players"]) or _other_settings(saved, now):
            raise OtherMatchError(
                f"{self.folder} holds a match {found}; choose another folder with --out, or the same settings to "
                "continue"
            )

    def begin(self, about: Mapping[str, Any]) -> None:
        """Make the folder and write match.json; nothing is written before.

        The folder is locked and read once more, so that games of another process since the first look count. Raises
        TengenError where another process plays this match.
        """
        (self.folder / "games").mkdir(parents=True, exist_ok=True)
        self._lock = try_lock(self.folder / ".lock")
        if self._lock is None:
            raise TengenError(f"{self.folder}: another process plays this match; wait for it or end it")
        self._read()
        self.check(about)
        known = {} if self.about is None else self.about.more
        about = {**about, **{key: known[key] for key in _OF_PROGRAMS if key in known}}
        _write(self.folder / "match.json", json_text({"version": VERSION, **about}, indent=2).encode() + b"\n")
        if self._lines.exists():
            complete = self._lines.read_bytes()
            _write(self._lines, complete[: complete.rfind(b"\n") + 1])

    def add(self, played: Iterable[PlayedRecord]) -> None:
        """Write finished games: the records first, then all lines at once."""
        lines = []
        for outcome, sgf in played:
            _write(record_path(self.folder, outcome.index), sgf)
            lines.append(with_digest(json_text(asdict(outcome)).encode(), sgf) + b"\n")
            self.outcomes[outcome.index] = outcome
        with on_disk(self._lines), self._lines.open("ab") as file:
            file.write(b"".join(lines))

    def finish(self, figures: dict[str, Any]) -> None:
        """Write the figures of the whole match to summary.json."""
        _write(self.folder / "summary.json", json_text(figures, indent=2).encode() + b"\n")


def _other_players(before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> str | None:
    """Which players a match has instead of those now, as words after `a match`; None where their names are the same."""
    names, new_names = ([str(player["name"]) for player in players] for players in (before, now))
    changes = [f"{name} is missing" for name in names if name not in new_names]
    changes += [f"{name} is new" for name in new_names if name not in names]
    if changes:
        return f"of other players: {', '.join(changes)}"
    return None if names == new_names else f"of the same players in another order: {', '.join(names)}"


def _other_settings(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """The first setting that differs, as words after `a match`; None where none does. The players have equal names."""
    if found := difference(before, now, _MAY_CHANGE | {"players", "program_files"}):
        return f"with {found}"
    for word, digest in before.get("program_files", {}).items():
        if now["program_files"].get(word) != digest:
            return f"of a program whose file {word} has changed since"
    for was, is_now in zip(before["players"], now["players"], strict=True):
        if found := difference(was, is_now):
            return f"in which {is_now['name']} has {found}"
    return None


def _foreign(folder: Path) -> str | None:
    """What a match would overwrite, or what belongs to something else, in a folder without a match."""
    if (folder / "match.json").exists():
        return None
    if (other := next(folder.glob("*/match.json"), None)) is not None:
        return f"the match {other.parent.name}"
    ours = ("games", f"match.json{PARTIAL}")  # of a match that ended as it began
    for path in sorted(folder.iterdir()) if folder.exists() else ():
        if not path.name.startswith(".") and not (path.name in ours and not (path.is_dir() and any(path.iterdir()))):
            return path.name
    return None


def _read_lines(path: Path, players: Sequence[str]) -> dict[int, Outcome]:
    """The finished games of these players by number, without a line that was cut off while it was written."""
    if not path.exists():
        return {}
    text = path.read_bytes()
    outcomes = {}
    for number, line in enumerate(text[: text.rfind(b"\n") + 1].splitlines(), 1):
        try:
            row = _object(line)
            row.pop("sha256", None)
            row |= {"reason": _RENAMED.get(row["reason"], row["reason"]), "last_words": tuple(row["last_words"])}
            outcome = _OUTCOME.validate_python(vars(Outcome(**row)))
            for name in (outcome.black, outcome.white):
                if name not in players:
                    raise TengenError(unknown_name("player", name, players))
            if outcome.index in outcomes:
                raise _RepeatedGame(
                    f"{path}, line {number} is game {outcome.index} a second time: remove one of the two"
                )
            outcomes[outcome.index] = outcome
        except _RepeatedGame:
            raise
        except (TengenError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise TengenError(
                f"{path}, line {number} is not a game of a match ({_what_is_wrong(error)}): remove it, and the game is "
                "played again"
            ) from error
    return outcomes


def _object(text: bytes) -> dict[str, Any]:
    """The fields of a JSON object. Raises ValueError for text that is no JSON, or RecursionError, and TypeError for
    other values."""
    fields = json.loads(text)
    if not isinstance(fields, dict):
        raise TypeError(fields)
    return fields


def _what_is_wrong(error: Exception) -> str:
    match error:
        case OSError():
            return os_reason(error).lower()
        case ValidationError():
            found = error.errors()[0]
            return refused_value(found, ".".join(map(str, found["loc"])))
        case TengenError():
            return str(error)
        case ValueError() | RecursionError():
            return f"no JSON, {error}"
        case KeyError():
            return f"it has no field {error.args[0]!r}"
        case _:
            return "it is no JSON object, or has other fields"


def _write(path: Path, content: bytes) -> None:
    """Write a whole file or nothing, without waiting for the disk: there are many a second."""
    with write_whole(path, durable=False) as temporary:
        temporary.write_bytes(content)
