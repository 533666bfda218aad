"""GTP programs as players: every failure has a reason and leaves no process; clocks."""

from __future__ import annotations

import time
from typing import Any
from unittest.mock import ANY

import pytest
from hostile import command_line
from match.test_game import SMALL, Scripted
from other_programs import needs

from tengen.engine.clock import TimeControl
from tengen.game import BLACK, WHITE, Game
from tengen.gtp.client import ProgramError
from tengen.match.conditions import Conditions
from tengen.match.game import MatchGame
from tengen.match.outcome import Outcome
from tengen.match.player import Choice, Player, Turn
from tengen.match.players import RandomPlayer, open_player
from tengen.match.program_player import ProgramPlayer
from tengen.match.schedule import fixture
from tengen.match.spec import PlayerSpec

pytestmark = pytest.mark.usefixtures("no_process_is_left")


def hostile(kind: str, move: int = 3, **fields: Any) -> PlayerSpec:
    return PlayerSpec(player=f"gtp:{command_line(kind, move)}", name="the program", **fields)


def against(kind: str, moves: list[str], move: int = 3, conditions: Conditions = SMALL, **fields: Any) -> Outcome:
    """A game of A, who plays these moves as Black, with the program B."""
    program = ProgramPlayer(hostile(kind, move, **fields))
    try:
        return MatchGame(conditions, fixture([("A", "B")], 0), {"A": Scripted(moves), "B": program}).play()
    finally:
        program.close()


BOARD = ["A1", "B2", "C3", "D4", "E5"]


@pytest.mark.parametrize(
    ("kind", "reason", "result", "says"),
    [
        ("dies", "crash", "B+F", "ended with status 1"),
        pytest.param("kills-itself", "crash", "B+F", "killed by signal 9", marks=pytest.mark.posix),
        ("dies-and-leaves-a-child", "crash", "B+F", "ended with status 1"),
        ("closes-stdout", "crash", "B+F", "closed its output"),
        ("stone-on-stone", "illegal", "B+F", "A1"),
        ("off-the-board", "invalid answer", "B+F", "'t19' is not a move"),
        ("nonsense-move", "invalid answer", "B+F", "the one beside my cat"),
        ("empty-move", "invalid answer", "B+F", "'' is not a move"),
        ("garbage", "invalid answer", "B+F", "is not a move"),
        ("floods-stdout", "invalid answer", "B+F", "too much output"),
        ("never-stops", "invalid answer", "B+F", "too much output"),
        ("refuses-to-move", "refused", "B+F", "cannot think"),
        ("resigns", "resign", "B+R", ""),
        ("leaves-a-child", "count", "B+24.5", ""),
        ("leaves-a-daemon", "count", "B+24.5", ""),
        ("floods-stderr", "count", "B+24.5", ""),
        ("late", "count", "B+24.5", ""),
    ],
)
def test_a_program_that_misbehaves_loses_with_the_reason(kind: str, reason: str, result: str, says: str) -> None:
    outcome = against(kind, BOARD[: 2 if reason == "count" else 5])
    assert (outcome.reason, outcome.result) == (reason, result)
    assert says in outcome.detail
    if kind.startswith("dies"):
        assert outcome.last_words == ("some chatter", "out of memory, goodbye")


@pytest.mark.parametrize("kind", ["hangs", "ignores-sigterm", "nonsense", "never-ends", "floods-stderr-for-ever"])
def test_a_program_that_does_not_answer_loses_on_time(kind: str) -> None:
    outcome = against(kind, BOARD, move_seconds=0.5)
    assert (outcome.winner, outcome.reason, outcome.result) == ("A", "timeout", "B+T")
    assert outcome.last_words


@pytest.mark.slow
def test_a_program_that_hangs_far_into_a_game_loses_on_time() -> None:
    board = [f"{column}{row}" for column in "ABCDEFGHJ" for row in range(1, 6)]
    outcome = against("hangs", board, 30, Conditions(size=9, opening=0), move_seconds=3)
    assert (outcome.winner, outcome.reason, outcome.moves) == ("A", "timeout", 59)


def test_a_program_that_hangs_at_play_loses_on_time() -> None:
    assert against("hangs-at-play", BOARD, move_seconds=0.3).reason == "timeout"


