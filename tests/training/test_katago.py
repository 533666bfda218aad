"""A network trained on KataGo's planes, as KataGo's file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from tengen.evaluators import load_evaluator  # noqa: E402
from tengen.evaluators.export import export_network  # noqa: E402
from tengen.formats.katago_reader import read_katago  # noqa: E402
from tengen.game import Game  # noqa: E402
from tengen.networks.constant_inputs import fold_width  # noqa: E402
from tengen.networks.registry import build, parse_config  # noqa: E402
from tengen.training.config import RunConfig  # noqa: E402
from tengen.training.supervised import train  # noqa: E402


def test_trained_and_exported(settings: dict[str, Any], tmp_path: Path) -> None:
    settings["network"] |= {"plane_set": "katago-v7", "head": "katago"}
    settings["training"] |= {"steps": 6, "validate_every": 6}
    train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    network = next((tmp_path / "run").rglob("*.onnx"))
    exported = export_network(network, "katago", tmp_path / "net.bin.gz")
    # Trained on 7x7 alone, it must not depend on the width of the board.
    linear = read_katago(exported).value.linear1.weights
    assert linear[: len(linear) // 3].any() and not linear[len(linear) // 3 :].any()
    games = [Game(7, "japanese", 6.5).play("D4").play("E5"), Game(7, "japanese", 0.5)]
    ours, theirs = (load_evaluator(path, precision="f32").evaluate(games) for path in (network, exported))
    assert theirs.policy == pytest.approx(ours.policy, abs=1e-5)
    assert theirs.value == pytest.approx(ours.value, abs=1e-5)
    assert np.ptp(ours.policy[0]) > 0


def test_folding_the_width_keeps_the_outputs_at_that_width() -> None:
    torch.manual_seed(0)
    module = build(parse_config({"family": "residual", "size": "b1c8", "head": "katago"}), 22, 19).eval()
    inputs = torch.rand(2, 22, 9, 9), torch.rand(2, 19), torch.ones(2, 9, 9)
    with torch.no_grad():
        before = module(*inputs)
        fold_width(module, 9)
        after = module(*inputs)
    assert torch.allclose(before.value, after.value, atol=1e-5) and torch.allclose(
        before.policy, after.policy, atol=1e-5
    )
