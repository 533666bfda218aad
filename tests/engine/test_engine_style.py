"""Chance in the engine's moves, and when it resigns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scripted import ScriptedEvaluator, play_hopeless_game, result_of

from tengen.engine import Engine, Limits, Style
from tengen.engine.search import MoveRestriction
from tengen.game import BLACK, Game


def moves_of(seed: int, style: Style, count: int = 12) -> list[int]:
    game = Game(9)
    engine = Engine(ScriptedEvaluator({40: 5, 30: 5, 50: 5}), seed=seed, style=style)
    for _ in range(count):
        engine.set_position(game)
        game.play(engine.think(Limits(visits=30)).move)
    return [point for _, point in game.moves]


@pytest.mark.parametrize("style", [Style(), Style(temperature=1.0, opening=0.5), Style(policy_temperature=1.0)])
def test_the_same_seed_gives_the_same_game(style: Style) -> None:
    assert moves_of(1, style) == moves_of(1, style)


def test_without_temperature_the_seed_does_not_matter() -> None:
    assert moves_of(1, Style()) == moves_of(2, Style())


def test_temperature_varies_the_opening_alone() -> None:
    style = Style(temperature=1.0, opening=2 / 81)
    games = [moves_of(seed, style, 4) for seed in range(8)]
    assert len({tuple(game[:2]) for game in games}) > 2
    same_start = {}
    for game in games:
        assert same_start.setdefault(tuple(game[:2]), game) == game


def test_a_position_that_was_set_up_is_no_opening() -> None:
    """As after a move out of turn, which leaves the stones without the moves."""
    game = Game(9).setup([0, 2, 4], [18, 20, 22])
    style = Style(temperature=1.0, opening=6 / 81)
    assert len({result_of(game, seed=seed, style=style).move for seed in range(8)}) == 1
    earlier = replace(style, opening=7 / 81)
    assert len({result_of(game, seed=seed, style=earlier).move for seed in range(8)}) > 2


def test_weaker_play_draws_from_the_policy() -> None:
    evaluator = ScriptedEvaluator({40: 82.0})
    first = [result_of(Game(9), evaluator, 1, seed=s, style=Style(policy_temperature=1.0)).move for s in range(60)]
    assert 15 < first.count(40) < 45, "half of the policy's mass lies on one move"
    cold = [result_of(Game(9), evaluator, 1, seed=s, style=Style(policy_temperature=0.1)).move for s in range(20)]
    assert set(cold) == {40}


@pytest.mark.parametrize(
    "style",
    [Style(policy_temperature=1.0, policy_floor=0.0), Style(mean_loss=9.0), Style(temperature=1.0)],
    ids=["policy", "loss", "temperature"],
)
@pytest.mark.parametrize("allow", [False, True])
def test_the_style_draws_among_the_moves_that_may_be_played(style: Style, allow: bool) -> None:
    evaluator = ScriptedEvaluator({40: 1000.0, 41: 300.0, 42: 300.0})
    restriction = MoveRestriction(BLACK, [41, 42] if allow else [40], allow=allow)
    drawn = set()
    for seed in range(12):
        engine = Engine(evaluator, seed=seed, style=style)
        engine.set_position(Game(9), restrictions=[restriction])
        drawn.add(engine.think(Limits(visits=30)).move)
    assert {41, 42} <= drawn and 40 not in drawn
    assert not allow or drawn == {41, 42}


def test_a_hopeless_game_is_resigned_and_not_early() -> None:
    resigned = play_hopeless_game(Style())
    assert resigned and resigned[0] >= 0.2 * 81
    assert play_hopeless_game(Style(), avoided=True) == resigned


def test_resigning_can_be_turned_off() -> None:
    assert play_hopeless_game(Style(resign=False)) == []
