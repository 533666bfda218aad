"""GTP programs as opponents in the page: whatever they do, the page says it and goes on, and no process stays."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hostile import command_line
from offspring import Offspring
from other_programs import needs
from web_engine import FakeEngine, FakeEngines, perform, until

from tengen.engine import TimeControl
from tengen.game import BLACK, WHITE
from tengen.gtp.program import ProgramSettings
from tengen.web import programs
from tengen.web.controller import EngineController
from tengen.web.players import DEFAULT_ENGINE, PERSON, PlayerChoice, facing, level_of_visits, program_player
from tengen.web.records import open_record
from tengen.web.session import GameSession, Phase
from tengen.web.settings import GameSettings

# The page is closed at the end of a test.
pytestmark = pytest.mark.usefixtures("no_process_is_left")

PROGRAM = program_player("the program")
A1 = 72


def engines(*kinds: str, move: int = 1, move_seconds: float = 20.0) -> FakeEngines:
    """Fake engines, and programs that behave like this: `the program`, `the program 2`."""
    found = {}
    for number, kind in enumerate(kinds, 1):
        name = "the program" + (f" {number}" if number > 1 else "")
        found[name] = ProgramSettings(name, command_line(kind, move), move_seconds=move_seconds)
    return FakeEngines(lambda: FakeEngine(passes=True), programs=found)


def test_a_program_answers_and_follows_what_is_taken_back() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = controller.session
        assert session.names == ("You", "the program") and session.details[1].startswith("GTP program")
        for point, moves in ((40, 2), (41, 4)):
            session.click(point)
            controller.wake()
            await until(lambda moves=moves: len(session.game.moves) == moves)
        assert session.game.moves[1::2] == [(WHITE, session.game.point("C3")), (WHITE, session.game.point("D4"))]
        session.take_back()
        session.click(3)
        controller.wake()
        await until(lambda: len(session.game.moves) == 4)
        assert session.game.moves[3] == (WHITE, session.game.point("D3"))

    perform(scene, GameSettings(size=9, players=(PERSON, PROGRAM)), engines=engines("plays:C3,D4,D3"))


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("dies", "ended with status 1 during 'genmove w'"),
        ("hangs", "no answer to 'genmove w' in time"),
        ("stone-on-stone", "the program plays A1, which is illegal: there is already a stone"),
        ("nonsense-move", "'the one beside my cat' is not a move"),
        ("refuses-to-move", "cannot think"),
        ("dies-at-start", "does not start"),
    ],
)
def test_a_failure_is_told_and_another_opponent_goes_on(kind: str, told: str) -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = controller.session
        session.click(A1)
        controller.wake()
        await until(lambda: controller.failure)
        assert told in messages[-1] and controller.failure == messages[-1] and controller.paused
        assert session.game.moves == [(BLACK, A1)] and session.phase is Phase.PLAYING
        session.play_on(facing(DEFAULT_ENGINE, BLACK))
        controller.paused = False
        controller.wake()
        await until(lambda: len(session.game.moves) == 2)
        assert controller.failure == ""

    seconds = 3.0 if kind == "hangs" else 20.0
    perform(scene, GameSettings(size=9, players=(PERSON, PROGRAM)), engines=engines(kind, move_seconds=seconds))


@pytest.mark.parametrize(("kind", "told"), [("only-9x9", "unacceptable size"), ("refuses:komi", "'komi 7.5'")])
def test_what_a_program_refuses_is_told_before_the_first_move(kind: str, told: str) -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        await until(lambda: messages)
        assert told in messages[0] and controller.session.may_click

    perform(scene, GameSettings(size=5, players=(PERSON, PROGRAM)), engines=engines(kind))


def test_a_program_that_hangs_holds_nothing_up(monkeypatch: pytest.MonkeyPatch, offspring: Offspring) -> None:
    """It is asked about another position and ended for it, and ends at once with its game."""
    monkeypatch.setattr(programs, "UNWANTED_SECONDS", 0.1)

    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = controller.session
        seen: set[int] = set()
        for point in (40, 41):
            session.click(point)
            controller.wake()
            await until(lambda seen=set(seen): controller.activity == "thinking" and set(offspring.alive()) - seen)
            seen |= set(offspring.alive())
            await asyncio.sleep(0.5)  # until it is at its move
            session.take_back()
            controller.wake()
            await until(lambda: not controller.activity)
        controller.new_session(GameSession(GameSettings(size=9)))
        await until(lambda: not offspring.alive())
        assert messages == []

    perform(scene, GameSettings(size=9, players=(PERSON, PROGRAM)), engines=engines("hangs", move_seconds=600))


def test_a_hint_does_not_end_the_move_that_a_program_thinks_about(
    monkeypatch: pytest.MonkeyPatch, offspring: Offspring
) -> None:
    monkeypatch.setattr(programs, "UNWANTED_SECONDS", 0.1)

    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = controller.session
        await until(offspring.alive)
        (process,) = offspring.alive()
        session.click(40)
        controller.wake()
        await until(lambda: controller.activity == "thinking")
        for _ in range(2):
            await asyncio.sleep(0.3)
            controller.teacher.ask_hint()
            controller.wake()
            await until(lambda: controller.teacher.hint_at(session.node) is not None)
        await until(lambda: len(session.game.moves) == 2)
        assert offspring.alive() == [process] and session.game.moves[1] == (WHITE, 81) and messages == []

    perform(scene, GameSettings(size=9, players=(PERSON, PROGRAM)), engines=engines("late"))


def test_a_start_that_hangs_is_told_and_can_be_cancelled(offspring: Offspring) -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = controller.session
        await until(lambda: (controller.programs.start_seconds(WHITE) or 0) > 0.05 and offspring.alive())
        assert not controller.holds_clock, "it is the person's turn"
        session.click(40)
        controller.wake()
        await until(lambda: controller.activity == "thinking")
        assert controller.holds_clock, "its start takes none of its time"
        assert controller.programs.start_seconds(BLACK) is None and messages == []
        controller.cancel_starts()
        await until(lambda: not offspring.alive())
        assert messages == [controller.failure] == ["the start of the program was cancelled"] and controller.paused
        controller.paused = False  # continue: it starts again
        controller.wake()
        await until(offspring.alive)
        controller.new_session(GameSession(GameSettings(size=9)))
        await until(lambda: not offspring.alive())
        assert len(messages) == 1

    perform(scene, GameSettings(size=9, players=(PERSON, PROGRAM)), engines=engines("hangs-at-start"))


def test_a_start_without_an_answer_ends_in_its_time() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        await until(lambda: messages)
        assert "the program: does not start within 0.5 s: no answer to 'name' in time" in messages[0]

    hangs = engines("hangs-at-start")
    hangs.programs = {name: replace(one, startup_seconds=0.5) for name, one in hangs.programs.items()}
    perform(scene, GameSettings(size=9, players=(PERSON, PROGRAM)), engines=hangs)


def test_a_resignation_ends_the_game() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        controller.session.click(40)
        controller.wake()
        await until(lambda: controller.session.result == "B+R")

    perform(scene, GameSettings(size=9, players=(PERSON, PROGRAM)), engines=engines("resigns"))


@pytest.mark.parametrize("black", [level_of_visits(16), program_player("the program 2")])
def test_engines_play_to_the_end_and_a_program_that_counts_otherwise_is_quoted(black: PlayerChoice) -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        await until(lambda: messages)
        assert controller.session.result == "W+7.5"
        assert messages == ["the program counts otherwise: Black wins by 3.5. This page: White wins by 7.5"]

    perform(scene, GameSettings(size=5, players=(black, PROGRAM)), engines=engines("counts", "polite"))


def test_a_program_that_this_server_does_not_know_is_named() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        await until(lambda: messages)
        assert "this server has no program 'the program': start it with tengen play --program" in messages[0]

    perform(scene, GameSettings(size=9, players=(PROGRAM, PERSON)))


@needs("gnugo")
def test_gnugo_plays_with_a_handicap_on_the_clock_from_any_position_and_counts_alike() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = controller.session
        await until(lambda: len(session.game.moves) == 1)
        session.click(session.game.point("A1"))  # where GNU Go does not begin
        controller.wake()
        await until(lambda: len(session.game.moves) == 3)
        record, _ = open_record(b"(;SZ[7]KM[9]AB[bb][fb]AW[ff];B[bf];W[dd];B[cd])")
        record.step(2)
        record.play_on((PERSON, program_player("gnugo")))
        controller.new_session(record)
        record.click(record.game.point("C4"))
        controller.wake()
        await until(lambda: len(record.game.moves) == 4)
        assert messages == []
        while not record.game.is_over:
            if record.may_click:
                record.pass_turn()
                controller.wake()
            await asyncio.sleep(0.02)
        await until(lambda: record.counted)
        assert messages == []

    line = "gnugo --mode gtp --level 1 --chinese-rules"
    known = FakeEngines(programs={"gnugo": ProgramSettings("gnugo", line)})
    players = facing(program_player("gnugo"), BLACK)
    clock = TimeControl.byoyomi(30, 5, 3)
    perform(scene, GameSettings(size=9, handicap=2, komi=0.5, players=players, clock=clock), engines=known)
