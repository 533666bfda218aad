"""Players in this process: moves depend on the game and its seed alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
from scripted import ScriptedEvaluator

from tengen.engine.clock import Clock, TimeControl
from tengen.errors import TengenError
from tengen.evaluators import BySizeEvaluator, Evaluation, Evaluator, InputBatch, UniformEvaluator
from tengen.evaluators.openvino import OpenVinoEvaluator
from tengen.game import Game
from tengen.match.player import Choice, Player, Turn, comment_of
from tengen.match.players import EnginePlayer, PolicyPlayer, evaluator_player, open_player
from tengen.match.spec import PLAYERS, PlayerSpec


class Fixed(UniformEvaluator):
    """Points by their number, the last one of the board has most, and this share of all for pass."""

    passing = 0.0

    def infer(self, batch: InputBatch) -> Evaluation:
        found = super().infer(batch)
        weights = np.arange(1, found.policy.shape[1])
        found.policy[:] = np.append(weights / weights.sum() * (1 - self.passing), self.passing)
        found.value[:], found.score[:] = 0.5, -2
        return found


def choose(player: Player, game: Game, clock: Clock | None = None, id: int = 0) -> Choice:
    """The reply of a player in one game."""
    (reply,) = player.choose([Turn(id, game, clock)])
    assert isinstance(reply, Choice)
    return reply


def raw(evaluator: UniformEvaluator) -> PolicyPlayer:
    return PolicyPlayer(evaluator, draws_first=True)


def moves_of(player: Player, seed_round: int, turns: int = 8, size: int = 7) -> tuple[tuple[int, int], ...]:
    """The moves of a game of a player with itself."""
    game = Game(size, komi=9)
    player.start_game(0, game, seed_round)
    for _ in range(2 * turns):
        game.play(choose(player, game).point)
    player.end_game(0)
    return tuple(game.moves)


def test_a_share_of_a_policys_moves_is_random() -> None:
    """Of a policy that likes all moves alike the best is the first point, but for that share."""
    firsts = {}
    for share in (0.0, 0.5):
        player = PolicyPlayer(UniformEvaluator(), random_share=share)
        firsts[share] = [moves_of(player, seed, turns=1)[0][1] for seed in range(60)]
    assert set(firsts[0.0]) == {0}
    assert 20 <= firsts[0.5].count(0) <= 40 and len(set(firsts[0.5])) > 15


@pytest.mark.parametrize("pass_policy", ["engine", "free"])
def test_a_comment_has_a_score_where_the_network_has_one(pass_policy: Any) -> None:
    class Scoreless(Fixed):
        has_score = False

        def infer(self, batch: InputBatch) -> Evaluation:
            found = super().infer(batch)
            return Evaluation(found.policy, found.value)

    spec = PlayerSpec(player="default", visits=8, pass_policy=pass_policy)
    for evaluator in (Fixed(), Scoreless()):
        player = evaluator_player(spec, evaluator)
        player.start_game(0, Game(5), 1)
        assert ("score" in choose(player, Game(5)).comment) == evaluator.has_score


@pytest.mark.parametrize("player", ["policy:x", "x"])
@pytest.mark.parametrize("pass_policy", ["engine", "free"])
def test_a_comment_has_no_winrate_of_a_network_without_a_value(pass_policy: Any, player: str) -> None:
    """A search has one where it plays to the end of the game."""

    class Valueless(Fixed):
        has_value = False

    class ByPlayouts(Valueless):
        advice: ClassVar = {"selection": "puct", "playouts": 1, "playout_weight": 1}

    spec = PlayerSpec(player=player, name="x", pass_policy=pass_policy, visits=4 if player == "x" else None)
    for evaluator in (Fixed(), Valueless(), *([ByPlayouts()] if player == "x" else [])):
        opened = evaluator_player(spec, evaluator)
        opened.start_game(0, Game(5), seed=1)
        assert ("wins" in choose(opened, Game(5)).comment) == (evaluator.has_value or bool(evaluator.advice))


def test_a_raw_policy_draws_its_first_move_and_then_plays_the_likeliest() -> None:
    player = raw(Fixed())
    begun: Counter[int] = Counter()
    for seed in range(300):
        player.start_game(0, Game(5), seed)
        begun[choose(player, Game(5)).point] += 1
    # Point i has weight i + 1 of 325: expected 300 * 205 / 325 = 189 in the lower two fifths of the weights' order.
    assert 25 not in begun and 165 < sum(begun[point] for point in range(15, 25)) < 225
    assert choose(player, Game(5)).point == 24
    assert choose(player, Game(5).play(24)).point == 23
    player.start_game(0, Game(5), 7)
    first = choose(player, Game(5)).point
    player.start_game(0, Game(5), 7)
    assert choose(player, Game(5)).point == first


def test_a_raw_policy_passes_but_not_at_its_first_move() -> None:
    fixed = Fixed()
    fixed.passing = 0.9
    player = raw(fixed)
    player.start_game(0, Game(5), 1)
    assert choose(player, Game(5)).point < 25
    assert choose(player, Game(5)).point == 25


def test_a_policy_that_knows_no_pass_passes_where_no_point_is_legal() -> None:
    player = raw(Fixed())
    full = Game.from_diagram("OOOOO/O.OOO/OOOOO/OOO.O/OOOOO".replace("/", "\n"))
    assert [choose(player, full).point for _ in range(2)] == [25, 25]


def test_comments_have_winrate_and_score_of_the_side_that_moved() -> None:
    choice = choose(raw(Fixed()), Game(5).play(24))
    assert choice.comment == "White wins 75.0%, score -2.0"
    assert comment_of(0, 0.5, None, 12) == "Black wins 50.0%, 12 visits"
    assert comment_of(0, 0.5, 1.0, 1) == "Black wins 50.0%, score +1.0, 1 visit"
    playouts = open_player(PlayerSpec.parse("playouts@50"))
    playouts.start_game(0, Game(5), 1)
    choice = choose(playouts, Game(5))
    assert choice.comment.startswith("Black wins ") and choice.comment.endswith(f"{choice.visits} visits")
    playouts.close()


def test_a_network_under_symmetries_plays_by_the_seed_of_the_game() -> None:
    player = open_player(PlayerSpec(player="policy:default", symmetries=True))
    games = [moves_of(player, number) for number in (0, 1, 2, 3, 0)]
    player.close()
    assert games[0] == games[4] and len(set(games)) > 1


@pytest.mark.parametrize(("batch", "rows"), [(None, 8), (1, 1), (3, 3)])
def test_a_player_has_batches_of_its_own(batch: int | None, rows: int) -> None:
    seen = []

    class Counting(UniformEvaluator):
        def infer(self, batch: InputBatch) -> Evaluation:
            seen.append(len(batch))
            return super().infer(batch)

    player = evaluator_player(PlayerSpec(player="default", visits=60, batch=batch), Counting())
    player.start_game(0, Game(7), 1)
    choose(player, Game(7))
    assert max(seen) == rows


def test_games_of_playouts_do_not_depend_on_those_before() -> None:
    one, other = (open_player(PlayerSpec.parse("playouts@30")) for _ in range(2))
    games = [moves_of(one, number, size=5) for number in (0, 1, 2)]
    assert moves_of(other, 2, size=5) == games[2] and len(set(games)) > 1
    one.close()
    other.close()


def test_a_search_by_playouts_is_a_player() -> None:
    player = open_player(PlayerSpec.parse("playouts:uniform@200"))
    game = Game(5, "tromp-taylor", 0.5)
    player.start_game(0, game, 1)
    choice = choose(player, game)
    assert player.name == "playouts (uniform), 200 visits"
    assert player.opening_policy([game]) is None and 0 < choice.visits <= 200 and game.is_legal(choice.point)
    player.close()


@pytest.mark.parametrize("player", ["policy:default", "playouts"])
def test_dead_stones_are_captured_only_where_they_count(player: str) -> None:
    """White's E3 is dead in Black's pass-alive area, which counts for White where no stone is dead."""
    game = Game.from_diagram(". X . X .\nX X X X X\n. X . . O\nX X X X .\n. X . X .")
    visits = None if player.startswith("policy:") else 20
    spec = PlayerSpec(player=player, pass_policy="no-useful-move", visits=visits)
    points = []
    for dead_stones in ("pass-alive", "none"):
        opened = open_player(spec)
        opened.start_game(0, game, 1)
        (reply,) = opened.choose([Turn(0, game, dead_stones=dead_stones)])
        assert isinstance(reply, Choice)
        points.append(reply.point)
        opened.close()
    assert points[0] == 25 and points[1] != 25


def test_a_clock_bounds_the_search() -> None:
    player = open_player(PlayerSpec.parse("playouts@0+1x0.4s"))
    player.start_game(0, Game(9), 1)
    short = choose(player, Game(9), TimeControl.byoyomi(0, 0.3, 1).start()).visits
    long = choose(player, Game(9), TimeControl.byoyomi(0, 0.9, 1).start()).visits
    player.close()
    assert 0 < 2 * short < long


@pytest.mark.parametrize(
    "fields, spends_all",
    [
        ({}, True),
        ({"search": {"lcb": False}}, False),
        ({"search": {"lcb": False}, "diversity": True}, True),
        ({"search": {"lcb": False}, "pass_policy": "free"}, True),
    ],
)
def test_a_search_ends_once_its_best_move_is_clear(fields: dict[str, Any], spends_all: bool) -> None:
    """Where the most visited move is played, and the visits of the second move do not count as well."""
    evaluator = ScriptedEvaluator({12: 50.0})
    player = evaluator_player(PlayerSpec(player="default", visits=200, **fields), evaluator)
    game = Game(5)
    player.start_game(0, game, 1)
    found = choose(player, game)
    player.close()
    assert (found.visits == 200) == spends_all


def test_a_network_for_another_size_is_named_before_the_first_move() -> None:
    class Small(UniformEvaluator):
        only_size = 9

    with pytest.raises(TengenError, match="takes 9x9 boards alone, not 19x19"):
        raw(Small()).start_game(0, Game(19), 1)
    player = EnginePlayer(PlayerSpec(player="uniform"), Small())
    with pytest.raises(TengenError, match="takes 9x9 boards alone, not 19x19"):
        player.start_game(0, Game(19), 1)


def test_a_raw_policy_evaluates_its_games_as_one_batch() -> None:
    rows: list[int] = []

    class Counting(Fixed):
        def infer(self, batch: InputBatch) -> Evaluation:
            rows.append(len(batch))
            return super().infer(batch)

    games = [Game(9).play(point) for point in range(6)]

    def moves(at_once: int) -> list[int]:
        player = EnginePlayer(PlayerSpec(player="policy:default"), Counting())
        turns = [Turn(id, game) for id, game in enumerate(games)]
        for turn in turns:
            player.start_game(turn.id, turn.game, seed=1)
        replies = [reply for i in range(0, len(turns), at_once) for reply in player.choose(turns[i : i + at_once])]
        player.close()
        return [reply.point for reply in replies if isinstance(reply, Choice)]

    together = moves(len(games))
    assert rows == [6]
    assert together == moves(1) and rows == [6] + [1] * 6


def test_a_missing_network_is_named() -> None:
    with pytest.raises(TengenError, match="no-such-network"):
        open_player(PlayerSpec(player="no-such-network"))


@pytest.mark.parametrize("precision", ["f32", "int8"])
def test_a_network_plays_in_its_precision(precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Evaluator] = []
    monkeypatch.setattr("tengen.match.players.evaluator_player", lambda spec, evaluator, *_: opened.append(evaluator))
    spec = PlayerSpec.of({"player": "distilled-9x9", "visits": 9, "precision": precision})
    open_player(spec)
    (evaluator,) = opened
    assert isinstance(evaluator, OpenVinoEvaluator) and evaluator.precision == precision
    assert spec.name == f"distilled-9x9, {precision}, 9 visits"


def test_diverse_games_differ_and_follow_from_their_seeds() -> None:
    plain, diverse = (
        open_player(PlayerSpec(player="default", visits=16, diversity=varied)) for varied in (False, True)
    )
    games = [moves_of(diverse, number, turns=3) for number in (0, 1, 2, 0)]
    assert games[0] == games[3] and len(set(games)) > 1
    assert len({moves_of(plain, number, turns=3) for number in (0, 1)}) == 1
    plain.close()
    diverse.close()


def test_a_player_with_a_clock_is_warm_before_its_first_move(monkeypatch: pytest.MonkeyPatch) -> None:
    warmed: list[int] = []
    monkeypatch.setattr("tengen.engine.Engine.warm_up", lambda engine, size: warmed.append(size))
    for word, games in (("playouts@10", 1), ("playouts@0.01s", 2), ("playouts@1m+0", 1)):
        player = open_player(PlayerSpec.of(word))
        for seed in range(games):
            player.start_game(seed, Game(5), seed)
        player.start_game(9, Game(7), 9)
        player.close()
    assert warmed == [5, 7, 5, 7], "once a board size, and not where visits alone count"


def test_the_search_of_a_card_leaves_the_raw_policy_alone() -> None:
    """A1 beside White's B1 is a self-atari, which the search of BakaGo never plays."""
    evaluator = ScriptedEvaluator({20: 50.0})
    evaluator.advice = {"preset": "bakago"}
    game = Game.from_diagram(". . . . .\n. . . . .\n. . . . .\n. . . . .\n. O . . .")
    chosen = {}
    for word in ("policy:default", "default@8"):
        player = evaluator_player(PlayerSpec.parse(word), evaluator)
        player.start_game(0, game, 1)
        (reply,) = player.choose([Turn(0, game)])
        assert isinstance(reply, Choice)
        chosen[word] = reply.point
        player.close()
    assert chosen["policy:default"] == 20 != chosen["default@8"]


