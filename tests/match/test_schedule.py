"""Schedules: who meets whom, evenly in colours and openings, whatever the number of games."""

from __future__ import annotations

from collections import Counter

import pytest

from tengen.errors import TengenError
from tengen.match.schedule import Kind, Schedule, fixture
from tengen.match.settings import MatchSettings
from tengen.recipes.loader import settled

FIVE = ["a", "b", "c", "d", "e"]


def pairings(kind: Kind, players: list[str], **more: int) -> list[str]:
    return ["".join(pairing) for pairing in Schedule(kind=kind, **more).pairings(players)]


def test_who_meets_whom() -> None:
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
def test_players_who_do_not_fit_a_schedule(kind: Kind, players: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Schedule(kind=kind, anchors=2).pairings(players.split() if " " in players else list(players))


@pytest.mark.parametrize("kind", ["round-robin", "gauntlet", "ladder"])
@pytest.mark.parametrize("games", [2, 6])
def test_every_pairing_has_both_colours_equally_in_paired_openings(kind: Kind, games: int) -> None:
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


def read(**fields: object) -> MatchSettings:
    return settled(dict(fields), [], MatchSettings)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"players": ["random"]}, "two players or more"),
        ({"players": "random"}, "two players or more"),
        ({"players": ["random", 7]}, "player 2 is 7"),
        ({"players": ["random", "default@x"]}, "'x' is no limit"),
        ({"players": ["random", {"player": "default", "visit": 3}]}, "did you mean visits"),
        ({"players": ["x=random", "x=random"]}, "two players are called 'x'"),
        ({"players": ["random", "random"], "games": 3}, "even number, not 3"),
        ({"players": ["random", "random"], "games": 0}, "games: .* 2"),
        ({"players": ["random", "random"], "shedule": "ladder"}, "unknown key 'shedule'; did you mean schedule"),
        ({"players": ["random", "random"], "conditions": {"kommi": 7}}, "unknown key .*did you mean komi"),
        ({"players": ["random", "random"], "conditions": {"rules": "house"}}, "house"),
        ({"players": ["random", "random"], "conditions": {"size": 4}}, "conditions.size"),
        ({"players": ["random", "random"], "sprt": {"elo0": 3, "elo1": 1}}, "elo0 must be below elo1"),
        ({"players": ["random", "random"], "sprt": {"elo0": 3, "elo2": 1}}, "did you mean elo"),
        ({"players": ["random"] * 3, "sprt": {"elo0": 0, "elo1": 1}}, "sequential test is for two"),
        ({"players": ["random"] * 2, "sprt": {"elo0": 0, "elo1": 1}, "within": 5}, r"by sprt .* or by within"),
        ({"players": ["random"] * 2, "within": 50}, "within: .* 50"),
        ({"players": ["random"] * 2, "within": 0}, "within: .* 0"),
        ({"players": ["random"] * 3, "schedule": "head-to-head"}, "two players, not 3"),
        ({"players": ["random"] * 3, "schedule": "swiss"}, "schedule.kind"),
    ],
)
def test_settings_that_cannot_be_are_named_in_one_line(fields: dict[str, object], says: str) -> None:
    with pytest.raises(TengenError, match=says) as caught:
        read(**fields)
    assert "\n" not in str(caught.value)


def test_defaults_are_for_players_who_do_not_say_otherwise() -> None:
    settings = read(players=["default", "playouts@3", {"player": "random"}], defaults={"visits": 50})
    assert [spec.visits for spec in settings.players] == [50, 3, None]
    assert not settings.timed and read(players=["random", "default@2s"]).timed


def test_a_network_that_changes_is_another_match() -> None:
    about = read(players=["default", "random"]).about()
    assert list(about["files"]) == ["default"] and len(about["files"]["default"]) == 16
