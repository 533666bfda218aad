"""Labels for training: what a teacher, a network or a search, says of positions of a game store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tengen.data.encoder import RULE_SETS, komi_shift
from tengen.data.label_sampler import MIN_PROBABILITY
from tengen.data.record import UNKNOWN_KOMI, GameRecord, is_opponents, pack_shares
from tengen.data.seeds import derive
from tengen.data.shuffle import Shuffle
from tengen.engine.limits import Limits
from tengen.engine.queue import SearchQueue
from tengen.engine.result import SearchResult
from tengen.errors import IllegalMove, NetworkError
from tengen.evaluators.evaluation import Evaluation
from tengen.evaluators.evaluator import Evaluator, sees_komi
from tengen.evaluators.symmetric import SymmetricEvaluator
from tengen.game import Game

if TYPE_CHECKING:
    from tengen.data.store import Store

_GAMES_A_SAVE = 64
_UNIT = 65535
_PURPOSE = 0x1ABE1


@dataclass(frozen=True)
class LabelPlan:
    """Which positions are labelled, and how. The positions of a game follow from its hash and `seed` alone.

    Args:
        per_game: Positions of a game, one from each of as many equal parts; all of a shorter game.
        visits: Visits of the teacher's search; 1 takes the network's own outputs.
        vary_rules: Put half of the games under other rules, and half under another komi. Their results are then
            unknown, and the labels alone teach a value.
        seed: Decides games, positions and rules.
        average_symmetries: Take the mean of the teacher's outputs under the board's eight symmetries.
    """

    per_game: int = 8
    visits: int = 1
    vary_rules: bool = True
    seed: int = 0
    average_symmetries: bool = False


def games_between_saves(plan: LabelPlan, batch: int) -> int:
    """Games that are labelled before they are saved, and before Ctrl-C is obeyed: fewer the more visits they take, but
    as many as have `batch` positions to search side by side."""
    return min(_GAMES_A_SAVE, max(_GAMES_A_SAVE // plan.visits, -(-batch // plan.per_game)))


def check_teacher(name: str, evaluator: Evaluator, sizes: list[int], plan: LabelPlan) -> None:
    """Raise NetworkError where the teacher does not know a board size, or lacks what the plan needs."""
    for size in sizes:
        if not evaluator.on(size).has_value and plan.visits > 1:
            raise NetworkError(f"{name} has no value, which a search needs: label with --visits 1")
    if plan.vary_rules and sizes and not sees_komi(evaluator, sizes[0]):
        raise NetworkError(
            f"{name} does not see komi and rules, and would label games under others as its own: "
            "label with --no-vary-rules"
        )


@dataclass(frozen=True, eq=False)
class _Label:
    """The label of a position, for the side to move: moves and their probabilities, value -1..1, score, ownership."""

    points: NDArray[np.int64]
    policy: NDArray[np.float64]
    value: float
    score: float
    ownership: NDArray[np.float32] | None


class Labeller:
    """Labels the games of stores in an order that the plan's seed decides.

    `batch` positions are evaluated at once, or searched side by side.
    """

    def __init__(self, stores: Sequence[Store], teacher: Evaluator, plan: LabelPlan, *, batch: int = 64) -> None:
        self.plan = plan
        self._stores, self._batch = stores, batch
        self._teacher = (
            teacher.wrapped(partial(SymmetricEvaluator, mode="average")) if plan.average_symmetries else teacher
        )
        self._starts = np.cumsum([0, *map(len, stores)])
        self._order = Shuffle(int(self._starts[-1]), plan.seed)

    def __len__(self) -> int:
        """Games to label."""
        return int(self._starts[-1])

    def label(self, first: int, count: int) -> list[GameRecord]:
        """The games from place `first` of the order on, with labels. The same for any division into calls."""
        places = range(first, min(first + count, len(self)))
        chosen = [self._positions(self._record(place)) for place in places]
        games = [game for _, positions in chosen for game in positions.values()]
        labels = iter(self._evaluated(games) if self.plan.visits == 1 else self._searched(games))
        return [_with_labels(record, {ply: next(labels) for ply in positions}) for record, positions in chosen]

    def _record(self, place: int) -> GameRecord:
        number = int(self._order(np.array([place]))[0])
        store = int(np.searchsorted(self._starts, number, side="right")) - 1
        record = self._stores[store].row(number - int(self._starts[store]))
        # A label holds for one komi: where it is unknown, for the one that the student's inputs will have.
        return replace(record, komi=UNKNOWN_KOMI) if record.komi is None else record

    def _positions(self, record: GameRecord) -> tuple[GameRecord, dict[int, Game]]:
        """The record under the rules of its labels, and the chosen positions by their plies."""
        random = np.random.default_rng(derive(self.plan.seed, _PURPOSE, record.hash))
        learned = np.flatnonzero(~is_opponents(record.moves, -1 if record.player is None else record.player))
        parts = min(self.plan.per_game, len(learned))
        edges = np.linspace(0, len(learned), parts + 1).astype(int)
        plies = [int(learned[random.integers(low, high)]) for low, high in pairwise(edges)]
        varied = _varied(record, random) if self.plan.vary_rules else record
        try:
            return varied, _replay(varied, plies)
        except IllegalMove:  # under the other rules
            return record, _replay(record, plies)

    def _evaluated(self, positions: Sequence[Game]) -> Iterator[_Label]:
        for start in range(0, len(positions), self._batch):
            games = positions[start : start + self._batch]
            found = self._teacher.evaluate(games)
            for row, game in enumerate(games):
                label = _of_evaluation(found, row, game.size)
                has_value = self._teacher.on(game.size).has_value
                yield label if has_value else replace(label, value=float("nan"))

    def _searched(self, positions: Sequence[Game]) -> Iterator[_Label]:
        limits = Limits(visits=self.plan.visits)
        with SearchQueue(self._teacher, at_once=self._batch, seed=self.plan.seed) as queue:
            for task in [queue.start(game, limits) for game in positions]:
                yield _of_search(task.wait())


def _varied(record: GameRecord, random: np.random.Generator) -> GameRecord:
    """The record under other rules or another komi, without the result that no longer holds."""
    rules, komi = record.rules, record.komi
    assert komi is not None
    if random.random() < 0.5:
        rules = RULE_SETS[int(random.integers(len(RULE_SETS)))]
    shift = float(komi_shift(random.random(1))[0])
    if rules == record.rules and not shift:
        return record
    komi += shift
    return replace(record, rules=rules, komi=komi, winner=None, score=None, ending="unknown", ownership=None)


def _replay(record: GameRecord, plies: Sequence[int]) -> dict[int, Game]:
    """The positions before these plies but those where a side moves twice. Raises IllegalMove for an illegal move."""
    game, found, last = record.game(0), {}, max(plies, default=0)
    for ply, (point, color) in enumerate(zip(record.points.tolist(), record.colors.tolist(), strict=True)):
        if ply in plies and color == game.to_play:
            found[ply] = game.copy()
        if ply == last:
            break
        game.play(point, color=color)
    return found


def _of_evaluation(found: Evaluation, row: int, size: int) -> _Label:
    policy = found.policy[row].astype(np.float64)
    edge = round((len(policy) - 1) ** 0.5)
    board = policy[:-1].reshape(edge, edge)[:size, :size].ravel()
    policy = np.append(board, policy[-1])
    return _Label(
        points=np.arange(size * size + 1),
        policy=policy,
        value=float(found.value[row]),
        score=float("nan") if found.score is None else float(found.score[row]),
        ownership=None if found.ownership is None else found.ownership[row][:size, :size].ravel(),
    )


def _of_search(found: SearchResult) -> _Label:
    visits = np.array([move.visits for move in found.candidates], np.float64)
    return _Label(
        points=np.array([move.point for move in found.candidates], np.int64),
        policy=visits / visits.sum(),
        value=2 * found.winrate - 1,
        score=float("nan") if found.score is None else found.score,
        ownership=None if found.ownership is None else np.asarray(found.ownership, np.float32).ravel(),
    )


def _with_labels(record: GameRecord, labels: dict[int, _Label]) -> GameRecord:
    """The record with its labels in the columns of self-play's searches."""
    moves = len(record.moves)
    visits = [np.empty(0, np.uint32)] * moves
    values, scores = (np.full(moves, np.nan, np.float32) for _ in range(2))
    ownership = [b""] * moves
    for ply, label in labels.items():
        kept = label.policy >= MIN_PROBABILITY
        share = label.policy[kept] / label.policy[kept].sum()
        count = np.maximum(1, np.round(_UNIT * share)).astype(np.uint32)
        visits[ply] = label.points[kept].astype(np.uint32) | count << 16
        values[ply], scores[ply] = label.value, label.score
        ownership[ply] = b"" if label.ownership is None else pack_shares(label.ownership)
    return replace(
        record,
        visits=tuple(visits),
        root_values=values,
        surprises=None,
        root_scores=scores,
        root_ownership=tuple(ownership),
    )
