"""Whole matches: equal conditions, several at once, interruption, an end by itself, refusal before the first game."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile import PROGRAM, command_line, command_line_once
from offspring import Offspring

from tengen.errors import RecipeError, TengenError
from tengen.evaluators.installed_networks import find_network
from tengen.match.cluster import MatchWork
from tengen.match.folder import VERSION, MatchFolder, read_folder
from tengen.match.outcome import Outcome
from tengen.match.player import Choice, Player, Reply, Turn
from tengen.match.runner import (
    Execution,
    FailedPlayers,
    InBatch,
    InWorkers,
    MatchObserver,
    games_at_once,
    play_match,
)
from tengen.match.settings import MatchSettings
from tengen.match.spec import PLAYERS
from tengen.match.sprt import Sprt, SprtState
from tengen.ratings.pool import match_games
from tengen.sgf import read_game

ROOT = Path(__file__).parents[2]
TINY = {"size": 5, "komi": 0.5, "opening": 2}
FAST = {**TINY, "turns": 4}
FAST_WORDS = ["--size", "5", "--komi", "0.5", "--opening", "2", "--set", "conditions.turns=4"]
HANGING_WORDS = ["--games", "2", "--workers", "2", "--size", "7"]


def program(kind: str, name: str = "", move: int = 3) -> str:
    word = f"gtp:{command_line(kind, move)}"
    return f"{name}={word}" if name else word


def match(*players: str, games: int = 2, conditions: dict[str, Any] = TINY, **more: Any) -> MatchSettings:
    return MatchSettings.of(*players, games=games, conditions=conditions, **more)


def play(
    settings: MatchSettings, folder: Path, workers: int = 1, watcher: MatchObserver | None = None
) -> dict[str, Any]:
    return play_match(settings, folder, InWorkers(workers), watcher)


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]


def lines_so_far(folder: Path) -> int:
    path = folder / "games.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def start(*words: str, kill_at_record: int = 0) -> subprocess.Popen[str]:
    """Run the command with these words, the last of them its folder; it kills itself at this change of a record."""
    command = [sys.executable, "-m", "tengen", "match", *words]
    if kill_at_record:
        kill = f"kill_at(pathlib.Path({words[-1]!r}), 'games/*', {kill_at_record})"
        code = f"import pathlib, sys; from killing import kill_at; {kill}; from tengen.cli.app import main; main()"
        command[1:3] = ["-c", code]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment, start_new_session=True)


def test_a_match_keeps_every_game(tmp_path: Path) -> None:
    folder = tmp_path / "match"
    figures = play(match("random", "other=playouts@20", games=6), folder, workers=2)
    (pairing,) = figures["pairings"]
    assert figures["games"] == pairing["games"] == pairing["wins"] + pairing["draws"] + pairing["losses"] == 6
    assert figures["complete"] and json.loads((folder / "summary.json").read_text()) == figures
    about, outcomes = read_folder(folder)
    assert about.names == ("random", "other") and (about.games, about.schedule["kind"]) == (6, "head-to-head")
    assert about.conditions["size"] == 5 and about.players[1]["visits"] == 20
    assert [row["index"] for row in map(asdict, outcomes)] == list(range(6))
    assert [outcome.black for outcome in outcomes] == ["random", "other"] * 3
    assert [outcome.white for outcome in outcomes] == ["other", "random"] * 3
    assert [(outcome.pair, outcome.round) for outcome in outcomes] == [(0, 0), (0, 0), (1, 1), (1, 1), (2, 2), (2, 2)]
    for outcome in outcomes:
        game, info = read_game(folder / "games" / f"{outcome.index:05d}.sgf")
        assert len(game.moves) == outcome.moves and str(info.result) == outcome.result
        assert (info.black, info.white) == (outcome.black, outcome.white)


def test_both_games_of_a_pair_begin_alike_and_all_pairings_play_the_same_openings(tmp_path: Path) -> None:
    play(match("a=random", "b=random", "c=random", games=4, conditions=FAST), tmp_path)
    begun = [tuple(read_game(tmp_path / "games" / f"{i:05d}.sgf")[0].moves[:2]) for i in range(12)]
    assert len(set(begun[:6])) == len(set(begun[6:])) == 1 and begun[0] != begun[6]


def test_a_match_continues_and_can_be_extended(tmp_path: Path) -> None:
    play(match("a=random", "b=random"), tmp_path)
    first = (tmp_path / "games.jsonl").read_bytes()
    with (tmp_path / "games.jsonl").open("ab") as file:
        file.write(b'{"index": 2, "bla')  # killed while it wrote
    play(match("a=random", "b=random", games=4), tmp_path)
    assert (tmp_path / "games.jsonl").read_bytes().startswith(first)
    assert sorted(row["index"] for row in lines(tmp_path)) == [0, 1, 2, 3]
    assert play(match("a=random", "b=random"), tmp_path)["games"] == 2, "a shorter match of the same is a part of it"


def test_a_folder_of_another_match_is_refused(tmp_path: Path) -> None:
    play(match("a=random", "b=random"), tmp_path)
    for other, says in (
        (match("a=random", "b=playouts"), "match in which b has player = random, not playouts; choose another folder"),
        (match("a=random", "b=random", "c=random"), r"match of other players: c is new; choose another folder"),
        (match("a=random", "c=random"), "match of other players: b is missing, c is new; choose"),
        (match("b=random", "a=random"), "the same players in another order: a, b; choose"),
        (match("a=random", "b=random", conditions={**TINY, "komi": 1.5}), r"conditions\.komi = 0\.5, not 1\.5"),
    ):
        with pytest.raises(TengenError, match=says):
            play(other, tmp_path)


@pytest.mark.slow
def test_games_of_a_rebuilt_program_do_not_mix_with_those_before(tmp_path: Path) -> None:
    script, folder = tmp_path / "mine.py", tmp_path / "match"
    command = f"import sys\nsys.argv[1:] = ['version:1.2']\nexec(open({str(PROGRAM)!r}).read())\n"
    script.write_text(command)
    word = f"mine=gtp:{shlex.join([sys.executable, str(script)])}"
    play(match("random", word), folder)
    about = json.loads((folder / "match.json").read_text())
    assert about["programs"] == {"mine": "version 1.2"} and str(script) in about["program_files"]
    script.write_text(command + "# rebuilt\n")
    for games in (2, 4):
        with pytest.raises(TengenError, match=rf"program whose file {re.escape(str(script))} has changed since;"):
            play(match("random", word, games=games), folder)
    script.write_text(command)
    assert play(match("random", word, games=4), folder)["games"] == 4
    script.write_text(command.replace("1.2", "1.3"))
    del about["program_files"]
    (folder / "match.json").write_text(json.dumps(about))
    with pytest.raises(TengenError, match=r"holds a match with programs\.mine = version 1\.2, not version 1\.3"):
        play(match("random", word, games=6), folder)
    del about["programs"]  # as in an earlier version
    (folder / "match.json").write_text(json.dumps(about))
    assert play(match("random", word, games=6), folder)["games"] == 6
    assert json.loads((folder / "match.json").read_text())["programs"] == {"mine": "version 1.3"}


@pytest.mark.slow
@pytest.mark.parametrize("earlier", [{}, {"precision": None}])
def test_a_folder_of_a_version_without_precisions_goes_on(tmp_path: Path, earlier: dict[str, object]) -> None:
    play(match("a=random", "b=random"), tmp_path)
    about = json.loads((tmp_path / "match.json").read_text())
    for player in about["players"]:
        assert player.pop("precision") == "auto"
        player |= earlier
    (tmp_path / "match.json").write_text(json.dumps(about))
    assert play(match("a=random", "b=random", games=4), tmp_path)["games"] == 4


def test_a_folder_of_a_version_with_another_usual_komi_goes_on_with_its_own(tmp_path: Path) -> None:
    conditions = {"size": 5, "rules": "japanese", "turns": 4}
    play(match("a=random", "b=random", conditions={**conditions, "komi": 7.5}), tmp_path)
    with pytest.raises(TengenError, match=r"conditions\.komi = 7\.5, not 6\.5"):
        play(match("a=random", "b=random", games=4, conditions=conditions), tmp_path)
    assert play(match("a=random", "b=random", games=4, conditions={**conditions, "komi": 7.5}), tmp_path)["games"] == 4


@pytest.mark.parametrize(
    "there",
    ["games/manifest.json", "recipe.yaml", "report.html", "games.jsonl", "gate/match.json", "1.sgf", "thesis/a.tex"],
)
def test_a_folder_of_something_else_is_left_alone(there: str, tmp_path: Path) -> None:
    path = tmp_path / "run" / there
    path.parent.mkdir(parents=True)
    path.write_text("of a run")
    held = "the match gate" if there == "gate/match.json" else there.split("/")[0]
    with pytest.raises(TengenError, match=rf"run holds {held} but no match\.json"):
        play(match("a=random", "b=random"), tmp_path / "run")
    assert [file for file in (tmp_path / "run").rglob("*") if file.is_file()] == [path]
    assert path.read_text() == "of a run"


def test_a_folder_that_was_only_just_made_is_taken(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    (tmp_path / ".lock").touch()
    assert play(match("a=random", "b=random", conditions=FAST), tmp_path)["games"] == 2


def test_two_processes_do_not_play_the_same_match(tmp_path: Path) -> None:
    settings = match("a=random", "b=random")
    with MatchFolder(tmp_path) as journal:
        journal.begin(settings.about())
        with pytest.raises(TengenError, match="another process plays this match"):
            play(settings, tmp_path)
    assert play(settings, tmp_path)["games"] == 2


@pytest.mark.parametrize(
    ("word", "says"),
    [
        (program("only-9x9", "picky"), "picky: .*unacceptable size"),
        ("ghost=gtp:no-such-program", "ghost: .*no-such-program"),
        ("ghost=no-such-network", "no-such-network"),
    ],
)
def test_a_player_that_cannot_play_is_named_before_the_first_game(word: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(TengenError, match=says):
        play(match("random", word), tmp_path / "match")
    assert not (tmp_path / "match").exists()


def test_a_program_that_dies_every_game_loses_every_game(tmp_path: Path) -> None:
    figures = play(match("random", program("dies", "mortal"), games=4), tmp_path)
    assert figures["pairings"][0]["wins"] == 4 and figures["endings"] == {"random by crash": 4}
    assert lines(tmp_path)[0]["last_words"][-1] == "out of memory, goodbye"


def test_a_program_that_is_gone_ends_the_match_with_the_games_so_far(tmp_path: Path) -> None:
    word = f"mortal=gtp:{command_line_once(tmp_path)}"
    with pytest.raises(TengenError, match="mortal failed to start 3 games in a row"):
        play(match("random", word, games=20), tmp_path / "match")
    rows = lines(tmp_path / "match")
    assert 1 <= len(rows) < 20 and {row["reason"] for row in rows} >= {"crash"}
    assert all(row["moves"] for row in rows), "games that it could not start are not kept"


def test_a_program_that_dies_at_its_first_move_does_not_start(tmp_path: Path) -> None:
    """With either color, after the moves of an opening."""
    conditions = TINY | {"openings": "random", "opening": 4}
    with pytest.raises(TengenError, match="mortal failed to start 3 games in a row"):
        play(match("random", program("dies", "mortal", 1), games=20, conditions=conditions), tmp_path / "match")
    assert lines_so_far(tmp_path / "match") == 0


@pytest.mark.slow
@pytest.mark.parametrize("execution", [InWorkers(2), InBatch(at_once=3)])
def test_a_program_that_is_gone_does_not_end_the_games_of_others(execution: Execution, tmp_path: Path) -> None:
    conditions = FAST | {"openings": "random"}
    settings = match("a=random", program("dies", "mortal", 1), "b=random", games=8, conditions=conditions)
    for _ in range(2):  # the same command again
        says = r"^mortal failed to start 3 games in a row: .*; 16 games were not played"
        with pytest.raises(FailedPlayers, match=says) as caught:
            play_match(settings, tmp_path, execution)
        found = [{row["black"], row["white"]} for row in lines(tmp_path)]
        assert found == [{"a", "b"}] * 8
        assert caught.value.figures == json.loads((tmp_path / "summary.json").read_text())
        assert (caught.value.figures["games"], caught.value.figures["complete"]) == (8, False)


def test_a_game_that_a_program_cannot_start_once_is_lost(tmp_path: Path) -> None:
    """A copy dies at its second move, which is its first one in the second game; the third game has a fresh copy."""
    conditions = {"size": 5, "opening": 0, "turns": 1}
    assert play(match("a=random", program("dies", "mortal", 2), games=6, conditions=conditions), tmp_path)["games"] == 6
    reasons = {row["index"]: row["reason"] for row in lines(tmp_path)}
    assert reasons == {0: "limit", 1: "crash", 2: "limit", 3: "crash", 4: "limit", 5: "crash"}


@pytest.mark.slow
def test_a_match_of_programs_that_all_misbehave_ends(tmp_path: Path, offspring: Offspring) -> None:
    kinds = ("dies", "stone-on-stone", "nonsense-move", "refuses", "polite")
    settings = match(*(program(kind, kind) for kind in kinds), games=2, conditions=FAST)
    figures = play(settings, tmp_path, workers=2)
    assert figures["games"] == 20 and figures["complete"]
    assert {row["reason"] for row in lines(tmp_path)} >= {"crash", "illegal", "invalid answer"}
    assert offspring.gone()


def test_a_match_judges_pairs_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged, ratio = [], Sprt.ratio

    def counted(self: Sprt, counts: np.ndarray) -> np.ndarray:
        judged.append(len(counts))
        return ratio(self, counts)

    monkeypatch.setattr(Sprt, "ratio", counted)
    settings = match("a=random", "b=random", games=40, conditions=TINY, sprt={"elo0": 0, "elo1": 1})
    figures = play(settings, tmp_path, workers=1)
    assert sum(figures["sprt"]["pairs"]) == 20
    assert max(judged[:-1]) <= 2 and judged[-1] == 20, "the last call is that of the figures"


@pytest.mark.slow
def test_a_sequential_test_ends_the_match(tmp_path: Path) -> None:
    settings = match("strong=playouts@60", "weak=random", games=400, conditions=TINY, sprt={"elo0": 0, "elo1": 300})
    figures = play(settings, tmp_path, workers=2)
    assert figures["sprt"]["accepted"] == "elo1" and figures["complete"] and figures["games"] < 100
    before = (tmp_path / "games.jsonl").read_bytes()
    assert play(settings, tmp_path)["sprt"] == figures["sprt"]
    assert (tmp_path / "games.jsonl").read_bytes() == before, "a decided match plays no more"


@pytest.mark.slow
def test_a_pairing_whose_score_is_known_well_enough_plays_no_more(tmp_path: Path) -> None:
    players = ("strong=playouts@60", "equal=random", "weak=random")
    schedule = {"kind": "gauntlet"}
    settings = match(*players, games=60, conditions=TINY, schedule=schedule, within=12)
    figures = play(settings, tmp_path, workers=2)
    games = {pairing["a"]: pairing["games"] for pairing in figures["pairings"]}
    assert figures["complete"] and games["strong"] < 50 <= games["equal"]
    before = (tmp_path / "games.jsonl").read_bytes()
    assert play(settings, tmp_path)["games"] == figures["games"]
    assert (tmp_path / "games.jsonl").read_bytes() == before


@pytest.mark.parametrize("end", [{"within": 20}, {"sprt": {"elo0": 0, "elo1": 300}}])
def test_figures_do_not_depend_on_the_games_at_once(end: dict[str, Any], tmp_path: Path) -> None:
    """Games beside the deciding one are in the folder, and neither in the figures nor in the report."""
    settings = match("strong=playouts@10", "weak=random", games=100, conditions=FAST, **end)
    alone = play_match(settings, tmp_path / "alone", InBatch(1))
    beside = play_match(settings, tmp_path / "beside", InBatch(60))
    assert len(lines(tmp_path / "beside")) >= 60 > len(lines(tmp_path / "alone")) == alone["games"]
    for figures in (alone, beside):
        assert figures["complete"]
        for player in figures["players"]:
            del player["seconds"]
    assert beside == alone
    assert len(match_games(tmp_path / "beside").outcomes) == alone["games"]


@pytest.mark.slow
@pytest.mark.posix
def test_a_match_killed_several_times_equals_an_uninterrupted_one(tmp_path: Path, offspring: Offspring) -> None:
    words = ["a=random", "b=random", "--games", "600", "--workers", "2", "--quiet", *FAST_WORDS, "--out"]
    broken = tmp_path / "broken"
    for change in (360, 481):  # two a record: before the last one takes its name, and before it is written
        child = start(*words, str(broken), kill_at_record=change)
        child.communicate(timeout=120)
        assert child.returncode == -signal.SIGKILL
        assert offspring.gone(15), "the workers end with the match"
    assert 180 < lines_so_far(broken) < 600
    last = start(*words, str(broken))
    report, errors = last.communicate(timeout=120)
    assert (last.returncode, errors) == (0, "") and "by limit" in report
    assert Counter(row["index"] for row in lines(broken)) == Counter(range(600))
    play(match("a=random", "b=random", games=600, conditions=FAST), tmp_path / "whole", workers=2)
    assert without_times(broken) == without_times(tmp_path / "whole")
    for name in ("00000", "00299", "00599"):
        records = [(folder / "games" / f"{name}.sgf").read_bytes() for folder in (broken, tmp_path / "whole")]
        assert records[0] == records[1]


def without_times(folder: Path) -> list[Outcome]:
    """The games without their seconds."""
    return [Outcome(**{**asdict(outcome), "seconds": {}}) for outcome in read_folder(folder)[1]]


@pytest.mark.slow
@pytest.mark.posix
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP"])
def test_a_signal_to_the_whole_group_leaves_no_program(number: str, tmp_path: Path, offspring: Offspring) -> None:
    child = start("random", program("hangs"), *HANGING_WORDS, "--out", str(tmp_path))
    assert child.stderr is not None and "2 games" in child.stderr.readline()
    assert offspring.begun(2, str(PROGRAM))
    os.killpg(child.pid, getattr(signal, number))
    _, errors = child.communicate(timeout=30)
    assert child.returncode == 143 and "the same command continues it" in errors
    assert offspring.gone()


class Killer(MatchObserver):
    """Kills a worker between two games."""

    def played(self, outcome: Outcome, test: SprtState | None) -> None:
        for process in multiprocessing.active_children():
            process.kill()
            process.join()


def test_the_end_of_a_worker_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TengenError, match="a worker of the match died"):
        play(match("a=random", "b=random", games=20, conditions=FAST), tmp_path, 1, Killer())


def test_a_folder_that_another_process_wrote_meanwhile_is_read_again(tmp_path: Path) -> None:
    settings = match("a=random", "b=random", games=4, conditions=FAST)
    other = match("a=random", "b=random", games=4, conditions={**FAST, "komi": 3.5})
    with MatchFolder(tmp_path / "m") as late, MatchFolder(tmp_path / "m") as stranger:
        play(settings, tmp_path / "m")
        late.begin(settings.about())
        assert list(settings.left(late.outcomes)) == []
        late.__exit__(None, None, None)
        with pytest.raises(TengenError, match=r"conditions\.komi = 0\.5, not 3\.5"):
            stranger.begin(other.about())


@pytest.mark.posix
def test_ctrl_c_says_how_to_go_on_and_leaves_no_process(tmp_path: Path, offspring: Offspring) -> None:
    child = start("random", program("hangs"), *HANGING_WORDS, "--out", str(tmp_path))
    assert child.stderr is not None and "2 games" in child.stderr.readline()
    assert offspring.begun(2, str(PROGRAM))
    os.killpg(child.pid, signal.SIGINT)
    report, errors = child.communicate(timeout=30)
    assert (child.returncode, report) == (130, "")
    assert errors == f"stopped; the match is in {tmp_path}; the same command continues it\n"
    assert offspring.gone()


@pytest.mark.slow
@pytest.mark.posix
def test_ctrl_c_in_a_terminal_does_not_end_workers_that_start(tmp_path: Path, offspring: Offspring) -> None:
    """It printed the traceback of a worker in the middle of its imports."""
    child = start(
        "a=random", "b=random", "--games", "4", "--workers", "2", "--quiet", *FAST_WORDS, "--out", str(tmp_path)
    )
    while child.poll() is None:
        for worker in offspring.alive("--multiprocessing-fork"):
            with suppress(ProcessLookupError):  # it has ended
                os.kill(worker, signal.SIGINT)
        time.sleep(0.05)
    assert (child.returncode, child.communicate()[1]) == (0, "")


class Clicker(MatchObserver):
    """Sees three games and stops the match."""

    def __init__(self) -> None:
        self.seen: list[Outcome] = []

    def started(self, earlier: Sequence[Outcome], at_once: int) -> None:
        self.earlier, self.workers = list(earlier), at_once

    def played(self, outcome: Outcome, test: SprtState | None) -> None:
        self.seen.append(outcome)
        if len(self.seen) == 3:
            raise KeyboardInterrupt


def test_an_interrupted_match_has_figures_of_what_was_played(tmp_path: Path) -> None:
    watcher = Clicker()
    with pytest.raises(KeyboardInterrupt):
        play(match("a=random", "b=random", games=8, conditions=FAST), tmp_path, 1, watcher)
    figures = json.loads((tmp_path / "summary.json").read_text())
    assert (figures["games"], figures["complete"], watcher.workers, watcher.earlier) == (3, False, 1, [])


def test_figures_and_report_are_written_while_a_match_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A match that is killed left those of the match before it was extended, which called themselves complete."""
    found = []

    def write_report(folder: Path) -> None:
        figures = json.loads((folder / "summary.json").read_text())
        found.append((figures["games"], figures["complete"]))

    settings = [match("a=random", "b=random", games=games, conditions=FAST) for games in (2, 6)]
    play_match(settings[0], tmp_path, InBatch(1), write_report=write_report)
    assert found == [(2, True)]
    found.clear()
    monkeypatch.setattr("tengen.match.runner._REPORT_SECONDS", 0.0)
    play_match(settings[1], tmp_path, InBatch(1), write_report=write_report)
    assert found[:2] == [(2, False), (3, False)] and found[-1] == (6, True)


