"""Warnings of networks on boards that they have not learned."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection

from tengen.evaluators.evaluator import not_learned_warning
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.network_file import read_card
from tengen.evaluators.playout_file import is_playout


def warn_of_boards(network: str, sizes: Collection[int]) -> None:
    """Print a warning where a network has not learned boards of these sizes. `default` is the best there is on them.

    One that takes a single board size is refused on others, and needs none.
    """
    if network in ("default", "uniform", "none") or is_playout(network):
        return
    card = read_card(find_network(network))
    of_one_size = card.config.get("board_size") is not None or card.family == "cody7x7"
    if not of_one_size and (text := not_learned_warning(card.name, card.board_sizes, sizes)):
        print(f"warning: {text}", file=sys.stderr)


def boards_warning(network: str) -> Callable[[int], None]:
    """`warn_of_boards` for one board size after another, once for each."""
    return functools.cache(lambda size: warn_of_boards(network, {size}))
