"""From finished games to what a network learns from: the positions in which it moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
import torch
from torch import Tensor

from tengen import _native
from tengen.data.batch import Batch
from tengen.data.record import GameRecord
from tengen.engine.params import PassPolicy
from tengen.evaluators.evaluator import Evaluator
from tengen.game import EMPTY
from tengen.match.moves import Bools, allowed_moves


@dataclass(eq=False)  # not frozen: Lightning Fabric copies it to the device field by field
class Trajectories:
    """N positions of the player whose network learns, in the order of the plies and within one of the games.

    planes [N, C, H, W], scalars [N, S], mask [N, H, W]; `allowed` [N, A] are the moves it chose from and `move` [N] the
    one it made. `outcome` [N] is 1, 0 or -1, `score` [N] points (NaN if not counted), `ownership` [N, H, W] 1 own, -1
    the opponent's, 0 neutral (NaN unknown): the end of the game, for the player. `black` [N]: whether it had Black.
    """

    planes: Tensor
    scalars: Tensor
    mask: Tensor
    allowed: Tensor
    move: Tensor
    outcome: Tensor
    score: Tensor
    ownership: Tensor
    black: Tensor

    def __len__(self) -> int:
        return len(self.move)

    def rows(self, chosen: Tensor) -> Self:
        """The chosen positions, planes channels-last."""
        parts = {field.name: getattr(self, field.name)[chosen] for field in fields(self)}
        parts["planes"] = parts["planes"].contiguous(memory_format=torch.channels_last)
        return type(self)(**parts)

    def parts(self, size: int) -> Iterator[Self]:
        """All positions in their order, `size` at a time."""
        for first in range(0, len(self), size):
            yield self.rows(torch.arange(first, min(first + size, len(self))))


def trajectories(records: Sequence[GameRecord], evaluator: Evaluator, pass_policy: PassPolicy) -> Trajectories:
    """The positions of the player that had Black in the games of even number, encoded for its evaluator."""
    size = records[0].size
    total = sum((len(record.moves) + 1 - i % 2) // 2 for i, record in enumerate(records))
    inputs = evaluator.on(size).new_batch(total, size)
    games = [_native.Game(size, record.rules, record.komi or 0.0) for record in records]
    allowed: list[Bools] = []
    owners: list[int] = []
    moves: list[int] = []
    for ply in range(max(len(record.moves) for record in records)):
        playing = [i for i, record in enumerate(records) if ply < len(record.moves)]
        mine = [i for i in playing if i % 2 == ply % 2]
        for i in mine:
            inputs.encode(len(owners), games[i])
            owners.append(i)
        if mine:
            allowed.append(allowed_moves([games[i] for i in mine], pass_policy, "pass-alive"))
        for i in playing:
            point = int(records[i].points[ply])
            games[i].play(point)
            if i % 2 == ply % 2:
                moves.append(point)
    ends = _ends(records)
    game = np.array(owners, np.int64)
    return Trajectories(
        planes=torch.from_numpy(inputs.planes),
        scalars=torch.from_numpy(inputs.scalars),
        mask=torch.from_numpy(inputs.mask),
        allowed=torch.from_numpy(np.concatenate(allowed)),
        move=torch.tensor(moves),
        outcome=torch.from_numpy(ends.value[game]),
        score=torch.from_numpy(ends.score[game]),
        ownership=torch.from_numpy(ends.ownership[game]),
        black=torch.from_numpy(game % 2 == 0),
    )


def _ends(records: Sequence[GameRecord]) -> Batch:
    """Value, score and ownership of each game for player A; the other fields mean nothing."""
    size = records[0].size
    ends = Batch.empty(len(records), 0, 0, size)
    for i, record in enumerate(records):
        color = i % 2
        sign = 1 - 2 * color
        ends.value[i] = 0 if record.winner in (None, 2) else 1 if record.winner == color else -1
        ends.score[i] = np.nan if record.score is None else sign * record.score
        ends.ownership[i] = np.nan
        if record.ownership is not None:
            owner = record.ownership.reshape(size, size).astype(np.float32)
            ends.ownership[i] = np.where(owner == EMPTY, 0, sign * (1 - 2 * owner))
    return ends
