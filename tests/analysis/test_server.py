"""Scheduling and actions: many positions at once, priorities, partial reports, termination, the end of the input."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import katago_twin
import numpy as np
import pytest
from checksum import Checksum
from talk import PLAIN, Talk

from tengen.analysis.config import AnalysisSettings
from tengen.analysis.server import AnalysisOptions, _settings
from tengen.data.planes import plane_set
from tengen.engine.options import EngineOptions
from tengen.engine.params import SearchParams
from tengen.engine.queue import SearchQueue
from tengen.engine.task import SearchTask
from tengen.evaluators import Evaluation, InputBatch, UniformEvaluator, load_evaluator
from tengen.evaluators.human import NO_HUMAN_NETWORK, HumanNetwork
from tengen.game import Game

MOVES = [["B", "C3"], ["W", "B2"], ["B", "D4"], ["W", "B4"], ["B", "D2"]]
ENDLESS = 2**40


class Gate(Checksum):
    """Waits before each batch until it is opened; keeps the rows of each batch."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = threading.Event()
        self.batches: list[int] = []

    def infer(self, batch: InputBatch) -> Evaluation:
        assert self.opened.wait(20)
        self.batches.append(len(batch))
        return super().infer(batch)


def test_the_turns_of_a_query_share_batches() -> None:
    gate = Gate()
    gate.opened.set()
    with Talk(gate) as talk:
        answers = talk.ask(moves=MOVES, analyzeTurns=list(range(6)), maxVisits=50)
    assert sorted(answer["turnNumber"] for answer in answers) == list(range(6))
    assert all(answer["rootInfo"]["visits"] == 50 for answer in answers)
    assert max(gate.batches) > 8, "more than one search has in a batch"


def test_neighbours_of_a_game_are_searched_one_after_the_other() -> None:
    """So that each finds the evaluations of the one before in the cache: with two at once turns 0 and 3 begin."""
    with Talk(at_once=2, cache=1000) as talk:
        order = [a["turnNumber"] for a in talk.ask(moves=MOVES, analyzeTurns=list(range(6)), maxVisits=50)]
    place = [order.index(turn) for turn in range(6)]
    assert place[0] < place[1] < place[2] and place[3] < place[4] < place[5] and place[3] < place[2]


def test_higher_priorities_are_answered_first() -> None:
    gate = Gate()
    with Talk(gate, at_once=1) as talk:
        talk.send(id="first")  # runs while the others arrive
        talk.send(id="turns", moves=MOVES, analyzeTurns=[0, 1, 2], priorities=[-1, 7, 3])
        talk.send(id="one", priority=5)
        talk.send(id="two")
        gate.opened.set()
        talk.server.finish()
        order = [(answer["id"], answer["turnNumber"]) for answer in talk.answers]
    order.remove(("first", 0))  # may end before the others or rest behind them
    assert order == [("turns", 1), ("one", 0), ("turns", 2), ("two", 0), ("turns", 0)]


def test_partial_reports_come_while_the_search_runs() -> None:
    with Talk() as talk:
        talk.send(id="every", maxVisits=ENDLESS, reportDuringSearchEvery=0.001, includePolicy=True)
        partial = talk.wait(3)[:3]
        talk.act("terminate", terminateId="every")
        talk.server.finish()
        last = talk.answers[-1]
        assert [answer["isDuringSearch"] for answer in partial] == [True] * 3 and last["isDuringSearch"] is False
        assert sum(answer.get("isDuringSearch") is False for answer in talk.answers) == 1
        visits = [answer["rootInfo"]["visits"] for answer in (*partial, last)]
        assert visits == sorted(visits) and visits[0] > 0 and set(partial[0]) == set(last)
        # Only the first report is asked for.
        talk.send(id="first", maxVisits=ENDLESS, firstReportDuringSearchAfter=0.001)
        talk.send(id="never", maxVisits=ENDLESS, priority=0)
        count = len(talk.wait(len(talk.answers) + 1))
        time.sleep(0.05)
        assert len(talk.answers) == count and talk.answers[-1]["id"] == "first"


