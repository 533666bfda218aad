"""What the engine does next, played through with a fake engine and no page."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence

import pytest
from web_engine import FakeEngine, FakeEngines, perform, until

from tengen.engine import Count, Engine, Limits, SearchQueue, SearchResult, TimeControl
from tengen.errors import NetworkError, TengenError
from tengen.evaluators import UniformEvaluator
from tengen.game import BLACK, WHITE, Game
from tengen.review.game import positions_of
from tengen.sgf import GameNode, GameTree
from tengen.web.controller import EngineController
from tengen.web.editor import Editor
from tengen.web.players import DEFAULT_ENGINE, PEOPLE, PERSON, facing, level_of_visits, own_player
from tengen.web.records import open_record
from tengen.web.running_review import RunningReview
from tengen.web.session import GameSession, Phase
from tengen.web.settings import GameSettings, PageAnalysis


def test_the_engine_answers_with_the_visits_and_the_style_of_its_level() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = controller.session
        session.click(40)
        controller.wake()
        await until(lambda: len(session.game.moves) == 2)
        assert session.game.moves == [(BLACK, 40), (WHITE, 7)]
        assert engine.searches == [(1, Limits(visits=session.settings.opponent.visits))]
        assert engine.style == session.settings.opponent.style
        assert len(session.line_analyses()) == 1, "its search is kept for the graph"

    perform(scene, GameSettings(size=9), FakeEngine(script=[7]))


def test_nobody_waits_for_the_end_of_a_period_when_the_move_is_clear() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        controller.session.click(40)
        controller.wake()
        await until(lambda: len(controller.session.game.moves) == 2)
        assert engine.searches[0][1].early_stop

    perform(scene, GameSettings(size=9, clock=TimeControl.byoyomi(0, 30, 2)), FakeEngine(script=[7]))


def test_the_engine_opens_when_it_has_black() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        await until(lambda: controller.session.may_click)
        assert len(controller.session.game.moves) == 1

    perform(scene, GameSettings(size=9, players=facing(DEFAULT_ENGINE, WHITE)))


def test_the_engine_plays_on_from_a_point_of_a_finished_record() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session, _ = open_record(b"(;SZ[9]RE[B+R];B[ee];W[cc];B[gg])")
        controller.new_session(session)
        session.seek(1)
        controller.wake()
        await asyncio.sleep(0.05)
        assert engine.searches == []
        session.play_on(facing(level_of_visits(5), BLACK))
        controller.wake()
        await until(lambda: session.place == 2)
        assert session.game.moves == [(BLACK, 40), (WHITE, 7)] and len(session.tree) == 5 and session.result == "B+R"
        session.play_on((level_of_visits(5), level_of_visits(5)))
        controller.wake()
        await until(lambda: session.place > 4)

    perform(scene, GameSettings(size=9), FakeEngine(script=[7]))


def test_a_lost_game_is_resigned() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        controller.session.click(40)
        controller.wake()
        await until(lambda: controller.session.result)
        assert controller.session.result == "B+R"

    perform(scene, GameSettings(size=9), FakeEngine(resigns=True))


def test_the_engine_plays_itself_to_the_end_and_counts() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        await until(lambda: controller.session.phase is Phase.OVER)
        assert controller.session.result == "W+7.5"

    perform(scene, GameSettings(size=5, players=(DEFAULT_ENGINE, DEFAULT_ENGINE)), FakeEngine(passes=True))


def test_a_pause_holds_the_engine() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        await until(lambda: len(controller.session.game.moves) >= 3)
        controller.paused = True
        controller.wake()
        await asyncio.sleep(0.05)
        moves = len(controller.session.game.moves)
        await asyncio.sleep(0.1)
        assert len(controller.session.game.moves) == moves

    perform(scene, GameSettings(size=9, players=(DEFAULT_ENGINE, DEFAULT_ENGINE)))


def test_after_two_passes_the_engine_marks_the_dead() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = controller.session
        session.pass_turn()
        session.pass_turn()
        controller.wake()
        await until(lambda: session.counted)
        assert session.phase is Phase.COUNTING

    perform(scene, GameSettings(size=9, players=PEOPLE))


@pytest.mark.parametrize(("rules", "dead"), [("chinese", {8}), ("tromp-taylor", set())])
def test_no_stone_is_dead_where_the_rules_count_what_stands(rules: str, dead: set[int]) -> None:
    """The white stone at 8 cannot live in Black's left side, which is his with it and nobody's beside it."""
    diagram = "..XO...\n.OXOOO.\nXXXO.O.\nX.XOOO.\nXXXO.O.\n.XXOOOO\nX.XO.O.\n"

    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = GameSession(controller.session.settings, start=Game.from_diagram(diagram, rules, komi=0))
        session.pass_turn()
        session.pass_turn()
        controller.new_session(session)
        await until(lambda: session.counted)
        assert session.dead == dead
        session.toggle_dead(8)
        assert session.dead == {8} - dead, "a person may say otherwise"

    perform(scene, GameSettings(size=7, players=PEOPLE, rules=rules))


def test_a_look_at_another_finished_position_does_not_end_the_game() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session, _ = open_record(b"(;SZ[9]KM[7];B[ee];W[cc];B[];W[])")
        end = session.line[-1]
        controller.new_session(session)
        session.seek(1)
        session.play_on((level_of_visits(5), level_of_visits(5)))
        controller.wake()
        await until(lambda: session.tip.depth > 2)
        session.goto(end.id)
        controller.wake()
        await until(lambda: session.counted)
        await asyncio.sleep(0.05)
        assert session.live and not session.result and session.phase is Phase.COUNTING
        with pytest.raises(TengenError):
            session.agree()

    perform(scene, GameSettings(size=9))


def test_a_count_that_comes_after_the_game_was_settled_changes_nothing() -> None:
    class Slow(FakeEngine):
        def count(self, game: Game) -> Count:
            self.thinking.set()
            settled.wait(60)
            return super().count(game)

    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = controller.session
        session.pass_turn()
        session.pass_turn()
        controller.wake()
        await until(engine.thinking.is_set)
        session.resign()
        settled.set()
        await until(lambda: not controller.activity)
        assert session.result == "W+R" and not session.counted and session.view().dead == ()

    settled = threading.Event()
    perform(scene, GameSettings(size=9, players=PEOPLE), Slow())


def test_analysis_follows_the_shown_position_and_ends_with_it() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = controller.session
        controller.analyzing = True
        controller.wake()
        await until(engine.thinking.is_set)
        session.play(40)
        controller.wake()
        await until(lambda: len(engine.searches) == 2)
        assert engine.searches == [(moves, Limits(visits=controller.analysis.visits)) for moves in (0, 1)]
        assert engine.decided == [False, False], "the winrates of an analysis make no opponent resign"
        assert session.tree.root.analysis is not None, "what was found before the step is kept"
        controller.analyzing = False
        controller.wake()
        await until(lambda: not engine.thinking.is_set())

    perform(scene, GameSettings(size=9, players=PEOPLE))


@pytest.mark.parametrize("look", ["analysis", "review"])
def test_a_weak_level_plays_with_its_own_visits_alone(look: str) -> None:
    """Analysis and review share the engine with the game, but not the search tree."""

    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = controller.session
        if look == "analysis":
            controller.analyzing = True
            controller.wake()
            await until(lambda: controller.thread.latest and controller.thread.latest.visits > 500)
        else:
            controller.review()
            await until(lambda: session.node.analysis)
        for moves in (2, 4):
            session.click(session.game.legal_points()[8])
            before = session.node
            controller.wake()
            await until(lambda moves=moves: len(session.game.moves) == moves)
            assert before.analysis is not None and before.analysis.visits == 1

    settings = GameSettings(size=5, players=(PERSON, level_of_visits(1)))
    perform(scene, settings, real=Engine(UniformEvaluator(), batch=1))


def test_a_review_searches_every_position_of_the_line_to_one_depth() -> None:
    """Also those that were searched less; the game can be stepped through meanwhile."""

    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = controller.session
        for point in (10, 20, 30, 40):
            session.play(point)
        session.analyses.add(session.node, engine.result(session.game, 3))
        session.step(-2)
        controller.review()
        session.step(-1)
        controller.wake()
        await until(lambda: session.analyses.review is not None)
        assert controller.review_progress is None and messages == []
        assert [found.visits for _, found in session.line_analyses()] == [controller.analysis.review_visits] * 5
        found = session.analyses.review
        assert found is not None and [move.point for move in found.moves] == [10, 20, 30, 40]
        assert set(session.analyses.grades()) == {node.id for node in session.line[1:]}

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_a_network_without_a_value_reviews_no_game() -> None:
    """It found that no move lost anything."""

    class Valueless(UniformEvaluator):
        has_value = False

    class Engines(FakeEngines):
        def queue(self, network: str = "") -> SearchQueue:
            return SearchQueue(Valueless())

    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        controller.session.play(40)
        controller.review()
        await until(lambda: controller.review_progress is None)
        assert controller.session.analyses.review is None and controller.session.line_analyses() == []
        assert messages == ["uniform has no value, which a review needs: choose another network"]

    perform(scene, GameSettings(size=9, players=PEOPLE), engines=Engines())


def test_no_line_is_reviewed_that_would_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each position has a game with all moves before it: 20,000 took 2.9 GB."""
    monkeypatch.setattr("tengen.web.running_review.MAX_POSITIONS", 2)

    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        for points, told in (([40], []), ([41], ["the line has 3 positions: 2 is the limit of a review"])):
            for point in points:
                controller.session.play(point)
            controller.session.analyses.review = None
            controller.review()
            await until(lambda: controller.review_progress is None)
            assert messages == told and (controller.session.analyses.review is None) == bool(told)

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_the_positions_of_a_review_are_made_beside_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of 2,000 moves held the server for 9 s."""
    going_on = threading.Event()

    def slow(tree: GameTree, line: Sequence[GameNode]) -> list[tuple[GameNode, Game]]:
        assert going_on.wait(30)
        return positions_of(tree, line)

    monkeypatch.setattr("tengen.web.running_review.positions_of", slow)

    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = controller.session
        for point in (10, 20, 81, 81):
            session.play(point)
        controller.review()
        await asyncio.sleep(0.05)
        assert controller.review_progress is not None and session.analyses.review is None
        going_on.set()
        await until(lambda: session.analyses.review is not None)
        found = session.analyses.review
        assert found is not None and [node.depth for node in found.nodes] == [0, 1, 2, 3]
        assert messages == []
        going_on.clear()
        session.analyses.review = None
        controller.review()
        await asyncio.sleep(0.05)
        Editor(session).describe({}, "japanese", 6.5)
        going_on.set()
        await until(lambda: controller.review_progress is None)
        assert session.analyses.review is None, "it judged the game by other rules"
        assert messages == ["the review has stopped: the positions of the game have changed"]

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_the_progress_of_a_review_changes_on_the_thread_that_may_stop_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a review that is stopped at the wrong moment failed, or seemed to run for ever."""
    seen, threads = [], set()

    def read(running: RunningReview) -> object:
        threads.add(threading.current_thread())
        return vars(running)["_progress"]

    def write(running: RunningReview, progress: object) -> None:
        threads.add(threading.current_thread())
        seen.append(progress)
        vars(running)["_progress"] = progress

    monkeypatch.setattr(RunningReview, "progress", property(read, write), raising=False)

    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        controller.session.play(40)
        controller.review()
        await until(lambda: controller.session.analyses.review is not None)
        assert seen[-3:] == [(0, 2), (1, 2), (2, 2)] and messages == []

    perform(scene, GameSettings(size=9, players=PEOPLE))
    assert threads == {threading.current_thread()}


