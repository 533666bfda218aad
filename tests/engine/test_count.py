"""Counting finished positions: by a network's ownership, by playouts, and where the two disagree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from known_positions import SEKI
from scripted import ScriptedEvaluator

from tengen import coords
from tengen.engine import Engine
from tengen.engine.count import PositionCounter
from tengen.engine.result import Count
from tengen.errors import NetworkError
from tengen.evaluators import Evaluation, InputBatch, UniformEvaluator
from tengen.game import BLACK, EMPTY, WHITE, Game

# D3 is a white stone that cannot live; F6 and G6 are black ones in White's territory. Black has 37 points, White 44.
DEAD = """
. X X O . O . O .
X X O O O O O O O
X . X O . O . . .
X X X O . X X . .
. X . X O O O . .
X X X X X O . O O
. X . O X O O . O
X X X X X X O O .
. X . . . X O . .
"""


def names(points: tuple[int, ...], size: int = 9) -> set[str]:
    return {coords.to_gtp(p, size) for p in points}


def count_with(game: Game, ownership: np.ndarray | None = None) -> Count:
    """The count with this ownership from a search, +1 Black, or by playouts alone."""
    return PositionCounter(UniformEvaluator()).count(game, ownership)


def owned(text: str) -> np.ndarray:
    """Ownership +0.9 where the text has X, -0.9 where it has O."""
    rows = [line.split() for line in text.split("\n") if line.strip()]
    return np.array([[{"X": 0.9, "O": -0.9}.get(c, 0.0) for c in row] for row in rows], np.float32)


OWNERS = """
X X X O O O O O O
X X O O O O O O O
X X X O O O O O O
X X X O O O O O O
X X X X O O O O O
X X X X X O O O O
X X X X X O O O O
X X X X X X O O O
X X X X X X O O O
"""


@pytest.mark.parametrize("known", [True, False], ids=["by the network", "by playouts alone"])
@pytest.mark.parametrize("color", [BLACK, WHITE])
def test_dead_stones_are_found_and_counted(known: bool, color: int) -> None:
    game = Game.from_diagram(DEAD, komi=7.5, to_play=color)
    count = count_with(game, owned(OWNERS) if known else None)
    assert names(count.dead) == {"D3", "F6", "G6"}
    assert count.score == 37 - 44 - 7.5
    assert (count.margin(BLACK), count.margin(WHITE)) == (-14.5, 14.5)
    assert (count.territory == np.where(owned(OWNERS) > 0, BLACK, WHITE)).all()
    assert (np.sign(count.ownership) == np.sign(owned(OWNERS))).all()


def test_territory_rules_count_prisoners() -> None:
    game = Game.from_diagram(DEAD, "japanese", komi=0)
    empty_black, empty_white = 37 - 26, 44 - 25
    count = count_with(game)
    stones = game.board
    black = int(((count.territory == BLACK) & (stones != BLACK)).sum()) + 1
    white = int(((count.territory == WHITE) & (stones != WHITE)).sum()) + 2
    assert count.score == black - white
    assert black > empty_black and white > empty_white


def test_the_passes_at_the_end_do_not_matter() -> None:
    game = Game.from_diagram(DEAD)
    before = PositionCounter(UniformEvaluator()).count(game)
    after = PositionCounter(UniformEvaluator()).count(game.play("pass").play("pass"))
    assert (before.score, before.dead) == (after.score, after.dead)
    assert game.is_over, "the game itself is left alone"
    game = Game(9)
    open_board, passed = (PositionCounter(UniformEvaluator()).count(one) for one in (game, game.copy().play("pass")))
    assert passed.ownership.tolist() == open_board.ownership.tolist()


def test_what_lives_by_the_rules_is_alive_whatever_the_network_says() -> None:
    game = Game.from_diagram(DEAD)
    assert (count_with(game, -owned(OWNERS)).territory == np.where(owned(OWNERS) > 0, BLACK, WHITE)).mean() > 0.8
    alive = set(np.flatnonzero(game.pass_alive().ravel() == game.board.ravel()))
    assert not alive & set(count_with(game, -owned(OWNERS)).dead)


def test_sure_playouts_overrule_a_sure_network_and_doubtful_ones_do_not() -> None:
    """The first network was sure that dead groups live: what nearly all playouts kill is dead whatever it says."""
    game, sure = Game.from_diagram(DEAD), owned(OWNERS)
    for name in ("F6", "G6"):
        sure.ravel()[coords.from_gtp(name, 9)] = 0.9
    count = count_with(game, sure)
    assert names(count.dead) == {"D3", "F6", "G6"}
    assert (count.ownership.ravel()[list(count.dead)[:2]] < -0.4).all(), "and the ownership says so too"
    point = coords.from_gtp("F6", 9)
    played = game.ownership_by_playouts(128, 0).ravel()[point]
    assert count.ownership.ravel()[point] == pytest.approx(0.7 * played + 0.3 * 0.9)
    assert names(PositionCounter(UniformEvaluator()).count(game, sure, by="network").dead) == {"D3"}


@pytest.mark.parametrize(("black", "dead"), [(0.35, True), (0.5, False)])
def test_a_sure_network_decides_where_playouts_are_in_doubt(
    black: float, dead: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F6 and G6 are black stones in White's area: two thirds of the playouts let them live, or three quarters."""
    game, playouts = Game.from_diagram(DEAD), owned(OWNERS)
    stones = [coords.from_gtp(name, 9) for name in ("F6", "G6")]
    playouts.ravel()[stones] = black
    monkeypatch.setattr(Game, "ownership_by_playouts", lambda *_: playouts)
    assert set(stones).issubset(count_with(game, owned(OWNERS)).dead) == dead


