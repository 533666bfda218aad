"""The program that measures the levels: all games of a size are those of one network."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from tengen.engine.levels import ladder_networks
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


@pytest.mark.parametrize("size", [9, 13, 19])
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