@pytest.mark.parametrize("pass_policy", ["engine", "free"])
def test_a_card_advises_the_search_of_every_pass_policy(pass_policy: str) -> None:
    """The same position: a setting of the player's own counts before the card's, and a preset before all of them."""
    evaluator = ScriptedEvaluator({20: 50.0})
    evaluator.advice = {"prune_self_atari": True}
    game = Game.from_diagram(". . . . .\n. . . . .\n. . . . .\n. . . . .\n. O . . .")
    players: tuple[tuple[dict[str, object], bool], ...] = (
        ({}, True),
        ({"search": {"prune_self_atari": False}}, False),
        ({"preset": "alphazero"}, False),
    )
    for own, advised in players:
        spec = PlayerSpec.of({"player": "default", "visits": 8, "pass_policy": pass_policy, **own})
        player = evaluator_player(spec, evaluator)
        player.start_game(0, game, 1)
        assert (choose(player, game).point != 20) is advised, own
        player.close()


def test_cards_that_differ_by_size_search_in_pools_of_their_own() -> None:
    pruning = ScriptedEvaluator({20: 50.0})
    pruning.advice = {"prune_self_atari": True}
    player = evaluator_player(
        PlayerSpec(player="default", visits=8, pass_policy="free"),
        BySizeEvaluator(ScriptedEvaluator({30: 50.0}), {5: lambda: pruning}),
        games=2,
    )
    small = Game.from_diagram(". . . . .\n. . . . .\n. . . . .\n. . . . .\n. O . . .")
    large = Game.from_diagram("\n".join([". . . . . ."] * 5 + [". O . . . ."]))
    for seed, rounds in enumerate(((0, 1), (2, 1), (2, 3))):  # ids of the games: ended ones leave their place
        for id in rounds:
            player.start_game(id, large if id % 2 else small, seed)
        assert [choose(player, large if id % 2 else small, id=id).point == 30 for id in rounds] == [
            bool(id % 2) for id in rounds
        ]
        assert choose(player, small, id=rounds[0]).point != 20
        for id in rounds:
            player.end_game(id)


@pytest.mark.parametrize(("word", "visits"), [("of-my-own", 400), ("of-my-own@8", 8)])
def test_an_evaluator_of_a_program_plays_as_a_player_of_its_own_name(
    word: str, visits: int, registered: Callable[..., None]
) -> None:
    registered(PLAYERS, "of-my-own", lambda spec, games: evaluator_player(spec, UniformEvaluator(), games))
    player = open_player(PlayerSpec.parse(word))
    player.start_game(0, Game(2), 1)
    assert player.name == word.replace("@8", ", 8 visits") and choose(player, Game(2)).visits == visits