def test_a_review_ends_with_its_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """asyncio cancels its task and then waits for the thread that searches."""
    begun, ended = threading.Event(), []

    def endless(*args: Callable[[], bool]) -> None:
        *_, should_end = args
        begun.set()
        deadline = time.monotonic() + 10
        while not should_end() and time.monotonic() < deadline:
            time.sleep(0.01)
        ended.append(should_end())

    monkeypatch.setattr("tengen.web.running_review.review", endless)

    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        controller.review()
        await until(begun.is_set)
        controller.session.running_review = None  # nobody stops it

    perform(scene, GameSettings(size=9, players=PEOPLE))
    assert ended == [True]


def test_a_review_is_stopped_by_the_same_button_and_by_another_game() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        for end in (controller.review, lambda: controller.new_session(GameSession(GameSettings(size=9)))):
            session = controller.session
            session.play(session.game.legal_points()[0])
            controller.review()
            assert controller.review_progress == (0, len(session.line))
            end()
            assert controller.review_progress is None
            await asyncio.sleep(0.3)
            assert session.analyses.review is None

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_take_back_while_the_engine_thinks_takes_the_move_back_and_no_answer_comes() -> None:
    class Slow(FakeEngine):
        def think(self, *args: object, **more: object) -> SearchResult:
            self.thinking.set()
            self._stop.wait(5)
            return super().think(*args, **more)  # type: ignore[arg-type]

    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = controller.session
        session.click(40)
        controller.wake()
        await until(engine.thinking.is_set)
        session.take_back()
        controller.wake()
        await asyncio.sleep(0.1)
        assert session.game.moves == [] and len(session.tree) == 1 and messages == []

    perform(scene, GameSettings(size=9), Slow())


