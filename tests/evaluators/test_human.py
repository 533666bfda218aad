"""A human-style network beside the one that searches: profiles, and files that are none."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import katago_twin
import numpy as np
import pytest

from tengen.errors import NetworkError
from tengen.evaluators import load_evaluator
from tengen.evaluators.human import HumanNetwork
from tengen.game import Game


def test_a_profile_says_what_its_own_network_says(tmp_path: Path) -> None:
    path = katago_twin.written(tmp_path / "human.txt", metadata=True)
    human, game = HumanNetwork(path, "onnxruntime"), Game(9).play("D4")
    assert (human.name, human.katago_format) == ("tiny-v15", 15)
    profiles = ["rank_9d", "rank_20k", "proyear_1850"] * 3
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda profile: human.outputs(game, profile)[0], profiles))
    for profile, raw in zip(profiles, found, strict=True):
        expected = load_evaluator(f"{path}@{profile}", "onnxruntime").evaluate([game])
        policy = np.append(np.nan_to_num(raw.policy, nan=0.0), raw.policy_pass)
        assert policy == pytest.approx(expected.policy[0], abs=1e-6)
        assert raw.white_win - raw.white_loss == pytest.approx(float(expected.value[0]), abs=1e-6)
    assert len({raw.policy.tobytes() for raw in found}) == 3
    assert len(human.outputs(game, "rank_1k", range(8))) == 8


def test_a_profile_of_two_ranks_is_that_of_the_side_to_move(tmp_path: Path) -> None:
    human = HumanNetwork(katago_twin.written(tmp_path / "human.txt", metadata=True), "onnxruntime")

    def policy(profile: str, *moves: str) -> bytes:
        game = Game(9)
        for move in moves:
            game.play(move)
        return human.outputs(game, profile)[0].policy.tobytes()

    assert policy("rank_9d_9d") == policy("rank_9d")
    assert policy("rank_9d_20k") == policy("rank_9d_vs_20k") != policy("rank_9d")
    assert policy("rank_9d_20k", "D4") == policy("rank_20k_vs_9d", "D4")
    assert policy("rank_9d_20k", "D4") != policy("rank_9d_vs_20k", "D4")


def test_other_files_and_profiles_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="imitates no people"):
        HumanNetwork(katago_twin.written(tmp_path / "plain.txt", metadata=False))
    human = HumanNetwork(katago_twin.written(tmp_path / "human.txt", metadata=True), "onnxruntime")
    for profile, message in (("rank_40k", "no profile 'rank_40k'"), ("", "humanSLProfile is not set")):
        with pytest.raises(NetworkError, match=message):
            human.outputs(Game(9), profile)


def test_a_profile_beside_the_file_is_refused_with_its_parameter(tmp_path: Path) -> None:
    """`FILE@PROFILE` names a network everywhere else."""
    path = katago_twin.written(tmp_path / "human.txt", metadata=True)
    with pytest.raises(NetworkError, match=r"human\.txt@rank_5k: leave out @rank_5k; .* humanSLProfile"):
        HumanNetwork(f"{path}@rank_5k")


@pytest.mark.parametrize(("name", "message"), [("zero-9x9", "zero-9x9 is no human-style"), ("nosuch", "'nosuch'")])
def test_other_networks_are_refused_by_the_name_that_was_given(name: str, message: str) -> None:
    with pytest.raises(NetworkError, match=message) as found:
        HumanNetwork(name)
    assert "@" not in str(found.value)
