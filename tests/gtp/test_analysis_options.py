"""The arguments of commands that analyse."""

from __future__ import annotations

import re

from gtp_fakes import FakeEngine, played, session_of, talk

from tengen.engine import Engine
from tengen.engine.limits import Limits
from tengen.engine.search import MoveRestriction
from tengen.evaluators import UniformEvaluator
from tengen.game import BLACK, WHITE


def test_allow_and_avoid_reach_the_search_to_their_depth() -> None:
    session = session_of(FakeEngine(["E5"]))
    talk(session, "kata-analyze b 10 avoid b C3,D4 1 avoid b E5 3 allow w F6,pass 2000000000")
    c3, d4, e5, f6 = (session.game.point(vertex) for vertex in ("C3", "D4", "E5", "F6"))
    assert session.engine.restrictions == [  # type: ignore[attr-defined]
        MoveRestriction(BLACK, sorted([c3, d4]), 1),
        MoveRestriction(BLACK, [e5], 3),
        MoveRestriction(WHITE, [f6, 81], 1_000_000, allow=True),
    ]


def test_a_depth_below_the_first_move_is_kept() -> None:
    """White's answers are restricted as well: the lines that the search reports keep to them."""
    session = session_of(limits=Limits(visits=60))
    session.engine = Engine(UniformEvaluator(), batch=1)
    lines = talk(session, "kata-search_analyze b allow b C3,D4 1 allow w E5 2 maxmoves 5").split("\n")
    found = re.findall(r"info move (\w+) .*? pv ((?:[A-T][0-9]+ ?|pass ?)+)", lines[-4])
    assert {move for move, _ in found} == {"C3", "D4"}
    assert all(pv.split()[1] == "E5" for _, pv in found if len(pv.split()) > 1)
    assert any(len(pv.split()) > 1 for _, pv in found)


def test_an_interval_may_be_endless() -> None:
    """LizzieYzy asks so for the last line alone, with the largest integer of Java."""
    assert talk(session_of(FakeEngine(["E5"])), "kata-genmove_analyze B 2147483647").endswith("\nplay E5\n\n")


def test_a_search_without_a_move_is_refused() -> None:
    session = played("D4")
    assert talk(session, "kata-analyze w allow w D4 1").startswith("? no legal move")
