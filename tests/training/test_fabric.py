"""The device and the precision of a training run."""

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from tengen.errors import RecipeError  # noqa: E402
from tengen.training.config import RunConfig  # noqa: E402
from tengen.training.fabric import make_fabric  # noqa: E402


@pytest.mark.parametrize(("native", "precision"), [(True, "bf16-mixed"), (False, "32-true")])
def test_half_precision_is_for_processors_that_have_it(
    run: RunConfig, monkeypatch: pytest.MonkeyPatch, native: bool, precision: str
) -> None:
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: native, raising=False)
    for asked, found in (("auto", precision), ("bf16", "bf16-mixed"), ("f32", "32-true")):
        config = run.training.model_copy(update={"precision": asked})
        assert make_fabric(config)._precision.precision == found


def test_a_graphics_card_that_is_not_there_is_an_error_in_words(
    run: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RecipeError, match=r"device is cuda.*auto or cpu"):
        make_fabric(run.training.model_copy(update={"device": "cuda"}))


def test_a_mac_trains_on_its_processor(run: RunConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Losses are added up in f64, which Apple's GPUs have not, and precision and threads are those of a processor."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr("lightning_fabric.accelerators.MPSAccelerator.is_available", lambda: True)
    config = run.training.model_copy(update={"device": "auto"})
    assert make_fabric(config).device.type == "cpu"
