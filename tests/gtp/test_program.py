"""A GTP program that follows a game: what it is sent after steps back, under rules and clocks, and what it writes."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from tengen.engine.clock import TimeControl
from tengen.game import BLACK, WHITE, Game
from tengen.gtp.program import (
    EngineInfo,
    GtpProgram,
    ProgramSettings,
    read_engine_info,
    rules_command,
    time_commands,
    time_left,
)
from tengen.rules import Rules

pytestmark = pytest.mark.usefixtures("no_process_is_left")

# Answers everything, remembers what it is sent, and tells it as the answer to `sent`. It knows no undo with `no-undo`.
RECORDER = """
import sys
known = ["name", "list_commands", "boardsize", "clear_board", "komi", "play", "genmove", "sent", "set_free_handicap"]
known += ["time_settings", "time_left"]
known += ["undo"] * (sys.argv[1] != "no-undo")
sent, silent = [], ("name", "list_commands", "sent")
for line in sys.stdin:
    word = line.split()[0]
    answer = {"list_commands": "\\n".join(known), "sent": "; ".join(sent), "genmove": "pass"}.get(word, "")
    if word == "sent":
        sent.clear()
    elif word not in silent:
        sent.append(line.strip())
    refused = word == "undo" and sys.argv[1] == "refuses-undo"
    print("? no" if refused else f"= {answer}", end="\\n\\n", flush=True)
    if word == "quit":
        break
"""


def recorder(kind: str, tmp_path: Path) -> GtpProgram:
    path = tmp_path / "recorder.py"
    path.write_text(RECORDER)
    return GtpProgram(ProgramSettings("recorder", shlex.join([sys.executable, str(path), kind])))


def sent(program: GtpProgram) -> str:
    return program._client.ask("sent")


@pytest.mark.parametrize(
    ("kind", "back"),
    [
        ("undo", "undo; undo"),
        ("no-undo", "clear_board; play b A9; play w B9; play b C9"),
        ("refuses-undo", "undo; clear_board; play b A9; play w B9; play b C9"),
    ],
)
def test_a_program_follows_moves_taken_back_with_undo_or_from_the_start(kind: str, back: str, tmp_path: Path) -> None:
    program = recorder(kind, tmp_path)
    game = Game(9)
    program.start_game(game)
    assert sent(program) == "boardsize 9; clear_board; komi 7.5"
    for point in (0, 1, 2, 3):
        game.play(point)
    assert program.choose(game).point == 81
    assert sent(program) == "play b A9; play w B9; play b C9; play w D9; genmove b"
    game.undo()
    game.play(40)
    program.choose(game)
    assert sent(program) == f"{back}; play w E5; genmove b"
    program.choose(game.play("pass"))
    assert sent(program) == "genmove w", "it has its own move already"
    program.close()


def test_a_game_with_a_clock_sends_its_time(tmp_path: Path) -> None:
    program, control = recorder("undo", tmp_path), TimeControl.byoyomi(60, 10, 3)
    program.start_game(Game(9), control=control)
    assert sent(program) == "boardsize 9; clear_board; time_settings 60 10 1; komi 7.5"
    program.choose(Game(9), control.start().spend(20))
    assert sent(program) == "time_left b 40 0; genmove b"
    program.close()


def test_stones_set_up_are_sent_as_handicap_or_one_by_one(tmp_path: Path) -> None:
    program = recorder("undo", tmp_path)
    program.start_game(Game(9).setup(black=[0, 80], to_play=WHITE))
    assert sent(program).endswith("komi 7.5; set_free_handicap A9 J1")
    program.start_game(Game(9).setup(black=[0, 80], white=[40], to_play=BLACK))
    assert sent(program).endswith("komi 7.5; play b A9; play b J1; play w E5")
    program.close()


# Lines that Leela Zero and KataGo have printed.
# github.com/leela-zero/leela-zero, issue 2280, the moves of the lines cut short.
LEELA_ZERO = """\
Thinking at most 36.5 seconds...
NN eval=0.550535

  S6 ->    1190 (V: 56.47%) (N: 13.26%) (LCB-Bi: 51.96%) (UCB-Bi: 60.91%) PV: S6 S8 Q8 S9 Q9 R10
  Q8 ->    1780 (V: 54.94%) (N: 72.65%) (LCB-Bi: 51.26%) (UCB-Bi: 58.59%) PV: Q8 P8 S8 Q5 P9
  S8 ->     253 (V: 54.78%) (N:  8.75%) (LCB-Bi: 44.88%) (UCB-Bi: 64.41%) PV: S8 Q5 R4 P4 S6
