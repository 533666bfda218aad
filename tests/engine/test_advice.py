"""What a network's card advises for its search, and who may overrule it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from known_answers import Scripted

from tengen.engine import Engine, Limits, load_engine
from tengen.engine.params import SearchParams, set_beside, set_params
from tengen.engine.style import Style
from tengen.errors import RecipeError
from tengen.evaluators import BySizeEvaluator, CachedEvaluator, SymmetricEvaluator, UniformEvaluator
from tengen.game import Game


def advising(size: int, **advice: Any) -> BySizeEvaluator:
    """Advises a setting for boards of one size."""
    specialist = UniformEvaluator()
    specialist.advice = advice
    return BySizeEvaluator(UniformEvaluator(), {size: lambda: specialist})


def temperature(engine: Engine, size: int) -> float:
    engine.set_position(Game(size))
    return engine.params.policy_temperature


def test_the_search_follows_the_card_on_each_board() -> None:
    engine = Engine(advising(7, policy_temperature=2.0))
    assert [temperature(engine, size) for size in (7, 9, 7)] == [2.0, 1.0, 2.0]


def test_what_is_set_by_hand_overrules_the_card() -> None:
    inner = advising(7, policy_temperature=2.0, c_puct=0.7)
    engine = Engine(inner, SearchParams(policy_temperature=1.0))
    assert temperature(engine, 7) == 1.0
    assert engine.params.c_puct == 0.7
    engine.params = SearchParams(policy_temperature=1.5, c_puct=2)
    assert temperature(engine, 7) == 1.5
    assert engine.params.c_puct == 2
    assert temperature(Engine(inner, SearchParams.preset("leela-zero")), 7) == 1.0


def test_settings_may_need_what_the_card_advises_besides() -> None:
    advice = {"preset": "alphago", "playout_weight": 0.25}
    for name, value in (("playout_weight", "1"), ("expand_visits", "7")):
        params = set_beside(SearchParams(), {name: value}, advice)
        assert params.advised(advice) == SearchParams().advised({**advice, name: float(value)})
        with pytest.raises(RecipeError, match="need playouts of 1 or more"):
            set_beside(SearchParams(), {name: value}, {"preset": "katago"})
    alone = set_beside(SearchParams(), {"c_puct": "2"}, advice)
    assert alone.model_fields_set == {"c_puct"}


def test_advice_goes_through_what_wraps_a_network() -> None:
    inner = advising(7, policy_temperature=2.0)
    for wrap in (SymmetricEvaluator, CachedEvaluator):
        assert [temperature(Engine(inner.wrapped(wrap)), size) for size in (7, 9)] == [2.0, 1.0]


def test_the_advice_is_told_before_the_first_position() -> None:
    engine = Engine(advising(7, policy_temperature=2.0, c_puct=0.7).wrapped(CachedEvaluator), SearchParams(c_puct=2))
    assert [(params.policy_temperature, params.c_puct) for params in map(engine.params_on, (7, 9))] == [(2, 2), (1, 2)]


def test_the_tree_stays_while_the_board_does() -> None:
    engine = Engine(advising(7, policy_temperature=2.0))
    engine.set_position(Game(7))
    point = engine.think().move
    engine.set_position(Game(7).play(point))
    assert engine._search.visits > 0


def test_impossible_advice_is_refused() -> None:
    with pytest.raises(RecipeError, match=r"c_punct.*did you mean c_puct"):
        Engine(advising(7, c_punct=1)).set_position(Game(7))


@pytest.mark.parametrize(
    ("asked", "instead"),
    [
        ({"priors": "linear"}, "selection=puct"),
        ({"playouts": 1, "playout_weight": 0.5}, "selection=puct"),
        ({"playouts": 1, "expand_visits": 2}, "selection=puct, transpositions=False"),
        ({"selection": "puct-alphago", "simulate_to_end": True}, "transpositions=False"),
        ({"selection": "rave", "node_ownership": False, "playouts": 1}, None),
    ],
)
def test_settings_that_contradict_the_advice_name_what_to_set_as_well(
    asked: dict[str, Any], instead: str | None
) -> None:
    params, advice = SearchParams(**asked), {"preset": "katago"}
    if instead is None:
        assert params.advised(advice).selection == "rave"
        return
    with pytest.raises(RecipeError, match=f"; the network advises .*: set {instead} as well$"):
        params.advised(advice)
    assert set_params(params, dict(pair.split("=") for pair in instead.split(", "))).advised(advice).merge_symmetric


def test_settings_that_need_each_other_are_followed_in_any_order() -> None:
    advice = {"playout_weight": 0.5, "expand_visits": 40, "playouts": 1}
    with pytest.raises(RecipeError, match=r"the network advises expand_visits=40: set expand_visits=0 as well$"):
        SearchParams(transpositions=True).advised(advice)


def test_moves_drawn_from_the_policy_are_drawn_from_the_network_s_own() -> None:
    """16 : 4 : 1 stays so for a level that plays by it, though the search flattens it to 4 : 2 : 1."""
    policy = np.array([16, 4, 1, *[0] * 23], np.float32) / 21
    evaluator = Scripted(policy=lambda view: policy)
    engine = Engine(evaluator, SearchParams(policy_temperature=2.0), style=Style(policy_temperature=1.0))
    drawn: Counter[int] = Counter()
    for _ in range(400):
        engine.set_position(Game(5))
        drawn[engine.think(Limits(visits=1)).move] += 1
    assert drawn[0] / 400 == pytest.approx(16 / 21, abs=0.065)


def test_every_device_gives_the_advice_of_the_card() -> None:
    pytest.importorskip("onnxruntime")
    for device in ("cpu", "onnxruntime"):
        assert temperature(load_engine("zero-7x7", device=device), 7) == 1.5
    default = load_engine("default")
    assert [temperature(default, size) for size in (7, 9, 13)] == [1.5, 1.0, 1.0]


def test_a_setting_that_is_changed_leaves_the_rest_to_the_card_of_the_next_board() -> None:
    engine = Engine(advising(7, policy_temperature=2.0))
    engine.set_position(Game(7))
    engine.params = set_params(engine.asked_params, {"c_puct": "0.7"})
    assert (temperature(engine, 7), engine.params.c_puct) == (2.0, 0.7)
    assert (temperature(engine, 9), engine.params.c_puct) == (1.0, 0.7)


def test_a_card_may_name_the_search_of_a_published_system() -> None:
    inner = advising(7, preset="bakago", playouts=5)
    published = SearchParams.preset("bakago")
    assert Engine(inner).params_on(7).model_dump() == {**published.model_dump(), "playouts": 5}
    assert Engine(inner).params_on(9) == SearchParams()
    asked = Engine(inner, SearchParams(playouts=1, candidate_min=3)).params_on(7)
    assert (asked.playouts, asked.candidate_min, asked.expand_visits) == (1, 3, published.expand_visits)
    assert Engine(inner, SearchParams.preset("gumbel")).params_on(7) == SearchParams.preset("gumbel")
    with pytest.raises(RecipeError, match="unknown search preset 'bakag'; did you mean bakago"):
        Engine(advising(7, preset="bakag")).params_on(7)


def test_settings_are_given_as_text_or_as_values() -> None:
    settings = {"c_puct": 0.7, "lcb": False, "playouts": 3, "fpu": "absolute"}
    as_values = set_params(SearchParams(), settings)
    assert as_values == set_params(SearchParams(), {name: str(value) for name, value in settings.items()})
    assert as_values == SearchParams(**settings)
    with pytest.raises(RecipeError, match="c_puct"):
        set_params(SearchParams(), {"c_puct": -1.0})
