"""Random queries to this server and to KataGo, where it is installed: what is refused, the fields, and the values."""

from __future__ import annotations

import json
import lzma
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from katago_program import analyze_by_katago
from talk import Talk

from tengen.coords import to_gtp
from tengen.evaluators import Evaluator, load_evaluator
from tengen.game import Game
from tengen.sgf import read_game

RECORDS = Path(__file__).parent.parent / "data" / "tygem-300.sgf.xz"
NAMES = (
    "tromp-taylor",
    "chinese",
    "japanese",
    "aga",
    "new-zealand",
    "aga-button",
    "stone-scoring",
    "ancient-territory",
)
PARTS = (
    {"ko": "SITUATIONAL", "friendlyPassOk": True},
    {"ko": "SIMPLE", "tax": "ALL", "suicide": False, "whiteHandicapBonus": "N"},
    {"scoring": "TERRITORY", "ko": "POSITIONAL"},
    {"hasButton": True, "komi": 6},
    "koPOSITIONALscoreAREAtaxSEKIsui1whbN-1komi5.5",
)
WRONG = {
    "rules": ["chin", "", 1, {"ko": "X"}, {"button": True}],
    "komi": [6.25, 401, "7"],
    "moves": [None, [["B", "Z9"]], [["X", "A1"]], [["B", "C3"], ["W", "C3"]], "A1"],
    "analyzeTurns": [[-1], [99], "0"],
    "maxVisits": [0, 1.5, "1"],
    "whiteHandicapBonus": ["n", 1],
    "overrideSettings": [[], {"cpuctExploration": "x"}, {"fpuReductionMax": 3}],
    "allowMoves": [{}, [{"player": "B", "moves": ["A1"]}], [{"player": "B", "moves": ["A1"], "untilDepth": 0}]],
    "reportDuringSearchEvery": [0, "1"],
    "initialPlayer": ["x"],
}


def random_query(rng: random.Random, number: int) -> dict[str, Any]:
    """A query of one visit, one in four with a wrong field.

    It passes under territory scoring, if not twice in a row, else only where no move is left: White's first passes
    count differently for handicaps, and the passes that end a game are taken back.
    """
    size = rng.choice([5, 7, 9, 9, 13])
    query: dict[str, Any] = {"id": str(number), "boardXSize": size, "boardYSize": size, "maxVisits": 1}
    query |= {"rules": rng.choice([*NAMES, *PARTS]), "includeOwnership": True, "includePolicy": True}
    query["overrideSettings"] = {"ignorePreRootHistory": rng.random() < 0.8}
    if rng.random() < 0.2:
        query["overrideSettings"]["drawEquivalentWinsForWhite"] = rng.choice([0, 0.3, 1])
    if rng.random() < 0.6:
        query["komi"] = rng.choice([0, 7, 7.5, -3.5, 60.5, 150.5, -400])
    game = Game(size, "chinese")
    stones = rng.sample(range(size * size), rng.choice([0, 0, 1, 3]))
    if stones:
        game.setup(black=stones, white=[], to_play=rng.randrange(2))
        query["initialStones"] = [["B", to_gtp(point, size)] for point in stones]
        query["initialPlayer"] = "BW"[game.to_play]
    passes = query["rules"] in ("japanese", "ancient-territory")
    for _ in range(rng.randrange(25)):
        points = game.legal_points()
        game.play(rng.choice(points) if points and not (passes and not game.passes and rng.random() < 0.2) else "pass")
    query["moves"] = [["BW"[color], to_gtp(point, size)] for color, point in game.moves]
    if rng.random() < 0.2:  # stones that capture each other
        points = rng.choices(range(size * size), k=rng.randrange(size * size))
        query["initialStones"] = [[rng.choice("BBW"), to_gtp(point, size)] for point in points]
        query["moves"] = []
        if rng.random() < 0.5:
            query.pop("initialPlayer", None)
    if rng.random() < 0.25:
        field = rng.choice(sorted(WRONG))
        query[field] = rng.choice(WRONG[field])
    return query


def test_random_queries_are_answered_as_by_katago(shared: Path, tmp_path: Path) -> None:
    network = shared / "nets" / "g170-b6c96-s175395328-d26788732.bin.gz"
    rng = random.Random(7)
    queries = [random_query(rng, number) for number in range(200)]
    theirs = analyze_by_katago(network, queries, tmp_path)
    with Talk(load_evaluator(network, precision="f32"), wideRootNoise=0, nnRandomize=False) as talk:
        for query in queries:
            talk.server.handle(json.dumps(query))
        talk.server.finish()
    ours = {answer["id"]: answer for answer in talk.answers}
    assert theirs.keys() == ours.keys()
    for query in queries:
        expected, found = theirs[query["id"]], ours[query["id"]]
        assert expected.keys() == found.keys() and expected.get("field") == found.get("field"), query
        if "error" in expected:
            continue
        for field in ("ownership", "policy"):
            assert found[field] == pytest.approx(expected[field], abs=1e-3), (field, query)
        assert found["rootInfo"].keys() == expected["rootInfo"].keys()
        assert found["rootInfo"]["currentPlayer"] == expected["rootInfo"]["currentPlayer"]
        values, close = (
            {n: v for n, v in each["rootInfo"].items() if not isinstance(v, str)} for each in (found, expected)
        )
        assert values == pytest.approx(close, abs=2e-2, rel=1e-3), query


