"""Match settings: errors, defaults, and the games left, against a closed form of the interval and simulation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tengen.errors import RecipeError, TengenError
from tengen.evaluators.playout_file import find_playout, read_playout, read_playout_card, write_playout
from tengen.match.game import Outcome
from tengen.match.schedule import fixture
from tengen.match.settings import MatchSettings, games_enough, left, reach
from tengen.recipes.loader import settled
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
    for index in left(pairings, games, within, outcomes):
        pairing = pairings[fixture(pairings, index).pair % len(pairings)]
        outcomes[index] = outcome(pairings, index, winners[pairing].pop(0))
        played.append(index)
    return played


def test_without_a_width_all_games_are_played_whatever_they_show() -> None:
    assert play(TWO, 6, None, {("a", "b"): ["a"] * 6}) == [0, 1, 2, 3, 4, 5]
    played = {index: outcome(TWO, index, "a") for index in (0, 2)}
    assert list(left(TWO, 6, None, played)) == [1, 3, 4, 5]


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
    asked = left(TWO, 400, 5, before)
    assert next(asked) == 73, "the other game of its pair, whether the score is known or not"
    before[73] = outcome(TWO, 73, "a")
    assert list(asked) == []
    known = {**before, 74: outcome(TWO, 74, "b")}
    assert list(left(TWO, 400, 5, known)) == [75]


def test_games_that_end_out_of_turn_do_not_decide() -> None:
    late = {index: outcome(TWO, index, "a") for index in range(2, 90)}
    asked = left(TWO, 400, 5, late)
    assert [next(asked), next(asked), next(asked)] == [0, 1, 90], "the first round is missing"
    late.update({index: outcome(TWO, index, "a") for index in (0, 1)})
    assert list(asked) == [91], "the pair that was begun"


def test_a_long_match_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Tally] = []
    monkeypatch.setattr("tengen.match.settings.reach", lambda tally: looks.append(tally) or 1.0)
    played = {index: outcome(TWO, index, "a" if index % 3 else "b") for index in range(1000)}
    assert len(list(left(TWO, 2000, 1, played))) == 1000 and len(looks) == 500
    assert looks[-1] == Tally(666, 0, 334)


@pytest.mark.parametrize("within", [3, 5, 10, 40, 45])
def test_games_enough_for_whatever_score(within: float) -> None:
    games = games_enough(within)
    assert max(reach(Tally(wins, 0, games - wins)) for wins in range(games + 1)) <= within / 100
    fewer = games - 2
    assert max(reach(Tally(wins, 0, fewer - wins)) for wins in range(fewer + 1)) > within / 100


def test_reach_is_that_of_the_wider_side() -> None:
    low, high = wilson(90, 100)
    assert reach(Tally(90, 0, 10)) == pytest.approx(0.9 - low) and 0.9 - low > high - 0.9
    assert reach(Tally()) == 0.5


@pytest.mark.parametrize("truth", [0.5, 0.75, 0.9, 0.97])
def test_the_interval_of_a_pairing_that_ended_by_itself_covers_the_truth(truth: float) -> None:
    """2,000 pairings of games won at random; a game ends them at random moments, which costs hardly any coverage."""
    wins = np.cumsum(np.random.default_rng(5).random((2000, 400)) < truth, axis=1)[:, 1::2]
    games = np.arange(2, 401, 2)
    limits = {int(n): [reach(Tally(w, 0, int(n) - w)) <= 0.05 for w in range(int(n) + 1)] for n in games}
    held = played = 0
    for row in wins:
        stop = next((i for i, n in enumerate(games) if limits[int(n)][row[i]]), len(games) - 1)
        low, high = wilson(int(row[stop]), int(games[stop]))
        held += low <= truth <= high
        played += int(games[stop])
    print(f"{truth:.0%}: {held / len(wins):.1%} after {played / len(wins):.0f} games")
    assert 0.935 <= held / len(wins) <= 0.985


def test_an_opening_by_default_leaves_a_game_on_every_board() -> None:
    drawn = {size: read(players=["random"] * 2, conditions={"size": size}).conditions.drawn for size in (2, 3, 4, 19)}
    assert drawn == {2: 1, 3: 3, 4: 4, 19: 4}
    with pytest.raises(RecipeError, match="an opening on 3x3 has at most 3 moves, a third of its points, not 4"):
        read(players=["random"] * 2, conditions={"size": 3, "opening": 4})


def read(**fields: object) -> MatchSettings:
    return settled(dict(fields), [], MatchSettings)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"players": ["random"]}, "two players or more"),
        ({"players": "random"}, "two players or more"),
        ({"players": ["random", 7]}, "player 2 is 7"),
        ({"players": ["random", "default@x"]}, "'x' is not a limit"),
        ({"players": ["random", {"player": "default", "visit": 3}]}, "player 2: .*did you mean visits"),
        ({"players": [{"name": "a", "player": "default", "search": {"fpu": 0.5}}, "random"]}, r"player 1 \(a\): fpu: "),
        ({"players": ["x=random", "x=random"]}, "two players are called 'x'"),
        ({"players": ["random", "random"], "games": 3}, "even number, not 3"),
        ({"players": ["random", "random"], "games": 0}, "games: .* 2"),
        ({"players": ["random", "random"], "shedule": "ladder"}, "unknown key 'shedule'; did you mean schedule"),
        ({"players": ["random", "random"], "conditions": {"komi": 6.3}}, "komi: .*0.5"),
        ({"players": ["random", "random"], "conditions": {"kommi": 7}}, "unknown key .*did you mean komi"),
        ({"players": ["random", "random"], "conditions": {"rules": "house"}}, "house"),
        ({"players": ["random", "random"], "conditions": {"size": 1}}, "conditions.size"),
        ({"players": ["random", "random"], "sprt": {"elo0": 3, "elo1": 1}}, "elo0 must be below elo1"),
        ({"players": ["random", "random"], "sprt": {"elo0": 3, "elo2": 1}}, "did you mean elo"),
        ({"players": ["random"] * 3, "sprt": {"elo0": 0, "elo1": 1}}, "sequential test is for two"),
        ({"players": ["random"] * 2, "sprt": {"elo0": 0, "elo1": 1}, "within": 5}, r"by sprt .* or by within"),
        ({"players": ["random"] * 2, "within": 50}, "within: .* 50"),
        ({"players": ["random"] * 2, "within": 1e-6}, r"within: .* 0\.1"),
        ({"players": ["random"] * 2, "games": 10**12}, "games: .* 1000000"),
        ({"players": ["random"] * 2, "conditions": {"komi": 999}}, "komi: .* 400"),
        ({"players": ["random"] * 2, "within": 0}, "within: .* 0"),
        ({"players": ["random"] * 3, "schedule": "head-to-head"}, "two players, not 3"),
        ({"players": ["random"] * 3, "schedule": "swiss"}, "schedule.kind"),
    ],
)
def test_bad_settings_are_errors_of_one_line(fields: dict[str, object], says: str) -> None:
    with pytest.raises(TengenError, match=says) as caught:
        read(**fields)
    assert "\n" not in str(caught.value)


def test_defaults_apply_to_fields_that_are_not_given() -> None:
    settings = read(players=["default", "playouts@3", {"player": "random"}], defaults={"visits": 50})
    assert [spec.visits for spec in settings.players] == [50, 3, None]
    assert not settings.timed and read(players=["random", "default@2s"]).timed


def test_a_network_that_changes_is_another_match() -> None:
    about = read(players=["default", "random"]).about()
    assert list(about["files"]) == ["default"] and len(about["files"]["default"]) == 16


def test_a_playout_policy_that_changes_is_another_match(tmp_path: Path) -> None:
    weights, found = tmp_path / "mine.playout", []
    known = find_playout("linear")
    steps = read_playout(known)
    for change in (0, 1):
        steps[0] += change
        write_playout(weights, read_playout_card(known), steps)
        found.append(read(players=[f"playouts:linear:{weights}", "playouts"]).about()["files"])
    assert [list(files) for files in found] == 2 * [[f"linear:{weights}"]]
    assert found[0] != found[1]
