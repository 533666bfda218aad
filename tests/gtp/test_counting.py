"""Commands that count: the score and the status of stones."""

from __future__ import annotations

import pytest
from gtp_fakes import FakeEngine, ask, session_of, talk
from known_positions import SETTLED

from tengen.engine import Engine
from tengen.evaluators import UniformEvaluator
from tengen.game import WHITE, Game
from tengen.gtp.session import GtpEngine, GtpSession

# Black's B9 and White's D9 stand in seki with one eye each; J1 is a dead white stone.
SEKI = """
    . X . O . O X . X
    X X X O O O X X .
    O O O X X X X X X
    O O O O O O O X X
    . O . O . O O O X
    O O O O O O O O X
    X X X X X X X X X
    X X X . X X X X .
    X . X X X X . X O
"""
IN_SEKI = {"B9", "A8", "B8", "C8", "D9", "D8", "E8", "F8", "F9"}


def session_at(text: str, rules: str, engine: GtpEngine | None = None) -> GtpSession:
    session = session_of()
    session.engine = engine or session.engine
    session.game = Game.from_diagram(text, rules, komi=0)
    return session


def finished() -> GtpSession:
    """A game that is over but for the white stone on D3, dead among Black's."""
    session = session_of(FakeEngine(dead=("D3",)))
    session.game = Game.from_diagram(SETTLED, komi=0.5).play("D3", color=WHITE)
    return session


def test_the_score_is_counted_without_the_dead() -> None:
    session = finished()
    assert ask(session, "final_score") == "W+7.5"
    ask(session, "komi -20")
    assert ask(session, "final_score") == "B+13"
    ask(session, "komi -7")
    assert ask(session, "final_score") == "0"


def test_the_status_of_stones_is_listed_chain_by_chain() -> None:
    session = finished()
    assert ask(session, "final_status_list dead") == "D3"
    assert ask(session, "final_status_list seki") == ""
    alive = ask(session, "final_status_list alive").split("\n")
    assert ["A8" in alive[0].split(), "D9" in alive[1].split(), alive[2]] == [True, True, "H4 J4 J3"]


@pytest.mark.parametrize(
    ("rules", "score"),
    # Area: Black 48, White 32, C9 nobody's. Territory: Black H9 J8 B1 D2 G1 J1 J2 and a prisoner, White A5 C5 E5.
    [("chinese", "B+16"), ("aga", "B+16"), ("japanese", "B+5"), ("korean", "B+5")],
)
def test_a_person_names_the_dead(rules: str, score: str) -> None:
    session = session_at(SEKI, rules)
    assert ask(session, "final_score dead J1") == score
    assert set(ask(session, "final_status_list seki dead J1").split()) == IN_SEKI
    assert ask(session, "final_status_list dead dead J1") == "J1"
    assert ask(session, "final_score dead") == ask(session_at(SEKI, rules), "final_score")


def test_the_score_depends_on_whether_dead_stones_are_agreed() -> None:
    """With D3 alive White has 45 points, and Black 37 less D3 and less C3, which touches both."""
    session = finished()
    for value, score in (("false", "W+10.5"), ("true", "W+7.5")):
        assert ask(session, f"kata-set-rule friendlyPassOk {value}") == ""
        assert (ask(session, "final_score"), session.game.rules.dead_are_agreed) == (score, value == "true")


def test_by_tromp_taylor_everything_on_the_board_lives_unless_a_way_is_given() -> None:
    """White's 44 points and D3; of Black's 37 D3 is lost, and C3 touches both."""
    session = finished()
    session.game = Game.from_diagram(SETTLED, "tromp-taylor", komi=0.5).play("D3", color=WHITE)
    assert ask(session, "final_score") == "W+10.5"
    assert ask(session, "final_status_list dead") == ""
    assert "D3" in ask(session, "final_status_list alive").split()
    for way in ("both", "dead D3"):
        assert ask(session, f"final_score {way}") == "W+7.5"
        assert ask(session, f"final_status_list dead {way}") == "D3"


@pytest.mark.parametrize("way", ["", " playouts", " network", " both", " PLAYOUTS"])
def test_every_stone_has_one_status_and_the_count_agrees(way: str) -> None:
    """Without a network that knows owners every way is the playouts'."""
    session = session_at(SEKI, "japanese", Engine(UniformEvaluator()))
    lists = {status: ask(session, f"final_status_list {status}{way}").split() for status in ("alive", "dead", "seki")}
    stones = sorted(vertex for listed in lists.values() for vertex in listed)
    assert len(stones) == len(set(stones)) == int((session.game.board != 2).sum())
    score = session.game.score(lists["dead"])
    assert ask(session, f"final_score{way}") == (f"{'B' if score > 0 else 'W'}+{abs(score):g}" if score else "0")
    assert "J1" in lists["dead"]


def test_unknown_ways_are_refused() -> None:
    session = session_at(SEKI, "chinese")
    assert ask_error(session, "final_score guess") == "invalid way guess: one of both, network, playouts, dead expected"
    assert ask_error(session, "final_status_list dead playouts D4") == "syntax error: unexpected argument D4"
    assert ask_error(session, "final_score dead C9") == "no stone at C9"
    assert ask_error(session, "final_score dead pass") == "no stone at pass"


def ask_error(session: GtpSession, line: str) -> str:
    return talk(session, line).removeprefix("? ").strip()
