"""Masked pooling and standardised convolutions, against plain numpy and by hand."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need the extra [train]")

from tengen.networks.blocks import BoardMask, NestedBlock, ResidualBlock, ScaledConv2d  # noqa: E402


def board_mask(edge: int, *sizes: int) -> torch.Tensor:
    mask = torch.zeros(len(sizes), edge, edge)
    for row, size in enumerate(sizes):
        mask[row, :size, :size] = 1
    return mask


def test_pool_is_mean_scaled_mean_and_maximum_over_the_board() -> None:
    mask = board_mask(9, 9, 5)
    x = torch.randn(2, 3, 9, 9) * mask[:, None] - 2 * mask[:, None]
    pooled = BoardMask.of(mask).pool(x).numpy()
    for row, size in enumerate((9, 5)):
        cells = x[row, :, :size, :size].numpy().reshape(3, -1)
        mean = cells.mean(1)
        expected = np.concatenate([mean, mean * (size - 14) / 10, cells.max(1)])
        np.testing.assert_allclose(pooled[row], expected, rtol=1e-5, atol=1e-5)


def test_a_full_tensor_needs_no_mask_and_gives_the_same() -> None:
    mask, x = board_mask(7, 7, 7), torch.randn(2, 4, 7, 7)
    full = BoardMask.of(mask)
    masked = BoardMask(mask.unsqueeze(1), full.area, full.edge)
    assert full.cells is None
    torch.testing.assert_close(full.pool(x), masked.pool(x))
    torch.testing.assert_close(full.clip(x), masked.clip(x))


def test_filters_are_standardised_whatever_the_weights() -> None:
    conv = ScaledConv2d(6, 5, 3)
    before = conv.effective_weight().detach()
    np.testing.assert_allclose(before.mean((1, 2, 3)).numpy(), 0, atol=1e-6)
    norms = before.flatten(1).norm(dim=1)
    np.testing.assert_allclose(norms.numpy(), norms[0].item(), rtol=1e-2)
    with torch.no_grad():
        conv.weight.mul_(7).add_(3)
    torch.testing.assert_close(conv.effective_weight().detach(), before, rtol=1e-2, atol=1e-3)


def test_signal_keeps_its_size_through_layers() -> None:
    torch.manual_seed(0)
    x = torch.randn(8, 32, 9, 9)
    for _ in range(6):
        x = ScaledConv2d(32, 32, 3)(torch.relu(x))
    assert 0.4 < x[:, :, 3:6, 3:6].std().item() < 2.5


def test_plain_convolution_computes_the_same() -> None:
    conv = ScaledConv2d(4, 6, 5, gain=0.3)
    with torch.no_grad():
        conv.bias.uniform_()
    x = torch.randn(2, 4, 7, 7)
    torch.testing.assert_close(conv.plain()(x), conv(x))


@pytest.mark.parametrize("kind", [ResidualBlock, NestedBlock])
@pytest.mark.parametrize("pooled", [0, 8])
def test_block_ignores_what_lies_off_the_board(kind: type[ResidualBlock] | type[NestedBlock], pooled: int) -> None:
    block = kind(16, "relu", 0.5, pooled)
    mask = board_mask(9, 6)
    x = torch.randn(1, 16, 9, 9)
    dirty = x + 100 * (1 - mask)
    clean = block(x, BoardMask.of(mask))[..., :6, :6]
    torch.testing.assert_close(block(dirty, BoardMask.of(mask))[..., :6, :6], clean)
    small = block(x[..., :6, :6], BoardMask.of(board_mask(6, 6)))
    torch.testing.assert_close(small, clean, rtol=1e-4, atol=1e-5)
