"""KataGo itself, where it is installed: its raw outputs for positions, and its answers to queries."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from other_programs import KATAGO, missing

from tengen.coords import to_gtp
from tengen.game import Game

CONFIG = """
logAllGTPCommunication = false
logSearchInfo = false
rules = japanese
maxVisits = 1
numSearchThreads = 1
"""


ANALYSIS_CONFIG = """
reportAnalysisWinratesAs = SIDETOMOVE
numAnalysisThreads = 1
numSearchThreadsPerAnalysisThread = 1
nnMaxBatchSize = 2
nnRandomize = false
wideRootNoise = 0
"""


def _program() -> str:
    if not KATAGO:
        pytest.skip(missing("katago"))
    return KATAGO


def analyze_by_katago(
    network: Path,
    queries: Sequence[Mapping[str, Any]],
    folder: Path,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, dict[str, Any]]:
    """The last answer to each query, by its id, with more settings of its configuration file. Skips without KataGo."""
    program = _program()
    lines = (f"{name} = {value}\n" for name, value in settings.items())
    (folder / "analysis.cfg").write_text(ANALYSIS_CONFIG + "".join(lines))
    talk = subprocess.run(
        [program, "analysis", "-model", network, "-config", folder / "analysis.cfg"],
        input="".join(json.dumps(query) + "\n" for query in queries),
        capture_output=True, text=True, timeout=300, check=True, cwd=folder,
    )  # fmt: skip
    return {answer["id"]: answer for answer in map(json.loads, talk.stdout.splitlines())}


def _talk(network: Path, games: Sequence[Game], question: str, folder: Path, encore: bool) -> list[list[str]]:
    """The words of KataGo's answer to a GTP command after each game. Skips without KataGo."""
    program = _program()
    (folder / "gtp.cfg").write_text(CONFIG + f"preventCleanupPhase = {str(not encore).lower()}\n")
    commands = []
    for game in games:
        commands += [f"boardsize {game.size}", "clear_board", f"kata-set-rules {json.dumps(game.rules.katago)}"]
        setup = " ".join(f"{'bw'[c]} {to_gtp(p, game.size)}" for c, p in game.setup_stones)
        commands += [f"set_position {setup}"] if setup else []
        commands += [f"komi {game.komi}", *(f"play {'bw'[c]} {to_gtp(p, game.size)}" for c, p in game.moves)]
        commands.append(f"7 {question}")
    talk = subprocess.run(
        [program, "gtp", "-model", network, "-config", folder / "gtp.cfg"],
        input="\n".join([*commands, "quit\n"]), capture_output=True, text=True, timeout=300, check=True, cwd=folder,
    )  # fmt: skip
    answers = [text.split()[1:] for text in talk.stdout.split("\n\n") if text.startswith("=7")]
    assert len(answers) == len(games), talk.stdout + talk.stderr
    return answers


def ask_katago(
    network: Path, games: Sequence[Game], folder: Path, encore: bool = False
) -> list[tuple[float, float, np.ndarray]]:
    """Value and lead of the side to move, and the policy of all points (0 where illegal). Skips without KataGo.

    Stones that were set up must leave Black to play. `encore` lets passes lead to the encore.
    """
    found = []
    for game, words in zip(games, _talk(network, games, "kata-raw-nn 0 0", folder, encore), strict=True):
        win, loss, lead = (float(words[words.index(name) + 1]) for name in ("whiteWin", "whiteLoss", "whiteLead"))
        sign, start = (1 if game.to_play else -1), words.index("policy") + 1
        policy = np.nan_to_num([float(word) for word in words[start : start + game.size**2]])
        found.append((sign * (win - loss), sign * lead, policy))
    return found


def results_by_katago(network: Path, games: Sequence[Game], folder: Path) -> list[str]:
    """The results, such as W+0.5, of games that have ended by passes after their encore. Skips without KataGo."""
    return [words[0].removesuffix(".0") for words in _talk(network, games, "final_score", folder, encore=True)]
