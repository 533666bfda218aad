"""The figures of a cycle against slow counts game by game, and against what was put in."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from selfplay.random_games import NONE, played_game, write_store

from tengen.data.format import rows_to_batch
from tengen.data.record import WHITE_BIT, GameRecord, game_hash, symmetry_table
from tengen.data.store import Store, StoreWriter
from tengen.errors import StoreError
from tengen.selfplay.games import SelfPlayGames
from tengen.selfplay.statistics import canonical_openings, game_statistics, resign_thresholds_of_winners

GAMES = [played_game(seed, komi=[0.5, 6.5, 25.5][seed % 3], opening=[12] * (seed % 2)) for seed in range(20)] + [
    played_game(seed, size=7, komi=9.0) for seed in range(20, 30)
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return write_store(tmp_path_factory.mktemp("statistics") / "games", GAMES)


def turned(record: GameRecord, symmetry: int) -> GameRecord:
    moves = symmetry_table(record.size)[symmetry][record.points] | record.moves & np.uint16(WHITE_BIT)
    return replace(record, moves=moves)


def test_plain_figures_are_those_counted_game_by_game(store: Store) -> None:
    figures = game_statistics(store, 3, 28, fair_komi={5: 0.5, 7: 9.0})
    games = GAMES[3:28]
    assert figures["games"] == 25
    assert figures["sizes"] == {"5": 17, "7": 8}
    assert figures["length"]["mean"] == pytest.approx(np.mean([len(g.moves) for g in games]))
    assert figures["length"]["median"] == pytest.approx(np.median([len(g.moves) for g in games]))
    assert figures["score"]["mean"] == pytest.approx(np.mean([g.score for g in games]), abs=1e-5)
    assert figures["black_share"] == pytest.approx(np.mean([{0: 1, 1: 0, 2: 0.5}[g.winner] for g in games]))
    passes = sum(int((g.points == g.size**2).sum()) for g in games)
    assert figures["passes"] == pytest.approx(passes / sum(len(g.moves) for g in games), abs=1e-6)
    surprises = [ply / 100 for g in games for ply in range(1, len(g.moves), 2)]
    assert figures["surprise"]["mean"] == pytest.approx(np.mean(surprises), abs=1e-5)
    assert figures["surprise"]["high"] == pytest.approx(np.quantile(surprises, 0.9), abs=1e-5)
    near = [g for g in games if g.size == 5 and abs(g.komi - 0.5) <= 1]
    assert figures["fair"]["5"]["games"] == len(near) == 6
    assert figures["fair"]["5"]["black_share"] == pytest.approx(np.mean([g.winner == 0 for g in near]))
    json.dumps(figures, allow_nan=False)


def test_first_moves_are_counted_point_by_point(store: Store) -> None:
    maps = game_statistics(store)["first_moves"]
    assert maps["5"][2][2] >= 10  # every second game was opened in the centre
    for size in (5, 7):
        counted = np.zeros((size, size), int)
        for game in GAMES:
            if game.size == size:
                counted.flat[int(game.moves[0])] += 1
        assert maps[str(size)] == counted.tolist()


def test_openings_and_games_are_the_same_up_to_symmetry(tmp_path: Path) -> None:
    records = [turned(GAMES[0], s) for s in range(8)] + [turned(GAMES[21], 5), GAMES[21], GAMES[4]]
    figures = game_statistics(write_store(tmp_path / "turned", records))
    assert figures["duplicates"] == pytest.approx(1 - 3 / 11)
    assert figures["distinct_openings"] == pytest.approx({"6": 3 / 11, "10": 3 / 11})


def test_openings_are_told_apart_as_the_hash_of_games_does(store: Store) -> None:
    games = SelfPlayGames.of(store)
    for count in (1, 2, 3, 6):
        keys = canonical_openings(games, count)
        hashes = [game_hash(g.size, g.moves[:count], NONE, NONE) for g in GAMES]
        assert len(set(keys)) == len(set(hashes)) == len(set(zip(keys, hashes, strict=True)))


def test_repeats_of_earlier_games_are_seen(tmp_path: Path) -> None:
    store = write_store(tmp_path / "repeated", [*GAMES[:6], GAMES[2], GAMES[7]])
    assert game_statistics(store, 6)["repeated"] == pytest.approx(0.5)
    assert game_statistics(store, 6)["duplicates"] == 0


def plain_lowest(record: GameRecord, turns: int) -> float:
    """The winner's winrates one by one: the smallest threshold at which he would resign."""
    assert record.root_values is not None
    own = [(v + 1) / 2 for v, c in zip(record.root_values, record.colors, strict=True) if c == record.winner]
    return min((max(own[i : i + turns]) for i in range(len(own) - turns + 1)), default=1.0)


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_resignations_of_winners_are_those_found_turn_by_turn(store: Store, turns: int) -> None:
    lows = resign_thresholds_of_winners(SelfPlayGames.of(store), turns, None)
    assert lows == pytest.approx([plain_lowest(g, turns) for g in GAMES if g.winner in (0, 1)], abs=1e-6)
    assert lows.std() > 0.01
    threshold = float(np.median(lows))
    figures = game_statistics(store, resign_winrate=threshold, resign_turns=turns)["resign"]
    assert figures["false_positives"] == pytest.approx(np.mean(lows < threshold), abs=1e-6)


