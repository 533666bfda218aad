"""A teacher that labels each batch while a student trains on it, on the student's device (`data.teacher.network`)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from tengen.coords import MIN_SIZE, policy_index
from tengen.data.batch import Batch, Rows
from tengen.data.encoder import Encoder, Target
from tengen.data.label_sampler import MIN_PROBABILITY, TargetMix
from tengen.data.planes import PlaneSet, plane_set
from tengen.data.record import symmetry_table
from tengen.data.store import Store
from tengen.errors import RecipeError
from tengen.evaluators.board_warnings import boards_not_learned
from tengen.evaluators.evaluator import sees_komi
from tengen.evaluators.installed_networks import find_network_of
from tengen.evaluators.network_file import Card, load_onnx, read_card
from tengen.evaluators.torch import TorchFileEvaluator
from tengen.evaluators.torch_graph import HALF, graph_module
from tengen.networks.interface import expected_result
from tengen.runs.places import AS_NAMED, LocalFiles
from tengen.training.batches import TensorBatch
from tengen.training.config import RunConfig, TeacherConfig

PLANES, SCALARS = "teacher_planes", "teacher_scalars"
STONES = ("own_stones", "opponent_stones"), ("own_0", "opponent_0")
"""The names that plane sets have for the stones on the board."""


@dataclass(frozen=True)
class Teacher:
    """The file of a teacher and its card."""

    path: Path
    card: Card

    @classmethod
    def named(cls, name: str) -> Teacher:
        """An installed network or a network file, KataGo's too. Raises NetworkError where there is none."""
        path = find_network_of("data.teacher.network", name)
        return cls(path, read_card(path))

    def check(self, sizes: list[int], vary_rules: bool) -> None:
        """Raise RecipeError for games on boards that it does not know, and for other rules and komi where it does not
        see them; NetworkError where PyTorch cannot run it."""
        if text := boards_not_learned(self.card.name, self.card.board_sizes, sizes):
            raise RecipeError(f"data.teacher.network {text}, which are among the games")
        evaluator = TorchFileEvaluator(self.path, device="cpu")
        if vary_rules and not sees_komi(evaluator, sizes[0]):
            raise RecipeError(
                f"data.teacher.network {self.card.name} does not see komi and rules, and would label games under "
                "others as its own: set data.vary_rules to false"
            )

    def inputs(self, threads: int, any_rules: int | None) -> dict[str, Target]:
        """What a sampler adds to its batches: the same positions, seen with the same symmetry, in the teacher's plane
        set. The arguments are those of `Encoder`."""
        inputs = _Inputs(plane_set(self.card.plane_set), threads, any_rules)
        return {PLANES: inputs.planes, SCALARS: inputs.scalars}

    def targets(self, mix: TargetMix, device: torch.device, *, compiled: bool) -> TeacherTargets:
        """What puts its findings into batches on a device, in half precision on a GPU."""
        dtype = HALF if device.type == "cuda" else torch.float32
        module: Any = graph_module(load_onnx(self.path), self.path, dtype).to(device).eval()
        planes = plane_set(self.card.plane_set).planes
        stones = next(([planes.index(name) for name in names] for names in STONES if set(names) <= set(planes)), [])
        return TeacherTargets(torch.compile(module) if compiled else module, mix, stones)


def teacher_of(run: RunConfig, local: LocalFiles = AS_NAMED) -> Teacher | None:
    """The teacher that labels the batches of a run while it trains; None where none does.

    Raises NetworkError where its file is missing.
    """
    teacher = run.data.teacher
    if teacher is None or teacher.network is None:
        return None
    return Teacher.named(local.name_or_path(teacher.network))


def target_mix(teacher: TeacherConfig) -> TargetMix:
    """The shares of a teacher's findings in the targets, as a recipe has them."""
    return TargetMix(**{each.name: getattr(teacher, each.name) for each in fields(TargetMix)})


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


class TeacherTargets:
    """Mixes what a teacher says of the positions of a batch into its targets; see TargetMix.

    As in the labels of a store, moves on stones and of a probability below MIN_PROBABILITY have none, whatever the
    temperature. `stones` are the teacher's planes of the stones. Other illegal moves keep their probability.
    """

    def __init__(
        self,
        teacher: Callable[[Tensor, Tensor, Tensor], Mapping[str, Tensor]],
        mix: TargetMix,
        stones: Sequence[int] = (),
    ) -> None:
        self._teacher, self._mix, self._stones = teacher, mix, list(stones)

    @torch.no_grad()
    def __call__(self, batch: TensorBatch) -> TensorBatch:
        """The batch with these targets. Where the record or the teacher does not say a value, the other one does.

        A position whose move is not learned, as that of an opponent, has no policy target.
        """
        mix, mask = self._mix, batch.mask
        found = self._teacher(batch.extra[PLANES], batch.extra[SCALARS], mask)
        # Policy: probabilities of the empty points of the board and of pass.
        stones = batch.extra[PLANES][:, self._stones].sum(1)
        logits, points = found["policy"].float(), ((mask > 0) & (stones == 0)).flatten(1)
        if logits.shape[1] == points.shape[1]:
            logits = torch.cat([logits, torch.full_like(logits[:, :1], -torch.inf)], 1)
        allowed = torch.cat([points, torch.ones_like(points[:, :1])], 1)
        taught = torch.softmax(logits.masked_fill(~allowed, -torch.inf), 1)
        taught = torch.where(taught < MIN_PROBABILITY, 0.0, taught) ** (1 / mix.temperature)
        taught = taught / taught.sum(1, keepdim=True)
        played = torch.zeros_like(taught).scatter_(1, batch.policy.clamp(min=0).unsqueeze(1), 1.0)
        policy = (mix.policy * taught + (1 - mix.policy) * played) * (batch.policy >= 0).unsqueeze(1)
        # The others, as far as the teacher has them.
        findings = {
            "value": expected_result(found["value"]) if "value" in found else None,
            "score": found["score"].reshape(-1) if "score" in found else None,
            "ownership": found["ownership"].masked_fill(mask == 0, torch.nan) if "ownership" in found else None,
        }
        targets: dict[str, Any] = {"target": policy}
        for name, finding in findings.items():
            share, recorded = getattr(mix, name), getattr(batch, name)
            if finding is not None and share:
                mixed = (1 - share) * recorded + share * finding
                mixed = torch.where(recorded.isnan(), finding, mixed)
                targets[name] = torch.where(finding.isnan(), recorded, mixed)
        return batch._replace(**targets)


