"""The games that are left of a match, against a closed form of the interval and simulation."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.match.length import games_enough, games_left, interval_reach
from tengen.match.outcome import Outcome
from tengen.match.schedule import fixture
from tengen.statistics import Tally, wilson

TWO = [("a", "b")]


def outcome(pairings: list[tuple[str, str]], index: int, winner: str | None) -> Outcome:
    game = fixture(pairings, index)
    return Outcome(index, game.round, game.pair, game.black, game.white, winner, "", "count", 50)


def play(
    pairings: list[tuple[str, str]], games: int, within: float | None, winners: dict[tuple[str, str], list[str]]
) -> list[int]:
    """The numbers that are asked for where each game ends before the next, and goes to the pairing's next winner."""
    outcomes: dict[int, Outcome] = {}
    played = []
    for index in games_left(pairings, games, within, outcomes):
        pairing = pairings[fixture(pairings, index).pair % len(pairings)]
        outcomes[index] = outcome(pairings, index, winners[pairing].pop(0))
        played.append(index)
    return played


def test_without_a_width_all_games_are_played_whatever_they_show() -> None:
    assert play(TWO, 6, None, {("a", "b"): ["a"] * 6}) == [0, 1, 2, 3, 4, 5]
    played = {index: outcome(TWO, index, "a") for index in (0, 2)}
    assert list(games_left(TWO, 6, None, played)) == [1, 3, 4, 5]


def test_won_games_alone_end_where_the_interval_is_as_wide_as_asked() -> None:
    # n wins of n: Wilson's lower end is n / (n + z^2), so it reaches 5 points down at z^2 (1 - 0.05) / 0.05 = 73 games
    assert len(play(TWO, 400, 5, {("a", "b"): ["a"] * 400})) == 74
    assert len(play(TWO, 400, 10, {("a", "b"): ["a"] * 400})) == 36


def test_equals_play_to_the_end() -> None:
    # the interval of one half reaches z / (2 sqrt(n + z^2)) to either side: 5 points at 380.3 games
    assert len(play(TWO, 400, 5, {("a", "b"): ["a", "b"] * 200})) == 382
    assert len(play(TWO, 200, 5, {("a", "b"): ["a", "b"] * 200})) == 200


def test_one_pairing_ends_and_the_others_go_on() -> None:
    three = [("a", "x"), ("b", "x")]
    played = play(three, 100, 10, {("a", "x"): ["a"] * 100, ("b", "x"): ["b", "x"] * 50})
    assert len([index for index in played if fixture(three, index).pair % 2 == 0]) == 36
    assert len([index for index in played if fixture(three, index).pair % 2 == 1]) == 94  # of 92.2 for 10 points


def test_a_pair_that_was_begun_is_played_to_its_end() -> None:
    before = {index: outcome(TWO, index, "a") for index in range(73)}
    asked = games_left(TWO, 400, 5, before)
    assert next(asked) == 73, "the other game of its pair, whether the score is known or not"
    before[73] = outcome(TWO, 73, "a")
    assert list(asked) == []
    known = {**before, 74: outcome(TWO, 74, "b")}
    assert list(games_left(TWO, 400, 5, known)) == [75]


def test_games_that_end_out_of_turn_do_not_decide() -> None:
    late = {index: outcome(TWO, index, "a") for index in range(2, 90)}
    asked = games_left(TWO, 400, 5, late)
    assert [next(asked), next(asked), next(asked)] == [0, 1, 90], "the first round is missing"
    late.update({index: outcome(TWO, index, "a") for index in (0, 1)})
    assert list(asked) == [91], "the pair that was begun"


def test_a_long_match_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Tally] = []
    monkeypatch.setattr("tengen.match.length.interval_reach", lambda tally: looks.append(tally) or 1.0)
    played = {index: outcome(TWO, index, "a" if index % 3 else "b") for index in range(1000)}
    assert len(list(games_left(TWO, 2000, 1, played))) == 1000 and len(looks) == 500
    assert looks[-1] == Tally(666, 0, 334)


@pytest.mark.parametrize("within", [3, 5, 10, 40, 45])
def test_games_enough_for_whatever_score(within: float) -> None:
    games = games_enough(within)
    assert max(interval_reach(Tally(wins, 0, games - wins)) for wins in range(games + 1)) <= within / 100
    fewer = games - 2
    assert max(interval_reach(Tally(wins, 0, fewer - wins)) for wins in range(fewer + 1)) > within / 100


def test_reach_is_that_of_the_wider_side() -> None:
    low, high = wilson(90, 100)
    assert interval_reach(Tally(90, 0, 10)) == pytest.approx(0.9 - low) and 0.9 - low > high - 0.9
    assert interval_reach(Tally()) == 0.5


@pytest.mark.parametrize("truth", [0.5, 0.75, 0.9, 0.97])
def test_the_interval_of_a_pairing_that_ended_by_itself_covers_the_truth(truth: float) -> None:
    """2,000 pairings of games won at random; a game ends them at random moments, which costs hardly any coverage."""
    wins = np.cumsum(np.random.default_rng(5).random((2000, 400)) < truth, axis=1)[:, 1::2]
    games = np.arange(2, 401, 2)
    limits = {int(n): [interval_reach(Tally(w, 0, int(n) - w)) <= 0.05 for w in range(int(n) + 1)] for n in games}
    held = played = 0
    for row in wins:
        stop = next((i for i, n in enumerate(games) if limits[int(n)][row[i]]), len(games) - 1)
        low, high = wilson(int(row[stop]), int(games[stop]))
        held += low <= truth <= high
        played += int(games[stop])
    print(f"{truth:.0%}: {held / len(wins):.1%} after {played / len(wins):.0f} games")
    assert 0.935 <= held / len(wins) <= 0.985