def test_a_query_that_waits_is_terminated_without_results_and_one_that_runs_with_them() -> None:
    with Talk(at_once=1) as talk:
        talk.send(id="runs", maxVisits=ENDLESS, reportDuringSearchEvery=0.01)
        talk.wait(1)
        talk.send(id="waits", moves=MOVES, analyzeTurns=[0, 1, 2])
        before = len(talk.answers)
        talk.act("terminate", terminateId="waits", turnNumbers=[1.0, 5])
        answers = [answer for answer in talk.answers[before:] if answer["id"] != "runs"]
        assert answers[0] == {"id": "waits", "turnNumber": 1, "isDuringSearch": False, "noResults": True}
        assert answers[1] == {"id": "action", "action": "terminate", "terminateId": "waits", "turnNumbers": [1, 5]}
        talk.act("terminate", terminateId="runs")
        talk.server.finish()
        ends = {(a["id"], a["turnNumber"]): a for a in talk.answers if a.get("isDuringSearch") is False}
        assert len(ends) == 4 and ends["runs", 0]["moveInfos"]
        assert ends["waits", 0]["rootInfo"]["visits"] == ends["waits", 2]["rootInfo"]["visits"] == 20
        # Everything at once, and nothing that is over already.
        talk.send(id="a", maxVisits=ENDLESS)
        talk.send(id="b", maxVisits=ENDLESS)
        talk.act("terminate_all", turnNumbers=[1])
        assert len(talk.server._open) == 2
        talk.act("terminate_all")
        talk.server.finish()
        ended = [answer["id"] for answer in talk.answers if answer.get("isDuringSearch") is False]
        assert sorted(ended[4:]) == ["a", "b"]


@pytest.mark.parametrize(
    ("action", "fields", "field"),
    [("terminate", {}, "terminateId"), ("terminate", {"terminateId": "q", "turnNumbers": 1}, "turnNumbers"),
     ("terminate_all", {"turnNumbers": ["1"]}, "turnNumbers")],
)  # fmt: skip
def test_wrong_actions(action: str, fields: dict[str, object], field: str) -> None:
    with Talk() as talk:
        talk.act(action, **fields)
        assert [set(answer) for answer in talk.answers] == [{"id", "field", "error"}]
        assert talk.answers[0]["field"] == field


def test_evaluations_are_kept_until_the_cache_is_cleared() -> None:
    network = Checksum()
    with Talk(network, cache=1000) as talk:
        first, rows = talk.ask(), network.rows
        assert talk.ask() == first and network.rows == rows
        talk.act("clear_cache")
        assert talk.answers[-1] == {"id": "action", "action": "clear_cache"}
        assert talk.ask() == first and network.rows == 2 * rows


def test_an_evaluation_that_fails_costs_its_queries_alone() -> None:
    class Failing(Checksum):
        def infer(self, batch: InputBatch) -> Evaluation:
            if batch.edge == 7:
                raise MemoryError("no memory")
            return super().infer(batch)

    with Talk(Failing()) as talk:
        (answer,) = talk.ask(boardXSize=7, boardYSize=7)
        assert (answer["id"], answer["turnNumber"]) == ("q", 0) and "no memory" in answer["error"]
        assert talk.ask()[0]["rootInfo"]["visits"] == 20


def test_a_search_that_cannot_begin_costs_its_query_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(queue: SearchQueue, *_: object, **__: object) -> SearchTask:
        raise MemoryError("no memory for a tree")

    with Talk() as talk:
        with monkeypatch.context() as patch:
            patch.setattr(SearchQueue, "start", start)
            (answer,) = talk.ask(id="large")
        assert answer["id"] == "large" and answer["error"] == "internal error: no memory for a tree"
        talk.act("terminate_all")
        assert talk.answers[1:] == [{"id": "action", "action": "terminate_all"}]
        assert talk.ask()[0]["rootInfo"]["visits"] == 20


