"""The figures and the page of a review."""

import re
from pathlib import Path

import pytest
from review.reviewed_game import reviewed

from tengen.engine import SearchQueue
from tengen.review.game import PHASES, GameReview, Summary
from tengen.review.report import as_dict, write_review
from tengen.sgf import read_tree


def test_figures_of_the_players(found: GameReview) -> None:
    figures = as_dict(found)
    for letter, color in (("B", 0), ("W", 1)):
        own = [move for move in figures["moves"] if move["color"] == letter]
        summary = figures["players"][letter]["all"]
        assert summary["moves"] == len(own) == len(found.of(color))
        assert summary["mean_loss"] == pytest.approx(sum(max(0, move["loss"]) for move in own) / len(own))
        assert summary["best"] == sum(move["rank"] == 1 for move in own) / len(own)
        assert figures["players"][letter]["mistakes"][0] == (3, 6)[color]
    assert Summary.of([]) is None
    assert [phase for phase in PHASES for move in found.moves if move.phase == phase] == (
        ["opening"] * 6 + ["middle game"]  # 50 of 361 points are 6.8 of 49
    )


def test_a_player_whose_name_begins_with_an_underscore_is_in_the_legend(queue: SearchQueue, tmp_path: Path) -> None:
    tree = read_tree(b"(;SZ[7]KM[9]PB[_ann]PW[Bo];B[dd];W[de])")
    page = write_review(tmp_path / "a.html", reviewed(tree, queue, 2)).read_text()
    assert "_ann" in page[page.index("Loss of each move") :].partition("</svg>")[0]


def test_the_page_of_a_game_without_moves_has_the_unit_of_the_network(queue: SearchQueue, tmp_path: Path) -> None:
    """A network that knows the score, but no move that lost a part of it."""
    page = write_review(tmp_path / "a.html", reviewed(read_tree(b"(;SZ[7]KM[9])"), queue, 2)).read_text()
    assert "of winrate" not in page
    assert "Loss of each move" not in page and "<h2>Players" not in page and "<table" not in page
    plots = [figure for figure in page.split("<figure>") if "Black's" in figure]
    points = [re.findall(r'<use [^>]*stroke: var\(--ink\)"/>', figure) for figure in plots]  # ticks have a width
    assert [len(one) for one in points] == [1, 1]


def test_the_page_of_a_problem_has_its_name_as_the_title(queue: SearchQueue, tmp_path: Path) -> None:
    found = reviewed(read_tree(b"(;SZ[7]KM[9]GN[Problem <1>];B[dd])"), queue, 2)
    page = write_review(tmp_path / "a.html", found).read_text()
    assert "<title>Problem &lt;1&gt;: review</title>" in page and "<h1>Problem &lt;1&gt;</h1>" in page


def test_two_players_with_ranks_are_the_title_though_the_record_has_a_name(queue: SearchQueue, tmp_path: Path) -> None:
    found = reviewed(read_tree(b"(;SZ[7]KM[9]GN[790272737]BR[9d]WR[8d];B[dd])"), queue, 2)
    page = write_review(tmp_path / "a.html", found).read_text()
    assert "<h1>Black 9d \N{EN DASH} White 8d</h1>" in page


def test_units_stand_in_the_heads_of_the_tables(found: GameReview, tmp_path: Path) -> None:
    """In each cell they would push figures off a phone."""
    page = write_review(tmp_path / "a.html", found).read_text()
    assert "<th>mean loss (points)</th>" in page and "<th>lost (points)</th>" in page
    assert not re.search(r"<td[^>]*>[^<]*points</td>", page)


def test_the_page_counts_moves_in_whole_numbers(queue: SearchQueue, tmp_path: Path) -> None:
    found = reviewed(read_tree(b"(;SZ[7]KM[9];B[dd];W[aa])"), queue, 4)
    assert Summary.of(found.of(1)).bad == 1  # type: ignore[union-attr]
    page = write_review(tmp_path / "a.html", found).read_text()
    assert "1 move lost 3 points or more" in page and "0 moves lost" in page
    winrate = next(figure for figure in page.split("<figure>") if "Black's winrate" in figure)
    percents = [str(number) for number in range(0, 101, 20)]
    assert sorted(re.findall(r">([0-9.]+)</text>", winrate)) == sorted(["0", "1", "2", *percents])
