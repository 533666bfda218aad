"""What a caller may forbid, what a network may lack, and what can be read of a root."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from known_answers import Noise, Scripted, only

from tengen.coords import to_gtp
from tengen.engine.params import SearchParams
from tengen.engine.search import MoveRestriction, TreeSearch
from tengen.evaluators.evaluation import Evaluation, InputBatch
from tengen.game import BLACK, WHITE, Game

CORNER = tuple(range(12))


def lines(search: TreeSearch) -> list[list[str]]:
    """All lines of the tree, as words from the root on."""
    found: list[list[str]] = []
    path: list[str] = []
    for text in search.text(20).splitlines()[1:]:
        depth = (len(text) - len(text.lstrip())) // 2
        path = [*path[: depth - 1], text.split()[0]]
        found.append(path)
    return found


def searched(game: Game, restrictions: list[MoveRestriction], visits: int = 300, **params: object) -> TreeSearch:
    search = TreeSearch(Noise(), SearchParams(**{"prune_eyes": False, **params}), 4)  # type: ignore[arg-type]
    search.set_root(game, restrictions=restrictions)
    search.run(visits)
    return search


@pytest.mark.parametrize("params", [{}, {"transpositions": True}, {"selection": "gumbel"}])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_forbidden_moves_are_not_in_the_tree_until_their_depth(params: dict[str, object], depth: int) -> None:
    game = Game(5)
    words = {to_gtp(p, 5) for p in CORNER}
    for color in (BLACK, WHITE):
        plies = range(color, 20, 2)
        search = searched(game, [MoveRestriction(color, CORNER, depth)], **params)
        at_depth = {ply: {line[ply] for line in lines(search) if len(line) > ply} for ply in plies}
        assert all(not at_depth[ply] & words for ply in plies if ply < depth)
        assert any(at_depth[ply] & words for ply in plies if ply >= depth)


def test_allowed_moves_are_the_only_ones_of_their_player() -> None:
    game = Game(5)
    words = {to_gtp(p, 5) for p in CORNER}
    search = searched(game, [MoveRestriction(WHITE, CORNER, 4, allow=True)])
    replies = {line[1] for line in lines(search) if len(line) > 1}
    assert replies and replies <= words
    assert {line[0] for line in lines(search)} - words
    assert {line[3] for line in lines(search) if len(line) > 3} <= words


def test_a_pass_that_is_forbidden_twice_takes_no_other_move() -> None:
    search = TreeSearch(Scripted(), SearchParams(pass_policy="no-legal-move"), 4)
    search.set_root(Game(3), restrictions=[MoveRestriction(WHITE, (9,), 3)])
    search.run(400)
    points = {to_gtp(p, 3) for p in range(9)}
    replies: dict[str, set[str]] = {}
    for line in lines(search):
        if len(line) == 2 and line[0] in points:
            replies.setdefault(line[0], set()).add(line[1])
    assert replies == {first: points - {first} for first in points}


def test_other_restrictions_search_anew_and_the_same_go_on() -> None:
    game, deep = Game(5), [MoveRestriction(WHITE, CORNER, 3)]
    search = searched(game, deep)
    search.set_root(game, restrictions=deep)
    assert search.visits == 300
    search.set_root(game)
    assert search.visits == 0
    search.run(50)
    search.set_root(game, restrictions=deep)
    assert search.visits == 0
    search.run(50)
    search.set_root(game.copy().play(int(search.stats().point[0])), restrictions=deep)
    assert search.visits == 0  # the depths count from another root


def test_a_tree_in_which_moves_of_the_root_were_forbidden_is_not_that_of_all_moves() -> None:
    """Its visits would choose a move that was the only one."""
    game = Game(5)
    search = searched(game, [])
    best = search.choose()
    for twice in range(2):
        search.set_root(game, only([0]))
        assert (search.visits > 0) == twice
        search.run(20)
    assert search.choose() == 0
    search.set_root(game)
    search.run(300)
    assert search.choose() == best
    search.set_root(game, only([0]))
    search.run(20)
    search.set_root(game.copy().play(0))
    assert search.visits > 0, "what follows a move is what it was"


def test_visits_of_moves_that_are_forbidden_now_do_not_count() -> None:
    """After moves that were played the tree goes on, but for the best moves: they would use up the limit."""
    found = searched(Game(5), [], 2000)
    game = Game(5).play(found.choose())
    found.set_root(game)
    best, kept, stats = int(found.stats().point[0]), found.visits, found.stats()
    for points, visits in ((stats.point[stats.visits == 0].tolist(), kept), ([best], 0)):
        search = searched(Game(5), [], 2000)
        search.set_root(game, [MoveRestriction(WHITE, points)])
        assert search.visits == visits


def test_a_player_without_a_move_left_keeps_the_position_as_it_is() -> None:
    search = searched(Game(5), [MoveRestriction(WHITE, (), 3, allow=True)], 100)
    assert search.visits == 100
    assert all(len(line) == 1 for line in lines(search))
    with pytest.raises(ValueError, match="none of the moves"):
        search.set_root(Game(5), restrictions=[MoveRestriction(BLACK, (), 1, allow=True)])


def test_the_visits_of_a_line_are_those_of_its_moves() -> None:
    search = searched(Game(5), [])
    best = int(search.stats().point[0])
    line, visits, below = zip(*search.line(best), strict=True)
    assert line == search.pv(best) and len(line) > 2
    assert below == visits, "this tree shares no positions"
    assert visits[0] == search.stats().visits[0]
    assert list(visits) == sorted(visits, reverse=True) and visits[-1] >= 1
    text = search.text(20).splitlines()[1 : len(line) + 1]
    assert [(t.split()[0], int(t.split()[1])) for t in text] == [
        (to_gtp(p, 5), n) for p, n in zip(line, visits, strict=True)
    ]


class Lacking(Noise):
    """A network without some of its outputs."""

    def __init__(self, *, score: bool = False, ownership: bool = False, has_pass: bool = False) -> None:
        super().__init__()
        self.has_score, self.has_ownership, self.has_pass = score, ownership, has_pass

    def infer(self, batch: InputBatch) -> Evaluation:
        whole = super().infer(batch)
        policy = whole.policy.copy()
        if not self.has_pass:
            policy[:, -1] = 0
        score = whole.score if self.has_score else None
        return replace(whole, policy=policy, score=score, ownership=whole.ownership if self.has_ownership else None)


def test_without_a_score_the_value_alone_is_maximised() -> None:
    params = SearchParams(score_weight=0.4, ownership=True)
    found = []
    for evaluator in (Lacking(has_pass=True), Lacking(has_pass=True, score=True, ownership=True)):
        search = TreeSearch(evaluator, params, 1)
        search.set_root(Game(5))
        search.run(200)
        found.append(search)
    lacking, whole = found
    assert not lacking.has_score and whole.has_score
    assert lacking.ownership is None and whole.ownership is not None
    assert lacking.stats().utility == pytest.approx(0.6 * lacking.stats().value, abs=1e-5)
    assert lacking.score == 0


def test_without_a_pass_logit_the_root_passes_by_rule() -> None:
    settled = Game.from_diagram("X X X X X\nX . X . X\nX X X X X\nO O O O O\n. O . O .")
    for game, passes in ((Game(5), False), (settled, True)):
        search = TreeSearch(Lacking(), SearchParams(), 4)
        search.set_root(game)
        search.run(100)
        assert (25 in search.stats().point) == passes
        assert (search.choose() == 25) == passes


@pytest.mark.parametrize("params", [{}, {"priors": "uniform"}])
def test_candidates_leave_the_pass_by_rule(params: dict[str, object]) -> None:
    """Both sides have nothing but eyes to fill, and one candidate each, of which none is a pass."""
    settled = Game.from_diagram("X X X X X\nX . X . X\nX X X X X\nO O O O O\n. O . O .", to_play=WHITE)
    search = TreeSearch(Lacking(), SearchParams(candidate_max=1, prune_eyes=False, **params), 1)  # type: ignore[arg-type]
    for _ in range(2):
        search.set_root(settled)
        search.run(search.visits + 20)
        assert search.stats().point.tolist() == [25]
        assert search.choose() == 25
        settled.play("pass")


def test_a_move_that_was_no_candidate_is_searched_where_it_is_allowed() -> None:
    game = Game(5)
    search = searched(game, [], candidate_max=3)
    game.play(int(search.stats().point[0]))
    search.set_root(game)
    inside = int(search.stats().point[0])
    outside = next(p for p in game.legal_points() if p not in search.stats().point)
    search.set_root(game)
    search.run(60)
    search.set_root(game, only([inside, outside], WHITE))
    search.run(60)
    assert set(search.stats().point.tolist()) == {inside, outside}


def test_the_networks_words_about_the_root_can_be_read() -> None:
    evaluator, game = Noise(), Game(5).play("C3")
    search = TreeSearch(evaluator, SearchParams(leaf_symmetry="none", ownership=True), 4, seed=3)
    search.set_root(game)
    assert search.root_evaluation() is None
    search.run(60)
    found, said = search.root_evaluation(), evaluator.infer(evaluator.on(5).encoded([game]))
    assert found is not None and found.ownership is not None
    assert said.score is not None and said.ownership is not None
    np.testing.assert_array_equal(found.policy, said.policy[0])
    np.testing.assert_array_equal(found.ownership, said.ownership[0])
    assert (found.value, found.score) == (said.value[0], said.score[0])
    search = TreeSearch(evaluator, SearchParams(), 4)
    search.set_root(Game(5))
    search.run(60)
    search.set_root(Game(5).play(int(search.stats().point[0])))
    assert search.visits > 0 and search.root_evaluation() is None