def test_the_limits_of_a_configuration_hold_where_a_query_has_none() -> None:
    with Talk(maxVisits=7) as talk:
        assert talk.ask(maxVisits=None)[0]["rootInfo"]["visits"] == 7
        began = time.monotonic()
        (answer,) = talk.ask(maxVisits=ENDLESS, overrideSettings={"maxTime": 0.1})
        assert answer["moveInfos"] and time.monotonic() - began < 10
    with Talk() as talk:
        assert talk.ask(maxVisits=None)[0]["rootInfo"]["visits"] == 500


def test_settings_change_those_of_a_preset() -> None:
    preset = _settings(AnalysisOptions(EngineOptions(preset="alphazero"))).params
    assert preset == SearchParams.preset("alphazero")
    given = "cpuctExploration=3.3,wideRootNoise=0.2"
    engine = EngineOptions(preset="alphazero", settings=("wide_root_noise=0.3",))
    params = _settings(AnalysisOptions(engine, overrides=(given,))).params
    assert params == preset.model_copy(update={"c_puct": 3.3, "wide_root_noise": 0.3})


@pytest.mark.parametrize("waiting", [True, False])
def test_the_end_of_the_input(tengen, waiting: bool) -> None:  # type: ignore[no-untyped-def]
    """Queries of a piped file are all answered; with -quit-without-waiting an endless one does not hold the program."""
    lines = [json.dumps({**PLAIN, "id": str(i), "maxVisits": 5}) for i in range(3)]
    lines += [json.dumps({"id": "model", "action": "query_models"})] if waiting else []
    lines += [] if waiting else [json.dumps({**PLAIN, "maxVisits": ENDLESS})]
    arguments = [] if waiting else ["-quit-without-waiting"]
    done = tengen("analysis", "--net", "uniform", *arguments, input="\n".join(lines))
    assert done.returncode == 0 and "ready to begin handling requests" in done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if waiting:
        assert sorted(answer["id"] for answer in answers) == ["0", "1", "2", "model"]
        (model,) = next(answer["models"] for answer in answers if answer["id"] == "model")
        assert (model["name"], model["internalName"], model["version"]) == ("uniform", "uniform", 0)


