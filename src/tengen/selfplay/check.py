"""Checks of a self-play recipe before the first game: settings that contradict each other or the machine."""

from __future__ import annotations

from tengen import _native
from tengen.errors import RecipeError
from tengen.machine import available_memory
from tengen.match.conditions import Conditions
from tengen.selfplay.anchors import check_networks
from tengen.selfplay.config import SearchConfig, SelfPlayConfig
from tengen.selfplay.generate import play_params, tree_bytes

_BYTES_PER_SLOT = 160 << 10  # game, scratch and buffers of one game in flight, without its trees
_MIN_TREE_USED = 1 << 20  # what a tree takes in any case, of its limit of MIN_TREE or more


def check(config: SelfPlayConfig, plays_here: bool = True) -> None:
    """Raise RecipeError where the settings of a recipe contradict each other or this machine, if it `plays_here`."""
    learn = config.learn
    if learn.window.min_positions < learn.batch_size:
        raise RecipeError(
            f"learn.window.min_positions = {learn.window.min_positions} positions is smaller than learn.batch_size = "
            f"{learn.batch_size}: a batch would hold the same position twice; give a window of "
            f"{8 * learn.batch_size} or more"
        )
    if learn.window.max_positions < learn.window.min_positions:
        raise RecipeError(
            f"learn.window.max_positions = {learn.window.max_positions} is below learn.window.min_positions = "
            f"{learn.window.min_positions}: raise it"
        )
    if learn.swa > (limit := min(config.cycles, config.keep_networks)):
        raise RecipeError(
            f"learn.swa = {learn.swa} networks cannot be averaged with cycles = {config.cycles} and keep_networks = "
            f"{config.keep_networks}: give {limit} or fewer"
        )
    _check_network(config)
    check_networks(config.rating.anchors)
    Conditions(size=config.game.main_size, opening=config.rating.opening).check_opening("rating.opening")
    _check_playing(config, plays_here)
    for cycle in sorted(config.stages):
        try:
            _check_playing(config.at(cycle), plays_here)
        except RecipeError as error:
            raise RecipeError(f"from cycle {cycle} on, {error}") from error


def _check_playing(config: SelfPlayConfig, here: bool) -> None:
    """Settings that stages may change."""
    _check_visits(config.search)
    _check_search(config)
    if here:
        _check_memory(config)


def _check_visits(search: SearchConfig) -> None:
    """The policy target comes from full searches. A search of one visit is the raw policy, no better target."""
    if search.visits < 2:
        raise RecipeError(
            f"search.visits = {search.visits}: a search of one visit is the raw policy, no training target; give "
            "2 or more"
        )
    if (search.cheap_share or search.decided) and search.cheap_visits >= search.visits:
        raise RecipeError(
            f"search.cheap_visits = {search.cheap_visits} is not below search.visits = {search.visits}: "
            "a cheap search must be the smaller one, or set search.cheap_share=0 and search.decided=null"
        )


def _check_search(config: SelfPlayConfig) -> None:
    """Full and cheap searches share a tree; native code checks where they differ too much."""
    params = play_params(config)
    try:
        _native.SelfPlay(params, 1)
    except ValueError as error:
        raise RecipeError(
            f"search.params and search.full give full and cheap searches that cannot play: {error}"
        ) from error


def _check_network(config: SelfPlayConfig) -> None:
    from tengen.networks import parse_config
    from tengen.training.batches import targets_named
    from tengen.training.losses import check_losses, needed_targets
    from tengen.training.optimizers import check_optimizer

    network = parse_config(config.network)
    if network.heads.value is None:
        raise RecipeError("network.value is null: self-play needs a value head, such as network.value: {kind: pool}")
    check_losses(network, config.learn.losses)
    targets_named(needed_targets(config.learn.losses)[1])
    check_optimizer(config.learn.optimizer)
    network.check_sizes(config.game.sizes, "game.sizes asks for")


def _check_memory(config: SelfPlayConfig) -> None:
    visits, edge = config.search.visits, config.game.edge
    tree = max(_MIN_TREE_USED, tree_bytes(config, visits))
    needed = config.games_at_once * (tree + _BYTES_PER_SLOT)
    there = available_memory()
    if needed > there:
        limit = max(1, there // (tree + _BYTES_PER_SLOT))
        raise RecipeError(
            f"games_at_once = {config.games_at_once} with search.visits = {visits} on {edge}x{edge} needs about "
            f"{needed / 2**30:.1f} GiB, and {there / 2**30:.1f} GiB are free: give games_at_once = {limit} or fewer"
        )
