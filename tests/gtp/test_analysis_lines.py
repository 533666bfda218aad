"""The lines of Leela Zero and of KataGo."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from gtp_fakes import FakeEngine, ask, played, session_of, talk
from scripted import ScriptedEvaluator

from tengen import _native
from tengen.engine import Engine
from tengen.engine.limits import Limits
from tengen.engine.params import SearchParams
from tengen.engine.result import SearchResult
from tengen.evaluators import UniformEvaluator
from tengen.game import BLACK, Game


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


def test_minmoves_shows_moves_without_visits() -> None:
    session = session_of(FakeEngine(["E5"]))
    assert talk(session, "lz-analyze minmoves 3").count("info move") == 3


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