def test_an_observer_hears_that_no_game_is_missing(tmp_path: Path) -> None:
    class Asked(MatchObserver):
        games = 0

        def complete(self, games: int) -> None:
            self.games = games

    for games in (0, 2):
        asked = Asked()
        play(match("a=random", "b=random", games=2, conditions=FAST), tmp_path, 1, asked)
        assert asked.games == games


def test_players_under_a_time_limit_get_a_core_each(monkeypatch: pytest.MonkeyPatch) -> None:
    def on(cores: int, settings: MatchSettings, workers: int | None = None) -> int:
        monkeypatch.setattr("tengen.match.runner.core_count", lambda: cores)
        return games_at_once(settings, workers)

    free, timed = match("random", "default@10"), match("random", "default@2s")
    assert on(4, free) == on(4, timed) == 4
    assert (on(4, free, 9), on(4, timed, 9), on(4, timed, 2)) == (9, 4, 2)
    threads = MatchSettings.of({"player": "default", "threads": 3}, "random")
    assert (on(8, threads), on(2, threads)) == (2, 1)
    with pytest.raises(RecipeError, match="workers must be 1 or more, not 0"):
        games_at_once(free, 0)


def test_a_folder_without_a_match_we_know_is_named(tmp_path: Path) -> None:
    with pytest.raises(TengenError, match="holds no match"):
        read_folder(tmp_path)
    (tmp_path / "match.json").write_text('{"version": 1}')
    with pytest.raises(TengenError, match=f"version 1; this Tengen knows {VERSION}"):
        read_folder(tmp_path)
    for text, wrong in (
        ("[", "no JSON, "),
        ("[]", "it is no JSON object"),
        ("3", "it is no JSON object"),
        (f'{{"version": {VERSION}}}', "it has no field 'schedule'"),
    ):
        (tmp_path / "match.json").write_text(text)
        with pytest.raises(TengenError, match=f"not the file of a match: {wrong}"):
            read_folder(tmp_path)


