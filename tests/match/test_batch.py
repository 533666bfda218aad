"""Many games at once: each is the game that is played alone, also against programs that fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile import command_line, command_line_once
from match.batch_match import (
    Open,
    Side,
    by_color,
    moves,
    outcomes,
    play,
    play_alone,
    raw,
    records,
    search,
    settings_of,
)
from other_programs import needs
from selfplay.made_up import Checksum, Passer

from tengen.errors import RecipeError, TengenError
from tengen.evaluators import UniformEvaluator
from tengen.match.batch import BatchMatch
from tengen.match.conditions import Conditions
from tengen.match.folder import read_folder
from tengen.match.outcome import FAILURES, Outcome
from tengen.match.player import Choice, Player, Reply, Turn
from tengen.match.players import PolicyPlayer, RandomPlayer, open_player
from tengen.match.runner import InBatch, InWorkers, play_match
from tengen.match.settings import MatchSettings
from tengen.match.spec import PLAYERS, PlayerSpec
from tengen.match.summary import tally
from tengen.statistics import Tally

SMALL = Conditions(
    size=5, komi=0.5, rules="tromp-taylor", dead_stones="pass-alive", openings="players", opening=0, seed=3
)
NOISY = {"noise_weight": 0.25, "memory": 1 << 20}


def changed(**fields: Any) -> Conditions:
    return SMALL.model_copy(update=fields)


def test_a_player_that_plays_beats_one_that_passes() -> None:
    plays, passes = raw(Checksum(), pass_policy="no-useful-move"), raw(Passer())
    won = play(plays, passes, changed(opening=1), 6)
    assert by_color(won) == (Tally(wins=3), Tally(wins=3))
    lost = play(passes, plays, changed(opening=1), 7)
    assert by_color(lost) == (Tally(losses=4), Tally(losses=3))


def test_two_players_that_pass_are_scored_by_komi() -> None:
    passes = raw(Passer())
    played = play(passes, passes, SMALL, 4)
    assert by_color(played) == (Tally(losses=2), Tally(wins=2))
    assert [(one.outcome.moves, one.outcome.reason) for one in played] == [(2, "count")] * 4
    even = play(passes, passes, changed(komi=0), 4)
    assert tally(outcomes(even), "a") == Tally(draws=4)
    assert {record.result for record in records(even)} == {"Draw"}


@pytest.mark.parametrize(
    ("a", "b", "opening"),
    [
        (raw(Checksum("a")), raw(Checksum("b")), {"opening": 4}),
        (raw(Checksum("a"), 1.0), raw(Checksum("b"), 0.5), {}),
        (search(Checksum("a"), 12, **NOISY), raw(Checksum("b"), 1.0), {"opening": 3, "opening_temperature": 2.0}),
        (search(Checksum("a"), 6), search(Checksum("b"), 9, temperature=1.0, **NOISY), {"opening": 2}),
        (
            Side(UniformEvaluator(), {"player": "playouts", "visits": 20, "pass_policy": "free"}),
            raw(Checksum("b")),
            {"opening": 2, "openings": "random"},
        ),
    ],
    ids=["argmax", "temperatures", "search against policy", "searches", "playouts"],
)
def test_each_game_is_the_one_played_alone(a: Side, b: Side, opening: dict[str, Any]) -> None:
    conditions = changed(**opening)
    together = moves(play(a, b, conditions, 5))
    assert len({tuple(line) for line in together}) == 5
    if conditions.openings == "players":
        assert together == [play_alone((a, b), conditions, number) for number in range(5)]
    else:
        assert together == [moves(play(a, b, conditions, number + 1, at_once=1))[number] for number in range(5)]


def test_neither_the_number_of_games_nor_how_many_go_at_once_changes_a_game() -> None:
    a, b = raw(Checksum("a"), 1.0), search(Checksum("b"), 4, **NOISY)
    conditions = changed(opening=2)
    whole = moves(play(a, b, conditions, 9))
    assert moves(play(a, b, conditions, 9, at_once=3)) == whole
    assert moves(play(a, b, conditions, 4, threads=2)) == whole[:4]
    assert moves(play(a, b, changed(opening=2, seed=2), 9)) != whole


@pytest.mark.parametrize("at_once", [1, 5])
def test_networks_without_a_game_are_closed_and_open_again_as_they_were(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker kept every network that it had played: 10 GB where 500 checkpoints met."""
    opened: Counter[str] = Counter()

    class Closed(PolicyPlayer):
        def close(self) -> None:
            opened[self.name] -= 1

    def open_player(spec: PlayerSpec, games: int = 1, threads: int | None = None) -> Player:
        opened[spec.name] += 1
        return RandomPlayer(spec.name) if spec.kind == "random" else Closed(Checksum(spec.name), spec.name, 1.0)

    players: list[Any] = [*({"player": f"policy:{name}", "name": name} for name in "abcdef"), "random=random"]
    settings = MatchSettings.of(*players, conditions=changed(opening=2), games=2)
    lines, most = [], []
    for idle in (100, 1):
        monkeypatch.setattr("tengen.match.batch._IDLE_NETWORKS", idle)
        opened.clear()
        with BatchMatch(settings, at_once, open_player=open_player) as match:
            match.start()
            match.check = lambda: most.append(sum(opened.values()))
            most.clear()
            lines.append(moves(match.play_all(len(settings.indices()))))
            assert set(match.players) == set(+opened), "what is closed is forgotten"
            assert opened["random"] == 1, "the random player is no network"
    assert lines[0] == lines[1] and len({tuple(line) for line in lines[0]}) > 30
    assert max(most) <= 2 * at_once + 1 + 1


