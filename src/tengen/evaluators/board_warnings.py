"""Warnings of networks on boards that they have not learned."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection

from tengen.evaluators.installed_networks import find_network, is_playout
from tengen.evaluators.network_file import read_card


def boards_not_learned(name: str, learned: Collection[int], sizes: Collection[int]) -> str:
    """Which of these board sizes a network has not learned, in words; empty where there is none.

    `learned` are the sizes that it has learned; none where that is not known.
    """
    others = sorted({*sizes} - {*learned})
    if not learned or not others:
        return ""
    known, new = (", ".join(f"{size}x{size}" for size in each) for each in (learned, others))
    return f"{name} learned {known}, not {new}"


def not_learned_warning(name: str, learned: Collection[int], sizes: Collection[int]) -> str:
    """A warning about the boards that `boards_not_learned` names; empty where there is none."""
    text = boards_not_learned(name, learned, sizes)
    return text and f"{text}: its figures there may mean nothing"


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