@pytest.mark.parametrize(
    ("error", "message"),
    [(NetworkError("net.onnx is no network"), "net.onnx is no network"), (RuntimeError("x"), "failed")],
)
def test_a_failure_of_the_engine_is_reported_and_the_page_continues(error: Exception, message: str) -> None:
    class Broken(FakeEngine):
        def set_position(self, game: object) -> None:
            raise error

    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        controller.session.click(40)
        controller.wake()
        await until(lambda: messages)
        assert message in messages[0] and controller.paused
        assert controller.session.take_back()

    perform(scene, GameSettings(size=9), Broken())


def test_two_players_have_their_own_network_limits_and_style() -> None:
    made: dict[str, FakeEngine] = {"": FakeEngine(), "other": FakeEngine()}

    class Two(FakeEngines):
        def __call__(self, network: str = "") -> FakeEngine:
            return made[network]

    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        await until(lambda: len(controller.session.game.moves) >= 4)
        assert controller.session.names == ("Tengen", "Tengen")
        assert controller.session.details == ("5 visits a move", "other \u00b7 2.5 s a move \u00b7 komi 7.5")
        assert made[""].searches[:2] == [(0, Limits(visits=5)), (2, Limits(visits=5))]
        assert made["other"].searches[:2] == [(ply, Limits(seconds=2.5, early_stop=True)) for ply in (1, 3)]

    players = level_of_visits(5), own_player("other", seconds=2.5)
    perform(scene, GameSettings(size=9, players=players), engines=Two())


