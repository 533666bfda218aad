"""Warnings of networks on boards that they have not learned."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection, Sequence

from tengen.evaluators.installed_networks import default_by_size, find_network, is_playout
from tengen.evaluators.network_file import read_card


def boards_not_learned(name: str, learned: Collection[int], sizes: Collection[int]) -> str:
    """Which of these board sizes a network has not learned, in words; empty where there is none.

    `learned` are the sizes that it has learned; none where that is not known.
    """
    others = sorted({*sizes} - {*learned})
    if not learned or not others:
        return ""
    return f"{name} learned {_in_words(sorted(learned))}, not {_in_words(others)}"


def _in_words(sizes: Sequence[int]) -> str:
    """Board sizes in ascending order; three or more without a gap by their ends."""
    if len(sizes) > 2 and sizes[-1] - sizes[0] == len(sizes) - 1:
        return f"{sizes[0]}x{sizes[0]} to {sizes[-1]}x{sizes[-1]}"
    return ", ".join(f"{size}x{size}" for size in sizes)


def not_learned_warning(name: str, learned: Collection[int], sizes: Collection[int]) -> str:
    """A warning about the boards that `boards_not_learned` names; empty where there is none."""
    text = boards_not_learned(name, learned, sizes)
    return text and f"{text}: its figures there may mean nothing"


def warn_of_boards(network: str, sizes: Collection[int]) -> None:
    """Print a warning where a network has not learned boards of these sizes. `default` has networks of its own on some.

    One that takes a single board size is refused on others, and needs none.
    """
    if network in ("uniform", "none") or is_playout(network):
        return
    sizes = {*sizes} - {*default_by_size(network)}
    card = read_card(find_network(network))
    of_one_size = card.config.get("board_size") is not None or card.family == "cody7x7"
    if not of_one_size and (text := not_learned_warning(card.name, card.board_sizes, sizes)):
        print(f"warning: {text}", file=sys.stderr)


def boards_warning(network: str) -> Callable[[int], None]:
    """`warn_of_boards` for one board size after another, once for each."""
    return functools.cache(lambda size: warn_of_boards(network, {size}))
