"""Batches against GTP programs, also bad ones: the same games as one by one, and no program can stop the match."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from offspring import Offspring

from tengen.errors import TengenError
from tengen.match.batch import BatchMatch
from tengen.match.folder import read_folder
from tengen.match.game import FAILURES, Conditions, Outcome
from tengen.match.runner import InBatch, InWorkers, play_match
from tengen.match.settings import MatchSettings

HOSTILE = Path(__file__).parents[1] / "hostile.py"
TINY = Conditions(size=5, komi=0.5, opening=2, seed=9)
RAW = {"player": "policy:uniform", "pass_policy": "free", "name": "network"}
GNUGO = shutil.which("gnugo", path="/usr/games:/usr/bin:/usr/local/bin")
needs_gnugo = pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed (Debian's package gnugo)")


@pytest.fixture
def nobody_is_left(offspring: Offspring) -> Iterator[None]:
    """No copy of a program is left when the test is over."""
    yield
    assert offspring.gone(0.5)


def program(kind: str) -> str:
    return "program=gtp:" + shlex.join([sys.executable, str(HOSTILE), kind])


def against(word: str, games: int, ours: dict[str, object] = RAW) -> MatchSettings:
    return MatchSettings.of(ours, word, conditions=TINY, games=games)


def played(settings: MatchSettings, at_once: int) -> list[Outcome]:
    with BatchMatch(settings, at_once, threads=2) as match:
        return [one.outcome for one in match.play_all(settings.games)]


def without_times(outcomes: list[Outcome]) -> list[Outcome]:
    return [Outcome(**{**asdict(outcome), "seconds": {}}) for outcome in outcomes]


def test_the_games_are_those_played_one_by_one_and_in_workers(tmp_path: Path) -> None:
    settings = against(program("polite"), 6)
    together = without_times(played(settings, 3))
    assert without_times(played(settings, 1)) == together
    for name, execution in (("workers", InWorkers(1)), ("batch", InBatch(at_once=4))):
        play_match(settings, tmp_path / name, execution)
        assert without_times(read_folder(tmp_path / name)[1]) == together
    records = [(tmp_path / name / "games" / "00003.sgf").read_bytes() for name in ("workers", "batch")]
    assert records[0] == records[1]


@pytest.mark.usefixtures("nobody_is_left")
def test_searches_do_not_depend_on_how_many_games_go_on_together() -> None:
    searching = {"player": "uniform", "visits": 8, "pass_policy": "free", "name": "network"}
    settings = against(program("polite"), 4, searching)
    found = [without_times(played(settings, at_once)) for at_once in (1, 4)]
    assert found[0] == found[1] and found[0][0].visits == {"network": 8.0}


@pytest.mark.usefixtures("nobody_is_left")
def test_a_program_that_dies_loses_and_the_next_game_has_a_fresh_copy() -> None:
    outcomes = played(against(program("dies"), 6), 3)
    dead = [outcome for outcome in outcomes if outcome.reason == "died"]
    assert len(outcomes) == 6 and dead, "some games last until its third move"
    assert {outcome.winner for outcome in dead} == {"network"}
    assert dead[0].last_words[-1] == "out of memory, goodbye"


@pytest.mark.usefixtures("nobody_is_left")
def test_a_program_that_is_gone_ends_the_match_with_what_was_played(tmp_path: Path) -> None:
    once = tmp_path / "once.py"
    once.write_text(
        f"import os, sys\nos.remove(__file__)\nsys.argv[1:] = ['dies']\nexec(open({str(HOSTILE)!r}).read())\n"
    )
    settings = against("program=gtp:" + shlex.join([sys.executable, str(once)]), 20)
    with pytest.raises(TengenError, match="could not begin 3 games one after the other"):
        play_match(settings, tmp_path / "match", InBatch(at_once=1))
    outcomes = read_folder(tmp_path / "match")[1]
    assert 1 <= len(outcomes) < 20 and outcomes[-1].reason in FAILURES


@pytest.mark.usefixtures("nobody_is_left")
@pytest.mark.parametrize(("word", "says"), [("only-9x9", "unacceptable size"), ("", "no-such-program")])
def test_a_program_that_cannot_play_is_named_before_the_first_game(word: str, says: str, tmp_path: Path) -> None:
    settings = against(program(word) if word else "ghost=gtp:no-such-program --here", 4)
    with pytest.raises(TengenError, match=says):
        play_match(settings, tmp_path / "match", InBatch())
    assert not (tmp_path / "match").exists()


@needs_gnugo
def test_gnugo_beats_the_first_legal_move() -> None:
    settings = against("gtp:gnugo --mode gtp --level 1 --chinese-rules", 6)
    found = [played(settings, at_once) for at_once in (2, 6)]
    assert without_times(found[0]) == without_times(found[1])
    assert sum(outcome.winner == "GNU Go level 1" for outcome in found[0]) >= 5