def test_few_programs_without_a_game_stay_open() -> None:
    """A worker kept every program of a tournament open: 12 copies of six programs in two workers."""
    opened: Counter[str] = Counter()
    starts: list[str] = []

    class Program(RandomPlayer):
        def close(self) -> None:
            opened[self.name] -= 1

    def open_player(spec: PlayerSpec, games: int = 1, threads: int | None = None) -> Player:
        opened[spec.name] += 1
        starts.append(spec.name)
        return Program(spec.name)

    def most(names: str) -> int:
        found = []
        players = [{"player": "gtp:engine", "name": name} for name in names]
        settings = MatchSettings.of(*players, conditions=changed(openings="random", max_moves=2), games=2)
        opened.clear()
        starts.clear()
        with BatchMatch(settings, 1, open_player=open_player) as match:
            match.check = lambda: found.append(sum(opened.values()))
            match.play_all(len(settings.indices()))
        assert not +opened
        return max(found)

    assert most("abcd") == 4 and sorted(starts) == list("abcd"), "each is started once"
    assert most("abcdefg") == 4


def test_the_games_of_a_pair_open_alike_and_pairs_differ() -> None:
    starts = [tuple(line[:3]) for line in moves(play(raw(Checksum("a")), raw(Checksum("b")), changed(opening=3), 8))]
    assert starts[::2] == starts[1::2]
    assert len(set(starts)) == 4
    assert not any(25 in start for start in starts)


@pytest.mark.parametrize("dead_stones", ["pass-alive", "none"])
def test_records_replay_and_count_as_they_say(dead_stones: str) -> None:
    a, b = (raw(Checksum(key, passing=0.1), 1.0) for key in "ab")
    played = play(a, b, changed(dead_stones=dead_stones, seed=5), 40)
    endings = set()
    for record, outcome in zip(records(played), outcomes(played), strict=True):
        game = record.game()
        by_rule = game.is_over or len(record.moves) == 50
        endings.add(by_rule)
        assert by_rule or (2 not in game.pass_alive() and outcome.reason == "settled")
        dead = [] if dead_stones == "none" else game.pass_dead()
        owners = (game.owners(dead) if by_rule else game.pass_alive()).ravel()
        assert record.score == outcome.score == np.sum(owners == 0) - np.sum(owners == 1) - 0.5
        assert record.winner == (0 if record.score > 0 else 1)
        np.testing.assert_array_equal(record.ownership, owners)
    assert endings == {True, False}
    assert tally(outcomes(played), "a").wins == sum(record.winner == i % 2 for i, record in enumerate(records(played)))