class LabelBuffer:
    """Trains on each labelled position `uses` times on average, in a random symmetry each time: a label costs several
    steps of a small student. For every batch that `label` has labelled it returns one `uses` times as large, drawn from
    the newest `capacity` positions with replacement. `capacity` must hold a batch.

    Planes, policies and ownerships are kept in float16: 18 KB a position of 19x19 with 22 planes. A run that goes on
    begins with an empty buffer. Symmetries turn a board within its own square at the top left of the tensors. Further
    targets must be moves (MOVE_TARGETS).
    """

    def __init__(
        self,
        label: Callable[[TensorBatch], TensorBatch],
        uses: int,
        capacity: int,
        *,
        symmetries: bool = True,
        seed: int = 0,
    ) -> None:
        self._label, self._uses, self._capacity = label, uses, capacity
        self._symmetries, self._seed = symmetries, seed
        self._kept: dict[str, Tensor] = {}
        self._seen = 0
        self._draws: torch.Generator | None = None
        self._tables: tuple[Tensor, Tensor] | None = None

    @torch.no_grad()
    def __call__(self, batch: TensorBatch) -> TensorBatch:
        """Label a batch and keep it; draw a batch from all that is kept."""
        self._keep(self._label(batch))
        device, filled, count = batch.planes.device, min(self._seen, self._capacity), self._uses * len(batch.planes)
        if self._draws is None:
            self._draws = torch.Generator(device)
            self._draws.manual_seed(self._seed & (2**63 - 1))
        rows = torch.randint(filled, (count,), generator=self._draws, device=device)
        symmetry = torch.randint(8 if self._symmetries else 1, (count,), generator=self._draws, device=device)
        return self._turned({name: kept[rows] for name, kept in self._kept.items()}, symmetry)

    def _keep(self, batch: TensorBatch) -> None:
        """Put a labelled batch in the place of the oldest positions."""
        columns = {name: column for name, column in batch._asdict().items() if name != "extra" and column is not None}
        columns |= {name: column for name, column in batch.extra.items() if name not in (PLANES, SCALARS)}
        rows = torch.arange(self._seen, self._seen + len(batch.planes), device=batch.planes.device) % self._capacity
        for name, column in columns.items():
            short = column.is_floating_point() and column.ndim > 1 and name != "scalars"
            if name not in self._kept:
                dtype = torch.float16 if short else column.dtype
                self._kept[name] = torch.empty((self._capacity, *column.shape[1:]), dtype=dtype, device=column.device)
            self._kept[name][rows] = column.to(self._kept[name].dtype)
        self._seen += len(batch.planes)

    def _turned(self, columns: dict[str, Tensor], symmetry: Tensor) -> TensorBatch:
        """The batch of these columns as the symmetries [B] show it."""
        planes = columns["planes"]
        edge, device = planes.shape[-1], planes.device
        if self._tables is None:
            images = torch.from_numpy(_images(edge)).to(device)
            self._tables = images, images.argsort(-1)
        size = columns["mask"].float().sum((1, 2)).sqrt().round().long()
        image, source = (table[size, symmetry] for table in self._tables)  # [B, H * W + 1] each
        turned: dict[str, Tensor] = {}
        for name, column in columns.items():
            if column.dtype == torch.int64:  # moves, -1 where there is none
                there = image.gather(1, column.clamp(min=0)[:, None])[:, 0]
                turned[name] = torch.where(column < 0, column, there)
            elif column.ndim == 2 and name != "scalars":  # policies
                turned[name] = column.gather(1, source)
            elif column.ndim > 2:  # boards
                points = source[:, :-1].reshape(len(column), *[1] * (column.ndim - 3), -1)
                flat = column.flatten(-2)
                turned[name] = flat.gather(-1, points.expand_as(flat)).view_as(column)
            else:
                turned[name] = column
            if column.dtype == torch.float16:
                turned[name] = turned[name].float()
        if device.type == "cpu":
            turned["planes"] = turned["planes"].contiguous(memory_format=torch.channels_last)
        extra = {name: turned.pop(name) for name in list(turned) if name not in TensorBatch._fields}
        return TensorBatch(**turned, extra=extra)


def _images(edge: int) -> npt.NDArray[np.int64]:
    """Where each point goes on boards of all sizes up to `edge`, [edge + 1, 8, edge * edge + 1]: points of the tensors,
    then pass. What is off the board stays."""
    images = np.tile(np.arange(edge * edge + 1), (edge + 1, 8, 1))
    for size in range(MIN_SIZE, edge + 1):
        places = policy_index(np.arange(size * size + 1), size, edge)
        images[size][:, places] = places[symmetry_table(size)]
    return images