def test_a_resigned_game_or_one_without_values_shows_no_false_positive(tmp_path: Path) -> None:
    lost = replace(GAMES[1], root_values=-np.abs(GAMES[1].root_values))
    store = write_store(tmp_path / "a", [replace(lost, ending="resign", score=None), replace(lost, root_values=None)])
    figures = game_statistics(store, resign_winrate=0.9, resign_turns=1)
    assert figures["resign"]["played_out"] == 1
    assert figures["resign"]["false_positives"] == 0
    assert figures["endings"]["resign"] == 1


def test_false_positives_are_those_of_games_that_could_not_be_resigned(tmp_path: Path) -> None:
    """A winner never resigned a game that is still there and could be: counting those would hide the mistakes."""
    lost = replace(GAMES[1], root_values=-np.abs(GAMES[1].root_values))
    store = write_store(tmp_path / "b", [lost, *GAMES[2:5]])
    every = game_statistics(store, resign_winrate=0.5, resign_turns=1)["resign"]
    few = game_statistics(store, resign_winrate=0.5, resign_turns=1, played_out=[True, False, True, False])["resign"]
    assert (every["played_out"], few["played_out"]) == (4, 2)
    assert (every["false_positives"], few["false_positives"]) == (0.25, 0.5)


def test_values_follow_the_results_by_as_much_as_was_put_in(tmp_path: Path) -> None:
    def figures(skill: float) -> dict[str, float]:
        records = [played_game(seed, komi=0.5, skill=skill) for seed in range(30)]
        return game_statistics(write_store(tmp_path / f"skill{skill}", records))["values"]

    perfect, clueless, fair = figures(1.0), figures(0.0), figures(0.6)
    assert perfect["correlation"] == pytest.approx(1)
    assert perfect["bias"] == pytest.approx(0)
    assert abs(clueless["correlation"]) < 0.15
    assert 0.5 < fair["correlation"] < 1
    assert fair["mover_ahead"] == pytest.approx(0.5, abs=0.05)


def test_a_long_game_ended_at_the_limit(store: Store) -> None:
    limit = sorted(len(g.moves) for g in GAMES)[20]
    endings = game_statistics(store, max_moves=limit)["endings"]
    assert endings["move limit"] == sum(len(g.moves) >= limit for g in GAMES)
    assert sum(endings.values()) == len(GAMES)


def test_games_without_values_stand_beside_games_with_them(tmp_path: Path) -> None:
    bare = replace(GAMES[0], root_values=None, surprises=None)
    games = SelfPlayGames.of(write_store(tmp_path / "bare", [bare, GAMES[1], bare]))
    first, last = len(bare.moves), len(bare.moves) + len(GAMES[1].moves)
    assert np.isnan(games.values[:first]).all()
    assert np.isnan(games.values[last:]).all()
    assert np.array_equal(games.values[first:last], GAMES[1].root_values)
    only = game_statistics(write_store(tmp_path / "only", [bare, bare]))
    assert only["surprise"]["mean"] is only["values"]["start"] is None


def test_no_games_give_no_figures(store: Store) -> None:
    figures = game_statistics(store, 30)
    assert figures["games"] == 0
    assert figures["black_share"] is figures["duplicates"] is figures["values"]["correlation"] is None


def test_values_that_fit_no_game_are_refused(tmp_path: Path) -> None:
    wrong = replace(GAMES[0], root_values=np.zeros(3, np.float32))
    with StoreWriter(tmp_path / "wrong") as writer:  # as another program may write it: `add` refuses the record
        writer.add_batch(rows_to_batch([wrong]))
    with pytest.raises(StoreError, match="3 root_values for a game of"):
        SelfPlayGames.of(Store.open(tmp_path / "wrong"))