def test_each_way_decides_alone() -> None:
    game = Game.from_diagram(SEKI, komi=0)
    wrong = -owned(SEKI)
    counter = PositionCounter(UniformEvaluator())
    by_network = set(counter.count(game, wrong, by="network").dead)
    alive = set(np.flatnonzero(game.pass_alive().ravel() != EMPTY))
    assert by_network == set(np.flatnonzero(game.board.ravel() != EMPTY)) - alive
    by_playouts = counter.count(game, wrong, by="playouts")
    assert set(by_playouts.dead) == set(game.dead_by_playouts(128))
    assert by_playouts.ownership.tolist() == counter.count(game, by="playouts").ownership.tolist()
    assert counter.count(game, by="network").dead == by_playouts.dead, "a network that owns nothing knows nothing"


def test_playouts_confirm_what_the_network_leans_to() -> None:
    game = Game.from_diagram(DEAD.replace(". X . X O O O . .", ". X X . O O O . ."))
    leaning, doubting = (count_with(game, owned(OWNERS) * factor).ownership for factor in (0.5, 0.1))
    inside = coords.from_gtp("H7", 9)
    assert leaning.ravel()[inside] < -0.9 and doubting.ravel()[inside] == pytest.approx(-0.09)


@pytest.mark.parametrize(("color", "sign"), [(BLACK, 1), (WHITE, -1)])
def test_the_network_is_asked_for_the_side_to_move(color: int, sign: int) -> None:
    evaluator = ScriptedEvaluator(ownership=np.full((9, 9), 0.75, np.float32))
    count = PositionCounter(evaluator).count(Game(9).setup(to_play=color))
    assert count.ownership == pytest.approx(np.full((9, 9), 0.75 * sign))
    assert evaluator.calls == 8, "under all symmetries"


class WithoutOwnership(UniformEvaluator):
    has_ownership = False

    def infer(self, batch: InputBatch) -> Evaluation:
        return replace(super().infer(batch), ownership=None)


def test_playouts_need_no_network() -> None:
    evaluator = ScriptedEvaluator(ownership=owned(OWNERS))
    game = Game.from_diagram(DEAD)
    alone = PositionCounter(evaluator).count(game, by="playouts")
    assert evaluator.calls == 0 and names(alone.dead) == {"D3", "F6", "G6"}
    assert PositionCounter(WithoutOwnership()).count(game).dead == alone.dead
    evaluator.only_size = 19
    for way in ("both", "playouts"):
        assert PositionCounter(evaluator).count(game, by=way).dead == alone.dead
    with pytest.raises(NetworkError, match="takes 19x19 boards alone"):
        PositionCounter(evaluator).count(game, by="network")


def test_an_empty_board_is_neutral() -> None:
    count = count_with(Game(9, komi=6.5))
    assert (count.score, count.dead) == (-6.5, ()) and (count.territory == 2).all()


def test_a_seki_is_alive_when_the_network_knows_it() -> None:
    game = Game.from_diagram(SEKI, komi=0)
    assert count_with(game, owned(SEKI)).dead == ()


# D6 and D5 stand in seki with White's five stones. Nearly all playouts capture them.
TEXTBOOK_SEKI = """
. . O X . O
. O O X . O
. O X O O O
. O X X X X
. O X . X .
. O X . X .
"""


@pytest.mark.parametrize("known", [True, False], ids=["by both", "by playouts alone"])
def test_unanimous_playouts_do_not_kill_a_seki(known: bool) -> None:
    game = Game.from_diagram(TEXTBOOK_SEKI, "japanese", komi=0)
    playouts = game.ownership_by_playouts(128, 0).ravel()
    assert max(playouts[game.point(v)] for v in ("D6", "D5")) < -0.9
    count = count_with(game, owned(TEXTBOOK_SEKI) if known else None)
    assert count.dead == ()
    assert count.score == 4 - 7, "eyes of the groups around: D2 D1 F2 F1, and A6 B6 A5 A4 A3 A2 A1"


def test_the_engine_counts_any_game_without_a_position() -> None:
    assert Engine(UniformEvaluator()).count(Game.from_diagram(DEAD)).score == -14.5


def test_an_unknown_way_to_count_is_refused() -> None:
    with pytest.raises(ValueError, match="both, network, playouts, not 'guess'"):
        PositionCounter(UniformEvaluator()).count(Game(5), by="guess")  # type: ignore[arg-type]
