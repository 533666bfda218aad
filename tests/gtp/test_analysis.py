"""Commands that analyse: the lines of Leela Zero and of KataGo, and what narrows a search."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gtp_fakes import FakeEngine, played, session_of, talk

from tengen.engine import Engine
from tengen.engine.limits import Limits
from tengen.engine.result import SearchResult
from tengen.evaluators import UniformEvaluator
from tengen.game import BLACK


def test_leela_zeros_lines() -> None:
    session = played("D4")
    session.engine.script = ["E5"]  # type: ignore[attr-defined]
    assert talk(session, "3 lz-analyze w 50") == (
        "=3\n"
        "info move E5 visits 12 winrate 5625 prior 3000 lcb 5000 order 0 pv E5 pass "
        "info move A9 visits 3 winrate 5000 prior 1000 lcb 3750 order 1 pv A9\n\n"
    )
    assert session.engine.asked[0][:2] == (Limits(early_stop=False), 0.5)  # type: ignore[attr-defined]


def test_katagos_lines_with_what_is_asked_for() -> None:
    session = session_of(FakeEngine(["E5"]))
    answer = talk(session, "kata-analyze interval 10 maxmoves 1 rootInfo true ownership true pvVisits true")
    lines = answer.split("\n")
    assert lines[0] == "=" and lines[2:] == ["", ""]
    words = lines[1].split(" rootInfo ")[0].split()
    values = dict(zip(words[1::2], words[2::2], strict=False))
    assert (values["move"], values["visits"], values["winrate"], values["scoreLead"]) == ("E5", "12", "0.5625", "1.25")
    assert lines[1].count("info move") == 1 and "rootInfo visits 16 " in lines[1]
    ownership = lines[1].split(" ownership ")[1].split()
    assert len(ownership) == 81 and ownership[0] == "0.5000" and set(ownership[1:]) == {"0.0000"}


def test_minmoves_shows_moves_without_visits() -> None:
    session = session_of(FakeEngine(["E5"]))
    assert talk(session, "lz-analyze minmoves 3").count("info move") == 3


def test_allow_and_avoid_reach_the_search_of_their_color() -> None:
    session = session_of(FakeEngine(["E5"]))
    talk(session, "kata-analyze b 10 avoid b C3,D4 1 avoid b E5 1 avoid w F6 1")
    points = sorted(session.game.point(vertex) for vertex in ("C3", "D4", "E5"))
    assert session.engine.restricted == ([], points)  # type: ignore[attr-defined]


def test_a_search_without_a_move_is_refused() -> None:
    session = played("D4")
    assert talk(session, "kata-analyze w allow w D4 1").startswith("? no legal move")


def test_a_move_is_played_at_the_end_of_its_analysis() -> None:
    session = session_of(FakeEngine(["E5", "resign"], reports=2))
    lines = talk(session, "lz-genmove_analyze b 10").split("\n")
    assert lines[0] == "=" and len(lines) == 7 and lines[4:] == ["play E5", "", ""]
    assert session.game.moves == [(BLACK, 40)]
    session.lines = type(session.lines)()
    assert talk(session, "kata-genmove_analyze w").endswith("\nplay resign\n\n")
    assert len(session.game.moves) == 1


class Unseen(FakeEngine):
    """Reports before any move has a visit, as a search does that has evaluated the root alone."""

    def _result(self, word: str) -> SearchResult:
        result = super()._result(word)
        return replace(result, candidates=tuple(replace(c, visits=0) for c in result.candidates))


@pytest.mark.parametrize("kind", ["lz", "kata"])
def test_a_report_without_a_move_is_no_empty_line_which_would_end_the_answer(kind: str) -> None:
    session = session_of(Unseen(["E5", "E5"], reports=2))
    assert talk(session, f"{kind}-analyze b 10") == "=\n\n"
    session.lines = type(session.lines)()
    assert talk(session, f"{kind}-genmove_analyze b 10") == "=\nplay E5\n\n"


@pytest.mark.parametrize("kind", ["lz", "kata"])
def test_a_move_of_one_visit_follows_at_once(kind: str) -> None:
    session = session_of(limits=Limits(visits=1))
    session.engine = Engine(UniformEvaluator(), batch=1)
    first, second, *rest = talk(session, f"{kind}-genmove_analyze b interval 0").split("\n")
    assert first == "=" and second.startswith("play ") and rest == ["", ""]
