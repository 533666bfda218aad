"""A teacher that labels each batch while a student trains on it, on the student's device (`data.teacher.network`)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tengen.data.batch import Batch, Rows
from tengen.data.label_sampler import TargetMix
from tengen.data.planes import PlaneSet, plane_set
from tengen.data.sampler import Encoder, Target
from tengen.data.store import Store
from tengen.errors import RecipeError
from tengen.evaluators.network_file import Card, find_network, read_card
from tengen.evaluators.torch_graph import HALF, read_module
from tengen.networks import NetOutput
from tengen.networks.interface import expected_result
from tengen.training.batches import TensorBatch
from tengen.training.losses import WeightedLosses

PLANES, SCALARS = "teacher_planes", "teacher_scalars"


@dataclass(frozen=True)
class Teacher:
    """The file of a teacher and its card."""

    path: Path
    card: Card

    @classmethod
    def named(cls, name: str) -> Teacher:
        """An installed network or a network file, KataGo's too. Raises NetworkError where there is none."""
        path = find_network(name)
        return cls(path, read_card(path))

    def check_sizes(self, sizes: list[int]) -> None:
        """Raise RecipeError for games on boards that it does not know."""
        if unknown := sorted(set(sizes) - set(self.card.board_sizes)):
            raise RecipeError(
                f"data.teacher.network {self.card.name} knows boards of {self.card.board_sizes}, not of {unknown}, "
                "which are among the games"
            )

    def inputs(self, threads: int, any_rules: int | None) -> dict[str, Target]:
        """What a sampler adds to its batches: the same positions, seen with the same symmetry, in the teacher's plane
        set. The arguments are those of `Encoder`."""
        inputs = _Inputs(plane_set(self.card.plane_set), threads, any_rules)
        return {PLANES: inputs.planes, SCALARS: inputs.scalars}

    def losses(self, losses: WeightedLosses, mix: TargetMix, device: torch.device, *, compiled: bool) -> TaughtLosses:
        """The losses of a run with the teacher's findings for targets; it computes in half precision on a GPU."""
        module: Any = read_module(self.path, HALF if device.type == "cuda" else torch.float32).to(device).eval()
        return TaughtLosses(losses, torch.compile(module) if compiled else module, mix)


class _Inputs:
    """Planes and scalars of the positions of a batch, which are encoded once for both."""

    def __init__(self, planes: PlaneSet, threads: int, any_rules: int | None) -> None:
        self._plane_set, self._threads, self._any_rules = planes, threads, any_rules
        self._encoders: dict[tuple[Path, int], Encoder] = {}
        self._last = threading.local()  # several threads draw batches

    def planes(self, store: Store, rows: Rows, edge: int) -> npt.NDArray[np.float32]:
        return self._encoded(store, rows, edge).planes

    def scalars(self, store: Store, rows: Rows, edge: int) -> npt.NDArray[np.float32]:
        return self._encoded(store, rows, edge).scalars

    def _encoded(self, store: Store, rows: Rows, edge: int) -> Batch:
        if getattr(self._last, "rows", None) is not rows:
            encoder = self._encoders.get((store.path, edge))
            if encoder is None:
                encoder = Encoder(store, self._plane_set, edge, self._threads, any_rules=self._any_rules)
                self._encoders[store.path, edge] = encoder
            self._last.rows, self._last.batch = rows, encoder.encode(rows)
        found: Batch = self._last.batch
        return found


class TaughtLosses:
    """The losses of a run after the teacher's findings have been mixed into the targets of the batch."""

    def __init__(
        self, losses: WeightedLosses, teacher: Callable[[Tensor, Tensor, Tensor], Mapping[str, Tensor]], mix: TargetMix
    ) -> None:
        self._losses, self._teacher, self._mix = losses, teacher, mix
        self._taught: tuple[TensorBatch, TensorBatch] | None = None

    def __call__(self, output: NetOutput, batch: TensorBatch) -> tuple[Tensor, dict[str, Tensor]]:
        if self._taught is None or self._taught[0] is not batch:  # a batch in parts is asked for twice
            self._taught = batch, self.taught(batch)
        return self._losses(output, self._taught[1])

    @torch.no_grad()
    def taught(self, batch: TensorBatch) -> TensorBatch:
        """The batch with the targets that the mix says. Where the record does not tell, the teacher alone does."""
        mix, mask = self._mix, batch.mask
        found = self._teacher(batch.extra[PLANES], batch.extra[SCALARS], mask)
        # Policy: probabilities of the points of the board and of pass.
        logits = found["policy"].float()
        points = mask.flatten(1)
        if logits.shape[1] == points.shape[1]:
            logits = torch.cat([logits, torch.full_like(logits[:, :1], -torch.inf)], 1)
        on_board = torch.cat([points > 0, torch.ones_like(points[:, :1], dtype=torch.bool)], 1)
        policy = torch.softmax(logits.masked_fill(~on_board, -torch.inf) / mix.temperature, 1)
        if mix.policy < 1:
            known = (batch.policy >= 0).unsqueeze(1)
            played = torch.zeros_like(policy).scatter_(1, batch.policy.clamp(min=0).unsqueeze(1), 1.0)
            policy = torch.where(known, mix.policy * policy + (1 - mix.policy) * played, policy)
        targets: dict[str, Any] = {
            "target": policy,
            "value": batch.value,
            "score": batch.score,
            "ownership": batch.ownership,
        }
        # The others, as far as the teacher has them.
        findings = {
            "value": expected_result(found["value"]) if "value" in found else None,
            "score": found["score"].reshape(-1) if "score" in found else None,
            "ownership": found["ownership"].masked_fill(mask == 0, torch.nan) if "ownership" in found else None,
        }
        for name, finding in findings.items():
            share = getattr(mix, name)
            if finding is not None and share:
                recorded = targets[name]
                mixed = (1 - share) * recorded + share * finding.float()
                targets[name] = torch.where(recorded.isnan(), finding.float(), mixed)
        return batch._replace(**targets)
