"""Whether a new network may play: games against the one that plays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tengen.cluster import Cluster
from tengen.data.seeds import derive
from tengen.match.batch import Check, never_stop
from tengen.match.settings import MatchSettings
from tengen.match.summary import tally
from tengen.selfplay.anchors import network_spec
from tengen.selfplay.config import GateConfig, SelfPlayConfig
from tengen.selfplay.matches import (
    PlayerOpener,
    load_temporary,
    play_run_match,
    run_conditions,
    run_pass_policy,
    run_search_params,
)
from tengen.statistics import Tally, binomial_tail

_GATE = 5  # purpose of a seed


@dataclass(frozen=True)
class GateResult:
    """The result of a gate for the candidate.

    `chance` is the probability that a player of equal strength wins as many of the decided games, or more: a one-sided
    sign test.
    """

    tally: Tally
    chance: float
    passed: bool

    def event(self) -> dict[str, float | int | bool]:
        """The entry in the log."""
        tally = self.tally
        return {
            "wins": tally.wins, "draws": tally.draws, "losses": tally.losses,
            "chance": round(self.chance, 5), "passed": self.passed,
        }  # fmt: skip


def gate(
    folder: Path,
    config: SelfPlayConfig,
    number: int,
    candidate: Path,
    playing: Path,
    fair_komi: dict[int, float],
    cluster: Cluster | None = None,
    check: Check = never_stop,
) -> GateResult:
    """Play the gate of network `number` on the main board size, at fair komi, both colors equally, without noise.

    `candidate` meets `playing`, the network before it. The games lie in `folder`/matches/gate-NUMBER. `check` is called
    before each batch and may raise, to stop.
    """
    rules = config.gate
    assert rules is not None
    size = config.game.main_size
    now = config.at(number)  # the cycle that begins with this network
    params = run_search_params(now, rules.visits)
    pass_policy = run_pass_policy(now.game)
    files = {f"candidate {number}": candidate, f"network {number - 1}": playing}
    settings = MatchSettings.of(
        *(network_spec(word, word, rules.visits, params, pass_policy, config.device) for word in files),
        games=rules.games + rules.games % 2,
        conditions=run_conditions(
            now.game,
            params,
            size,
            fair_komi[size],
            openings="players",
            opening=max(1, size // 2),
            seed=derive(config.seed, _GATE, number) % 2**62,
        ),
    )

    opener = PlayerOpener(files, lambda path: load_temporary(path, config.device), check, cluster)
    outcomes = play_run_match(settings, folder / "matches" / f"gate-{number:05d}", opener.execution())
    found = tally(outcomes, f"candidate {number}")
    chance, passed = gate_verdict(found, rules)
    return GateResult(found, chance, passed)


def gate_verdict(tally: Tally, rules: GateConfig) -> tuple[float, bool]:
    """The chance of GateResult, and whether the candidate has passed.

    Draws do not count: on a small board, whose fair komi is a whole number, they can be half of the games.
    """
    chance = binomial_tail(tally.wins, tally.wins + tally.losses)
    return chance, tally.score >= rules.score if rules.confidence is None else chance < 1 - rules.confidence
