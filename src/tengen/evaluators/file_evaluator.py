"""The base of the evaluators that run a network file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from tengen.checksums import check_seal
from tengen.data.planes import plane_set
from tengen.errors import NetworkError
from tengen.evaluators.evaluation import FURTHER, Evaluation, Floats, InputBatch, evaluation_from_outputs
from tengen.evaluators.evaluator import BatchEvaluator
from tengen.evaluators.network_file import read_card

INPUTS = ("planes", "scalars", "mask")
_RANKS = {"planes": 4, "scalars": 2, "mask": 3}
OUTPUTS = ("policy", "value", "score", "ownership", "policy_optimistic", *FURTHER)
"""The outputs that an evaluator reads; a network file needs the policy alone."""
GPU_SEARCH_BATCH = 32
"""`search_batch` of a graphics card, which takes little longer for 32 positions than for 8."""

Shape = Sequence[int | None]
"""Dimensions of an input or output; None is one that varies."""


class NetworkFileEvaluator(BatchEvaluator):
    """Evaluates with an .onnx network file whose card says the rest. Raises NetworkError for another file."""

    def __init__(self, path: str | Path, max_batch: int) -> None:
        self.path = Path(path)
        card = read_card(self.path)
        check_seal(self.path, NetworkError)
        self.name, self.plane_set, self.advice = card.name, card.plane_set, card.search
        self.katago_format, self.board_sizes = card.config.get("format", 0), tuple(card.board_sizes)
        self.outputs: list[str] = []
        self._max_batch = max_batch
        self._channels = self._scalars = 0

    def infer(self, batch: InputBatch) -> Evaluation:
        got = (batch.planes.shape[1], batch.scalars.shape[1])
        if got != (self._channels, self._scalars):
            raise NetworkError(
                f"network {self.name} takes {self._channels} planes and {self._scalars} scalars, got {got[0]} and "
                f"{got[1]}: encode with plane set {self.plane_set!r}"
            )
        if not len(batch):
            return Evaluation.zeros(
                0,
                batch.edge,
                score=self.has_score,
                ownership=self.has_ownership,
                further=[name for name in self.outputs if name in FURTHER],
            )
        starts = [0]
        while starts[-1] < len(batch):
            starts.append(starts[-1] + self._piece(len(batch) - starts[-1]))
        return Evaluation.joined([self._infer(batch[start:end]) for start, end in pairwise(starts)])

    def _piece(self, rows: int) -> int:
        """How many of the rows that are left the next call takes."""
        return min(rows, self._max_batch)

    @abstractmethod
    def _infer(self, batch: InputBatch) -> Evaluation:
        """Results of at least one row and at most `max_batch`."""

    def _evaluation(self, batch: InputBatch, outputs: Mapping[str, Floats]) -> Evaluation:
        """The results in the raw outputs of the network for these rows."""
        optimism = self.policy_optimism if batch.optimism is None else batch.optimism
        return evaluation_from_outputs(batch.mask, **outputs, optimism=optimism)

    def _describe(self, inputs: Mapping[str, Shape], outputs: Sequence[str]) -> None:
        """Check and keep what the network takes and gives."""
        if set(inputs) != set(INPUTS) or "policy" not in outputs:
            raise NetworkError(
                f"{self.path} has inputs {sorted(inputs)} and outputs {sorted(outputs)}; a network file of Tengen "
                f"takes planes, scalars and mask and gives policy, and may give {', '.join(OUTPUTS[1:])}"
            )
        if wrong := [f"{name} of rank {len(inputs[name])}" for name in INPUTS if len(inputs[name]) != _RANKS[name]]:
            raise NetworkError(
                f"{self.path} has {' and '.join(wrong)}; a network file of Tengen takes planes [B, C, H, W], scalars "
                "[B, S] and mask [B, H, W]"
            )
        self._channels, self._scalars = inputs["planes"][1] or 0, inputs["scalars"][1] or 0
        self._check_plane_set()
        self.only_size = inputs["planes"][3]
        self.outputs = [name for name in OUTPUTS if name in outputs]
        self.has_value, self.has_score, self.has_ownership = (
            name in outputs for name in ("value", "score", "ownership")
        )
        self.has_optimism = "policy_optimistic" in outputs

    def _check_plane_set(self) -> None:
        """Raise NetworkError where the plane set of the card has other numbers of planes and scalars."""
        try:
            known = plane_set(self.plane_set)
        except NetworkError:  # of a package that is not here, or that a program registers later
            return
        if (len(known.planes), len(known.scalars)) != (self._channels, self._scalars):
            raise NetworkError(
                f"{self.path} does not fit its card: it takes {self._channels} planes and {self._scalars} scalars, "
                f"plane set {known.name!r} of the card has {len(known.planes)} and {len(known.scalars)}"
            )

    def _describe_policy(self, shape: Sequence[int]) -> None:
        """Check the shape of the policy on a board of `_edge`, and keep whether it has a pass."""
        if len(shape) != 2:
            raise NetworkError(
                f"{self.path} has a policy of rank {len(shape)}; a network file of Tengen has one [B, A]"
            )
        self.has_pass = shape[1] > self._edge**2

    @property
    def _edge(self) -> int:
        """A board size that the network takes."""
        return self.only_size or 9

    def blank(self, rows: int, edge: int) -> InputBatch:
        """Positions of zeros, to try the network with."""
        planes = np.zeros((rows, self._channels, edge, edge), np.float32)
        scalars = np.zeros((rows, self._scalars), np.float32)
        return InputBatch(self.plane_set, planes, scalars, np.ones((rows, edge, edge), np.float32))


def bucket(rows: int) -> int:
    """The smallest power of two that holds `rows`."""
    return 1 << max(rows - 1, 0).bit_length()


def last_line(error: Exception) -> str:
    """The last line of a message of many lines, which says the most in those of OpenVINO and ONNX Runtime."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