def test_the_limit_of_moves_ends_a_game() -> None:
    played = play(raw(Checksum("a", 0)), raw(Checksum("b", 0)), changed(max_moves=7), 2)
    assert [(one.outcome.moves, one.outcome.reason) for one in played] == [(7, "limit")] * 2
    assert all(record.score == record.game().score() for record in records(played))


def test_no_useful_move_passes_only_at_the_end() -> None:
    lazy = raw(Checksum("b", passing=5.0))
    eager = raw(Checksum("a", passing=5.0), pass_policy="no-useful-move")
    searching = search(Checksum("a", passing=5.0), 4, "no-useful-move")
    for player in (eager, searching):
        played = play(player, lazy, SMALL, 2)
        assert tally(outcomes(played), "a") == Tally(wins=2)
        assert all(len([point for point in line if point < 25]) >= 5 for line in moves(played))


@pytest.mark.parametrize("visits", [1, 4])
def test_dead_stones_are_captured_where_no_stone_counts_as_dead(visits: int) -> None:
    conditions = changed(settle=False, max_moves=200, opening=6)
    left = {}
    for dead_stones in ("pass-alive", "none"):
        evaluators = [Checksum(key) for key in "ab"]
        a, b = (
            raw(evaluator, pass_policy="no-useful-move") if visits == 1 else search(evaluator, visits, "no-useful-move")
            for evaluator in evaluators
        )
        played = play(a, b, conditions.model_copy(update={"dead_stones": dead_stones}), 20)
        passed_out = [one.game.game for one in played if one.outcome.reason == "count"]
        left[dead_stones] = sum(bool(game.pass_dead()) for game in passed_out)
        assert len(passed_out) > 10
    assert left["pass-alive"] > 0
    assert left["none"] == 0


@pytest.mark.parametrize(
    ("rules", "rule", "given"), [("chinese", "agreement", "pass-alive"), ("tromp-taylor", "none", "none")]
)
def test_players_are_asked_with_the_dead_stones_of_the_match(rules: str, rule: str, given: str) -> None:
    asked = set()

    class Asked(RandomPlayer):
        def choose(self, turns: Sequence[Turn]) -> list[Reply]:
            asked.update(turn.dead_stones for turn in turns)
            return super().choose(turns)

    side = raw(UniformEvaluator())
    settings = settings_of((side, side), changed(rules=rules, dead_stones=rule))
    with BatchMatch(settings, open_player=lambda spec, games=1, threads=None: Asked(spec.name)) as match:
        match.play_all(2)
    assert asked == {given}


class Recorder(Player):
    """Random moves; records how many games it plays at once, and which are under way."""

    def __init__(self, max_games: int) -> None:
        self.max_games = max_games
        self.playing: set[int] = set()
        self.most = 0
        self._player = RandomPlayer()

    def start_game(self, id: int, game: Any, seed: int) -> None:
        assert id not in self.playing
        self.playing.add(id)
        self._player.start_game(id, game, seed)

    def choose(self, turns: Any) -> Any:
        self.most = max(self.most, len(self.playing))
        assert {turn.id for turn in turns} <= self.playing
        return self._player.choose(turns)

    def end_game(self, id: int) -> None:
        self.playing.discard(id)
        self._player.end_game(id)


def test_a_player_never_has_more_games_than_it_can_play() -> None:
    recorder = Recorder(3)

    def opener(spec: PlayerSpec, games: int = 1, threads: int | None = None) -> Player:
        return recorder if spec.name == "a" else RandomPlayer()

    side = raw(UniformEvaluator())
    with BatchMatch(settings_of((side, side), SMALL), open_player=opener) as match:
        assert [one.outcome.index for one in match.play_all(10)] == list(range(10))
    assert recorder.most == 3 and not recorder.playing


class Says(Player):
    """Gives the same reply to all turns together."""

    def __init__(self, reply: Any) -> None:
        self._reply = reply

    def choose(self, turns: Any) -> Any:
        return self._reply


class NoArguments(Player):
    def choose(self, turns: Any) -> Any:
        return []


