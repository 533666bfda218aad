"""Words of a recipe become players; what is not there is left out in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from tengen.engine.params import SearchParams
from tengen.errors import TengenError
from tengen.evaluators import UniformEvaluator
from tengen.selfplay.anchors import early_numbers, find_anchors, parse
from tengen.selfplay.config import RatingConfig

NETWORKS = {k: Path(f"{k:05d}.onnx") for k in range(101)}


@pytest.mark.parametrize(
    ("word", "name", "kind", "visits"),
    [
        ("random", "random", "random", 1),
        ("playouts", "playouts, 1000 visits", "playouts", 1000),
        ("playouts@300", "playouts, 300 visits", "playouts", 300),
        ("playouts:uniform", "playouts (uniform), 1000 visits", "playouts", 1000),
        ("playouts:uniform@300", "playouts (uniform), 300 visits", "playouts", 300),
        ("gtp:gnugo --mode gtp --level 1 --chinese-rules", "GNU Go level 1", "program", 1),
        ("gtp:/usr/games/gnugo --mode gtp --chinese-rules", "GNU Go level 10", "program", 1),
        ("gtp:gnugo --mode gtp --never-resign --level=3", "GNU Go level 3 --never-resign", "program", 1),
        ("gtp:other --fast", "other --fast", "program", 1),
        ("tygem-b8c64", "tygem-b8c64, 50 visits", "network", 50),
        ("policy:tygem-b8c64", "tygem-b8c64, raw policy", "network", 1),
        ("tygem-b8c64@7", "tygem-b8c64, 7 visits", "network", 7),
        ("teacher=tygem-b8c64", "teacher", "network", 50),
    ],
)
def test_words(word: str, name: str, kind: str, visits: int) -> None:
    anchor = parse(word, 50)
    assert (anchor.name, anchor.kind, anchor.visits, anchor.own) == (name, kind, visits, False)
    assert anchor.word == word


@pytest.mark.parametrize(
    "word", ["playouts:fast", "playouts@1", "playouts:300", "playouts@2s", "raw:default", "gtp:", "gtp:'open", ""]
)
def test_a_word_that_can_stand_for_nobody_is_refused_with_the_recipe(word: str) -> None:
    with pytest.raises(ValidationError):
        RatingConfig(anchors=("random", word))
    with pytest.raises(TengenError):
        parse(word, 1)


def test_what_may_be_absent_is_no_mistake_in_a_recipe() -> None:
    RatingConfig(anchors=("gtp:no-such-program", "no-such-network", "early", "past"))


def test_early_networks_stay_the_same_for_long() -> None:
    assert [early_numbers(k, NETWORKS) for k in (0, 1, 2, 7, 8, 31, 32, 100)] == [
        [],
        [],
        [1],
        [1],
        [1, 4],
        [1, 4],
        [1, 16],
        [1, 16],
    ]
    assert early_numbers(100, [0, 3, 20, 90]) == [3, 20]


def test_early_and_past_of_a_run() -> None:
    anchors, left_out = find_anchors(("random", "early", "past"), 20, NETWORKS, [5, 10, 15, 20, 25], 1)
    assert [anchor.name for anchor in anchors] == [
        "random",
        "network 15, raw policy",
        "network 1, raw policy",
        "network 4, raw policy",
    ]
    assert [anchor.own for anchor in anchors] == [False, True, True, True]
    assert anchors[1].network == Path("00015.onnx") and anchors[1].word == "past"
    assert left_out == []


def test_early_networks_are_raw_and_the_past_thinks_as_the_rated_one_does() -> None:
    anchors, _ = find_anchors(("early", "past"), 2, NETWORKS, [1], 64)
    assert {anchor.name for anchor in anchors} == {"network 1, 64 visits", "network 1, raw policy"}
    anchors, _ = find_anchors(("early", "past"), 2, NETWORKS, [1], 1)
    assert [(anchor.name, anchor.word) for anchor in anchors] == [("network 1, raw policy", "past")]


def test_nobody_before_is_no_reason_to_complain() -> None:
    assert find_anchors(("early", "past"), 1, NETWORKS, [], 1) == ([], [])


def test_a_missing_network_is_left_out_with_the_reason() -> None:
    anchors, left_out = find_anchors(("no-such-network", "random"), 3, NETWORKS, [], 1)
    assert [anchor.name for anchor in anchors] == ["random"]
    assert len(left_out) == 1 and left_out[0].startswith("no-such-network is left out: no network")


def test_two_programs_of_one_name_are_told() -> None:
    words = ("gtp:/old/bot --fast", "gtp:/new/bot --fast", "new=gtp:/new/bot --fast")
    anchors, left_out = find_anchors(words, 3, NETWORKS, [], 1)
    assert [anchor.name for anchor in anchors] == ["bot --fast", "new"]
    assert len(left_out) == 1 and "/new/bot" in left_out[0] and "another player is called 'bot --fast'" in left_out[0]


def test_players_of_a_duel() -> None:
    random = parse("random", 1).player(None, SearchParams())
    assert (random.temperature, random.visits, random.never_pass) == (1.0, 1, True)
    playouts = parse("playouts:uniform@300", 1).player(None, SearchParams())
    assert (playouts.visits, playouts.params.playout, playouts.params.asks_network) == (300, "uniform", False)
    network = parse("tygem-b8c64", 50).player(UniformEvaluator(), SearchParams(c_puct=2))
    assert (network.visits, network.params.c_puct) == (50, 2)
    with pytest.raises(ValueError, match="no evaluator"):
        parse("gtp:gnugo", 1).player(None, SearchParams())
