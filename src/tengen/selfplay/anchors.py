"""Who a run is rated against: players that do not belong to it, and its own past.

An anchor is a word of the recipe, as `tengen match` names players (`PlayerSpec.parse`): `random`; `playouts`,
`playouts:POLICY@VISITS`; `gtp:COMMAND LINE`; a network's name or file, which searches, and `policy:NETWORK`, which does
not. Two words stand for networks of the run itself: `early` for some of the first, as raw policies, and `past` for the
one that was rated before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tengen.engine.params import SearchParams, playout_params
from tengen.errors import RecipeError, TengenError
from tengen.evaluators.evaluator import Evaluator, UniformEvaluator
from tengen.evaluators.network_file import find_network
from tengen.match.batch_player import Player
from tengen.match.spec import VISITS, PlayerSpec

Kind = Literal["random", "playouts", "network", "program"]

_OWN = ("early", "past")


@dataclass(frozen=True)
class Anchor:
    """One opponent. `name` is what its games are filed under; `word` is what the recipe says.

    `own` says that it is a network of the run, the one of this `number`. `network` with its `visits`, `policy` (of
    playouts) and `command` hold for their kinds alone.
    """

    word: str
    name: str
    kind: Kind
    own: bool = False
    number: int | None = None
    visits: int = 1
    network: Path | None = None
    policy: str = "local"
    command: str = ""

    def player(self, evaluator: Evaluator | None, params: SearchParams, never_pass: bool = False) -> Player:
        """For a duel. `evaluator` is the network's, if it is one; `params` are those of its search, and `never_pass`
        says that it passes only when no sensible move is left.
        """
        if self.kind == "random":
            return Player(UniformEvaluator(), temperature=1.0, never_pass=True)
        if self.kind == "playouts":
            return Player(UniformEvaluator(), playout_params(self.policy), self.visits, never_pass=True)
        if self.kind == "program" or evaluator is None:
            raise ValueError(f"{self.name} has no evaluator to play a duel with")
        return Player(evaluator, params, self.visits, never_pass=never_pass)


def network_name(number: int, visits: int) -> str:
    """What the games of the run's network of this number are filed under."""
    return f"network {number}, {_thinks(visits)}"


def parse(word: str, visits: int) -> Anchor:
    """The anchor that a word stands for, but for `early` and `past`; networks search with `visits`.

    Raises TengenError for a word that can stand for nobody, or for a network that is not there.
    """
    spec = _spec(word, visits)
    match spec.kind:
        case "playouts":
            return Anchor(word, spec.name, "playouts", visits=spec.visits or VISITS["playouts"], policy=spec.subject)
        case "program":
            return Anchor(word, spec.name, "program", command=spec.subject)
        case "random":
            return Anchor(word, spec.name, "random")
    path = find_network(spec.subject)
    visits = spec.visits or 1
    name = spec.name if spec.is_named else f"{path.stem}, {_thinks(visits)}"
    return Anchor(word, name, "network", visits=visits, network=path)


def check_anchors(words: Iterable[str]) -> None:
    """Refuse words that can never stand for a player, before a run begins: RecipeError. What may merely be absent, a
    program or a network, is no mistake.
    """
    for word in words:
        if word not in _OWN:
            _spec(word, 1)


def check_networks(words: Iterable[str]) -> None:
    """Refuse networks that are not there, as a run begins: NetworkError. A program may be missing on this machine and
    there on the next; a network that is missing was most likely mistyped, and the first rating is hours away.
    """
    for word in words:
        if word not in _OWN and (spec := _spec(word, 1)).kind == "network":
            find_network(spec.subject)


def find_anchors(
    words: Iterable[str], number: int, networks: Mapping[int, Path], rated: Iterable[int], visits: int
) -> tuple[list[Anchor], list[str]]:
    """The anchors of the network of this number, and the reasons why others are left out.

    `networks` are the run's files by number, `rated` the numbers that were rated before. Nobody is met twice, and no
    network meets itself.
    """
    found: dict[str, Anchor] = {}
    missing = []
    for word in sorted(dict.fromkeys(words), key=lambda word: word == "early"):  # `past` goes before `early`
        if word == "past":
            before = [k for k in rated if k < number and k in networks]
            chosen = [_own(word, max(before), networks, visits)] if before else []
        elif word == "early":
            chosen = [_own(word, k, networks, 1) for k in early_numbers(number, networks)]
        else:
            try:
                chosen = [parse(word, visits)]
            except TengenError as error:
                missing.append(f"{word} is left out: {error}")
                chosen = []
        for anchor in chosen:
            if anchor.name == network_name(number, visits):
                continue
            if found.setdefault(anchor.name, anchor).command != anchor.command:
                missing.append(f"{word} is left out: another player is called {anchor.name!r}; write NAME={word}")
    return list(found.values()), missing


def early_numbers(number: int, networks: Iterable[int]) -> list[int]:
    """Which early networks the network of this number meets: the first that learnt, and one from its past.

    The latter is the largest power of 4 up to half the number, so that it stays the same for a long time. A network
    whose file is gone is replaced by the next one.
    """
    there = sorted(k for k in networks if 0 < k < number)
    chosen = (min((k for k in there if k >= wanted), default=None) for wanted in (1, early_powers(number)[-1]))
    return sorted({k for k in chosen if k is not None})


def early_powers(number: int) -> list[int]:
    """1 and the powers of 4 up to half of `number`: the early networks that those up to this one want to meet."""
    powers = [1]
    while 4 * powers[-1] <= number / 2:
        powers.append(4 * powers[-1])
    return powers


def _spec(word: str, visits: int) -> PlayerSpec:
    """The player that a word names, if it can be met in many games at once."""
    if not word or word in _OWN:
        raise RecipeError(f"{word!r} names no player")
    spec = PlayerSpec.parse(word, {"visits": visits})
    if spec.kind == "playouts":
        spec = PlayerSpec.parse(word)
    if spec.kind == "raw" or spec.seconds or spec.time or (spec.kind == "playouts" and spec.visits == 1):
        raise RecipeError(
            f"{word!r} is no anchor: a network may be limited by visits, playouts by 2 or more, and the rest not at all"
        )
    return spec


def _own(word: str, number: int, networks: Mapping[int, Path], visits: int) -> Anchor:
    return Anchor(word, network_name(number, visits), "network", True, number, visits, networks[number])


def _thinks(visits: int) -> str:
    return "raw policy" if visits == 1 else f"{visits} visits"