14.2 average depth, 29 max depth
2617 non leaf nodes, 1.23 average children
3224 visits, 1013181 nodes, 11 playouts, 220 n/s
""".splitlines()

KATAGO = ["CHAT:Visits 5733 Winrate 39.62% ScoreLead -0.9 ScoreStdev 17.4 PV D16 Q4 Q16 D4 C3 C4 D3 E4 F2 R17"]
KATAGO_1_13 = ["MALKOVICH:Visits 40 Winrate 45.70% ScoreLead -0.4 ScoreStdev 13.4 PV E5 G5 F3 F7 E7"]


def test_engine_info_from_lines_of_leela_zero() -> None:
    assert read_engine_info(LEELA_ZERO, "S6") == EngineInfo(0.5647, None, 3224)
    assert read_engine_info(LEELA_ZERO, "q8") == EngineInfo(0.5494, None, 3224)
    assert read_engine_info([" F13 ->       8 (V:  3.02%) (N:  0.25%) PV: F13 P14"], "f13").winrate == 0.0302


def test_engine_info_from_a_line_of_katago() -> None:
    assert read_engine_info(KATAGO, "D16") == EngineInfo(0.3962, -0.9, 5733)
    assert read_engine_info(KATAGO_1_13, "E5") == EngineInfo(0.457, -0.4, 40)


def test_engine_info_is_empty_for_other_lines() -> None:
    assert read_engine_info(["GNU Go 3.8", "loading book"], "D4") == EngineInfo()
    assert read_engine_info(LEELA_ZERO, "A1").winrate is None


GTP = {"time_settings", "time_left"}
KGS = GTP | {"kgs-time_settings", "kgs-rules"}
KATA = KGS | {"kata-set-rules", "kata-time_settings"}


@pytest.mark.parametrize(
    ("rules", "known", "command"),
    [
        ("chinese", set(), None),
        ("chinese", KGS, "kgs-rules chinese"),
        ("new-zealand", KGS, "kgs-rules new_zealand"),
        ("tromp-taylor", KGS, None),
        ("tromp-taylor", KATA, "kata-set-rules tromp-taylor"),
        ("chinese-kgs", KGS, "kgs-rules chinese"),
        ("ko=simple,scoring=area,suicide=true", KGS, None),
        (
            "ko=simple,scoring=area,suicide=true",
            KATA,
            'kata-set-rules {"friendlyPassOk": false, "hasButton": false, "ko": "SIMPLE", "scoring": "AREA", '
            '"suicide": true, "tax": "NONE", "whiteHandicapBonus": "0"}',
        ),
    ],
)
def test_the_rules_command_depends_on_the_known_commands(rules: str, known: set[str], command: str | None) -> None:
    assert rules_command(Rules.parse(rules), known.__contains__) == command


@pytest.mark.parametrize(
    ("time", "known", "commands"),
    [
        ("5m+0", GTP, ["time_settings 300 0 0"]),
        ("5m+0", set(), []),
        ("10m+25/5m", KATA, ["time_settings 600 300 25"]),
        ("10m+5x30s", GTP, ["time_settings 600 30 1"]),
        ("10m+5x30s", KGS, ["kgs-time_settings byoyomi 600 30 5"]),
        ("5m+3s", KGS, ["time_settings 300 3 1"]),
        ("5m+3s", KATA, ["kata-time_settings fischer 300 3"]),
        ("0+1/2.5s", GTP, ["time_settings 0 2 1"]),
        ("0+1/0.5s", GTP, ["time_settings 0 1 1"]),
        ("5m+0.5s", GTP, ["time_settings 300 0 0"]),
        ("5m+0.5s", KATA, ["kata-time_settings fischer 300 0.5"]),
    ],
)
def test_the_time_commands_depend_on_the_known_commands(time: str, known: set[str], commands: list[str]) -> None:
    assert time_commands(TimeControl.parse(time), known.__contains__) == commands


def test_no_time_command_without_a_clock() -> None:
    assert time_commands(None, KATA.__contains__) == []


@pytest.mark.parametrize(
    ("time", "spent", "known", "command"),
    [
        ("5m+0", [10.2], GTP, "time_left b 289 0"),
        ("5m+3s", [10], KATA, "time_left b 293 0"),
        ("5s+0", [4.4], KATA, "time_left b 1 0"),
        ("10s+25/5m", [12, 30], GTP, "time_left b 268 23"),
        ("10s+5x30s", [12, 45], KGS, "time_left b 30 4"),
        ("10s+5x30s", [12, 45], GTP, "time_left b 30 1"),
    ],
)
def test_time_left_command(time: str, spent: list[float], known: set[str], command: str) -> None:
    clock = TimeControl.parse(time).start()
    for seconds in spent:
        clock = clock.spend(seconds)
    assert time_left(clock, "b", known.__contains__) == command
