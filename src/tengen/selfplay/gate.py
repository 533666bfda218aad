"""Whether a new network may play: games against the one that does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from tengen.data.split import derive
from tengen.evaluators.load import load_evaluator
from tengen.match.batch import Opening, Terms, duel
from tengen.match.batch_player import Player
from tengen.selfplay.config import GateConfig, SelfPlayConfig
from tengen.statistics import Tally

_GATE = 5  # purpose of a seed


@dataclass(frozen=True)
class GateResult:
    """How the games of a gate ended for the candidate."""

    tally: Tally
    chance: float
    """That a player of equal strength wins so many of the games that somebody won, or more: a one-sided sign test."""
    passed: bool
    evaluations: int

    def event(self) -> dict[str, float | int | bool]:
        """For the log."""
        tally = self.tally
        return {
            "wins": tally.wins, "draws": tally.draws, "losses": tally.losses,
            "chance": round(self.chance, 5), "passed": self.passed,
        }  # fmt: skip


def gate(config: SelfPlayConfig, cycle: int, candidate: Path, playing: Path, fair_komi: dict[int, float]) -> GateResult:
    """Play the gate of `cycle` on the board size that is played most, at fair komi, both colours equally."""
    rules = config.gate
    assert rules is not None
    size = max(config.game.sizes, key=lambda size: config.game.sizes[size])
    now = config.at(cycle)
    params, game = now.search.search_params(full=False), now.game
    terms = Terms(size, game.rules, fair_komi[size], game.max_moves, game.settle, params.simulate_to_end)
    a, b = (
        Player(load_evaluator(path, remember=False), params, rules.visits, never_pass=game.forbid_pass)
        for path in (candidate, playing)
    )
    opening = Opening(moves=max(1, size // 2))
    result = duel(a, b, terms, rules.games, derive(config.seed, _GATE, cycle) % 2**62, opening=opening)
    chance, passed = judge(result.tally, rules)
    return GateResult(result.tally, chance, passed, result.evaluations)


def judge(tally: Tally, rules: GateConfig) -> tuple[float, bool]:
    """The chance of GateResult, and whether the candidate has passed.

    Draws say nothing: on a small board, whose fair komi is a whole number, they may be half of the games.
    """
    chance = chance_of_wins(tally.wins, tally.wins + tally.losses)
    return chance, tally.score >= rules.score if rules.confidence is None else chance < 1 - rules.confidence


def chance_of_wins(wins: int, games: int) -> float:
    """The probability that of `games` fair coins at least `wins` show heads."""
    return float(sum(math.comb(games, k) for k in range(wins, games + 1)) / 2**games)