def test_a_reader_that_goes_away_ends_the_wait() -> None:
    def write(text: str) -> None:
        raise BrokenPipeError

    with Talk() as talk:
        talk.server._write = write
        talk.send(maxVisits=ENDLESS, reportDuringSearchEvery=0.001)
        talk.server.finish()
        assert isinstance(talk.server.failure, BrokenPipeError)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_answers_that_cannot_be_written_are_an_error() -> None:
    query = json.dumps({**PLAIN, "maxVisits": 5})
    command = [sys.executable, "-m", "tengen", "analysis", "--net", "uniform"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, input=query, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert (done.returncode, done.stderr.splitlines()[-1][:23]) == (2, "error: the disk is full")


class Owning(Checksum):
    """Predicts an ownership that has no symmetry."""

    def infer(self, batch: InputBatch) -> Evaluation:
        result = super().infer(batch)
        assert result.ownership is not None
        result.ownership[:] = 2 * result.policy[:, :-1].reshape(result.ownership.shape) - 1
        return result


def test_ownership_of_moves_and_its_deviation() -> None:
    """A move's ownership is that of the tree below it, mirrored where the move is."""
    includes = {"includeOwnership": True, "includeOwnershipStdev": True,
                "includeMovesOwnership": True, "includeMovesOwnershipStdev": True}  # fmt: skip
    with Talk(Owning()) as talk:
        (answer,) = talk.ask(maxVisits=60, **includes)
        (plain,) = talk.ask(maxVisits=60)
    assert [info["visits"] for info in answer["moveInfos"]] == [info["visits"] for info in plain["moveInfos"]]
    moves = [info for info in answer["moveInfos"] if "isSymmetryOf" not in info]
    mirrored = next(info for info in answer["moveInfos"] if "isSymmetryOf" in info)
    original = next(info for info in moves if info["move"] == mirrored["isSymmetryOf"])
    assert sorted(mirrored["ownership"]) == sorted(original["ownership"]) != original["ownership"]
    for name in ("ownership", "ownershipStdev"):
        assert all(len(info[name]) == 25 for info in (answer, *answer["moveInfos"]))
    # Below a move with one visit lies one evaluation, which is the opponent's.
    single = [info for info in moves if info["visits"] == 1]
    assert single and max(max(info["ownershipStdev"]) for info in moves if info["visits"] > 1) > 0.01
    for info in single:
        after = Game(5, "tromp-taylor", 7.5).play(info["move"])
        evaluated = Owning().evaluate([after]).ownership
        assert evaluated is not None and not any(info["ownershipStdev"])
        assert np.allclose(info["ownership"], -evaluated.ravel(), atol=1e-4)


def test_moves_stand_in_the_order_of_the_weights_to_play_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """KataGo's play selection value: not the visits, of which some were spent before a move was known to be worse."""
    settings = replace(AnalysisSettings.default(), params=SearchParams.preset("katago"))
    monkeypatch.setattr(AnalysisSettings, "default", lambda: settings)
    with Talk(Owning()) as talk:
        (answer,) = talk.ask(moves=MOVES, maxVisits=80)
    infos = answer["moveInfos"]
    weights = [info["playSelectionValue"] for info in infos]
    assert weights == sorted(weights, reverse=True)
    assert any(info["playSelectionValue"] < info["edgeWeight"] for info in infos)


class Unsure(UniformEvaluator):
    """Predicts large errors of its values, so that an evaluation weighs a fourth of one."""

    def infer(self, batch: InputBatch) -> Evaluation:
        found = super().infer(batch)
        errors = np.ones(len(found), np.float32)
        return replace(found, value_error=errors, score_error=errors)


def test_the_move_to_play_has_a_play_selection_value_of_1_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = replace(AnalysisSettings.default(), params=SearchParams.preset("katago"))
    monkeypatch.setattr(AnalysisSettings, "default", lambda: settings)
    with Talk(Unsure()) as talk:
        (few,) = talk.ask(moves=MOVES, maxVisits=2)
        (many,) = talk.ask(moves=MOVES, maxVisits=200)
    move = few["moveInfos"][0]
    assert 0 < move["edgeWeight"] < 1 and move["playSelectionValue"] == 1
    assert many["moveInfos"][0]["playSelectionValue"] > 1


def test_reports_are_for_the_player_that_is_asked_for() -> None:
    moves = [["B", "C3"]]  # White is to move
    with Talk(Owning()) as talk:
        black, white, mover = (
            talk.ask(moves=moves, includeOwnership=True, overrideSettings={"reportAnalysisWinratesAs": whose})[0]
            for whose in ("BLACK", "WHITE", "SIDETOMOVE")
        )
    assert white == mover and black != white
    signed = {"scoreLead", "scoreMean", "scoreSelfplay", "utility", "utilityLcb", "rawLead", "rawScoreSelfplay"}
    pairs = zip([black["rootInfo"], *black["moveInfos"]], [white["rootInfo"], *white["moveInfos"]], strict=True)
    for ours, theirs in pairs:
        for name, value in ours.items():
            if name in ("winrate", "lcb", "rawWinrate"):
                assert value == pytest.approx(1 - theirs[name])
            elif name in signed:
                assert value == -theirs[name]
            else:
                assert value == theirs[name], name
    assert black["ownership"] == [-value for value in white["ownership"]]
    assert black["rootInfo"]["scoreLead"] != 0


def test_the_chance_of_no_result_is_that_of_the_network() -> None:
    class Undecided(Checksum):
        def infer(self, batch: InputBatch) -> Evaluation:
            return replace(super().infer(batch), no_result=np.full(len(batch), 0.25, np.float32))

    for evaluator, chance in ((Undecided(), 0.25), (Checksum(), 0)):
        evaluator.advice = {"preset": "katago"}  # its search knows the chance below each move too
        with Talk(evaluator) as talk:
            (answer,) = talk.ask(includeNoResultValue=True)
        assert answer["rootInfo"]["rawNoResultProb"] == chance
        assert {round(info["noResultValue"], 6) for info in answer["moveInfos"]} == {chance}


# A human-style network.


@pytest.fixture(scope="module")
def human(tmp_path_factory: pytest.TempPathFactory) -> HumanNetwork:
    path = katago_twin.written(tmp_path_factory.mktemp("human") / "human.txt", metadata=True)
    return HumanNetwork(path, "onnxruntime")


def test_a_profile_adds_what_people_would_play(human: HumanNetwork) -> None:
    """KaTrain's players of a rank read `humanPolicy`."""
    wanted = {"humanSLProfile": "rank_5k", "reportAnalysisWinratesAs": "BLACK"}
    with Talk(human=human) as talk:
        moves = [["B", "C3"]]
        (answer,) = talk.ask(moves=moves, overrideSettings=wanted, includePolicy=True)
        (other,) = talk.ask(moves=moves, overrideSettings={**wanted, "humanSLProfile": "rank_9d"})
        (without,) = talk.ask(moves=moves)
        talk.act("query_models")
    game = Game(5, "tromp-taylor").play("C3")
    (raw,) = human.outputs(game, "rank_5k")
    assert len(answer["humanPolicy"]) == 26 and answer["humanPolicy"][12] == -1
    assert sum(p for p in answer["humanPolicy"] if p > 0) == pytest.approx(1, abs=1e-6)
    for info in answer["moveInfos"]:
        assert info["humanPrior"] == pytest.approx(answer["humanPolicy"][game.point(info["move"])])
    root = answer["rootInfo"]
    assert root["humanWinrate"] == pytest.approx((1 - raw.white_win + raw.white_loss) / 2, abs=1e-6)
    assert root["humanScoreMean"] == pytest.approx(-raw.white_score, abs=1e-6)
    assert root["humanScoreStdev"] > 0 and root["humanStWrError"] == pytest.approx(raw.value_error / 2, abs=1e-6)
    assert root["humanStScoreError"] == pytest.approx(raw.score_error, abs=1e-6)
    assert "humanPolicy" not in other and other["rootInfo"]["humanWinrate"] != root["humanWinrate"]
    assert "human" not in json.dumps(without)
    assert [model["usesHumanSLProfile"] for model in talk.answers[-1]["models"]] == [False, True]


def test_profiles_that_cannot_be_used(human: HumanNetwork) -> None:
    with Talk(human=human) as talk:
        (error,) = talk.ask(overrideSettings={"humanSLProfile": "rank_40k"})
        assert error["field"] == "overrideSettings" and "no profile 'rank_40k'" in error["error"]
        assert len(talk.ask()) == 1
    with Talk() as talk:
        (error,) = talk.ask(overrideSettings={"humanSLProfile": "rank_5k"})
        assert error["field"] == "overrideSettings" and "-human-model" in error["error"]


def test_a_profile_without_its_network_is_warned_of(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    config = tmp_path / "analysis.cfg"
    config.write_text("maxVisits = 5\nhumanSLProfile = rank_5k\n")
    warning = f"without effect: {NO_HUMAN_NETWORK}"
    for options in (AnalysisOptions(configs=(config,)), AnalysisOptions(overrides=("humanSLProfile=rank_5k",))):
        caplog.clear()
        _settings(replace(options, engine=EngineOptions(human_net="human.bin.gz")))
        assert not caplog.messages
        _settings(options)
        assert caplog.messages == [warning]


SCALARS = plane_set("katago-v7").scalars


def test_an_advantage_belongs_to_the_color_that_is_named() -> None:
    """As GTP has it; without a name to the side to move."""
    seen: list[float] = []

    class Watcher(UniformEvaluator):
        def infer(self, batch: InputBatch) -> Evaluation:
            seen.append(float(batch.arrays[1][0, SCALARS.index("playout_advantage_size")]))
            return super().infer(batch)

    with Talk(Watcher("katago-v7")) as talk:
        for owner in ({}, {"playoutDoublingAdvantagePla": "BLACK"}, {"playoutDoublingAdvantagePla": "WHITE"}):
            override = {"playoutDoublingAdvantage": 1.5, **owner}
            talk.ask(moves=[["B", "C3"]], maxVisits=1, overrideSettings=override)
    assert seen == [0.75, -0.75, 0.75]


def test_ownership_is_the_same_whatever_else_is_asked_for() -> None:
    with Talk(load_evaluator("distilled-9x9", precision="f32")) as talk:
        board = {"moves": MOVES, "boardXSize": 9, "boardYSize": 9, "includeOwnership": True}
        (alone,) = talk.ask(**board)
        (beside,) = talk.ask(**board, includeOwnershipStdev=True)
    assert alone["ownership"] == beside["ownership"]


def test_a_finished_game_under_territory_rules_is_judged_by_the_network() -> None:
    """White is 16 points ahead, and each side has two dead stones in the territory of the other."""
    column = [f"{letter}{row}" for letter in "DE" for row in range(1, 10)]
    stones = [["B" if vertex[0] == "D" else "W", vertex] for vertex in column]
    stones += [["B", "B3"], ["B", "C7"], ["W", "G3"], ["W", "G7"]]
    with Talk(load_evaluator("distilled-9x9", precision="f32")) as talk:
        (answer,) = talk.ask(
            initialStones=stones,
            initialPlayer="B",
            rules="japanese",
            komi=6.5,
            boardXSize=9,
            boardYSize=9,
            maxVisits=100,
        )
    assert answer["rootInfo"]["winrate"] < 0.05 and answer["rootInfo"]["scoreLead"] < -10


def test_the_board_size_of_each_search_is_told() -> None:
    """The command warns of a network that has not learned it."""
    sizes: list[int] = []
    with Talk(on_size=sizes.append) as talk:
        talk.ask()
        talk.ask(boardXSize=7, boardYSize=7)
        talk.ask(boardXSize=30, boardYSize=30)
    assert sizes == [5, 7]


def test_visits_are_those_of_the_position_and_edge_visits_those_of_the_move() -> None:
    """They differ where lines share positions, and add up in the search without sharing."""
    moves = [["B", "C3"], ["W", "B4"], ["B", "D2"]]
    for shares in (True, False):
        changes = {"useGraphSearch": shares, "wideRootNoise": 0, "rootPolicyTemperature": 3}
        with Talk() as talk:
            (answer,) = talk.ask(moves=moves, maxVisits=1500, includePVVisits=True, overrideSettings=changes)
        infos = answer["moveInfos"]
        assert sum(info["edgeVisits"] for info in infos if "isSymmetryOf" not in info) == 1499
        more = 0
        for info in infos:
            assert (info["pvVisits"][0], info["pvEdgeVisits"][0]) == (info["visits"], info["edgeVisits"])
            assert len(info["pvVisits"]) == len(info["pvEdgeVisits"]) == len(info["pv"])
            pairs = list(zip(info["pvVisits"], info["pvEdgeVisits"], strict=True))
            assert all(visits >= edge for visits, edge in pairs)
            more += sum(visits > edge for visits, edge in pairs)
        assert (more > 0) == shares
