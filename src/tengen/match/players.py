"""The players that compute in this process: random moves, policies and searches."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from tengen.engine import Engine, Limits
from tengen.engine.clock import Clock
from tengen.engine.count import PositionCounter
from tengen.engine.params import PassPolicy, SearchParams
from tengen.engine.pool import SearchPool
from tengen.engine.search import MoveRestriction, SearchView, TreeSearch
from tengen.errors import TengenError
from tengen.evaluators import CachedEvaluator, SymmetricEvaluator, load_evaluator
from tengen.evaluators.evaluator import Evaluator
from tengen.game import Game
from tengen.match.moves import allowed_moves, draw_moves
from tengen.match.player import Choice, Player, Probabilities, Reply, Turn, comment_of, errors_named
from tengen.match.program_player import ProgramPlayer
from tengen.match.spec import PLAYERS, VISITS, PlayerSpec
from tengen.plugins import described


def open_player(spec: PlayerSpec, games: int = 1, threads: int | None = None, network: str | None = None) -> Player:
    """Open a player for at most `games` games at once.

    `threads` is the number of native threads of a search in many games and of copies of a program that compute at the
    same time; the spec's own number unless given. `network` is a file for this match alone that stands for the network
    of the spec. Raises TengenError, with the player's name, when it does not exist or cannot start.
    """
    with errors_named(spec.name):
        return _open(spec, games, threads or spec.threads, network)


def _open(spec: PlayerSpec, games: int, threads: int, network: str | None) -> Player:
    match spec.kind:
        case "random":
            return RandomPlayer(spec.name)
        case "program":
            return ProgramPlayer(spec, min(games, PROGRAM_COPIES), threads)
        case "plugin":
            maker = PLAYERS[spec.plugin]
            _check_signature(spec.plugin, maker)
            player = maker(spec, games)
            if not isinstance(player, Player):
                raise TengenError(f"player {spec.plugin!r} makes {described(player)}, no Player")
            player.name = spec.name
            return player
        case _:
            evaluator = load_evaluator(
                "uniform" if spec.kind == "playouts" else network or spec.subject,
                spec.device,
                batch=spec.batch,
                threads=spec.threads,
                precision=spec.precision,
                remember=network is None,
            )
            return evaluator_player(spec, evaluator, games, threads)


def _check_signature(name: str, maker: Callable[..., object]) -> None:
    """Raise TengenError for a maker that cannot be called with (spec, games)."""
    try:
        signature = inspect.signature(maker, follow_wrapped=False)  # a decorator may give further arguments
    except ValueError:  # of a native function
        return
    except TypeError as error:
        raise TengenError(f"player {name!r} cannot be made: {error}") from error
    try:
        signature.bind(None, None)
    except TypeError as error:
        raise TengenError(f"player {name!r} cannot be made of (spec, games): {error}") from error


PROGRAM_COPIES = 8
"""Copies of a GTP program that play at once in a batch, one game each."""


def evaluator_player(spec: PlayerSpec, evaluator: Evaluator, games: int = 1, threads: int = 1) -> Player:
    """The player of a spec of kind `network`, `policy`, `raw` or `playouts` on this evaluator; see `open_player`.

    One of kind `plugin` searches as a network does: with it a player of another package can have an evaluator of its
    own.
    """
    if spec.kind == "plugin" and spec.visits is None and spec.seconds is None and spec.time is None:
        spec = spec.model_copy(update={"visits": VISITS["network"]})
    if spec.kind == "raw":
        return PolicyPlayer(evaluator, spec.name, draws_first=True)
    if spec.pass_policy == "engine":
        return EnginePlayer(spec, evaluator)
    if spec.kind == "policy":
        return PolicyPlayer(evaluator, spec.name, spec.temperature, spec.pass_policy)
    return SearchPlayer(spec, evaluator, games, threads)


class RandomPlayer(Player):
    """Plays any legal move that does not fill an own eye, all with the same probability, and passes without one."""

    def __init__(self, name: str = "random") -> None:
        self.name = name
        self._draws = _Draws()

    def start_game(self, id: int, game: Game, seed: int) -> None:
        self._draws.start(id, game, seed)

    def choose(self, turns: Sequence[Turn]) -> list[Reply]:
        allowed = allowed_moves([turn.game for turn in turns], "no-useful-move", "none")
        return [Choice(int(found)) for found in draw_moves(allowed, allowed, 1.0, self._draws.of(turns))]

    def dead(self, id: int, game: Game) -> frozenset[int]:
        return frozenset()

    def end_game(self, id: int) -> None:
        self._draws.end(id)


class _EvaluatorPlayer(Player):
    """A player on an evaluator, which also opens and counts; without a network it has no policy for openings."""

    def __init__(self, name: str, evaluator: Evaluator, has_policy: bool) -> None:
        self.name = name
        self._evaluator = evaluator
        self._has_policy = has_policy

    @cached_property
    def _counter(self) -> PositionCounter:
        return PositionCounter(self._evaluator)

    def opening_policy(self, games: Sequence[Game]) -> Probabilities | None:
        if not self._has_policy:
            return None
        self.evaluations += len(games)
        return self._evaluator.evaluate(games).policy

    def dead(self, id: int, game: Game) -> frozenset[int] | None:
        return frozenset(self._counter.count(game).dead)


class PolicyPlayer(_EvaluatorPlayer):
    """Plays the policy of a network without search.

    With temperature 0 the most probable allowed move, otherwise one drawn by probability ** (1 / temperature); of all
    moves the share `random_share` is drawn evenly from those allowed instead (epsilon-greedy). With `draws_first` the
    player's first move of a game is drawn from the policy over the legal points, and all others are the most probable,
    and the player names no dead stones. `pass_policy` is that of `allowed_moves`. The player never resigns.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        name: str = "",
        temperature: float = 0.0,
        pass_policy: PassPolicy = "free",
        draws_first: bool = False,
        random_share: float = 0.0,
    ) -> None:
        super().__init__(name or f"{evaluator.name}, raw policy", evaluator, has_policy=True)
        self._temperature = temperature
        self._random_share = random_share
        self._pass_policy = pass_policy
        self._draws_first = draws_first
        self._draws = _Draws()
        self._first: dict[int, int] = {}  # id, seed of the games in which the player has not moved

    def start_game(self, id: int, game: Game, seed: int) -> None:
        self._evaluator.on(game.size)
        if self._draws_moves:
            self._draws.start(id, game, seed)
        if self._draws_first:
            self._first[id] = seed

    def choose(self, turns: Sequence[Turn]) -> list[Reply]:
        games = [turn.game for turn in turns]
        found = self._evaluator.evaluate(games)
        self.evaluations += len(games)
        allowed = allowed_moves(games, self._pass_policy, turns[0].dead_stones)
        uniform = self._draws.of(turns) if self._draws_moves else np.zeros(len(turns))
        points = draw_moves(found.policy, allowed, self._temperature, uniform, self._random_share)
        replies: list[Reply] = []
        for i, turn in enumerate(turns):
            seed = self._first.pop(turn.id, None)
            point = int(points[i]) if seed is None else _drawn_point(turn.game, found.policy[i], seed)
            winrate = float(found.value[i] + 1) / 2 if self._evaluator.on(turn.game.size).has_value else None
            score = None if found.score is None else float(found.score[i])
            replies.append(Choice(point, comment=comment_of(turn.game.to_play, winrate, score, None)))
        return replies

    @property
    def _draws_moves(self) -> bool:
        return self._temperature > 0 or self._random_share > 0

    def dead(self, id: int, game: Game) -> frozenset[int] | None:
        return None if self._draws_first else super().dead(id, game)

    def end_game(self, id: int) -> None:
        self._draws.end(id)
        self._first.pop(id, None)