@pytest.mark.parametrize(
    ("maker", "says"),
    [
        (NoArguments, r"player 'bot' cannot be made of \(spec, games\): too many positional arguments"),
        ("no function", "player 'bot' cannot be made: 'no function' is not a callable object"),
        (lambda spec, games: object(), "player 'bot' makes an object, no Player"),
        (lambda spec, games: Says(None), "choose returned a NoneType for 1 positions, not a Choice for each"),
        (lambda spec, games: Says([]), "choose returned 0 replies for 1 positions, not a Choice for each"),
        (lambda spec, games: Says([3]), r"choose returned an int \(3\) for a position, no Choice"),
    ],
)
def test_a_player_of_another_package_that_is_none_is_named(
    maker: Any, says: str, tmp_path: Path, registered: Callable[..., None]
) -> None:
    registered(PLAYERS, "bot", maker)
    settings = MatchSettings.of("bot", "random", games=2, conditions={"size": 5, "openings": "random"})
    with pytest.raises(TengenError, match=f"bot: {says}"):
        play_match(settings, tmp_path, InBatch(at_once=1))
    PLAYERS.register("bot", lambda spec, games: Says([Choice(0)]))
    assert play_match(settings, tmp_path, InBatch(at_once=1))["complete"]


class Buggy(Player):
    """Has a bug in its constructor."""

    def __init__(self, spec: PlayerSpec, games: int) -> None:
        self.games = len(games)  # type: ignore[arg-type]

    def choose(self, turns: Any) -> Any:
        return []


def with_settings(make: Callable[[PlayerSpec, int, dict[str, int]], Player]) -> Callable[[PlayerSpec, int], Player]:
    """A decorator whose function takes fewer arguments than the one that it wraps."""

    @wraps(make)
    def made(spec: PlayerSpec, games: int) -> Player:
        return make(spec, games, {})

    return made


def test_the_call_of_a_maker_is_checked_by_its_signature_alone(registered: Callable[..., None]) -> None:
    registered(PLAYERS, "bot", Buggy)
    spec = PlayerSpec.parse("bot")
    with pytest.raises(TypeError, match=r"object of type 'int' has no len\(\)"):
        open_player(spec)
    for maker in (with_settings(lambda spec, games, settings: Says(None)), lambda *words: Says(words)):
        PLAYERS.register("bot", maker)
        assert open_player(spec).name == "bot"
    PLAYERS.register("bot", max)  # type: ignore[arg-type]  # a native function without a signature
    with pytest.raises(TypeError, match="not supported between"):
        open_player(spec)


def test_a_round_robin_of_a_dozen_networks_loads_each_once() -> None:
    opened: list[str] = []

    def open_player(spec: PlayerSpec, games: int = 1, threads: int | None = None) -> Player:
        opened.append(spec.name)
        return RandomPlayer(spec.name)

    players = [{"player": f"policy:{name}", "name": name} for name in "abcdefghijkl"]
    settings = MatchSettings.of(*players, conditions=changed(openings="random", max_moves=2), games=2)
    with BatchMatch(settings, 1, open_player=open_player) as match:
        match.play_all(len(settings.indices()))
    assert sorted(opened) == list("abcdefghijkl")


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="0 games at once"):
        play(raw(Passer()), raw(Passer()), SMALL, 2, at_once=0)
    with pytest.raises(RecipeError, match="2 visits or more"):
        PlayerSpec.of({"player": "playouts", "visits": 1, "pass_policy": "free"})
    with pytest.raises(RecipeError, match="temperature"):
        PlayerSpec.of({"player": "policy:x", "temperature": -1})
    with pytest.raises(RecipeError, match="temperature needs another pass_policy than engine"):
        PlayerSpec.of({"player": "default", "temperature": 1})
    with pytest.raises(RecipeError, match="diversity needs pass_policy = engine"):
        PlayerSpec.of({"player": "default", "diversity": True, "pass_policy": "free"})
    with pytest.raises(RecipeError, match="unknown pass policy 'no-useful'; did you mean no-useful-move"):
        PlayerSpec.of({"player": "default", "pass_policy": "no-useful"})


def test_a_network_for_another_size_is_named_before_the_first_game() -> None:
    class Small(UniformEvaluator):
        only_size = 9

    sides = raw(Small()), raw(UniformEvaluator())
    match = BatchMatch(settings_of(sides, SMALL), open_player=Open(*sides))
    with match, pytest.raises(TengenError, match=r"a: .*takes 9x9 boards alone, not 5x5"):
        match.start()


