"""When the analysis of a page is on, without a page."""

from __future__ import annotations

import asyncio

import pytest
from web_engine import FakeEngine, FlawedEngine, perform, until

from tengen.review.game import GameReview
from tengen.web.analysis_switch import AnalysisSwitch
from tengen.web.controller import EngineController
from tengen.web.players import PEOPLE
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings

SETTINGS = GameSettings(size=9, players=PEOPLE)


def played() -> GameSession:
    session = GameSession(SETTINGS)
    for point in (40, 41, 42):
        session.play(point)
    return session


def review_ends(session: GameSession) -> None:
    session.analyses.review = GameReview(session.tree, "made", 100, tuple(session.line), ())


def test_a_review_that_ends_turns_the_analysis_on_for_what_it_has_not_searched() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        switch = AnalysisSwitch(controller, lambda: False)
        controller.new_session(session := played())
        switch.follow()
        assert not switch.is_on
        review_ends(session)
        switch.follow()
        assert switch.is_on and not controller.analyzing
        session.play(60)
        switch.follow()
        assert switch.is_on and controller.analyzing
        await until(engine.thinking.is_set)
        session.analyses.review = None
        switch.follow()
        assert not switch.is_on and not controller.analyzing
        await until(lambda: not engine.thinking.is_set())

    perform(scene, SETTINGS)


def test_a_person_turns_it_off_and_only_the_next_review_turns_it_on() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        switch = AnalysisSwitch(controller, lambda: False)
        controller.new_session(session := played())
        review_ends(session)
        switch.follow()
        switch.turn(False)
        switch.follow()
        assert not switch.is_on
        review_ends(session)
        switch.follow()
        assert switch.is_on
        switch.turn(True)
        session.analyses.review = None
        switch.follow()
        assert switch.is_on and controller.analyzing, "the person wants more visits than those of a review"

    perform(scene, SETTINGS)


@pytest.mark.parametrize("hidden", [False, True])
def test_it_stays_on_with_another_network_where_it_is_on(hidden: bool) -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        switch = AnalysisSwitch(controller, lambda: hidden)
        controller.new_session(session := played())
        review_ends(session)
        switch.follow()
        assert switch.is_on is not hidden
        switch.stay_on()
        session.analyses.forget()
        switch.follow()
        assert switch.is_on is controller.analyzing is not hidden

    perform(scene, SETTINGS)


def test_another_game_turns_it_off_and_its_earlier_review_does_not_turn_it_on() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        switch = AnalysisSwitch(controller, lambda: False)
        review_ends(controller.session)
        controller.session.play(60)
        switch.follow()
        assert controller.analyzing
        review_ends(following := played())
        switch.change_game(following)
        controller.new_session(following)
        switch.follow()
        assert not switch.is_on and not controller.analyzing

    perform(scene, SETTINGS)


def test_after_a_failure_it_searches_nothing_until_the_person_tries_again() -> None:
    async def scene(controller: EngineController, engine: FakeEngine, messages: list[str]) -> None:
        switch = AnalysisSwitch(controller, lambda: False)
        review_ends(controller.session)
        controller.session.play(60)
        switch.follow()
        await until(lambda: messages)
        for _ in range(3):
            switch.follow()
            await asyncio.sleep(0.02)
        assert messages == ["it is gone"] and switch.is_on and not controller.analyzing

    perform(scene, SETTINGS, FlawedEngine())
