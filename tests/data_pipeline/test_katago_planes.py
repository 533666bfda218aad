"""KataGo's plane sets against slow readings, on random games that meet kos, passes and captures, and on real ones."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from agreement import Pair
from data_pipeline.plain_katago import features
from data_pipeline.test_planes import random_move
from katago_program import ask_katago, results_by_katago
from known_games import tygem_records
from plain_reading import TooLong
from played_games import TERRITORY, EncorePair

from tengen.data.planes import encode_game, plane_set, plane_set_names
from tengen.evaluators import load_evaluator
from tengen.game import Game
from tengen.rules import Rules
from tengen.sgf import read_game

NAMES = [name for name in plane_set_names() if name.startswith("katago")]
RULES = ("chinese", "tromp-taylor", "japanese", "aga-button", "new-zealand", "stone-scoring", "ancient-territory")
ENCORE = {"encore_ko", "own_encore_start", "opponent_encore_start"}


def check(name: str, game: Game, seen: Counter[str]) -> None:
    try:
        expected, numbers = features(game, name)
    except (TooLong, RecursionError):
        seen["given up"] += 1
        return
    described = plane_set(name)
    planes, scalars, _ = encode_game(name, game)
    assert set(np.unique(planes)) <= {0, 1} and len(planes) == len(expected)
    for plane, values, points in zip(described.planes, planes, expected, strict=True):
        assert set(np.flatnonzero(values).tolist()) == points, f"{plane}\n{game.rules} {game.moves[-6:]}\n{game}"
        seen[plane] += bool(points)
    assert dict(zip(described.scalars, scalars.tolist(), strict=True)) == pytest.approx(
        dict(zip(described.scalars, numbers, strict=True))
    )
    seen["positions"] += 1


def test_random_games() -> None:
    """The sets take turns, so that ladders are read slowly once for each position."""
    seen = {name: Counter[str]() for name in NAMES}
    for seed in range(14):
        rng = random.Random(seed)
        size = rng.choice([5, 5, 6, 7])
        pair = Pair(size, Rules.parse(RULES[seed % len(RULES)]), rng.choice([6.5, 7.0, 0.0, -3.5, 300.0]))
        for _ in range(2 * size * size):
            if rng.random() < 0.03:  # some passes end the game
                for _ in range(rng.randrange(1, 4)):
                    pair.play(size * size, pair.plain.to_play)
            if rng.random() < 0.02:  # out of turn
                pair.play(size * size, 1 - pair.plain.to_play)
            random_move(pair, rng)
            if rng.random() < 5 / size**2 or (pair.game.ko is not None and rng.random() < 0.4):
                name = rng.choice(NAMES)
                check(name, pair.game, seen[name])
    for name, shown in seen.items():
        never = {plane for plane in plane_set(name).planes if not shown[plane]}
        assert never <= {"unused"} | ENCORE, (name, never)
        assert shown["positions"] > 10 and shown["given up"] < shown["positions"] / 2, (name, shown)


@pytest.mark.slow
def test_random_encores() -> None:
    """All sets in each position; the games are those of the tests of the rules."""
    seen = {name: Counter[str]() for name in NAMES}
    for seed in range(100):
        rng = random.Random(seed)
        pair = EncorePair(rng.choice([4, 5]), TERRITORY[seed % len(TERRITORY)], rng)
        while not pair.plain.is_over and len(pair.game.moves) < 60:
            pair.move(rng)
            chance = 1 if pair.plain.bans() else 0.5 if pair.plain.blocked else 0.05
            if pair.plain.phase and rng.random() < chance:
                for name in NAMES:
                    check(name, pair.game, seen[name])
    for name, shown in seen.items():
        wanted = set(plane_set(name).planes) & (ENCORE | {"own_area", "ko_ban", "third_last_move"})
        assert all(shown[plane] > 2 for plane in wanted), (name, shown)
        assert shown["positions"] > 100 and shown["given up"] < shown["positions"] / 2, (name, shown)


def test_real_positions() -> None:
    seen: Counter[str] = Counter()
    for number, record in enumerate(tygem_records()[100:110]):
        game, _ = read_game(record, partial=True, rules=RULES[number % len(RULES)])
        while len(game.moves) > 30 + 20 * number:
            game.undo()
        check("katago-v7", game, seen)
    assert seen["positions"] >= 7 and seen["laddered"] >= 3 and seen["ladder_capture"]


def test_double_ko_death() -> None:
    """Each of White's liberties is a ko that Black can take and White cannot fill; `tengen` calls it alive."""
    game = Game.from_diagram("""
        O . O O O O O . O
        X O O O O O O O X
        X X X X X X X X X
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
    """)
    planes = dict(zip(plane_set("katago-v7").planes, encode_game("katago-v7", game)[0], strict=True))
    white = set(np.flatnonzero(game.board.ravel() == 1).tolist())
    assert set(np.flatnonzero(planes["laddered"]).tolist()) == white
    assert np.flatnonzero(planes["ladder_capture"]).tolist() == [1, 7]
    assert game.ladders().captures == []


def test_katago_agrees_under_all_rules(shared: Path, tmp_path: Path) -> None:
    """Passes, friendly or not, finished games, tax and button: what its network says shows what it sees."""
    network = shared / "nets" / "g170-b6c96-s175395328-d26788732.bin.gz"
    rng = random.Random(5)
    games = []
    for number in range(32):
        game = Game(rng.choice([5, 6, 7, 9]), RULES[number % len(RULES)], rng.choice([6.5, 7.0, 0.5]))
        for turn in range(rng.randrange(5, 80)):
            points = game.legal_points()
            game.play("pass" if not points or (turn > 3 and rng.random() < 0.15) else rng.choice(points))
        games.append(game)
    check_answers(network, games, ask_katago(network, games, tmp_path))


@pytest.mark.slow
def test_katago_agrees_in_the_encore(shared: Path, tmp_path: Path) -> None:
    """Games of kos and passes, in both phases, with blocked stones, passes for ko and kos that were taken before."""
    network = shared / "nets" / "g170-b6c96-s175395328-d26788732.bin.gz"
    games, ended, seen = [], [], Counter[str]()
    for seed in range(100):
        rng = random.Random(seed)
        pair = EncorePair(rng.choice([5, 6, 7]), TERRITORY[seed % len(TERRITORY)], rng, in_turn=True)
        while not pair.game.is_over and len(pair.game.moves) < 90:
            pair.move(rng)
            blocked, bans = len(pair.plain.blocked), len(pair.plain.bans())
            if bans or rng.random() < (0.5 if blocked else 0.05):
                games.append(pair.game.copy())
                seen.update({f"phase {pair.plain.phase}": 1, "blocked": blocked, "bans": bans})
        if pair.game.ending == "passes":
            ended.append(pair.game)
    assert min(seen[what] for what in ("phase 1", "phase 2", "blocked", "bans")) > 5, seen
    check_answers(network, games, ask_katago(network, games, tmp_path, encore=True))
    assert len(ended) > 50
    assert results_by_katago(network, ended, tmp_path) == [game.result() for game in ended]


def check_answers(network: Path, games: list[Game], answers: list[tuple[float, float, np.ndarray]]) -> None:
    found = load_evaluator(network, precision="f32").evaluate(games)
    assert found.lead is not None
    assert found.value == pytest.approx([value for value, _, _ in answers], abs=1e-4)
    assert found.lead == pytest.approx([lead for _, lead, _ in answers], abs=1e-2)
