"""Batched games against GTP programs, also bad ones: the same games as one by one, and no program can stop a rating."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from tengen.engine.clock import Clock
from tengen.errors import TengenError
from tengen.evaluators import UniformEvaluator
from tengen.game import Game
from tengen.match.batch_player import Player
from tengen.match.batch_programs import NETWORK, PROGRAM, Network, failures, play_program, points, program_rules
from tengen.match.conditions import Conditions
from tengen.match.game import Contest
from tengen.match.outcome import Outcome
from tengen.match.player import Choice
from tengen.match.player import Player as Seated
from tengen.match.program_player import ProgramPlayer
from tengen.match.schedule import fixture
from tengen.match.spec import PlayerSpec

HOSTILE = Path(__file__).parents[1] / "hostile.py"
TINY = Conditions(size=5, komi=0.5, opening=2, seed=9)
RAW = Player(UniformEvaluator())
GNUGO = shutil.which("gnugo", path="/usr/games:/usr/bin:/usr/local/bin")
needs_gnugo = pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed (Debian's package gnugo)")


def program(kind: str) -> str:
    return shlex.join([sys.executable, str(HOSTILE), kind])


class OneByOne(Network):
    """The slow twin: the most likely legal move, asked for one position."""

    def choose(self, game: Game, clock: Clock | None = None) -> Choice:
        policy = UniformEvaluator().evaluate([game]).policy[0]
        legal = [*game.legal_points(), game.size**2]
        return Choice(legal[int(np.argmax(policy[legal]))])


def told(outcomes: list[Outcome]) -> list[tuple[object, ...]]:
    return [(o.index, o.black, o.result, o.reason, o.moves) for o in outcomes]


def test_the_games_are_those_played_one_by_one() -> None:
    together = play_program(RAW, program("polite"), TINY, 6, copies=3)
    assert together.trouble == "" and together.distinct == 6
    alone = []
    opponent = ProgramPlayer(PlayerSpec(player=f"gtp:{program('polite')}"))
    try:
        for index in range(6):
            players: dict[str, Seated] = {NETWORK: OneByOne(UniformEvaluator()), PROGRAM: opponent}
            alone.append(Contest(TINY, fixture([(NETWORK, PROGRAM)], index), players).play())
    finally:
        opponent.close()
    assert told(together.outcomes) == told(alone)
    wins = sum(outcome.winner == NETWORK for outcome in alone)
    assert points(together.outcomes, True)[0] + points(together.outcomes, False)[0] == wins


def test_searches_do_not_depend_on_how_many_games_go_on_together() -> None:
    searching = Player(UniformEvaluator(), visits=8)
    found = [play_program(searching, program("polite"), TINY, 4, copies=copies) for copies in (1, 4)]
    assert told(found[0].outcomes) == told(found[1].outcomes)
    assert found[0].outcomes[0].visits == {NETWORK: 8.0}


def test_games_in_which_the_program_failed_do_not_count() -> None:
    played = play_program(RAW, program("dies"), TINY, 4, copies=2)
    assert len(played.outcomes) == 4
    dead = [outcome for outcome in played.outcomes if outcome.reason == "died"]
    assert dead, "some games last until its third move"
    counted = sum(points(played.outcomes, True)) + sum(points(played.outcomes, False))
    assert counted == 4 - len(dead)
    sentence = failures(played.outcomes)
    assert sentence.startswith(f"{len(dead)} of 4 games do not count") and "out of memory, goodbye" in sentence
    assert failures([]) == ""


def test_a_program_that_is_gone_ends_the_pairing_with_what_was_played(tmp_path: Path) -> None:
    once = tmp_path / "once.py"
    once.write_text(
        f"import os, sys\nos.remove(__file__)\nsys.argv[1:] = ['dies']\nexec(open({str(HOSTILE)!r}).read())\n"
    )
    played = play_program(RAW, shlex.join([sys.executable, str(once)]), TINY, 5, copies=1)
    assert 1 <= len(played.outcomes) < 5 and played.outcomes[-1].reason == "died"
    assert "could not be started again" in played.trouble


@pytest.mark.parametrize(("kind", "says"), [("only-9x9", "unacceptable size"), ("none", "")])
def test_a_program_that_cannot_play_is_told_before_the_first_game(kind: str, says: str) -> None:
    command = "no-such-program --here" if kind == "none" else program(kind)
    with pytest.raises(TengenError, match=says or "no-such-program"):
        play_program(RAW, command, TINY, 4)


def test_rules_against_programs() -> None:
    assert [program_rules(rules) for rules in ("tromp-taylor", "chinese", "japanese")] == [
        "chinese",
        "chinese",
        "japanese",
    ]


@needs_gnugo
def test_gnugo_beats_the_first_legal_move() -> None:
    command = "gnugo --mode gtp --level 1 --chinese-rules"
    found = [play_program(RAW, command, TINY, 6, copies=copies) for copies in (2, 6)]
    assert told(found[0].outcomes) == told(found[1].outcomes)
    losses = points(found[0].outcomes, True)[2] + points(found[0].outcomes, False)[2]
    assert losses >= 5


def test_an_opening_is_never_a_pass() -> None:
    policy = Network(UniformEvaluator()).policy(Game(5))
    assert policy[-1] == 0 and (policy[:-1] > 0).all()
