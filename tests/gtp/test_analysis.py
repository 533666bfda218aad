"""Commands that analyse: what they search, what they play, and how they end."""

from __future__ import annotations

import pytest
from gtp_fakes import FakeEngine, ask, played, session_of, talk
from scripted import ScriptedEvaluator

from tengen.engine import Engine
from tengen.engine.limits import Limits
from tengen.engine.params import SearchParams, playout_params
from tengen.engine.result import SearchResult
from tengen.evaluators import UniformEvaluator
from tengen.game import BLACK, Game


@pytest.mark.parametrize(("owner", "white"), [("", 1.5), ("WHITE", 1.5), ("BLACK", -1.5)])
def test_the_doubling_advantage_is_that_of_its_owner(owner: str, white: float) -> None:
    session = session_of(FakeEngine(["E5", "D4"]))
    ask(session, "kata-set-param playoutDoublingAdvantage 1.5")
    if owner:
        ask(session, f"kata-set-param playoutDoublingAdvantagePla {owner}")
    talk(session, "kata-search w")
    overrides = session.engine.overrides  # type: ignore[attr-defined]
    assert overrides.get("playout_doubling_advantage", session.engine.params.playout_doubling_advantage) == white


def test_an_analysis_may_hide_the_moves_before() -> None:
    session = played("D4", "E5")
    for value in ("false", "true"):
        ask(session, f"kata-set-param analysisIgnorePreRootHistory {value}")
        session.lines = type(session.lines)()
        talk(session, "kata-analyze b 10")
        hides = session.engine.overrides.get("hide_history", False)  # type: ignore[attr-defined]
        assert hides == (value == "true")


def test_a_pass_does_not_end_the_game_of_an_analysis() -> None:
    """KataGo's conservativePass is on in GTP. Engine moves pass by rules of their own."""

    def is_conservative(command: str) -> bool:
        session.lines = type(session.lines)()
        talk(session, command)
        return bool(session.engine.overrides.get("conservative_pass"))  # type: ignore[attr-defined]

    session = played("D4")
    assert not is_conservative("kata-analyze w 10"), "a pass would end nothing: the tree of the engine's moves is kept"
    session.game.play("pass")
    assert ask(session, "kata-get-param conservativePass") == "true"
    assert is_conservative("kata-analyze b 10") and is_conservative("lz-analyze b 10")
    assert not is_conservative("kata-search b") and not is_conservative("kata-search_analyze b 10")
    session.lines = type(session.lines)()
    assert ask(session, "kata-set-param conservativePass false") == ""
    assert ask(session, "kata-get-param conservativePass") == "false"
    assert not is_conservative("kata-analyze b 10") and session.engine.params == SearchParams()


def test_an_analysis_after_a_pass_judges_a_pass_by_what_follows() -> None:
    """Black, who is ahead by one stone and much area, would win by a pass if that ended the game."""
    session = session_of()
    session.game = Game(5, "tromp-taylor", komi=0.5).play("C3").play("pass")
    engine = session.engine = Engine(UniformEvaluator())
    for conservative in (True, False):
        if not conservative:
            ask(session, "kata-set-param conservativePass false")
        session.set_position(BLACK, session.game)
        candidates = engine.think(Limits(visits=200), decide=False).candidates
        (by_pass,) = (c for c in candidates if c.point == 25)
        assert (by_pass.winrate < 0.75) is conservative


def test_a_line_of_input_cancels_a_search_that_can_be_cancelled() -> None:
    session = session_of(FakeEngine(["E5"] * 3))
    answers = talk(session, "1 kata-search_cancellable b", "2 kata-search_analyze_cancellable b 10", "3 kata-search b")
    first, second, third = answers.removesuffix("\n\n").split("\n\n")
    assert first == "=1 cancelled"
    assert second.startswith("=2\ninfo move E5 ") and second.endswith("\nplay cancelled")
    assert third == "=3 E5" and not session.game.moves


@pytest.mark.parametrize("name", ["kata-analyze", "kata-genmove_analyze"])
def test_a_search_that_cannot_do_what_is_asked_for_is_refused(name: str) -> None:
    session = session_of()
    session.engine = Engine(UniformEvaluator(), playout_params("local"))
    answer = talk(session, f"7 {name} b 10 movesOwnership true", "8 name")
    assert answer.startswith("?7 the search cannot do this: node_ownership") and answer.endswith("\n\n=8 Tengen\n\n")


def test_an_answer_that_has_begun_ends_where_its_search_fails(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(FakeEngine):
        def think(self, *_: object, **__: object) -> SearchResult:
            raise MemoryError("no memory")

    assert talk(session_of(Failing()), "7 kata-analyze b 10", "8 name") == "=7\n\n=8 Tengen\n\n"
    assert "the command kata-analyze failed" in caplog.text


def test_a_move_is_played_at_the_end_of_its_analysis() -> None:
    session = session_of(FakeEngine(["E5", "resign"], reports=2))
    lines = talk(session, "lz-genmove_analyze b 10").split("\n")
    assert lines[0] == "=" and len(lines) == 7 and lines[4:] == ["play E5", "", ""]
    assert session.game.moves == [(BLACK, 40)]
    session.lines = type(session.lines)()
    assert talk(session, "kata-genmove_analyze w").endswith("\nplay resign\n\n")
    assert len(session.game.moves) == 1


@pytest.mark.parametrize(("command", "counts"), [("kata-analyze b 1", False), ("kata-search_analyze b 1", True)])
def test_a_position_that_was_analysed_is_no_move_that_counts_for_resignation(command: str, counts: bool) -> None:
    session = session_of(limits=Limits(visits=1))
    session.engine = Engine(ScriptedEvaluator(value=-0.99))
    for number in range(28):
        if number % 2 == 0:
            talk(session, command)
            session.lines = type(session.lines)()
        session.game.play(2 * number)
    assert (ask(session, "genmove b") == "resign") is counts


@pytest.mark.parametrize("kind", ["lz", "kata"])
def test_a_move_of_one_visit_follows_at_once(kind: str) -> None:
    session = session_of(limits=Limits(visits=1))
    session.engine = Engine(UniformEvaluator(), batch=1)
    first, second, *rest = talk(session, f"{kind}-genmove_analyze b interval 0").split("\n")
    assert first == "=" and second.startswith("play ") and rest == ["", ""]
