"""Commands that analyse: the lines of Leela Zero and of KataGo, and what narrows a search."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from gtp_fakes import FakeEngine, ask, played, session_of, talk
from scripted import ScriptedEvaluator

from tengen import _native
from tengen.engine import Engine
from tengen.engine.limits import Limits
from tengen.engine.params import SearchParams, playout_params
from tengen.engine.result import SearchResult
from tengen.engine.search import MoveRestriction
from tengen.evaluators import UniformEvaluator
from tengen.game import BLACK, WHITE, Game


def test_leela_zeros_lines() -> None:
    session = played("D4")
    session.engine.script = ["E5"]  # type: ignore[attr-defined]
    assert talk(session, "3 lz-analyze w 50") == (
        "=3\n"
        "info move E5 visits 14 winrate 5625 prior 3000 lcb 5000 order 0 pv E5 pass "
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
    assert (values["move"], values["visits"], values["winrate"], values["scoreLead"]) == ("E5", "14", "0.5625", "0.75")
    assert lines[1].count("info move") == 1 and "rootInfo visits 16 " in lines[1]
    ownership = lines[1].split(" ownership ")[1].split()
    assert len(ownership) == 81 and ownership[0] == "0.5000" and set(ownership[1:]) == {"0.0000"}


def test_the_fields_are_katagos_in_its_order() -> None:
    """As `kata-analyze 10 rootInfo true noResultValue true pvVisits true` of KataGo 1.17 has them."""
    session = session_of(FakeEngine(["E5"]))
    answer = talk(session, "kata-analyze 10 maxmoves 1 rootInfo true noResultValue true pvVisits true")
    move, root = answer.split("\n")[1].split(" rootInfo ")
    assert move == (
        "info move E5 visits 14 edgeVisits 12 utility 0.125 winrate 0.5625 scoreMean 0.75 scoreStdev 20 scoreLead 0.75 "
        "scoreSelfplay 1.25 noResultValue 0.01 prior 0.3 lcb 0.5 utilityLcb -0.25 weight 13.5 order 0 pv E5 pass "
        "pvVisits 14 5"
    )
    assert root == (
        "visits 16 utility 0.125 winrate 0.5625 scoreMean 0.75 scoreStdev 20 scoreLead 0.75 scoreSelfplay 1.25 "
        "weight 14.5 rawStWrError 0.25 rawStScoreError -1 rawVarTimeLeft -1"
    )


def test_ownership_below_each_move_and_its_deviation() -> None:
    session = session_of(FakeEngine(["E5"]))
    keys = "ownership ownershipStdev movesOwnership movesOwnershipStdev"
    answer = talk(session, "kata-analyze w 10 maxmoves 1 " + " ".join(f"{key} true" for key in keys.split()))
    assert session.engine.overrides["node_ownership"] is True  # type: ignore[attr-defined]
    found = {name: values.split() for name, values in re.findall(r"(\w*wnership\w*)((?: -?[0-9.]+)+)", answer)}
    point = session.game.point("E5")
    expected = {
        "ownership": 0,
        "ownershipStdev": 0.05,
        "movesOwnership": point / 100,
        "movesOwnershipStdev": point / 50,
    }
    assert {name: float(values[0]) for name, values in found.items()} == pytest.approx(expected)
    assert all(len(values) == 81 for values in found.values())


def test_moves_that_a_symmetry_exchanges_are_copies_of_one() -> None:
    """On an empty board the search has one move of each orbit; the others follow it, with its line turned."""
    session = session_of(limits=Limits(visits=40))
    session.engine = Engine(UniformEvaluator(), SearchParams(merge_symmetric=True), batch=1)
    line = talk(session, "kata-search_analyze b minmoves 3").split("\n")[-4]
    found = re.findall(r"info move (\w+) visits (\d+) .*?(?: isSymmetryOf (\w+))? order (\d+) pv (\w+)", line)
    assert [int(order) for *_, order, _ in found] == list(range(len(found)))
    assert all(move == first for move, *_, first in found)
    moves = [move for move, *_ in found]
    assert len(set(moves)) == len(moves) > 12
    points = {session.game.point(move) for move in moves if move != "pass"}
    assert all({_native.transform(p, 9, s) for s in range(8)} <= points for p in points)
    by_move = {move: (visits, original) for move, visits, original, *_ in found}
    copies = {move: original for move, (_, original) in by_move.items() if original}
    assert copies and all(by_move[original][1] == "" for original in copies.values())
    assert all(by_move[move][0] == by_move[original][0] for move, original in copies.items())


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


def test_minmoves_shows_moves_without_visits() -> None:
    session = session_of(FakeEngine(["E5"]))
    assert talk(session, "lz-analyze minmoves 3").count("info move") == 3


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


def percent(command: str, winrate: str) -> float:
    """The winrate as Sabaki 0.60 reads it: a fraction after commands of KataGo, else 1/10000."""
    return float(winrate) * 100 if command.startswith("kata") else float(winrate) / 100


@pytest.mark.parametrize("command", ["analyze", "genmove_analyze", "lz-analyze", "kata-analyze"])
def test_sabaki_reads_the_winrate_of_each_form(command: str) -> None:
    answer = talk(session_of(FakeEngine(["E5"])), f"{command} b 10 minmoves 3")
    best, other, _ = answer.split("info ")[1:4]
    fields = dict(zip(best.split()[::2], best.split()[1::2], strict=False))
    assert (fields["move"], fields["visits"], percent(command, fields["winrate"])) == ("E5", "14", 56.25)
    assert percent(command, other.split(" winrate ")[1].split()[0]) == 50
    if not command.startswith("kata"):  # Sabaki before 0.60 takes a number with a decimal point for a fraction
        assert all(fields[name].isdigit() for name in ("winrate", "prior", "lcb"))
    if not command.startswith("lz"):
        assert fields["scoreLead"] == "0.75" and " scoreStdev 0 " in other


def test_an_interval_may_be_endless() -> None:
    """LizzieYzy asks so for the last line alone, with the largest integer of Java."""
    assert talk(session_of(FakeEngine(["E5"])), "kata-genmove_analyze B 2147483647").endswith("\nplay E5\n\n")


def test_the_visits_of_a_line_are_shown_on_request() -> None:
    session = session_of(FakeEngine(["E5"]))
    answer = talk(session, "kata-analyze 10 pvVisits true pvEdgeVisits true maxmoves 1")
    assert answer.endswith(" pv E5 pass pvVisits 14 5 pvEdgeVisits 12 4\n\n")
    session.settings = replace(session.settings, pv_length=0)
    session.lines = type(session.lines)()
    assert talk(session, "kata-analyze 10 pvVisits true").count(" pv pass pvVisits 14") == 1


@pytest.mark.parametrize("name", ["kata-search_analyze", "kata-genmove_analyze"])
def test_a_line_has_as_many_moves_as_are_asked_for(name: str) -> None:
    """More than the 20 of other searches as well; as in KataGo the first move does not count."""
    session = session_of(limits=Limits(visits=300))
    evaluator = ScriptedEvaluator({point: 8.0 ** (40 - point) for point in range(40)})
    session.engine = Engine(evaluator, SearchParams(prune_eyes=False), batch=1)
    session.set_position(BLACK, session.game)
    session.engine.think(Limits(visits=300), decide=False)
    for length in (3, 30):
        ask(session, f"kata-set-param analysisPVLen {length}")
        session.lines = type(session.lines)()
        line = talk(session, f"{name} b maxmoves 1 pvVisits true").split("\n")[1]
        pv, visits = line.partition(" pv ")[2].split(" pvVisits ")
        assert len(pv.split()) == len(visits.split()) == length + 1
        session.game = Game(9)


@pytest.mark.parametrize(("owner", "winrates"), [("BLACK", (0.5625, 0.4375)), ("WHITE", (0.4375, 0.5625))])
def test_values_of_one_color_on_request(owner: str, winrates: tuple[float, float]) -> None:
    session = session_of(FakeEngine(["E5"] * 2))
    ask(session, f"kata-set-param reportAnalysisWinratesAs {owner}")
    for color, winrate in zip("bw", winrates, strict=True):
        session.lines = type(session.lines)()
        answer = talk(session, f"kata-analyze {color} 10 rootInfo true ownership true maxmoves 1")
        sign = 1 if winrate > 0.5 else -1
        assert answer.count(f" winrate {winrate} ") == 2
        assert answer.count(f" scoreLead {0.75 * sign} ") == 2 and answer.count(f" utility {0.125 * sign} ") == 2
        assert f" utilityLcb {-0.25 * sign} " in answer and answer.count(" scoreStdev 20 ") == 2
        assert f" ownership {0.5 * sign:.4f} " in answer


def test_a_line_of_input_cancels_a_search_that_can_be_cancelled() -> None:
    session = session_of(FakeEngine(["E5"] * 3))
    answers = talk(session, "1 kata-search_cancellable b", "2 kata-search_analyze_cancellable b 10", "3 kata-search b")
    first, second, third = answers.removesuffix("\n\n").split("\n\n")
    assert first == "=1 cancelled"
    assert second.startswith("=2\ninfo move E5 ") and second.endswith("\nplay cancelled")
    assert third == "=3 E5" and not session.game.moves


def test_a_search_without_a_move_is_refused() -> None:
    session = played("D4")
    assert talk(session, "kata-analyze w allow w D4 1").startswith("? no legal move")


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


class Unseen(FakeEngine):
    """Reports before any move has a visit, as a search does that has evaluated the root alone."""

    def _result(self, word: str) -> SearchResult:
        result = super()._result(word)
        return replace(result, candidates=tuple(replace(c, visits=0) for c in result.candidates))


@pytest.mark.parametrize("kind", ["lz", "kata"])
def test_a_report_without_a_move_is_no_line(kind: str) -> None:
    """An empty line would end the answer, and KataGo has no line that does not begin with a move."""
    session, keys = session_of(Unseen(["E5", "E5"], reports=2)), ""
    if kind == "kata":
        keys = " rootInfo true ownership true"
    assert talk(session, f"{kind}-analyze b 10{keys}") == "=\n\n"
    session.lines = type(session.lines)()
    assert talk(session, f"{kind}-genmove_analyze b 10{keys}") == "=\nplay E5\n\n"


@pytest.mark.parametrize("kind", ["lz", "kata"])
def test_a_move_of_one_visit_follows_at_once(kind: str) -> None:
    session = session_of(limits=Limits(visits=1))
    session.engine = Engine(UniformEvaluator(), batch=1)
    first, second, *rest = talk(session, f"{kind}-genmove_analyze b interval 0").split("\n")
    assert first == "=" and second.startswith("play ") and rest == ["", ""]