class First(Player):
    """Plays the first legal move."""

    def choose(self, turns: Sequence[Turn]) -> list[Reply]:
        return [Choice(turn.game.legal_points()[0]) for turn in turns]


def test_workers_do_not_know_a_player_that_was_registered_here(tmp_path: Path, registered: Callable[..., None]) -> None:
    registered(PLAYERS, "first", lambda spec, games: First())
    conditions = {**FAST, "openings": "random"}
    with pytest.raises(TengenError, match=r"^the player 'first' was registered in .*InBatch\(\)"):
        play(match("first", "random", conditions=conditions), tmp_path / "workers")
    assert play_match(match("first", "random", conditions=conditions), tmp_path / "batch", InBatch())["complete"]


def test_a_worker_of_a_cluster_does_not_know_it_either(
    registered: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    registered(PLAYERS, "first", lambda spec, games: First())
    work = MatchWork(match("first", "random", conditions={**FAST, "openings": "random"}), 1, find_network)
    work.open().close()
    work.close()
    monkeypatch.delitem(PLAYERS._parts, "first")
    with pytest.raises(TengenError, match=r"^the player 'first' was registered in .*InBatch\(\)"):
        work.open()


SCRIPT = """
import sys
from pathlib import Path
from tengen.errors import TengenError
from tengen.match.runner import play_match
from tengen.match.settings import MatchSettings
from tengen.match.spec import PLAYERS

def broken(spec, games):
    raise TengenError("the engine is out of order")

PLAYERS.register("mine", broken)

if __name__ == "__main__":
    play_match(MatchSettings.of("mine", "random", conditions={"openings": "random"}), Path(sys.argv[1]))
"""


def test_the_error_of_a_player_that_a_worker_knows_is_its_own(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(script), str(tmp_path / "match")]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert ended.stderr.endswith("TengenError: mine: the engine is out of order\n")


@pytest.mark.parametrize(
    ("is_", "becomes", "wrong"),
    [
        (
            '"a"',
            '"b"',
            "1 is not a game of a match (unknown player 'b'; there are: a, random): remove it, and the game is",
        ),
        ('"index": 1', '"index": 0', "2 is game 0 a second time: remove one of the two"),
        ('"index": 1', '"index": -1', "2 is not a game of a match (index: "),
    ],
)
def test_a_line_that_is_no_game_of_the_match_is_named(tmp_path: Path, is_: str, becomes: str, wrong: str) -> None:
    play_match(match("a=random", "random", games=2, conditions=FAST), tmp_path, InBatch())
    path = tmp_path / "games.jsonl"
    lines = "".join(sorted(path.read_text().splitlines(keepends=True)))
    assert is_ in lines
    path.write_text(lines.replace(is_, becomes))
    with pytest.raises(TengenError, match=re.escape(f"games.jsonl, line {wrong}")):
        play_match(match("a=random", "random", games=4, conditions=FAST), tmp_path, InBatch())
