"""A module in training is evaluated in eval mode and goes on training, whoever else evaluates it."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tengen.evaluators import InputBatch
from tengen.evaluators.torch import TorchEvaluator

INPUTS = InputBatch(
    "tengen", np.ones((1, 27, 5, 5), np.float32), np.ones((1, 9), np.float32), np.ones((1, 5, 5), np.float32)
)


class Waiting(nn.Module):
    """Call number i stays inside until `leave[i]` is set, then notes the mode."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.entered = [threading.Event(), threading.Event()]
        self.leave = [threading.Event(), threading.Event()]
        self.modes: list[bool] = []

    def forward(self, planes: Tensor, scalars: Tensor, mask: Tensor) -> SimpleNamespace:
        call, self.calls = self.calls, self.calls + 1
        self.entered[call].set()
        assert self.leave[call].wait(10)
        self.modes.append(self.training)
        return SimpleNamespace(
            policy=torch.zeros(1, 26), value=torch.zeros(1, 3), score=torch.zeros(1), ownership=torch.zeros(1, 5, 5)
        )


def test_two_threads_leave_the_mode_as_it_was() -> None:
    module = Waiting().train()
    evaluator = TorchEvaluator(module, name="waiting", device="cpu")
    threads = []
    for call in (0, 1):
        threads.append(threading.Thread(target=evaluator.infer, args=(INPUTS,)))
        threads[call].start()
        assert module.entered[call].wait(10)
    for call in (0, 1):
        module.leave[call].set()
        threads[call].join(10)
    assert module.modes == [False, False]
    assert module.training


def test_a_part_that_was_frozen_stays_so() -> None:
    """As batch normalization that keeps its statistics while the rest is trained."""

    class Frozen(Waiting):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.BatchNorm2d(27).eval(), nn.Dropout()
            self.leave[0].set()

    module = Frozen()
    TorchEvaluator(module, name="frozen", device="cpu").infer(INPUTS)
    assert module.modes == [False]
    assert (module.training, module.first.training, module.second.training) == (True, False, True)


def test_an_error_leaves_the_mode_as_it_was() -> None:
    class Failing(nn.Module):
        def forward(self, *_: Tensor) -> None:
            raise MemoryError

    module = Failing().train()
    with pytest.raises(MemoryError):
        TorchEvaluator(module, name="failing", device="cpu").infer(INPUTS)
    assert module.training