@pytest.mark.parametrize(
    ("plays", "moves", "says"),
    [
        ("E5,A1", ["A2", "B1", "C3"], "A1"),  # suicide of one stone
        ("B1,B2,C3,D2,C2", ["C1", "B3", "E5", "C2", "D5"], "C2"),  # on a stone
    ],
)
def test_an_illegal_move_loses(plays: str, moves: list[str], says: str) -> None:
    outcome = against(f"plays:{plays}", moves)
    assert (outcome.winner, outcome.reason, outcome.result) == ("A", "illegal", "B+F")
    assert says in outcome.detail


def test_a_program_that_retakes_a_ko_at_once_loses() -> None:
    # Black's stones stand around C2, White's around C3: Black takes C2 from there.
    outcome = against("plays:C2,B3,D3,C4,C2", ["B2", "C1", "D2", "E5", "C3"])
    assert (outcome.reason, outcome.result) == ("illegal", "B+F")
    assert "C2" in outcome.detail and "ko" in outcome.detail.lower()


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("only-9x9", "the program: 'boardsize 5' was answered with '[?] unacceptable size'"),
        ("refuses:komi", "the program: 'komi 0.5' was answered with '[?] komi is unknown to me'"),
        ("lacks:komi", "the program: 'komi 0.5'"),
        ("refuses:clear_board", "clear_board"),
        ("refuses:kata-set-rules", "the program: 'kata-set-rules chinese'"),
        ("refuses:kgs-rules", "the program: 'kgs-rules chinese'"),
        ("refuses:time_settings", "the program: 'time_settings 300 3 1'"),
    ],
)
def test_a_refused_setup_command_is_an_error_before_the_first_move(kind: str, says: str) -> None:
    player = ProgramPlayer(hostile(kind, time="5m+3s"))
    with pytest.raises(ProgramError, match=says) as caught:
        player.start_game(0, SMALL.new_game(), 1)
    assert caught.value.reason == "refused"
    player.close()


def test_komi_0_needs_no_komi_command() -> None:
    player = ProgramPlayer(hostile("lacks:komi"))
    player.start_game(0, Game(5, "chinese", 0.0), 1)
    player.close()


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("dies", "crash"), ("nonsense-move", "invalid answer"), ("refuses-to-move", "refused")],
)
def test_a_program_that_failed_is_started_afresh_for_the_next_game(kind: str, reason: str) -> None:
    """It fails at its second move: a process that went on would do so at the first move of the next game."""
    player = ProgramPlayer(hostile(kind, 2))
    for index, moves in ((0, 3), (1, 2)):  # first as White, then as Black
        players: dict[str, Player] = {"A": Scripted(["C3", "D4"]), "B": player}
        outcome = MatchGame(SMALL, fixture([("A", "B")], index), players).play()
        assert (outcome.winner, outcome.reason, outcome.moves) == ("A", reason, moves)
    player.close()


def test_a_program_that_ended_between_two_games_is_started_afresh() -> None:
    player, game = ProgramPlayer(hostile("polite")), SMALL.new_game()
    player.start_game(0, game, 1)
    player.end_game(0)
    (copy,) = player._free
    copy._client.kill()
    player.start_game(1, game, 1)
    assert player.choose([Turn(1, game)]) == [Choice(25, seconds=ANY)]
    player.close()


@pytest.mark.parametrize(
    ("kind", "dead", "score"),
    [
        ("polite", None, None),
        ("names-nothing", frozenset(), None),
        ("counts", None, 3.5),
        ("counts-a-draw", None, 0.0),
        ("dies-at-count", "ended with status 1", None),
        ("hangs-at-count", "in time", None),
        ("names-no-stones", "'E5' cannot be dead", None),
        ("names-nonsense", "'all' is not a move", None),
        ("counts-nonsense", None, "'a good game' is not a score"),
    ],
)
def test_opinions_of_a_finished_game(kind: str, dead: object, score: object) -> None:
    player = ProgramPlayer(hostile(kind, move_seconds=0.5 if "hangs" in kind else 20.0))
    game = SMALL.new_game()
    player.start_game(0, game, 1)
    for move in ("A1", "pass", "pass"):
        game.play(move)
    for wanted, ask in ((dead, player.dead), (score, player.score)):
        if isinstance(wanted, str):
            with pytest.raises(ProgramError, match=wanted):
                ask(0, game)
        elif not isinstance(dead, str):
            assert ask(0, game) == wanted
    player.close()


def test_playouts_count_with_the_opponent_of_a_program_that_cannot_name_dead_stones() -> None:
    outcome = against("polite", ["C3"])
    assert (outcome.reason, outcome.counts) == ("count", {"A": 24.5, "playouts": 24.5})


