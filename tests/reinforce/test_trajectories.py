"""The positions that a policy learns from, against a game replayed move by move."""

import numpy as np
import pytest
from match.batch_match import play, raw, records
from selfplay.made_up import Checksum

torch = pytest.importorskip("torch", reason="learning needs the extra [train]")

from tengen.data.planes import encode_game  # noqa: E402
from tengen.data.record import GameRecord, pack_moves  # noqa: E402
from tengen.engine.params import PassPolicy  # noqa: E402
from tengen.game import Game  # noqa: E402
from tengen.match.conditions import Conditions  # noqa: E402
from tengen.reinforce.trajectories import trajectories  # noqa: E402


@pytest.mark.parametrize("pass_policy", ["free", "no-useful-move"])
def test_every_move_of_the_player_is_there_with_its_position_and_its_result(pass_policy: PassPolicy) -> None:
    player = raw(Checksum("a"), 1.0, pass_policy)
    conditions = Conditions(
        size=5, komi=0.5, rules="tromp-taylor", dead_stones="pass-alive", openings="random", opening=0, seed=2
    )
    played = records(play(player, raw(Checksum("b"), 1.0), conditions, 7))
    steps = trajectories(played, Checksum(), pass_policy)
    expected = []
    for i, record in enumerate(played):
        game = Game(5, "tromp-taylor", 0.5)
        won = 1 if record.winner == i % 2 else -1
        for ply, point in enumerate(record.points.tolist()):
            if game.to_play == i % 2:
                expected.append((ply, i, encode_game("tengen", game)[0], point, won, record.score * (1 - 2 * (i % 2))))
            game.play(point)
    expected.sort(key=lambda one: one[:2])
    assert len(steps) == len(expected)
    for row, (_, i, planes, point, won, score) in enumerate(expected):
        np.testing.assert_array_equal(steps.planes[row], planes)
        assert (steps.move[row], steps.outcome[row], steps.score[row]) == (point, won, score)
        assert steps.black[row] == (i % 2 == 0)
        assert steps.allowed[row, point]
    passes = steps.allowed[:, 25]
    assert (
        passes.all()
        if pass_policy == "free"
        else (passes.sum() < len(passes) and not steps.allowed[passes][:, :25].any())
    )


def test_ownership_and_score_are_the_players() -> None:
    # Black has the left three columns of 5x5, White the right two.
    owner = np.tile(np.array([0, 0, 2, 1, 1], np.uint8), 5)
    moves = pack_moves([0, 1, 0], [0, 24, 1])
    record = GameRecord(5, moves, "tromp-taylor", 0.5, winner=1, score=-0.5, ending="count", ownership=owner)
    void = GameRecord(5, moves, "tromp-taylor", 0.5, ending="void")
    steps = trajectories([record, record, void], Checksum(), "free")
    assert steps.black.tolist() == [True, True, False, True, True]
    assert steps.move.tolist() == [0, 0, 24, 1, 1]
    assert steps.outcome.tolist() == [-1, 0, 1, -1, 0]
    assert steps.score[[0, 2, 3]].tolist() == [-0.5, 0.5, -0.5]
    assert steps.score[[1, 4]].isnan().all()
    assert steps.ownership[0, 2].tolist() == [1, 1, 0, -1, -1]
    assert steps.ownership[2, 2].tolist() == [-1, -1, 0, 1, 1]
    assert steps.ownership[[1, 4]].isnan().all()
