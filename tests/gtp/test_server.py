"""The server over pipes: it plays, ends when asked to, prints nothing but GTP, and refuses bad settings."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest

from tengen.cli import app
from tengen.engine import Limits, Style
from tengen.engine.clock import MARGIN
from tengen.engine.options import EngineOptions
from tengen.engine.params import SearchParams, read_params
from tengen.errors import NetworkError, RecipeError
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.network_file import read_card
from tengen.game import Game
from tengen.gtp import server
from tengen.gtp.server import GtpSettings, run
from tengen.gtp.session import GtpOptions

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
Runner = Callable[..., "subprocess.CompletedProcess[str]"]
# What GTP allows on standard output: an answer's first line, and the lines that follow one.
ANSWER = re.compile(r"[=?][0-9]*( .*)?")


class Program:
    """`tengen gtp` without a network."""

    def __init__(self, *args: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tengen", "gtp", "--net", "none", "--size", "9", *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            bufsize=1,
            env=ENVIRONMENT,
            start_new_session=True,
        )

    def send(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read(self) -> str:
        """The next answer, without its frame."""
        assert self.process.stdout is not None
        lines: list[str] = []
        while (line := self.process.stdout.readline()) not in ("\n", ""):
            lines.append(line.rstrip("\n"))
        assert lines, f"no answer; the log says {self.errors()}"
        assert ANSWER.fullmatch(lines[0]), f"no GTP: {lines[0]!r}"
        return "\n".join(lines)[1:].strip()

    def ask(self, line: str) -> str:
        self.send(line)
        return self.read()

    def end(self) -> int:
        """Exit status of the process, which ends long before the searches of these tests would."""
        return self.process.wait(timeout=100)

    def errors(self) -> str:
        self.process.kill()
        assert self.process.stderr is not None
        return self.process.stderr.read()


Start = Callable[..., Program]


@pytest.fixture
def start() -> Iterator[Start]:
    running: list[Program] = []

    def begin(*args: str) -> Program:
        running.append(Program(*args))
        return running[-1]

    yield begin
    for program in running:
        program.process.kill()
        for stream in (program.process.stdin, program.process.stdout, program.process.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        program.process.wait()


def searching(start: Start, *args: str) -> Program:
    """A program that has begun a search of ten minutes."""
    program = start("--seconds", "600", *args)
    assert program.ask("name") == "Tengen"
    program.send("genmove b")
    time.sleep(0.3)
    return program


def test_it_plays_a_whole_game_against_itself(start: Start) -> None:
    program = start("--visits", "40", "--no-resign", "--threads", "1")
    game, color = Game(9), "b"
    for _ in range(300):
        move = program.ask(f"genmove {color}")
        game.play(move)
        color = "w" if color == "b" else "b"
        if game.is_over:
            break
    assert game.is_over and 40 < len(game.moves) < 243
    assert re.fullmatch(r"[BW]\+[0-9.]+", program.ask("final_score"))
    assert program.ask("quit") == ""
    assert program.end() == 0


def test_a_network_is_warned_of_on_boards_that_it_has_not_learned() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tengen", "gtp", "--net", "zero-9x9", "--size", "9"],
        input="boardsize 13\nclear_board\nboardsize 9\nboardsize 13\nquit\n",
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=60,
    )
    warning = "warning: zero-9x9 learned 9x9, not 13x13: its figures there may mean nothing\n"
    assert (done.returncode, done.stderr) == (0, "GTP ready\n" + warning)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_standard_error_ends_no_game_and_a_full_output_is_one_error() -> None:
    command = [sys.executable, "-m", "tengen", "gtp", "--net", "none", "--visits", "5", "--size", "5"]
    given: dict[str, Any] = {"input": b"genmove b\nname\nquit\n", "env": ENVIRONMENT, "timeout": 60}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, **given)
        assert done.returncode == 0 and re.fullmatch(rb"= [A-E][1-5]\n\n= Tengen\n\n= \n\n", done.stdout)
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, **given)
    ready, error = done.stderr.splitlines()
    assert (done.returncode, ready, error[:23]) == (2, b"GTP ready", b"error: the disk is full")


def test_commands_that_are_piped_in_at_once_are_all_answered_in_full() -> None:
    lines = (
        "0 kata-get-rules\n1 boardsize 5\n\n# a comment\n2 genmove b\n3 bogus\r\n\t4   play  w\tpass\n7 get_komi\n"
        "5 quit\n6 name\n"
    )
    rule_set = '{"ko": "SITUATIONAL", "scoring": "TERRITORY"}'
    done = subprocess.run(
        [sys.executable, "-m", "tengen", "gtp", "--net", "none", "--visits", "30", "--rules", rule_set],
        input=lines,
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=60,
    )
    rules, others = done.stdout.split("\n\n", 1)
    assert rules.startswith("=0 ") and '"ko": "SITUATIONAL"' in rules, "rules in KataGo's form"
    assert re.fullmatch(r"=1 \n\n=2 [A-E][1-5]\n\n\?3 unknown command\n\n=4 \n\n=7 6\.5\n\n=5 \n\n", others)
    assert (done.returncode, done.stderr) == (0, "GTP ready\n"), "LizGoban waits for this line"


def test_the_end_of_the_input_ends_a_search(start: Start) -> None:
    program = searching(start)
    assert program.process.stdin is not None
    program.process.stdin.close()
    assert program.end() == 0


def test_quit_ends_a_search(start: Start) -> None:
    program = searching(start)
    program.send("quit")
    assert re.fullmatch(r"[A-HJ][1-9]", program.read())
    assert program.end() == 0


def test_stop_ends_a_search_with_its_move(start: Start) -> None:
    program = searching(start)
    program.send("stop")
    assert re.fullmatch(r"[A-HJ][1-9]", program.read())
    assert program.read() == ""


@pytest.mark.posix
def test_ctrl_c_ends_the_program(start: Start) -> None:
    program = searching(start)
    program.process.send_signal(signal.SIGINT)
    assert program.end() == 130
    assert "Traceback" not in program.errors()


def test_a_reader_that_goes_away_ends_the_program(start: Start) -> None:
    program = start()
    assert program.ask("name") == "Tengen"
    assert program.process.stdout is not None
    program.process.stdout.close()
    program.send("name")
    assert program.end() == 0
    assert "Traceback" not in program.errors()


def test_any_line_ends_an_analysis(start: Start) -> None:
    program = start()
    program.send("lz-analyze b 5")
    assert program.process.stdout is not None
    assert program.process.stdout.readline() == "=\n"
    for _ in range(3):
        assert program.process.stdout.readline().startswith("info move ")
    program.send("")
    while program.process.stdout.readline() != "\n":
        pass
    assert program.ask("name") == "Tengen"


def test_pondering_ends_with_the_program(start: Start) -> None:
    program = start("--ponder", "--visits", "50")
    assert re.fullmatch(r"[A-HJ][1-9]", program.ask("genmove b"))
    time.sleep(0.2)
    assert program.ask("play w E5") in ("", "illegal move: occupied")
    program.ask("genmove w")
    program.send("quit")
    assert program.end() == 0


def test_the_log_goes_to_a_file_and_says_what_was_said(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "gtp.log"
    program = start("--log", str(log))
    program.ask("komi 5.5")
    program.ask("quit")
    program.end()
    assert "komi 5.5" in log.read_text()
    assert program.errors() == "GTP ready\n"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--rules", "house"), "house"),
        (("--net", "no-such-network"), "no-such-network"),
        (("--visits", "0"), "visits"),
        (("--komi", "nan"), "komi"),
        (("--komi", "7.3"), "komi 7.3"),
        (("--komi", "1000"), "komi 1000"),
        (("--set", "maxVisits=0"), "maxVisits"),
    ],
)
def test_a_wrong_setting_is_one_line_and_status_2(args: tuple[str, str], words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tengen", "gtp", "--net", "none", *args],
        input="name\n",
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1 and words in done.stderr


@pytest.mark.parametrize("command", ["gtp", "analysis"])
def test_settings_that_contradict_the_network_s_advice_are_refused_at_the_start(tengen: Runner, command: str) -> None:
    done = tengen(command, "--net", "distilled-b8c64", "--device", "cpu", "--set", "priors=linear", input="name\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: selection puct-katago needs") and done.stderr.count("\n") == 1
    assert done.stderr.endswith("the network advises selection=puct-katago: set selection=puct as well\n")


def playing(**options: Any) -> GtpSettings:
    return GtpSettings(EngineOptions(**options))


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (playing(net="none", playouts="clever"), "'clever' is unknown: choose uniform, local"),
        (playing(playouts="local"), "--playouts needs --net none"),
        (playing(net="none", preset="gumbel"), "--preset needs a network"),
        (
            GtpSettings(EngineOptions(net="none"), style=Style(policy_temperature=1.0)),
            "--weaken 1 needs a network; with --net none",
        ),
        (GtpSettings(EngineOptions(net="zero-9x9"), GtpOptions(level=3)), "--level 3 needs the network default"),
        (GtpSettings(session=GtpOptions(level=3, limits=Limits(visits=5))), "--visits 5 and --level 3"),
        (GtpSettings(session=GtpOptions(level=3), style=Style(temperature=0.5)), "--temperature 0.5 and --level 3"),
        (GtpSettings(session=GtpOptions(level=3), style=Style(policy_temperature=1.5)), "--weaken 1.5 and --level 3"),
        (GtpSettings(session=GtpOptions(level=99)), "level 99 is out of range: there are levels 1 to 12 on 19x19"),
        (playing(net="none", device="onnxruntime"), "--device onnxruntime needs a network; --net none has none"),
        (playing(net="none", batch=16), "--batch 16 needs a network"),
        (playing(preset="leela"), "unknown search preset 'leela'; did you mean leela-zero"),
        (playing(net="none", settings=("c_puct",)), "write NAME=VALUE"),
        (playing(net="none", settings=("c_puct=x",)), "c_puct"),
        (playing(net="none", settings=("maxVisits",)), "--set maxVisits: write NAME=VALUE"),
        (playing(net="none", settings=("mean_loss",)), "--set mean_loss: write NAME=VALUE"),
        (playing(net="none", playouts="linear:nosuch"), "nosuch cannot be read: No such file or directory"),
    ],
)
def test_a_command_line_that_cannot_work_is_refused(settings: GtpSettings, reason: str) -> None:
    with pytest.raises((RecipeError, NetworkError), match=reason):
        run(settings)


def test_the_lag_of_the_command_line_is_that_of_the_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[GtpSettings] = []
    monkeypatch.setattr(server, "run", asked.append)
    assert [app.main(["gtp", *words]) for words in ([], ["--lag", "1.5"])] == [0, 0]
    assert [settings.session.limits.lag_buffer for settings in asked] == [MARGIN, 1.5]


def test_a_setting_of_the_command_line_may_need_what_the_card_advises_besides(tmp_path: Path) -> None:
    shipped, path = find_network("zero-7x7"), tmp_path / "mine.onnx"
    card = read_card(shipped).model_copy(update={"search": {"preset": "alphago"}})
    model = onnx.load(shipped)
    onnx.helper.set_model_props(model, card.metadata())
    onnx.save(model, path)
    params = read_params(SearchParams(), ["playout_weight=1"], str(path))
    assert (params.playout_weight, params.playouts) == (1, 1)
    with pytest.raises(RecipeError, match="need playouts of 1 or more"):
        read_params(SearchParams(), ["playout_weight=1"], "zero-9x9")
    assert read_params(SearchParams(), ["c_puct=2"], "not asked for").model_fields_set == {"c_puct"}
