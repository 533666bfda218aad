"""The players of a match: random moves, a network with or without search, any GTP program."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from tengen import coords
from tengen.arena.gtp_client import GtpClient, ProgramError
from tengen.errors import RecipeError, TengenError
from tengen.game import COLOR_NAMES, Game

if TYPE_CHECKING:
    from tengen.engine import Engine
    from tengen.evaluators import Evaluator

Probabilities = NDArray[np.float32]
_GTP_COLORS = ("b", "w")


@dataclass(frozen=True)
class Choice:
    """What a player does at its turn; `comment` goes into the record of the game, `visits` count its search."""

    point: int
    resign: bool = False
    comment: str = ""
    visits: int = 0


class Player(Protocol):
    """Plays one game after the other; may raise ProgramError, which loses the game that it plays."""

    name: str

    def begin(self, game: Game, seed: int) -> None:
        """A new game: `game` has no moves yet and is not kept. Raises ProgramError when its conditions are refused."""

    def choose(self, game: Game) -> Choice:
        """A move for the side to move; `game` has all moves so far and is not changed."""

    def policy(self, game: Game) -> Probabilities | None:
        """Probabilities [size * size + 1] of an opening move; None from a player that has none to give."""

    def dead(self, game: Game) -> frozenset[int] | None:
        """The dead stones of a finished game as this player sees them; None when it cannot say."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class Strength:
    """How long a network thinks about a move: visits, or seconds when they are given.

    With `symmetries` it sees each position under a symmetry drawn by the seed of the game, so that its games differ.
    """

    visits: int = 400
    seconds: float | None = None
    symmetries: bool = False

    def __post_init__(self) -> None:
        if self.visits < 1:
            raise RecipeError(f"visits must be 1 or more, not {self.visits}")
        if self.seconds is not None and self.seconds <= 0:
            raise RecipeError(f"seconds must be above 0, not {self.seconds:g}")


def open_player(text: str, strength: Strength, move_seconds: float) -> Player:
    """The player that a word of the command line stands for.

    `random`; `gtp:COMMAND LINE`; `playouts` or `playouts:POLICY`, a search that needs no network; `policy:NETWORK`, the
    best move of a network without search; `raw:NETWORK`, its policy as it stands (RawPlayer); or a network's name or
    file, which searches. `move_seconds` is how long a GTP program may take for a move. Raises TengenError when there is
    no such player.
    """
    kind, colon, rest = text.partition(":")
    if text == "random":
        return RandomPlayer()
    if colon and kind == "gtp":
        return ProgramPlayer(rest, move_seconds)
    if kind == "playouts":
        return EnginePlayer("none", strength, rest or "local")
    if colon and kind == "policy":
        return EnginePlayer(rest, replace(strength, visits=1, seconds=None))
    if colon and kind == "raw":
        from tengen.evaluators import load_evaluator

        return RawPlayer(load_evaluator(rest, threads=1))
    return EnginePlayer(text, strength)


