"""Schedules: pairings, balanced in colors and openings for any number of games."""

from __future__ import annotations

from collections import Counter

import pytest

from tengen.match.schedule import Kind, Schedule, fixture
from tengen.match.settings import MatchSettings

FIVE = ["a", "b", "c", "d", "e"]


def pairings(kind: Kind, players: list[str], **more: int) -> list[str]:
    return ["".join(pairing) for pairing in Schedule(kind=kind, **more).pairings(players)]


def test_pairings() -> None:
    assert pairings("head-to-head", ["a", "b"]) == ["ab"]
    assert pairings("round-robin", FIVE[:4]) == ["ab", "ac", "ad", "bc", "bd", "cd"]
    assert pairings("gauntlet", FIVE, anchors=2) == ["ad", "ae", "bd", "be", "cd", "ce"]
    assert pairings("ladder", FIVE) == ["ba", "cb", "dc", "ed", "ea"]
    assert pairings("ladder", FIVE, back=2) == ["ba", "ca", "cb", "db", "dc", "ec", "ed", "ea"]
    assert pairings("ladder", ["a", "b"]) == ["ba"], "the last has met the first already"


@pytest.mark.parametrize(
    ("kind", "players", "says"),
    [
        ("head-to-head", "abc", "two players, not 3"),
        ("round-robin", "a", "not 1"),
        ("gauntlet", "a b", "one must be left"),
    ],
)
def test_wrong_numbers_of_players(kind: Kind, players: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Schedule(kind=kind, anchors=2).pairings(players.split() if " " in players else list(players))


@pytest.mark.parametrize("kind", ["round-robin", "gauntlet", "ladder"])
@pytest.mark.parametrize("games", [2, 6])
def test_every_pairing_has_both_colors_equally_in_paired_openings(kind: Kind, games: int) -> None:
    settings = MatchSettings.of(*(f"{name}=random" for name in FIVE), schedule=kind, games=games)
    games_of = [fixture(settings.pairings, index) for index in settings.indices()]
    assert len(games_of) == games * len(settings.pairings)
    met = Counter((game.black, game.white) for game in games_of)
    assert set(met.values()) == {games // 2}
    for game, swapped in zip(games_of[::2], games_of[1::2], strict=True):
        assert (game.black, game.white) == (swapped.white, swapped.black)
        assert game.pairing == swapped.pairing == (game.black, game.white)
        assert (game.pair, game.round) == (swapped.pair, swapped.round)
    rounds = Counter((game.pairing, game.round) for game in games_of)
    assert set(rounds.values()) == {2}, "the same openings for every pairing"
    assert sorted({game.round for game in games_of}) == list(range(games // 2))


def test_a_longer_schedule_begins_like_a_shorter_one() -> None:
    short, long = (MatchSettings.of("a=random", "b=random", "c=random", games=games) for games in (4, 10))
    assert long.indices()[: len(short.indices())] == short.indices()
    assert short.schedule.kind == "round-robin"
