"""The review of a game: losses against searches made one by one, and the positions that are searched."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from review.reviewed_game import RECORD, VISITS, reviewed

from tengen.engine import Limits, SearchParams, SearchQueue
from tengen.errors import SgfError
from tengen.evaluators import UniformEvaluator, load_evaluator
from tengen.game import Game
from tengen.review.annotate import annotate
from tengen.review.game import GameReview, ReviewedMove, Summary, positions_of, review, reviewed_move
from tengen.sgf import GameTree, read_tree


def test_losses_are_differences_of_searches(found: GameReview, queue: SearchQueue) -> None:
    """Each position alone, for the side to move; its sign changes with every move."""
    moves = [(0, "dd"), (1, "de"), (0, "ga"), (1, "ee"), (0, "cd"), (1, "ag"), (0, "ed")]
    game = Game(7, "chinese", 9)
    results = []
    for color, place in [*moves, (0, "")]:
        results.append(queue.start(game, Limits(visits=VISITS)).wait())
        if place:
            game.play((ord(place[1]) - 97) * 7 + ord(place[0]) - 97, color=color)
    assert [move.point for move in found.moves] == [point for _, point in game.moves]
    for move, before, after in zip(found.moves, results, results[1:], strict=False):
        assert before.score is not None and after.score is not None
        assert move.loss == pytest.approx(before.score + after.score, abs=1e-5)
        assert move.winrate_loss == pytest.approx(before.winrate + after.winrate - 1, abs=1e-6)
        tried = [candidate.point for candidate in before.candidates if candidate.visits]
        same = mirrored(found.tree.position(move.node.path[-2]), move.point)
        assert move.rank == next((place for place, point in enumerate(tried, 1) if point in same), None)
        assert move.best is not None and move.best.point == before.candidates[0].point
    worst = [max(found.of(color), key=lambda move: move.cost).number for color in (0, 1)]
    assert worst == [3, 6] == [found.mistakes(color, 1)[0].number for color in (0, 1)]


def mirrored(game: Game, point: int) -> set[int]:
    """The points that the symmetries of the board turn a point into."""
    marked = np.zeros(game.size**2, int)
    marked[point] = 1
    images = set()
    for turns, flip in product(range(4), (False, True)):
        board, mark = (np.rot90(one, turns) for one in (game.board, marked.reshape(game.board.shape)))
        board, mark = (board.T, mark.T) if flip else (board, mark)
        if np.array_equal(board, game.board):
            images.add(int(mark.argmax()))
    return images


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize(("stones", "count"), [([], 8), ([24], 8), ([25], 2), ([16], 2), ([15], 1)])
def test_mirror_images_of_the_best_move_are_the_best_move(stones: list[int], count: int, merged: bool) -> None:
    game = Game(7, "chinese", 9)
    for stone in stones:
        game.play(stone)
    with SearchQueue(load_evaluator("zero-7x7"), SearchParams(merge_symmetric=merged), batch=4) as queue:
        best = queue.start(game, Limits(visits=40)).wait().candidates[0].point
        assert len(mirrored(game, best)) in {count, count // 2, 1}, "on an axis or not"
        for point in mirrored(game, best):
            tree = GameTree.of_game(game.copy().play(point))
            move = reviewed(tree, queue, 40).moves[-1]
            assert move.is_best and move.point == point and move.best is not None and move.best.point == best


def test_a_finished_game_ends_with_its_last_search(queue: SearchQueue) -> None:
    found = reviewed(read_tree(b"(;SZ[7]KM[9];B[dd];W[];B[])"), queue, 4)
    assert len(found.nodes) == 3 and found.moves[-1].loss == 0


def test_a_search_that_tried_no_move_knows_no_better_one(queue: SearchQueue) -> None:
    tree = read_tree(RECORD)
    found = reviewed(tree, queue, 1)
    assert {(move.best, move.rank) for move in found.moves} == {(None, None)}
    nodes = len(tree)
    annotate(found)
    assert len(tree) == nodes and "Better" not in "".join(node.comment for node in tree.walk())


def test_the_phases_of_a_game_end_with_moves_50_and_150_of_19x19() -> None:
    game = Game(19)
    for number in range(151):  # from the two ends of the board, without contact
        game.play(number // 2 if number % 2 == 0 else 360 - number // 2)
    tree = GameTree.of_game(game)
    with SearchQueue(UniformEvaluator()) as queue:
        result = queue.start(Game(19), Limits(visits=1)).wait()
    line = tree.line(tree.root)
    found = [reviewed_move(line[number], Game(19), result, None) for number in (1, 50, 51, 150, 151)]
    assert [move.number for move in found] == [1, 50, 51, 150, 151]
    assert [move.phase for move in found] == ["opening", "opening", "middle game", "middle game", "endgame"]


def test_a_score_may_be_unknown(found: GameReview) -> None:
    move = found.moves[2]
    plain = ReviewedMove(move.node, 3, 0, move.point, "opening", None, 0.081, None, move.best)
    assert plain.cost == pytest.approx(8.1)
    summary = Summary.of([plain])
    assert summary is not None and summary.loss_text == "8.1% of winrate"
    assert (plain.grade, summary.good, summary.bad) == (2, 0, 0)  # from 5% on, below 10%


def test_the_engines_own_choice_is_no_bad_move_whatever_the_next_search_says(found: GameReview) -> None:
    own = replace(found.moves[2], loss=4.0, rank=1)
    summary = Summary.of([own])
    assert summary is not None and (summary.best, summary.good, summary.bad) == (1, 1, 0)
    assert (own.grade, own.mistake_grade) == (3, 0) and replace(found, moves=(own,)).mistakes(own.color) == []
    other = Summary.of([own, replace(own, rank=2)])
    assert other is not None and (other.best, other.good, other.bad) == (0.5, 0.5, 1)


def test_a_line_of_more_positions_than_the_memory_holds_has_no_review(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has a game with all moves before it: 20,000 took 2.9 GB."""
    monkeypatch.setattr("tengen.review.game.MAX_POSITIONS", 3)
    assert len(positions_of(read_tree(b"(;SZ[9];AB[aa];B[bb];W[cc])"))) == 3, "the root is before the game"
    with pytest.raises(SgfError, match="the line has 4 positions: 3 is the limit of a review"):
        positions_of(read_tree(b"(;SZ[9];B[aa];W[bb];B[cc])"))


