"""The program that measures the levels: all games of a size are those of one network, and Elo becomes a rank."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tengen.engine.levels import SIZES, ladder_networks, levels_on
from tengen.errors import TengenError
from tengen.match.folder import MatchFolder
from tengen.match.settings import MatchSettings

PROGRAM = "long/levels.py"


def begin(settings: MatchSettings, folder: Path, network: bytes) -> None:
    """A match folder without a game, played by a network of this content."""
    file = folder.with_suffix(".onnx")
    file.write_bytes(network)
    with MatchFolder(folder) as match:
        match.begin(settings.about(lambda _name: file))


@pytest.mark.parametrize("size", SIZES)
def test_the_network_is_that_of_the_matches(program: ModuleType, tmp_path: Path, size: int) -> None:
    """`default` may become another network, whose games do not count with the earlier ones."""
    matches = program.matches(size, 2)
    for name, settings in matches.items():
        begin(settings, tmp_path / name, b"one")
    assert program.network_of(size, tmp_path) == ladder_networks()[size]
    begin(matches[f"anchors-{size}"], tmp_path / f"more-{size}", b"another")
    with pytest.raises(TengenError, match="only those of one"):
        program.network_of(size, tmp_path)


def test_games_of_another_network_are_refused(program: ModuleType, tmp_path: Path) -> None:
    other = MatchSettings.of("policy:default", "random", games=2, conditions={"size": 9})
    begin(other, tmp_path / "ladder-9", b"one")
    with pytest.raises(TengenError, match="of default"):
        program.network_of(9, tmp_path)


@pytest.mark.parametrize("size", SIZES)
def test_the_ranks_of_the_levels_are_those_of_their_elo(program: ModuleType, size: int) -> None:
    for one in levels_on(size):
        estimate = program.rank_estimate(size, one.elo, one.low, one.high)
        assert estimate == {"rank": one.rank, "rank_low": one.rank_low, "rank_high": one.rank_high}
        assert min(estimate.values()) >= program.WEAKEST and max(estimate.values()) <= program.STRONGEST


def test_the_rank_of_the_anchor_is_uncertain_by_its_own_error_alone(program: ModuleType) -> None:
    assert program.rank_estimate(19, 0.0, 0.0, 0.0) == {"rank": -7.0, "rank_low": -9.0, "rank_high": -5.0}
    wide = program.rank_estimate(19, -400.0, -700.0, -100.0)  # 4 ranks; by games +- 3, anchor 2, scale 1.6
    assert wide["rank"] == -11.0
    assert wide["rank_high"] - wide["rank"] == pytest.approx((9 + 4 + 2.56) ** 0.5, abs=0.06)