def test_a_paused_game_of_engines_goes_on_by_one_move() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        controller.paused = True  # before the first step
        for moves in (1, 2):
            controller.play_one()
            await until(lambda moves=moves: len(controller.session.game.moves) == moves)
            await asyncio.sleep(0.05)
            assert len(controller.session.game.moves) == moves

    perform(scene, GameSettings(size=9, players=(DEFAULT_ENGINE, DEFAULT_ENGINE)))


def test_another_network_of_the_analysis_begins_anew() -> None:
    made: list[str] = []

    class Asked(FakeEngines):
        def __call__(self, network: str = "") -> FakeEngine:
            made.append(network)
            return FakeEngine(endless=False)

    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = controller.session
        controller.analyzing = True
        controller.set_analysis(PageAnalysis(visits=30))
        await until(lambda: session.node.analysis)
        session.play(40)
        controller.wake()
        await until(lambda: session.node.analysis)
        controller.set_analysis(PageAnalysis("other", visits=30))
        await until(lambda: session.node.analysis)
        assert made == ["", "other"] and session.tree.root.analysis is None
        controller.set_analysis(PageAnalysis("does not play on this board"))
        assert controller.network == ""

    perform(scene, GameSettings(size=9, players=PEOPLE), engines=Asked())


def test_what_another_network_was_searching_is_not_kept() -> None:
    """Its partial result, of more visits, kept those of the new network away."""

    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        session = controller.session
        controller.analyzing = True
        controller.set_analysis(PageAnalysis(visits=100_000))
        await until(engine.thinking.is_set)
        controller.set_analysis(PageAnalysis("other", visits=30))
        await until(lambda: len(engine.searches) == 2 and session.node.analysis)
        assert session.node.analysis is not None and session.node.analysis.visits == 30

    perform(scene, GameSettings(size=9, players=PEOPLE))