class SearchPlayer(_EvaluatorPlayer):
    """Searches exactly the visits of its spec in many games at once, in one pool.

    The move has most visits, or is drawn by visits ** (1 / temperature). The pass policy is that of the spec, which is
    not `engine`. The player never resigns. Settings that the spec does not give are those that the card of the network
    advises, as for an Engine.
    """

    def __init__(self, spec: PlayerSpec, evaluator: Evaluator, games: int, threads: int) -> None:
        super().__init__(spec.name, evaluator, spec.params.uses_network)
        self.max_games = games
        self._spec = spec
        assert spec.pass_policy != "engine"  # such a player is an EnginePlayer
        self._pass_policy: PassPolicy = spec.pass_policy
        self._threads = threads
        self._pools: dict[SearchParams, SearchPool] = {}  # one, unless cards of several board sizes differ
        self._slots: dict[int, tuple[SearchPool, int]] = {}  # id, place in a pool
        self._trees: dict[int, TreeSearch] = {}  # id, search by playouts, which has no positions for a batch

    def start_game(self, id: int, game: Game, seed: int) -> None:
        params = self._spec.params.advised(self._evaluator.on(game.size).advice)
        if not params.uses_network:
            self._trees[id] = TreeSearch(self._evaluator, params, 1, seed)
            return
        if params not in self._pools:
            self._pools[params] = SearchPool(self._evaluator, params, self.max_games or 1, 1, 0, self._threads)
        pool = self._pools[params]
        taken = {slot for used, slot in self._slots.values() if used is pool}
        self._slots[id] = pool, next(slot for slot in range(len(pool)) if slot not in taken)
        pool.restart(self._slots[id][1], seed)

    def choose(self, turns: Sequence[Turn]) -> list[Reply]:
        avoid: list[list[MoveRestriction]] = [[] for _ in turns]
        if self._pass_policy != "free":
            allowed = allowed_moves([turn.game for turn in turns], self._pass_policy, turns[0].dead_stones)
            avoid = [
                [MoveRestriction(turn.game.to_play, np.flatnonzero(~row).tolist())]
                for turn, row in zip(turns, allowed, strict=True)
            ]
        visits = self._spec.visits or 1
        if turns[0].id in self._trees:
            return [self._by_playouts(turn, banned, visits) for turn, banned in zip(turns, avoid, strict=True)]
        pool, slots = self._slots[turns[0].id][0], [self._slots[turn.id][1] for turn in turns]
        for slot, turn, banned in zip(slots, turns, avoid, strict=True):
            pool.set_root(slot, turn.game, banned)
        limits = np.zeros(len(pool), np.int64)
        limits[slots] = visits
        before = pool.evaluations
        pool.run(limits)
        self.evaluations += pool.evaluations - before
        return [self._choice(pool[slot], turn) for slot, turn in zip(slots, turns, strict=True)]

    def end_game(self, id: int) -> None:
        self._trees.pop(id, None)
        if (place := self._slots.pop(id, None)) is not None:
            pool, slot = place
            pool.restart(slot, 0)

    def _by_playouts(self, turn: Turn, avoid: Sequence[MoveRestriction], visits: int) -> Choice:
        started, tree = time.perf_counter(), self._trees[turn.id]
        tree.set_root(turn.game, avoid)
        tree.run(visits)
        return replace(self._choice(tree, turn), seconds=time.perf_counter() - started)

    def _choice(self, view: SearchView, turn: Turn) -> Choice:
        point = view.choose(self._spec.temperature or None)
        score = view.score if view.has_score else None
        knows = self._spec.params.has_value(self._evaluator.on(turn.game.size))
        comment = comment_of(turn.game.to_play, (view.value + 1) / 2 if knows else None, score, view.visits)
        return Choice(turn.game.pass_point if point is None else point, comment=comment, visits=view.visits)


