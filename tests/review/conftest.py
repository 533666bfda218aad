"""Searches of a small network, and a review of a game by them."""

from collections.abc import Iterator

import pytest
from review.reviewed_game import RECORD, VISITS, reviewed

from tengen.engine import SearchQueue
from tengen.evaluators import load_evaluator
from tengen.review.game import GameReview
from tengen.sgf import read_tree


@pytest.fixture(scope="module")
def queue() -> Iterator[SearchQueue]:
    with SearchQueue(load_evaluator("zero-7x7"), batch=4, at_once=3) as queue:
        yield queue


@pytest.fixture
def found(queue: SearchQueue) -> GameReview:
    return reviewed(read_tree(RECORD), queue, VISITS)