TINY = Conditions(size=5, komi=0.5, opening=2, seed=9)
RAW = {"player": "policy:uniform", "pass_policy": "free", "name": "network"}


def program(kind: str) -> str:
    return f"program=gtp:{command_line(kind)}"


def against(word: str, games: int, ours: dict[str, object] = RAW) -> MatchSettings:
    return MatchSettings.of(ours, word, conditions=TINY, games=games)


def played_outcomes(settings: MatchSettings, at_once: int) -> list[Outcome]:
    with BatchMatch(settings, at_once, threads=2) as match:
        return [one.outcome for one in match.play_all(settings.games)]


def without_times(outcomes: list[Outcome]) -> list[Outcome]:
    return [Outcome(**{**asdict(outcome), "seconds": {}}) for outcome in outcomes]


def test_the_games_are_those_played_one_by_one_and_in_workers(tmp_path: Path) -> None:
    settings = against(program("polite"), 6)
    together = without_times(played_outcomes(settings, 3))
    assert without_times(played_outcomes(settings, 1)) == together
    for name, execution in (("workers", InWorkers(1)), ("batch", InBatch(at_once=4))):
        play_match(settings, tmp_path / name, execution)
        assert without_times(read_folder(tmp_path / name)[1]) == together
    records = [(tmp_path / name / "games" / "00003.sgf").read_bytes() for name in ("workers", "batch")]
    assert records[0] == records[1]


@pytest.mark.usefixtures("no_process_is_left")
def test_searches_do_not_depend_on_how_many_games_go_on_together() -> None:
    searching = {"player": "uniform", "visits": 8, "pass_policy": "free", "name": "network"}
    settings = against(program("polite"), 4, searching)
    found = [without_times(played_outcomes(settings, at_once)) for at_once in (1, 4)]
    assert found[0] == found[1] and found[0][0].visits == {"network": 8.0}


@pytest.mark.usefixtures("no_process_is_left")
def test_a_program_that_dies_loses_and_the_next_game_has_a_fresh_copy() -> None:
    outcomes = played_outcomes(against(program("dies"), 6), 3)
    dead = [outcome for outcome in outcomes if outcome.reason == "crash"]
    assert len(outcomes) == 6 and dead, "some games last until its third move"
    assert {outcome.winner for outcome in dead} == {"network"}
    assert dead[0].last_words[-1] == "out of memory, goodbye"


@pytest.mark.usefixtures("no_process_is_left")
def test_a_program_that_is_gone_ends_the_match_with_what_was_played(tmp_path: Path) -> None:
    settings = against(f"program=gtp:{command_line_once(tmp_path)}", 20)
    with pytest.raises(TengenError, match="failed to start 3 games in a row"):
        play_match(settings, tmp_path / "match", InBatch(at_once=1))
    outcomes = read_folder(tmp_path / "match")[1]
    assert 1 <= len(outcomes) < 20 and outcomes[-1].reason in FAILURES
    assert all(outcome.moves for outcome in outcomes), "games that it could not start are not kept"


@pytest.mark.usefixtures("no_process_is_left")
@pytest.mark.parametrize(("word", "says"), [("only-9x9", "unacceptable size"), ("", "no-such-program")])
def test_a_program_that_cannot_play_is_named_before_the_first_game(word: str, says: str, tmp_path: Path) -> None:
    settings = against(program(word) if word else "ghost=gtp:no-such-program --here", 4)
    with pytest.raises(TengenError, match=says):
        play_match(settings, tmp_path / "match", InBatch())
    assert not (tmp_path / "match").exists()


@needs("gnugo")
def test_gnugo_beats_the_first_legal_move() -> None:
    settings = against("gtp:gnugo --mode gtp --level 1 --chinese-rules", 6)
    found = [played_outcomes(settings, at_once) for at_once in (2, 6)]
    assert without_times(found[0]) == without_times(found[1])
    assert sum(outcome.winner == "GNU Go level 1" for outcome in found[0]) >= 5