class EnginePlayer(_EvaluatorPlayer):
    """Searches with an Engine of its own for each game: time limits, early stopping, passing and resigning.

    At given visits the moves of a game follow from its seed alone, whatever was played before. A raw policy evaluates
    its positions in several games as one batch.
    """

    def __init__(self, spec: PlayerSpec, evaluator: Evaluator) -> None:
        self._in_batches = spec.kind == "policy" and not spec.symmetries
        if self._in_batches:
            evaluator = evaluator.wrapped(partial(CachedEvaluator, size=2048))
        super().__init__(spec.name, evaluator, spec.params.uses_network)
        self._spec = spec
        self._engines: dict[int, Engine] = {}
        self._warm: set[int] = set()  # board sizes

    def start_game(self, id: int, game: Game, seed: int) -> None:
        self._evaluator.on(game.size)
        spec = self._spec
        evaluator = self._evaluator
        if spec.symmetries:
            evaluator = evaluator.wrapped(partial(SymmetricEvaluator, mode="random", seed=seed))
        params = spec.params
        if spec.kind == "policy" and "preset" in self._evaluator.on(game.size).advice:
            params = SearchParams(**params.model_dump())  # the published search would prune moves of the policy
        engine = Engine(evaluator, params, spec.batch, seed, style=spec.play_style, threads=spec.threads)
        if game.size not in self._warm and (spec.seconds is not None or spec.time is not None):
            engine.warm_up(game.size)
            self._warm.add(game.size)
        engine.set_position(game)
        self._engines[id] = engine

    def choose(self, turns: Sequence[Turn]) -> list[Reply]:
        if self._in_batches and len(turns) > 1:
            self._evaluator.evaluate([turn.game for turn in turns])  # for the cache
        return [self._choose(turn) for turn in turns]

    def dead(self, id: int, game: Game) -> frozenset[int]:
        return frozenset(self._engines[id].count(game).dead)

    def end_game(self, id: int) -> None:
        if (found := self._engines.pop(id, None)) is not None:
            found.close()

    def close(self) -> None:
        for id in list(self._engines):
            self.end_game(id)

    def _choose(self, turn: Turn) -> Choice:
        started, engine = time.perf_counter(), self._engines[turn.id]
        engine.set_position(turn.game)
        result = engine.think(self._limits(turn.clock))
        self.evaluations += result.evaluations
        size = turn.game.size
        knows = engine.params_on(size).has_value(self._evaluator.on(size))
        comment = comment_of(result.to_play, result.winrate if knows else None, result.score, result.visits)
        return Choice(result.move, result.resign, comment, result.visits, time.perf_counter() - started)

    def _limits(self, clock: Clock | None) -> Limits:
        spec = self._spec
        visits = 1 if spec.kind == "policy" else spec.visits
        return Limits(visits=visits, seconds=spec.seconds, clock=clock).for_move()


class _Draws:
    """A random number in [0, 1) for each move of each game, a function of the game's seed and the move number alone."""

    def __init__(self) -> None:
        self._uniform: dict[int, NDArray[np.float64]] = {}

    def start(self, id: int, game: Game, seed: int) -> None:
        self._uniform[id] = np.random.default_rng(seed).random(4 * game.size**2)

    def of(self, turns: Sequence[Turn]) -> NDArray[np.float64]:
        drawn = (self._uniform[turn.id] for turn in turns)
        return np.array([row[turn.game.move_count % len(row)] for row, turn in zip(drawn, turns, strict=True)])

    def end(self, id: int) -> None:
        self._uniform.pop(id, None)


def _drawn_point(game: Game, policy: Probabilities, seed: int) -> int:
    """A legal point by its probability; pass where no point is legal."""
    legal = game.legal_points()
    if not legal:
        return game.pass_point
    weights = policy[legal].astype(np.float64) + 1e-12  # never all 0
    return int(np.random.default_rng(seed).choice(legal, p=weights / weights.sum()))