def drawn_query(evaluator: Evaluator, rng: random.Random, number: int) -> dict[str, Any]:
    """A query of 20 visits after moves that are drawn from the policy."""
    game = Game(9, "tromp-taylor", 7)
    for _ in range(rng.randrange(2, 50)):
        policy = evaluator.evaluate([game]).policy[0]
        game.play(rng.choices(range(81), policy[:81].tolist())[0])
    moves = [["BW"[color], to_gtp(point, 9)] for color, point in game.moves]
    query = {"id": str(number), "boardXSize": 9, "boardYSize": 9, "rules": "tromp-taylor", "komi": 7, "moves": moves}
    settings = {"drawEquivalentWinsForWhite": rng.choice([0, 0.2, 0.9])} if number % 2 else {}
    return query | {"maxVisits": 20, "overrideSettings": settings}


@pytest.mark.slow
def test_trees_of_few_visits_are_those_of_katago(shared: Path, tmp_path: Path) -> None:
    """The visits of all moves of the root in all of 40 positions, and the values of the root in 37.

    The others differ in leads of decided games: passes go by another rule, as do moves into filled eyes.
    """
    network, rng = shared / "nets" / "g170-b6c96-s175395328-d26788732.bin.gz", random.Random(3)
    evaluator = load_evaluator(network, precision="f32")
    queries = [drawn_query(evaluator, rng, number) for number in range(40)]
    theirs = analyze_by_katago(network, queries, tmp_path)
    equal = close = 0
    with Talk(evaluator, wideRootNoise=0, nnRandomize=False, batch=1) as talk:
        for query in queries:
            (answer,) = talk.ask(**query)
            expected = theirs[query["id"]]
            visits, known = (
                Counter({info["move"]: info["edgeVisits"] for info in found["moveInfos"]})
                for found in (answer, expected)
            )
            assert (visits - known).total() <= 1, query["moves"]
            equal += visits == known
            close += all(
                answer["rootInfo"][field] == pytest.approx(expected["rootInfo"][field], abs=2e-3)
                for field in ("winrate", "utility", "scoreLead", "scoreSelfplay", "scoreStdev")
            )
    assert equal >= 39 and close >= 36


def test_trees_of_many_visits_are_those_of_katago(shared: Path, tmp_path: Path) -> None:
    """200 visits of real games on 19x19, in the middle of the game and, by territory, after a pass at its end.

    KataGo has no graph and no cache of evaluations here: it shares positions after captures where this search does not,
    and its cache takes a position for the same one that other moves led to. What is left are ties of float32.
    """
    network = shared / "nets" / "g170-b6c96-s175395328-d26788732.bin.gz"
    evaluator = load_evaluator(network, precision="f32")
    records = lzma.decompress(RECORDS.read_bytes()).removeprefix(b"(;").split(b"\n(;")
    queries = []
    for number, record in enumerate(records[40:]):
        game, info = read_game(b"(;" + record, partial=True)
        moves = [["BW"[color], to_gtp(point, 19)] for color, point in game.moves if point < 361]
        counted = info.result.score is not None
        if game.setup_stones or any(player != "BW"[i % 2] for i, (player, _) in enumerate(moves)) or not counted:
            continue
        late = len(queries) % 2
        moves = [*moves, ["BW"[len(moves) % 2], "pass"]] if late else moves[: 20 + 12 * len(queries)]
        rules = "japanese" if late else "tromp-taylor"
        query = {"id": str(number), "moves": moves, "rules": rules, "komi": 6.5, "maxVisits": 200}
        queries.append(query | {"boardXSize": 19, "boardYSize": 19})
        if len(queries) == 12:
            break
    settings = {"useGraphSearch": "false", "nnCacheSizePowerOfTwo": "-1"}
    theirs = analyze_by_katago(
        network, [{"boardXSize": 19, "boardYSize": 19, **q} for q in queries], tmp_path, settings
    )
    equal, shared_visits = 0, 0
    with Talk(evaluator, wideRootNoise=0, nnRandomize=False, useGraphSearch=False, batch=1) as talk:
        for query in queries:
            (answer,) = talk.ask(**query)
            known, visits = (
                Counter({info["move"]: info["visits"] for info in found["moveInfos"]})
                for found in (theirs[query["id"]], answer)
            )
            equal += visits == known
            shared_visits += (visits & known).total()
    assert equal >= 9 and shared_visits >= 0.99 * 12 * 199, (equal, shared_visits / (12 * 199))
