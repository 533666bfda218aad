"""The opponents in a run's ratings: players outside the run, and its own earlier networks.

An anchor is a word of the recipe, as `tengen match` names players (`PlayerSpec.parse`). Two words stand for networks of
the run itself: `early` for some of the first ones, as raw policies, and `past` for the one rated before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tengen.engine.params import PassPolicy, SearchParams
from tengen.errors import RecipeError, TengenError
from tengen.evaluators.installed_networks import find_network, find_network_of
from tengen.machine import Device
from tengen.match.spec import PlayerSpec

_OWN = ("early", "past")


@dataclass(frozen=True)
class RunPlayers:
    """How the networks of a run play in its ratings: `visits` (1 is the raw policy), search, pass policy and device.

    Playouts pass when no useful move is left, other networks freely.
    """

    visits: int = 1
    params: SearchParams = field(default_factory=SearchParams)
    pass_policy: PassPolicy = "free"
    device: Device = "cpu"

    def network(self, number: int, visits: int | None = None) -> PlayerSpec:
        """The network of this number, which the word `network NUMBER` stands for."""
        visits = self.visits if visits is None else visits
        name = network_name(number, visits)
        return network_spec(f"network {number}", name, visits, self.params, self.pass_policy, self.device)

    def parse(self, word: str) -> PlayerSpec:
        """The player of a word other than `early` and `past`. Raises NetworkError for a missing network."""
        spec = _spec(word, self.visits)
        if spec.kind == "playouts":
            return _named(spec, {"pass_policy": "no-useful-move"})
        if spec.kind in ("random", "program"):
            return spec
        find_network(spec.subject)
        if spec.kind == "policy" or spec.visits == 1:
            own: dict[str, object] = {"player": f"policy:{spec.subject}", "visits": None}
        else:
            own = {"search": self.params.model_dump()}
        return _named(spec, {**own, "pass_policy": "free", "device": self.device})


@dataclass(frozen=True)
class Anchor:
    """One opponent. `word` is that of the recipe; `number` is that of a network of the run, None for other players."""

    word: str
    player: PlayerSpec
    number: int | None = None

    @property
    def name(self) -> str:
        return self.player.name


def network_name(number: int, visits: int) -> str:
    """The name of the run's network of this number."""
    return f"network {number}, {'raw policy' if visits == 1 else f'{visits} visits'}"


def network_spec(
    word: str, name: str, visits: int, params: SearchParams, pass_policy: PassPolicy, device: Device
) -> PlayerSpec:
    """The raw policy of a network at 1 visit, otherwise its search with these params and none that its card advises."""
    if visits == 1:
        return PlayerSpec(player=f"policy:{word}", name=name, pass_policy=pass_policy, device=device)
    search = params.model_dump()
    return PlayerSpec(player=word, name=name, visits=visits, search=search, pass_policy=pass_policy, device=device)


def check_anchors(words: Iterable[str]) -> None:
    """Raise RecipeError for words that can never name an anchor; a program or network may be missing."""
    for word in words:
        if word not in _OWN:
            _spec(word)


def check_networks(words: Iterable[str]) -> None:
    """Raise NetworkError for missing networks, before a run begins: most likely they are mistyped, and the first rating
    is hours away. A program may be missing on this machine and exist on the next one.
    """
    for word in words:
        if word not in _OWN and (spec := _spec(word)).kind in ("network", "policy"):
            find_network_of("rating.anchors", spec.subject)


def find_anchors(
    words: Iterable[str], number: int, networks: Mapping[int, Path], rated: Iterable[int], players: RunPlayers
) -> tuple[list[Anchor], list[str]]:
    """The anchors of the network of this number, and the reasons for which others are left out.

    `networks` are the run's files by number, `rated` the numbers rated before. Every opponent occurs once, and no
    network meets itself.
    """
    found: dict[str, Anchor] = {}
    missing = []
    for word in sorted(dict.fromkeys(words), key=lambda word: word == "early"):  # `past` goes before `early`
        if word == "past":
            before = [k for k in rated if k < number and k in networks]
            chosen = [Anchor(word, players.network(max(before)), max(before))] if before else []
        elif word == "early":
            chosen = [Anchor(word, players.network(k, 1), k) for k in early_numbers(number, networks)]
        else:
            try:
                chosen = [Anchor(word, players.parse(word))]
            except TengenError as error:
                missing.append(f"{word} is left out: {error}")
                chosen = []
        for anchor in chosen:
            if anchor.name == network_name(number, players.visits):
                continue
            if found.setdefault(anchor.name, anchor).player.player != anchor.player.player:
                missing.append(f"{word} is left out: another player is called {anchor.name!r}; write NAME={word}")
    return list(found.values()), missing


def early_numbers(number: int, networks: Iterable[int]) -> list[int]:
    """The early networks that the network of this number meets: the first one after learning, and one from its past.

    The latter is the largest power of 4 up to half the number, so that it stays the same for a long time. A network
    whose file does not exist any more is replaced by the next one.
    """
    there = sorted(k for k in networks if 0 < k < number)
    chosen = (min((k for k in there if k >= wanted), default=None) for wanted in (1, early_powers(number)[-1]))
    return sorted({k for k in chosen if k is not None})


def early_powers(number: int) -> list[int]:
    """1 and the powers of 4 up to half of `number`: the early networks that those up to this one meet."""
    powers = [1]
    while 4 * powers[-1] <= number / 2:
        powers.append(4 * powers[-1])
    return powers


def _spec(word: str, visits: int = 1) -> PlayerSpec:
    """The player of a word, if it can be an anchor; a network has these visits unless the word says otherwise."""
    if not word or word in _OWN:
        raise RecipeError(f"{word!r} names no player")
    spec = PlayerSpec.parse(word, {"visits": visits})
    if spec.kind == "playouts":
        spec = PlayerSpec.parse(word)
    limited = spec.seconds or spec.time or (spec.kind == "playouts" and spec.visits == 1)
    if spec.kind in ("raw", "plugin") or limited:
        raise RecipeError(
            f"{word!r} is no anchor: a network may be limited by visits, playouts by 2 or more, others not at all"
        )
    return spec


def _named(spec: PlayerSpec, fields: Mapping[str, object]) -> PlayerSpec:
    """The player with other fields; a default name follows them."""
    name = {} if spec.is_named else {"name": ""}
    return PlayerSpec.model_validate({**spec.model_dump(), **fields, **name})