def test_engine_info_is_in_the_record() -> None:
    program = ProgramPlayer(hostile("thinks-aloud"))
    contest = MatchGame(SMALL, fixture([("A", "B")], 0), {"A": Scripted(["C3"]), "B": program})
    outcome = contest.play()
    program.close()
    assert contest.comments[1] == "White wins 56.5%, 42 visits"
    assert outcome.visits["B"] == 42.0


@needs("gnugo")
def test_gnugo_beats_random_moves_and_agrees_with_the_count() -> None:
    program = ProgramPlayer(PlayerSpec.parse("gtp:gnugo --mode gtp --level 1 --chinese-rules"))
    assert program.name == "GNU Go level 1"
    outcomes = []
    try:
        for index in range(2):
            players: dict[str, Player] = {"A": RandomPlayer(), "B": program}
            outcomes.append(MatchGame(Conditions(size=7, opening=0), fixture([("A", "B")], index), players).play())
    finally:
        program.close()
    assert [outcome.winner for outcome in outcomes] == ["B", "B"]


@needs("gnugo")
@pytest.mark.parametrize("rules", ["chinese", "aga", "japanese"])
def test_gnugo_plays_handicap_games_with_both_colors_and_agrees_with_the_count(rules: str) -> None:
    option = "" if rules == "japanese" else "--chinese-rules"
    program = ProgramPlayer(PlayerSpec.parse(f"gtp:gnugo --mode gtp --level 1 --never-resign {option}"))
    playouts = open_player(PlayerSpec.of({"player": "playouts", "visits": 20, "pass_policy": "no-useful-move"}))
    conditions = Conditions(size=7, opening=0, rules=rules, komi=0.5, handicap=3)
    try:
        for index in range(2):
            players: dict[str, Player] = {"A": playouts, "B": program}
            played = MatchGame(conditions, fixture([("A", "B")], index), players)
            outcome, game = played.play(), played.game
            owners = game.owners(game.dead_by_playouts())
            area = int((owners == BLACK).sum() - (owners == WHITE).sum())
            if outcome.reason == "majority":
                assert rules != "japanese" and (area > 0.5 + game.white_bonus) == (outcome.winner == outcome.black)
                continue
            assert outcome.reason == "count" and outcome.counts == dict.fromkeys("AB", outcome.score), outcome
            if rules != "japanese":
                assert outcome.score == area - 0.5 - {"chinese": 3, "aga": 2}[rules]
    finally:
        program.close()


@needs("gnugo")
@pytest.mark.parametrize("time", ["3s+0", "2s+1s", "1s+0.1s", "0+3x1s", "0+1x0.5s", "2s+5/5s"])
def test_gnugo_understands_its_clock_commands(time: str) -> None:
    spec = PlayerSpec.parse(f"gtp:gnugo --mode gtp --level 1 --chinese-rules@{time}")
    program, game = ProgramPlayer(spec), Game(7)
    assert spec.control is not None
    program.start_game(0, game, 1)
    (choice,) = program.choose([Turn(0, game, spec.control.start())])
    assert isinstance(choice, Choice) and game.is_legal(choice.point)
    program.close()


@pytest.mark.slow
def test_the_clock_of_the_match_limits_a_program() -> None:
    control = TimeControl.parse("0.5s+0")
    for kind, reason in (("late", "time"), ("hangs", "timeout")):
        program = ProgramPlayer(hostile(kind, 2, time=str(control)))
        players: dict[str, Player] = {"A": Scripted(BOARD), "B": program}
        begun = time.monotonic()
        outcome = MatchGame(SMALL, fixture([("A", "B")], 0), players, {"B": control}).play()
        program.close()
        assert (outcome.winner, outcome.reason, outcome.result, outcome.moves) == ("A", reason, "B+T", 3)
        assert time.monotonic() - begun < 30, "no longer than its clock and the allowance"


@pytest.mark.slow
def test_a_program_may_use_the_seconds_that_a_clock_does_not_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tengen.gtp.program.ALLOWANCE", 0.0)
    control = TimeControl.parse("0.5s+0")
    program = ProgramPlayer(hostile("late", 2, time=str(control)))
    players: dict[str, Player] = {"A": Scripted(BOARD), "B": program}
    conditions = SMALL.model_copy(update={"lag": 30.0})
    outcome = MatchGame(conditions, fixture([("A", "B")], 0), players, {"B": control}).play()
    program.close()
    assert (outcome.result, outcome.reason) == ("B+24.5", "count")
    assert outcome.seconds["B"] > 0.5, "longer than its clock"