class RandomPlayer:
    """Any legal move that does not fill a single-point eye of its own; passes when there is none."""

    def __init__(self) -> None:
        self.name = "random"
        self._random = np.random.default_rng(0)

    def begin(self, game: Game, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def choose(self, game: Game) -> Choice:
        board = game.board
        points = [p for p in game.legal_points() if not fills_eye(board, p, game.to_play)]
        return Choice(int(self._random.choice(points)) if points else game.size**2)

    def policy(self, game: Game) -> None:
        return None

    def dead(self, game: Game) -> frozenset[int]:
        return frozenset()

    def close(self) -> None:
        pass


class EnginePlayer:
    """A network, or playouts, with the engine's search on one thread; it ends once no other move can overtake."""

    def __init__(self, network: str, strength: Strength, playouts: str | None = None) -> None:
        from tengen.engine import Limits, load_engine
        from tengen.engine.params import playout_params

        params = None if playouts is None else playout_params(playouts)
        self._engine: Engine = load_engine(network, threads=1, params=params)
        self._network = self._engine.evaluator if strength.symmetries else None
        visits = None if strength.seconds else strength.visits
        self._limits = Limits(visits=visits, seconds=strength.seconds, early_stop=True)
        self.name = f"{self._engine.name}, " + (f"{strength.seconds:g} s" if strength.seconds else f"{visits} visits")

    def begin(self, game: Game, seed: int) -> None:
        if self._network is not None:
            self._turn(self._network, seed)
        self._engine.set_position(game)

    def _turn(self, network: Evaluator, seed: int) -> None:
        from tengen.engine import Engine
        from tengen.evaluators import SymmetricEvaluator

        self._engine.close()
        self._engine = Engine(SymmetricEvaluator(network, "random", seed), self._engine.params, seed=seed)

    def choose(self, game: Game) -> Choice:
        self._engine.set_position(game)
        result = self._engine.think(self._limits)
        who = COLOR_NAMES[result.to_play]
        comment = f"{who} wins {result.winrate:.1%}, score {result.score:+.1f}, {result.visits} visits"
        return Choice(result.move, result.resign, comment, result.visits)

    def policy(self, game: Game) -> Probabilities | None:
        if not self._engine.params.asks_network:
            return None
        return policy_of(self._engine.evaluator, game)

    def dead(self, game: Game) -> frozenset[int]:
        return frozenset(self._engine.count(game).dead)

    def close(self) -> None:
        self._engine.close()


class RawPlayer:
    """The policy of a network and nothing else, as networks of self-play are measured.

    Its first move of a game is drawn from the policy over the legal points, all others are the likeliest legal point.
    It passes only where no point is legal, never resigns and knows no dead stones.
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._random = np.random.default_rng(0)
        self._begins = True
        self.name = f"{self._evaluator.name}, raw policy"

    def begin(self, game: Game, seed: int) -> None:
        from tengen.evaluators.protocol import require_size

        require_size(self._evaluator, game.size)
        self._random = np.random.default_rng(seed)
        self._begins = True

    def choose(self, game: Game) -> Choice:
        legal = game.legal_points()
        if not legal:
            return Choice(game.size**2)
        weights = self.policy(game)[legal].astype(np.float64) + 1e-12  # never all 0
        begins, self._begins = self._begins, False
        if begins:
            return Choice(int(self._random.choice(legal, p=weights / weights.sum())))
        return Choice(legal[int(weights.argmax())])

    def policy(self, game: Game) -> Probabilities:
        return policy_of(self._evaluator, game)

    def dead(self, game: Game) -> None:
        return None

    def close(self) -> None:
        pass


class ProgramPlayer:
    """A GTP program; it is told the moves of the opening and of its opponent one by one."""

    def __init__(self, command_line: str, move_seconds: float) -> None:
        self._client = GtpClient(command_line, startup_seconds=max(60.0, move_seconds))
        self._move_seconds = move_seconds
        self._told = 0
        level = re.search(r"--level[ =](\d+)", command_line)
        self.name = self._client.name + (f" level {level[1]}" if level else "")

    def begin(self, game: Game, seed: int) -> None:
        self._client.ask(f"boardsize {game.size}")
        self._client.ask("clear_board")
        self._client.ask(f"komi {game.komi:g}")
        if self._client.knows("set_random_seed"):
            self._client.ask(f"set_random_seed {seed % 2**31}")
        self._told = 0

    def choose(self, game: Game) -> Choice:
        self._tell(game)
        answer = self._client.ask(f"genmove {_GTP_COLORS[game.to_play]}", self._move_seconds).lower()
        if answer == "resign":
            return Choice(game.size**2, resign=True)
        try:
            point = coords.from_gtp(answer, game.size)
        except TengenError as error:
            raise self._nonsense(f"'{answer}' is no move") from error
        self._told += 1
        return Choice(point)

    def policy(self, game: Game) -> None:
        return None

    def dead(self, game: Game) -> frozenset[int] | None:
        if not self._client.knows("final_status_list"):
            return None
        self._tell(game)
        words = self._client.ask("final_status_list dead", self._move_seconds).split()
        try:
            return frozenset(coords.from_gtp(word, game.size) for word in words)
        except TengenError as error:
            raise self._nonsense(f"'{words}' are no points") from error

    def close(self) -> None:
        self._client.close()

    def _tell(self, game: Game) -> None:
        for color, point in game.moves[self._told :]:
            self._client.ask(f"play {_GTP_COLORS[color]} {coords.to_gtp(point, game.size)}")
            self._told += 1

    def _nonsense(self, detail: str) -> ProgramError:
        return ProgramError(self._client.command_line, "nonsense", detail, self._client.last_words)


def policy_of(evaluator: Evaluator, game: Game) -> Probabilities:
    """Probabilities [size * size + 1] of the next move, as an evaluator gives them."""
    from tengen.data.planes import encode_game

    planes, scalars, mask = encode_game(evaluator.plane_set, game)
    found: Probabilities = evaluator.evaluate(planes[None], scalars[None], mask[None]).policy[0]
    return found


def fills_eye(board: NDArray[np.int8], point: int, color: int) -> bool:
    """Whether all neighbours of an empty point are stones of this colour."""
    size = len(board)
    row, col = divmod(point, size)
    beside = [(row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)]
    return all(board[r, c] == color for r, c in beside if 0 <= r < size and 0 <= c < size)