def test_the_positions_of_a_line_are_those_of_its_nodes_with_each_move_played_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree = read_tree(b"(;SZ[9]RU[japanese];B[ab];W[aa];B[ba];AW[cc]PL[W];W[dd];B[];W[])")
    alone = [tree.position(node) for node in tree.line(tree.root)]
    assert alone.pop().is_over
    played, play = [], Game.play

    def counted(game: Game, *move: Any, **more: Any) -> Game:
        played.append(move)
        return play(game, *move, **more)

    monkeypatch.setattr(Game, "play", counted)
    found = positions_of(tree)
    assert [node for node, _ in found] == tree.line(tree.root)[:-1] and len(played) == 6
    assert [(str(game), game.moves) for _, game in found] == [(str(game), game.moves) for game in alone]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (b"HA[2];AB[cc][ee];W[dd];B[ed]", 1),  # as the Fox server writes a handicap
        (b"AB[cc];C[x];AB[ee]PL[W];C[y];W[dd]", 2),
        (b"AB[cc][ee];W[dd];AB[ff];B[ed]", 0),
        (b";AB[cc][ee]W[dd];B[ed]", 0),
        (b"AB[cc];AB[dd];AB[ee]", 0),
    ],
)
def test_a_game_begins_with_its_last_stones_before_the_first_move(text: bytes, first: int, queue: SearchQueue) -> None:
    """An empty board before the stones of a handicap is no position of the game; diagrams without moves are all."""
    tree = read_tree(b"(;SZ[7]KM[0.5]RU[chinese]" + text + b")")
    line = tree.line(tree.root)
    found = reviewed(tree, queue, 2)
    assert list(found.nodes) == line[first:]
    assert [move.node for move in found.moves] == [node for node in line if node.move]
    annotate(found)
    assert [bool(node.properties.get("V")) for node in line] == [place >= first for place in range(len(line))]


def test_a_game_that_goes_on_after_two_passes_is_reviewed_as_a_whole(queue: SearchQueue) -> None:
    tree = read_tree(b"(;GM[1]FF[4]SZ[7]KM[7]RU[Chinese];B[ee];W[];B[];W[cc];B[dd];W[dc];B[cd])")
    found = reviewed(tree, queue, 4)
    assert [move.number for move in found.moves] == [1, 2, 3, 4, 5, 6, 7] and len(found.nodes) == 8
    third = positions_of(tree)[3][1]
    assert (third.is_over, third.to_play, len(third.moves)) == (False, 1, 1)
    three = read_tree(b"(;SZ[7]KM[7];B[ee];W[];B[];W[])")  # as servers write the end of a count
    assert len(positions_of(three)) == 3


def test_a_tree_of_a_played_game(queue: SearchQueue) -> None:
    game = Game(7, "chinese", 9)
    for point in (24, 25, 31):
        game.play(point)
    assert len(reviewed(GameTree.of_game(game), queue, 2).moves) == 3


def test_a_review_can_be_stopped(queue: SearchQueue) -> None:
    tree = read_tree(RECORD)
    assert review(tree, positions_of(tree), queue, 10**6, until=lambda: True) is None
    assert len(queue) == 0 or queue.start(Game(7), Limits(visits=1)).wait(10).visits == 1
