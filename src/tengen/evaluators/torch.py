"""Evaluation with PyTorch: of networks in training, and of network files on a GPU. Needs the extra [train]."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Protocol

import onnx
import torch
from torch import Tensor, nn

from tengen.errors import NetworkError
from tengen.evaluators.evaluation import Evaluation, Floats, InputBatch, evaluation_from_outputs
from tengen.evaluators.evaluator import BatchEvaluator
from tengen.evaluators.file_evaluator import GPU_SEARCH_BATCH, NetworkFileEvaluator, last_line
from tengen.evaluators.network_file import load_onnx
from tengen.evaluators.torch_graph import HALF, graph_module
from tengen.machine import Precision


class Outputs(Protocol):
    """What a network returns, as `evaluation_from_outputs` reads it; None where it has no such head."""

    @property
    def policy(self) -> Tensor: ...
    @property
    def value(self) -> Tensor | None: ...
    @property
    def score(self) -> Tensor | None: ...
    @property
    def ownership(self) -> Tensor | None: ...


class TorchEvaluator(BatchEvaluator):
    """Runs a network module whose forward takes (planes, scalars, mask).

    `device` auto takes the GPU where there is one. With `precision` auto the module runs under bf16 autocast on a GPU
    and in f32 on the CPU, so that the results can serve as the reference of other backends. The module is moved to the
    device; it is put into eval mode for each evaluation and back into the mode that it had once none is under way.
    `has_pass`, `has_value`, `has_score` and `has_ownership` are known after the first evaluation.
    """

    def __init__(
        self,
        module: nn.Module,
        *,
        name: str,
        plane_set: str = "tengen",
        device: str = "auto",
        precision: Literal["auto", "bf16", "f32"] = "auto",
    ) -> None:
        self.name = name
        self.plane_set = plane_set
        self.only_size = getattr(module, "edge", None)
        self.device = torch.device(_default_device() if device == "auto" else device)
        self._half = precision == "bf16" or (precision == "auto" and self.device.type != "cpu")
        self._module = module.to(self.device)
        self._lock = threading.Lock()
        self._under_way = 0
        self._parts = list(self._module.modules())  # a walk through a small network takes a third of its evaluation
        self._in_training: list[nn.Module] = []  # the parts that were so before the evaluations under way

    @torch.inference_mode()
    def infer(self, batch: InputBatch) -> Evaluation:
        inputs = [torch.from_numpy(part).to(self.device) for part in batch.arrays]
        with self._eval_mode(), torch.autocast(self.device.type, torch.bfloat16, enabled=self._half):
            outputs: Outputs = self._module(*inputs)
        policy, value, score, ownership = map(
            _numbers, (outputs.policy, outputs.value, outputs.score, outputs.ownership)
        )
        assert policy is not None, "every network has a policy"
        self.has_pass = policy.shape[1] > batch.edge**2
        self.has_value, self.has_score = value is not None, score is not None
        self.has_ownership = ownership is not None
        return evaluation_from_outputs(batch.mask, policy, value, score, ownership)

    @contextmanager
    def _eval_mode(self) -> Iterator[None]:
        """The first of several threads sets the mode, the last one gives it back."""
        with self._lock:
            if not self._under_way:
                self._in_training = [part for part in self._parts if part.training]
                if self._in_training:
                    self._module.eval()
            self._under_way += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1
                if not self._under_way:
                    for part in self._in_training:
                        part.training = True


class TorchFileEvaluator(NetworkFileEvaluator):
    """Runs an .onnx network file with PyTorch: on the GPU in half precision, without one, or with `precision` f32, in
    float32.

    A batch is cut above `max_batch`. Raises NetworkError for a file that is no network or does not run.
    """

    def __init__(
        self, path: str | Path, *, device: str = "auto", precision: Precision = "auto", max_batch: int = 1024
    ) -> None:
        super().__init__(path, max_batch)
        model = load_onnx(self.path)
        weights = {one.name for one in model.graph.initializer}
        self._describe(
            {port.name: _shape(port) for port in model.graph.input if port.name not in weights},
            [port.name for port in model.graph.output],
        )
        self.device = torch.device(_default_device() if device == "auto" else device)
        if self.device.type != "cpu":
            self.search_batch = GPU_SEARCH_BATCH
        half = self.device.type != "cpu" and precision != "f32"
        module = graph_module(model, self.path, HALF if half else torch.float32)
        try:
            self._module = module.to(self.device)
        except RuntimeError as error:  # no memory, or a driver that fails
            raise NetworkError(f"{self.path} cannot be loaded on {self.device}: {last_line(error)}") from error
        self._describe_policy(self._run(self.blank(1, self._edge))["policy"].shape)

    def _infer(self, batch: InputBatch) -> Evaluation:
        return self._evaluation(batch, self._run(batch))

    @torch.inference_mode()
    def _run(self, batch: InputBatch) -> dict[str, Floats]:
        try:
            found = self._module(*(torch.from_numpy(part).to(self.device) for part in batch.arrays))
            return {name: found[name].cpu().numpy() for name in self.outputs}
        except Exception as error:  # of PyTorch, or of the graph on a board that it does not take
            raise NetworkError(f"{self.path} does not run on {batch.edge}x{batch.edge}: {last_line(error)}") from error


def _shape(port: onnx.ValueInfoProto) -> list[int | None]:
    return [one.dim_value or None for one in port.type.tensor_type.shape.dim]


def gpu_there() -> bool:
    """Whether PyTorch finds a GPU."""
    return torch.cuda.is_available()


def _numbers(output: Tensor | None) -> Floats | None:
    return None if output is None else output.float().cpu().numpy()


def _default_device() -> str:
    return "cuda" if gpu_there() else "cpu"
