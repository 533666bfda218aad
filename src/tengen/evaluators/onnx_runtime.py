"""Evaluation of a network file with ONNX Runtime: on graphics cards and Apple's processors, or on any CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from tengen.errors import NetworkError
from tengen.evaluators.evaluation import Evaluation, Floats, InputBatch
from tengen.evaluators.file_evaluator import GPU_SEARCH_BATCH, INPUTS, NetworkFileEvaluator, bucket, last_line
from tengen.machine import core_count, cpu_quota

CPU = "CPUExecutionProvider"


class OnnxRuntimeEvaluator(NetworkFileEvaluator):
    """Runs an .onnx network file with an execution provider of the installed ONNX Runtime.

    `provider` is a name such as `CUDAExecutionProvider`; what it lacks runs on the CPU. `threads` 0 uses all cores. A
    batch is padded to the next power of two, except on the CPU, and cut above `max_batch`. Raises NetworkError for a
    file that is no network, and for a provider that is not there or does not find its device or driver.
    """

    def __init__(self, path: str | Path, *, provider: str = CPU, threads: int = 0, max_batch: int = 1024) -> None:
        super().__init__(path, max_batch)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or (core_count() if cpu_quota() else 0)  # 0: by the affinity alone
        options.log_severity_level = 3  # errors alone
        try:
            wanted = list(dict.fromkeys([provider, CPU]))
            self._session: Any = onnxruntime.InferenceSession(self.path, options, wanted)
        except Exception as error:  # its classes share no base of their own
            raise NetworkError(f"{self.path} cannot be read as an ONNX network: {last_line(error)}") from error
        self.provider: str = self._session.get_providers()[0]
        if self.provider != provider:
            raise NetworkError(f"ONNX Runtime cannot use its {provider} here: its device or driver is missing")
        if provider != CPU:
            self.search_batch = GPU_SEARCH_BATCH
        self._describe(
            {port.name: [n if isinstance(n, int) else None for n in port.shape] for port in self._session.get_inputs()},
            [port.name for port in self._session.get_outputs()],
        )
        self._describe_policy(self._run(self.blank(1, self._edge))["policy"].shape)

    def _infer(self, batch: InputBatch) -> Evaluation:
        return self._evaluation(batch, self._run(batch))

    def _run(self, batch: InputBatch) -> dict[str, Floats]:
        rows = len(batch)
        padding = 0 if self.provider == CPU else bucket(rows) - rows
        feeds = dict(zip(INPUTS, batch.arrays, strict=True))
        if padding:  # the rest of the bucket repeats row 0, so that all values stay finite
            feeds = {name: np.concatenate([part, part[[0] * padding]]) for name, part in feeds.items()}
        try:
            found = self._session.run(self.outputs, feeds)
        except Exception as error:
            raise NetworkError(f"{self.path} does not run on {batch.edge}x{batch.edge}: {last_line(error)}") from error
        return {name: part[:rows] for name, part in zip(self.outputs, found, strict=True)}
