"""The default names of players, made from the other fields of their descriptions, and what numbered names stand for."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from tengen.formats import KATAGO_SUFFIXES
from tengen.gtp.process import find_program
from tengen.machine import split_command_line

_PASSES = {"free": "passes freely", "no-useful-move": "passes last", "no-legal-move": "passes when forced"}
_USUAL = re.compile(r"--mode[ =]gtp|--chinese-rules")  # GNU Go's options in a match under area scoring
_NUMBERED = re.compile(r"(.+) \(\d+\)")
_MAX_NAME = 60  # characters


def default_name(kind: str, subject: str, fields: Mapping[str, Any]) -> str:
    """A name made from the fields of a `PlayerSpec`, short enough for a table; see its `kind` and `subject`."""
    match kind:
        case "random":
            who = "random"
        case "playouts":
            who = "playouts" if subject == "local" else f"playouts ({subject})"
        case "program":
            who = program_name(subject)
        case "plugin":
            who = fields["player"]
        case _:
            who = network_name(subject)
    pass_policy, temperature = fields["pass_policy"], fields["temperature"]
    parts = [who]
    if kind == "raw":
        parts.append("raw policy, first move drawn")
    elif kind == "policy":
        parts.append("policy" if pass_policy == "engine" else "raw policy")
    if fields["precision"] != "auto":
        parts.append(fields["precision"])
    if fields["visits"]:
        parts.append(f"{fields['visits']} visits")
    if fields["seconds"]:
        parts.append(f"{fields['seconds']:g} s")
    if fields["time"]:
        parts.append(fields["time"])
    if temperature:
        parts.append(f"temperature {temperature:g}")
    parts += [f"{name.replace('_', ' ')} {value:g}" for name, value in fields["style"].items()]
    if pass_policy in _PASSES and (kind, pass_policy) != ("policy", "free"):
        parts.append(_PASSES[pass_policy])
    return ", ".join(parts)


def network_name(subject: str) -> str:
    """The network as it was named, a file without folder and ending: `g170-b6c96`."""
    ends = "|".join(map(re.escape, (*KATAGO_SUFFIXES, ".gz", ".onnx")))
    file = re.fullmatch(rf"(.+?)({ends})", subject, re.IGNORECASE)
    return PurePath(file[1]).name if file else subject


def program_name(command_line: str) -> str:
    """`GNU Go level 10` with its unusual options; for other programs the command line without folders."""
    words = [PurePath(word).name if word.startswith("/") else word for word in command_words(command_line)]
    name = _gnu_go_name(words) or " ".join(words)
    return name if len(name) <= _MAX_NAME else name[: _MAX_NAME - 3] + "..."


def program_identity(command_line: str) -> str:
    """The same for each spelling of one command line, with all folders but that of a program which is found without."""
    first, *options = command_words(command_line)
    bare = PurePath(first).name
    words = [bare if find_program(bare) == first else first, *options]
    return _gnu_go_name(words) or shlex.join(words)


def _gnu_go_name(words: Sequence[str]) -> str | None:
    """`GNU Go level 10` with its unusual options; None for another program."""
    if words[0] != "gnugo":
        return None
    rest = _USUAL.sub(" ", " ".join(words[1:]))
    level = re.search(r"--level[ =](\d+)", rest)
    rest = rest.replace(level[0], " ") if level else rest
    return " ".join([f"GNU Go level {level[1] if level else 10}", *rest.split()])


def numbered_players(players: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What the players are whose names differ by a number alone, as in `bot` and `bot (2)`, by name.

    That is the word of a player, with the fields in which it differs from the others. Players that differ in the name
    alone are left out, and those whose word is unknown, as other programs may write them.
    """
    players = [player for player in players if player.get("player")]
    names = {player["name"] for player in players}
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for player in players:
        numbered = _NUMBERED.fullmatch(player["name"])
        groups[numbered[1] if numbered and numbered[1] in names else player["name"]].append(player)
    found = {}
    for group in groups.values():
        fields = [key for key in group[0] if len({str(player.get(key)) for player in group}) > 1 and key != "name"]
        for player in group if fields else ():
            more = [f"{key} {player[key]}" for key in fields if key != "player" and player.get(key) is not None]
            found[player["name"]] = f"{player['player']} ({', '.join(more)})" if more else str(player["player"])
    return found


def command_words(command_line: str) -> list[str]:
    """The words of a program's command line. Raises ValueError for one that names no program."""
    try:
        words = split_command_line(command_line)
    except ValueError as error:
        raise ValueError(f"{command_line!r} is not a command line: {error}") from error
    if not words:
        raise ValueError("'gtp:' names no program: give its command line, such as gtp:gnugo --mode gtp")
    return words
