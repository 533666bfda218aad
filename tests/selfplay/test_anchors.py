"""Words of a recipe become players; what is not there is left out in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from tengen.engine.params import SearchParams
from tengen.errors import NetworkError, TengenError
from tengen.selfplay.anchors import RunPlayers, check_networks, early_numbers, find_anchors
from tengen.selfplay.config import RatingConfig

NETWORKS = {k: Path(f"{k:05d}.onnx") for k in range(101)}


PLAYERS = RunPlayers(50)


@pytest.mark.parametrize(
    ("word", "name", "kind", "visits"),
    [
        ("random", "random", "random", None),
        ("playouts", "playouts, 1000 visits, passes last", "playouts", 1000),
        ("playouts@300", "playouts, 300 visits, passes last", "playouts", 300),
        ("playouts:uniform", "playouts (uniform), 1000 visits, passes last", "playouts", 1000),
        ("playouts:uniform@300", "playouts (uniform), 300 visits, passes last", "playouts", 300),
        ("gtp:gnugo --mode gtp --level 1 --chinese-rules", "GNU Go level 1", "program", None),
        ("gtp:/usr/games/gnugo --mode gtp --chinese-rules", "GNU Go level 10", "program", None),
        ("gtp:gnugo --mode gtp --never-resign --level=3", "GNU Go level 3 --never-resign", "program", None),
        ("gtp:other --fast", "other --fast", "program", None),
        ("tygem-b8c64", "tygem-b8c64, 50 visits, passes freely", "network", 50),
        ("policy:tygem-b8c64", "tygem-b8c64, raw policy", "policy", None),
        ("tygem-b8c64@1", "tygem-b8c64, raw policy", "policy", None),
        ("tygem-b8c64@7", "tygem-b8c64, 7 visits, passes freely", "network", 7),
        ("teacher=tygem-b8c64", "teacher", "network", 50),
    ],
)
def test_words(word: str, name: str, kind: str, visits: int | None) -> None:
    spec = PLAYERS.parse(word)
    assert (spec.name, spec.kind, spec.visits) == (name, kind, visits)


@pytest.mark.parametrize(
    "word", ["playouts:fast", "playouts@1", "playouts:300", "playouts@2s", "raw:default", "gtp:", "gtp:'open", ""]
)
def test_a_word_that_can_stand_for_nobody_is_refused_with_the_recipe(word: str) -> None:
    with pytest.raises(ValidationError):
        RatingConfig(anchors=("random", word))
    with pytest.raises(TengenError):
        RunPlayers(1).parse(word)


def test_a_mistyped_network_is_found_before_the_run() -> None:
    for word in ("no-such-network", "policy:no-such-network"):
        with pytest.raises(NetworkError, match="no-such-network"):
            check_networks([word])


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
    anchors, left_out = find_anchors(("random", "early", "past"), 20, NETWORKS, [5, 10, 15, 20, 25], RunPlayers(1))
    assert [anchor.name for anchor in anchors] == [
        "random",
        "network 15, raw policy",
        "network 1, raw policy",
        "network 4, raw policy",
    ]
    assert [anchor.number for anchor in anchors] == [None, 15, 1, 4]
    assert anchors[1].player.player == "policy:network 15" and anchors[1].word == "past"
    assert left_out == []


def test_early_networks_are_raw_and_the_past_thinks_as_the_rated_one_does() -> None:
    anchors, _ = find_anchors(("early", "past"), 2, NETWORKS, [1], RunPlayers(64))
    assert {anchor.name for anchor in anchors} == {"network 1, 64 visits", "network 1, raw policy"}
    anchors, _ = find_anchors(("early", "past"), 2, NETWORKS, [1], RunPlayers(1))
    assert [(anchor.name, anchor.word) for anchor in anchors] == [("network 1, raw policy", "past")]


def test_nobody_before_is_no_reason_to_complain() -> None:
    assert find_anchors(("early", "past"), 1, NETWORKS, [], RunPlayers(1)) == ([], [])


def test_a_missing_network_is_left_out_with_the_reason() -> None:
    anchors, left_out = find_anchors(("no-such-network", "random"), 3, NETWORKS, [], RunPlayers(1))
    assert [anchor.name for anchor in anchors] == ["random"]
    assert len(left_out) == 1 and left_out[0].startswith("no-such-network is left out: no network")


def test_two_programs_of_one_name_are_told() -> None:
    words = ("gtp:/old/bot --fast", "gtp:/new/bot --fast", "new=gtp:/new/bot --fast")
    anchors, left_out = find_anchors(words, 3, NETWORKS, [], RunPlayers(1))
    assert [anchor.name for anchor in anchors] == ["bot --fast", "new"]
    assert len(left_out) == 1 and "/new/bot" in left_out[0] and "another player is called 'bot --fast'" in left_out[0]


def test_how_the_players_of_a_run_search_and_pass() -> None:
    params = SearchParams(c_puct=2, simulate_to_end=True, selection="puct-alphago", score_weight=0)
    players = RunPlayers(64, params, "no-useful-move", "torch")
    own, other, playouts = players.network(7), players.parse("tygem-b8c64"), players.parse("playouts:uniform@300")
    assert (own.name, own.visits, own.params) == ("network 7, 64 visits", 64, params)
    assert own.pass_policy == playouts.pass_policy == RunPlayers(64).parse("playouts").pass_policy == "no-useful-move"
    assert (other.visits, other.params, other.pass_policy) == (64, params, "free")
    assert (playouts.visits, playouts.params.playout) == (300, "uniform")
    assert players.network(7, 1).player == "policy:network 7"
    raw = players.parse("policy:tygem-b8c64"), players.network(7, 1)
    assert {spec.device for spec in (own, other, *raw)} == {"torch"}
