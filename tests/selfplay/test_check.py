"""Recipes that cannot work are refused, with the numbers that clash."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tengen.coords import MAX_SIZE
from tengen.errors import NetworkError, RecipeError
from tengen.selfplay import check as check_module
from tengen.selfplay.check import check
from tengen.selfplay.config import SelfPlayConfig

BASE: dict[str, Any] = {
    "name": "x",
    "cycles": 2,
    "games_per_cycle": 10,
    "network": {"family": "residual", "size": "b2c16"},
}


def test_a_sound_recipe_passes() -> None:
    check(SelfPlayConfig.model_validate(BASE))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"learn": {"batch_size": 512, "window": {"min_positions": 300}}},
            "300 positions is smaller than learn.batch_size = 512",
        ),
        ({"learn": {"swa": 3}}, "learn.swa = 3 networks cannot be averaged with cycles = 2 and keep_networks = 20"),
        (
            {"learn": {"window": {"min_positions": 3000, "max_positions": 2000}}},
            "max_positions = 2000 is below learn.window.min_positions = 3000",
        ),
        (
            {"search": {"visits": 8, "cheap_visits": 8, "cheap_share": 0.5}},
            "cheap_visits = 8 is not below search.visits = 8",
        ),
        (
            {"learn": {"losses": {"soft": 0.5}}},
            "losses.soft = 0.5, but the network has no head 'soft': give network.soft: true",
        ),
        ({"search": {"visits": 8, "decided": {}}}, "or set search.cheap_share=0 and search.decided=null"),
        ({"search": {"params": {"c_putc": 1}}}, "did you mean c_puct"),
        ({"search": {"full": {"noise_weight": 2}}}, "noise_weight"),
        ({"search": {"full": {"policy_temperature": 1.3}}}, "full and cheap searches that cannot play: settings"),
        ({"search": {"full": {"transpositions": True}}}, "settings that share a tree must agree in transpositions"),
        (
            {"search": {"full": {"pass_policy": "no-legal-move"}}},
            "share a tree must agree in pass_policy",
        ),
        ({"search": {"visits": 1}}, "search.visits = 1: a search of one visit"),
        (
            {"stages": {3: {"search": {"visits": 8}}, 5: {"search": {"visits": 1}}}},
            "from cycle 5 on, search.visits = 1: a search of one visit",
        ),
        (
            {"stages": {3: {"search": {"full": {"pass_policy": "no-legal-move"}}}}},
            "from cycle 3 on, search.params and search.full give full and cheap searches that cannot play",
        ),
        (
            {"game": {"sizes": {3: 2, 9: 1}}, "rating": {"opening": 4}},
            "rating.opening: an opening on 3x3 has at most 3 moves, a third of its points, not 4",
        ),
        ({"network": {"family": "plain", "convs": ["3x3x8"]}}, "network.value is null: self-play needs a value head"),
    ],
)
def test_clashes_are_named(change: dict[str, Any], words: str) -> None:
    with pytest.raises(RecipeError, match=re.escape(words)):
        check(SelfPlayConfig.model_validate({**BASE, **change}))


def test_more_games_than_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_module, "available_memory", lambda: 1 << 30)
    config = SelfPlayConfig.model_validate({**BASE, "games_at_once": 100_000})
    with pytest.raises(
        RecipeError, match=r"games_at_once = 100000 .* 1\.0 GiB are free: give games_at_once = (\d+)"
    ) as error:
        check(config)
    match = re.search(r"give games_at_once = (\d+)", str(error.value))
    assert match
    check(config.model_copy(update={"games_at_once": int(match[1])}))
    check(config, plays_here=False)


def test_a_later_stage_may_take_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_module, "available_memory", lambda: 1 << 30)
    config = {**BASE, "games_at_once": 128}
    check(SelfPlayConfig.model_validate(config))
    with pytest.raises(RecipeError, match=r"from cycle 9 on, games_at_once = 128 with search\.visits = 60000"):
        check(SelfPlayConfig.model_validate({**config, "stages": {9: {"search": {"visits": 60_000}}}}))


def test_simulations_to_the_end_of_the_game_take_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_module, "available_memory", lambda: 1 << 30)
    params = {"selection": "puct-alphago"}
    config = {**BASE, "games_at_once": 128, "search": {"visits": 800, "params": params}}
    check(SelfPlayConfig.model_validate(config))
    params["simulate_to_end"] = "true"
    with pytest.raises(RecipeError, match="games_at_once = 128"):
        check(SelfPlayConfig.model_validate(config))


@pytest.mark.parametrize("sizes", [{}, {1: 1}, {MAX_SIZE + 1: 1}, {9: 0}])
def test_impossible_boards(sizes: dict[int, float]) -> None:
    with pytest.raises(ValueError, match="size"):
        SelfPlayConfig.model_validate({**BASE, "game": {"sizes": sizes}})


def test_a_mistyped_network_among_the_anchors_is_told_of_before_the_first_game() -> None:
    programs = {**BASE, "rating": {"anchors": ["random", "early", "gtp:no-such-program"]}}
    check(SelfPlayConfig.model_validate(programs))
    with pytest.raises(NetworkError, match=r"^rating\.anchors: no network 'randon'"):
        check(SelfPlayConfig.model_validate({**BASE, "rating": {"anchors": ["randon"]}}))


def test_a_loss_names_targets_that_exist(registered: Callable[..., None]) -> None:
    from tengen.training.losses import LOSSES, LossTerm

    term = LossTerm(lambda output, batch: output.policy.sum(), targets=("moves-left",))
    registered(LOSSES, "late", term)
    with pytest.raises(RecipeError, match="unknown target 'moves-left'"):
        check(SelfPlayConfig.model_validate({**BASE, "learn": {"losses": {"late": 1.0}}}))
