"""Standings: the anchor, results by player and pairing, warnings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_matches import game, series, write_match

from tengen.errors import RecipeError
from tengen.ratings.elo import Rating
from tengen.ratings.pool import GameRules, GameSet, Pool, matches_in
from tengen.ratings.score import Score
from tengen.ratings.standings import elo_text, standings
from tengen.statistics import Tally, elo


def pool(*scores: Score, komi: float = 7.5) -> Pool:
    return Pool((GameSet(Path("made"), GameRules(9, "chinese", komi), scores),))


def test_the_anchor_is_gnu_go_10_or_the_player_with_most_games() -> None:
    with_gnu = pool(Score("a", "b", 5, 0, 5), Score("b", "a", 5, 0, 5), Score("a", "GNU Go level 10", 1, 0, 1))
    assert standings(with_gnu, 9).ratings.anchor == "GNU Go level 10"
    assert standings(with_gnu, 9, "b").ratings.anchor == "b"
    without = pool(Score("a", "b", 1, 0, 1), Score("c", "b", 1, 0, 1), Score("a", "GNU Go level 1", 1, 0, 0))
    assert standings(without, 9).ratings.anchor == "b"
    # Of those who played equally often the one that won and lost most alike: the ends of all intervals come from games.
    robin = pool(Score("a", "b", 4), Score("b", "c", 3, 0, 1), Score("c", "a", 0, 0, 4))
    assert standings(robin, 9).ratings.anchor == "b"


def test_games_are_counted_by_player_color_and_pairing() -> None:
    found = standings(pool(Score("a", "b", 6, 1, 3), Score("b", "a", 4, 0, 6), Score("c", "b", 1, 0, 9)), 9, "b")
    assert found.players == ["a", "b", "c"]
    assert [(row["as_black"], row["as_white"]) for row in found.rows()][2] == (0.1, None), "c never had White"
    assert found.games == 30
    assert found.by_color["a"] == (Tally(6, 1, 3), Tally(6, 0, 4))
    assert found.by_color["c"] == (Tally(1, 0, 9), Tally())
    assert found.whole("b") == Tally(3 + 4 + 9, 1, 6 + 6 + 1)
    assert found.black == Tally(6 + 4 + 1, 1, 3 + 6 + 9)
    assert [(pair.first, pair.second, pair.tally) for pair in found.pairs] == [
        ("a", "b", Tally(12, 1, 7)),
        ("b", "c", Tally(9, 0, 1)),
    ]
    assert found.pair("c", "b") == Tally(1, 0, 9)
    assert found.pair("a", "c") is None
    top = found.top(2)
    assert top.players == ["a", "b"] and top.ratings.players == found.ratings.players[:2]
    assert top.pair("b", "a") == Tally(7, 1, 12) and top.pair("c", "b") is None and found.top(9) == found


def test_ratings_expect_the_scores_that_they_were_made_of() -> None:
    # A chain has no pairing that contradicts another; both colors equally, the first move is seen too.
    chain = pool(
        Score("a", "b", 14, 0, 6), Score("b", "a", 8, 0, 12), Score("b", "c", 15, 0, 5), Score("c", "b", 9, 0, 11)
    )  # fmt: skip
    found = standings(chain, 9, "c")
    for pair in found.pairs:
        assert pair.expected == pytest.approx(pair.tally.score, abs=0.02)
    assert found.ratings.first_move is not None and found.ratings.first_move.elo > 0
    assert standings(chain, 9, "c", first_move=False).ratings.first_move is None


def test_two_players_have_the_elo_of_their_score() -> None:
    even = standings(pool(Score("a", "b", 30, 0, 20), Score("b", "a", 20, 0, 30)), 9, "b", first_move=False)
    assert even.ratings["a"].elo == pytest.approx(elo(0.6), abs=0.5)


def test_mixed_terms_and_unrated_players_are_warnings(tmp_path: Path) -> None:
    write_match(tmp_path / "1", series("a", "b", 2, 2))
    write_match(tmp_path / "2", series("a", "b", 1, 1, start=4), komi=6.5, rules="japanese")
    write_match(tmp_path / "3", series("x", "y", 1, 2))
    found = standings(Pool.of(matches_in(tmp_path)), 5, "a")
    assert found.players == ["a", "b", "x", "y"] and "x" not in found.ratings
    assert len(found.warnings) == 2
    assert "rated together: chinese with komi 0.5 (7 games); japanese with komi 6.5 (2 games)" in found.warnings[0]
    assert found.warnings[1] == "x; y: no chain of games leads to a, not rated"
    assert [pair.expected is None for pair in found.pairs] == [False, True]


def test_players_with_one_color_are_named() -> None:
    unfair = pool(
        Score("a", "b", 5, 0, 5), Score("b", "a", 1, 0, 1), Score("a", "c", 5, 0, 5), Score("c", "b", 9, 0, 9)
    )
    assert any(warning.startswith("a; b: nearly always") for warning in standings(unfair, 9).warnings)
    assert not standings(unfair, 9, first_move=False).warnings


def test_an_end_that_no_game_bounds_is_null_in_json_and_a_question_in_words() -> None:
    found = standings(pool(Score("a", "b", 5, 0, 5), Score("c", "a", 0, 0, 9), Score("b", "a", 1, 0, 1)), 9, "a")
    rows = {row["player"]: row for row in json.loads(json.dumps(found.as_dict(), allow_nan=False))["players"]}
    assert rows["c"]["low"] is None and rows["c"]["high"] < 0
    assert (rows["a"]["elo"], rows["a"]["low"], rows["a"]["high"]) == (0, 0, 0)
    assert rows["b"]["low"] < rows["b"]["elo"] < rows["b"]["high"]
    high = f"{round(found.ratings['c'].high):+,}"
    assert elo_text(found.ratings["c"]) == (f"< {high}", f"? to {high}")
    assert elo_text(found.ratings["a"]) == ("0", "anchor")
    assert elo_text(Rating("x", 1234.4, -0.4, 2000, 9, 8)) == ("+1,234", "+0 to +2,000")
    assert elo_text(None) == ("?", "not rated")
    given = standings(pool(Score("a", "b", 5, 0, 5), Score("b", "a", 1, 0, 1)), 9, "a", anchor_elo=1800)
    assert elo_text(given.ratings["a"], signed=False) == ("1,800", "anchor")
    assert elo_text(Rating("x", 1934.4, -20.2, 2000, 9, 8), signed=False) == ("1,934", "-20 to 2,000")
    assert (given.as_dict()["anchor"], given.as_dict()["anchor_elo"]) == ("a", 1800)


def test_where_one_color_won_every_game_the_ends_that_it_leaves_open_are_null_and_questions() -> None:
    found = standings(pool(Score("a", "b", 20), Score("b", "a", 20)), 9, "a")
    figures = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert figures["first_move"]["low"] > 0 and figures["first_move"]["high"] is None
    assert (figures["players"][1]["low"], figures["players"][1]["high"]) == (None, None)
    assert [warning.split(":")[0] for warning in found.warnings] == ["Black won every game"]
    first_move = found.ratings.first_move
    assert first_move is not None and elo_text(first_move) == (
        f"> {round(first_move.low):+,}",
        f"{round(first_move.low):+,} to ?",
    )


def test_the_worth_of_handicap_stones_is_not_held_near_that_of_a_first_move() -> None:
    scores = (Score("a", "b", 29, 0, 1), Score("b", "a", 29, 0, 1))
    even, handicap = (
        standings(Pool((GameSet(Path("made"), GameRules(9, "chinese", 0.5, stones), scores),)), 9) for stones in (0, 4)
    )
    first, stones = even.ratings.first_move, handicap.ratings.first_move
    assert first is not None and stones is not None
    assert first.elo < 520 and stones.elo == pytest.approx(elo(29 / 30), abs=10)


def test_sizes_without_games_are_named() -> None:
    with pytest.raises(RecipeError, match="no games on 19x19; there are 9x9"):
        standings(pool(Score("a", "b", 1)), 19)
    with pytest.raises(RecipeError, match="no finished games"):
        standings(pool(), 9)
    outcome = game(0, "a", "b", "a")
    assert outcome.loser == "b"
