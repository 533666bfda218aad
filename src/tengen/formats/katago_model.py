"""The layers of KataGo's networks, formats 3 to 17. Every class lists its fields in the order of the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]

OLDEST, NEWEST = 3, 17
"""The formats that are read."""
PLANE_SETS = {3: "katago-v3", 4: "katago-v3", 5: "katago-v4", 6: "katago-v5", 7: "katago-v6"} | {
    version: "katago-v7" for version in range(8, NEWEST + 1)
}
"""The inputs of each format."""
INPUT_SIZES = {
    "katago-v3": (22, 14),
    "katago-v4": (22, 14),
    "katago-v5": (13, 12),
    "katago-v6": (22, 16),
    "katago-v7": (22, 19),
}
"""Planes and scalars of each plane set."""
METADATA_INPUTS = 192
ACTIVATIONS = ("identity", "relu", "mish", "silu")
Kind = Literal["identity", "relu", "mish", "silu"]


@dataclass(frozen=True, eq=False)
class Convolution:
    """A convolution without bias, padded with zeros to the same size; weights [ky, kx, in, out], both k odd."""

    name: str
    weights: Floats


@dataclass(frozen=True, eq=False)
class BatchNorm:
    """Normalisation by fixed statistics: `(x - mean) / sqrt(variance + epsilon) * scale + bias`, all [channels]."""

    name: str
    epsilon: float
    mean: Floats
    variance: Floats
    scale: Floats | None
    bias: Floats | None

    def affine(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The factor and the summand [channels] that the layer amounts to."""
        factor = (1.0 if self.scale is None else self.scale.astype(np.float64)) / np.sqrt(
            self.variance.astype(np.float64) + self.epsilon
        )
        return factor, (0.0 if self.bias is None else self.bias) - factor * self.mean


@dataclass(frozen=True)
class Activation:
    """A function of each value. Before format 11 it is always ReLU and the file has only its name."""

    name: str
    kind: Kind


@dataclass(frozen=True, eq=False)
class Linear:
    """A matrix product without bias; weights [in, out]."""

    name: str
    weights: Floats


@dataclass(frozen=True, eq=False)
class Bias:
    """A summand [channels]."""

    name: str
    weights: Floats


@dataclass(frozen=True, eq=False)
class RmsNorm:
    """`x / sqrt(mean(x^2) + epsilon) * weights` over the channels of a point; weights [channels]."""

    name: str
    epsilon: float
    weights: Floats


@dataclass(frozen=True, eq=False)
class TipNorm:
    """The RMS norm at the end of a trunk, with scale and bias [channels].

    The mean is over the channels of a point, or with `spatial` over all channels and points of the board.
    """

    name: str
    epsilon: float
    spatial: bool
    scale: Floats
    bias: Floats


@dataclass(frozen=True, eq=False)
class OrdinaryBlock:
    """A residual block of two convolutions."""

    name: str
    norm1: BatchNorm
    activation1: Activation
    convolution1: Convolution
    norm2: BatchNorm
    activation2: Activation
    convolution2: Convolution


@dataclass(frozen=True, eq=False)
class PoolingBlock:
    """A residual block whose first convolution gets a bias from globally pooled channels."""

    name: str
    norm1: BatchNorm
    activation1: Activation
    convolution1: Convolution
    pooled_convolution: Convolution
    pooled_norm: BatchNorm
    pooled_activation: Activation
    pooled_to_bias: Linear
    norm2: BatchNorm
    activation2: Activation
    convolution2: Convolution


@dataclass(frozen=True, eq=False)
class NestedBlock:
    """A bottleneck: a convolution to fewer channels, blocks on these, and a convolution back."""

    name: str
    norm1: BatchNorm
    activation1: Activation
    convolution1: Convolution
    blocks: tuple[Block, ...]
    norm2: BatchNorm
    activation2: Activation
    convolution2: Convolution


@dataclass(frozen=True, eq=False)
class AttentionBlock:
    """Attention of all points of the board to each other.

    `heads` query heads share `key_heads` heads of keys and values. `query_size` and `value_size` are channels of a
    head. Rotary embedding of pairs of channels (2p, 2p + 1): by learned `frequencies` [key_heads, query_size / 2, 2],
    each for column and row; or by those that follow from `theta`; or none.
    """

    name: str
    heads: int
    key_heads: int
    query_size: int
    value_size: int
    norm: RmsNorm
    query: Linear
    key: Linear
    value: Linear
    output: Linear
    rope_name: str = ""
    frequencies: Floats | None = None
    theta: float | None = None

    @property
    def is_rotary(self) -> bool:
        """Whether queries and keys have a rotary embedding."""
        return self.frequencies is not None or self.theta is not None


@dataclass(frozen=True, eq=False)
class FeedForwardBlock:
    """Two matrix products with SiLU between them; with `gate`, that is multiplied by a third product (SwiGLU)."""

    name: str
    norm: RmsNorm
    linear1: Linear
    gate: Linear | None
    linear2: Linear


Block: TypeAlias = OrdinaryBlock | PoolingBlock | NestedBlock | AttentionBlock | FeedForwardBlock
BLOCK_KINDS: dict[str, type[Block]] = {
    "ordinary_block": OrdinaryBlock,
    "gpool_block": PoolingBlock,
    "nested_bottleneck_block": NestedBlock,
    "transformer_attention_block": AttentionBlock,
    "transformer_ffn_block": FeedForwardBlock,
}


@dataclass(frozen=True, eq=False)
class MetadataEncoder:
    """From a description of the players and the game [192] to a bias of the trunk."""

    name: str
    linear1: Linear
    bias1: Bias
    activation1: Activation
    linear2: Linear
    bias2: Bias
    activation2: Activation
    linear3: Linear


@dataclass(frozen=True, eq=False)
class Trunk:
    """Everything before the heads. `sizes` are the numbers of channels in the header: trunk, mid, regular, dilated and
    pooled; only the first is of use."""

    name: str
    sizes: tuple[int, int, int, int, int]
    convolution: Convolution
    linear: Linear
    metadata: MetadataEncoder | None
    blocks: tuple[Block, ...]
    norm: BatchNorm | TipNorm
    activation: Activation

    @property
    def channels(self) -> int:
        """Channels of the residual stream."""
        return self.sizes[0]


@dataclass(frozen=True, eq=False)
class PolicyHead:
    """Policy logits: `outputs` 1 (policy), 2 (and the optimistic policy) or 4 (and two predictions of Q)."""

    name: str
    outputs: int
    convolution: Convolution
    pooled_convolution: Convolution
    pooled_norm: BatchNorm
    pooled_activation: Activation
    pooled_to_bias: Linear
    norm: BatchNorm
    activation: Activation
    last_convolution: Convolution
    pass_linear: Linear
    pass_bias: Bias | None
    pass_activation: Activation | None
    pass_linear2: Linear | None


@dataclass(frozen=True, eq=False)
class ValueHead:
    """Win, loss and no result; the numbers about score, time and errors; ownership."""

    name: str
    convolution: Convolution
    norm: BatchNorm
    activation: Activation
    linear1: Linear
    bias1: Bias
    activation1: Activation
    value: Linear
    value_bias: Bias
    numbers: Linear
    numbers_bias: Bias
    ownership: Convolution


@dataclass(frozen=True)
class Multipliers:
    """Factors of the outputs; before format 13 those below."""

    td_score: float = 20.0
    score_mean: float = 20.0
    score_stdev: float = 20.0
    lead: float = 20.0
    variance_time: float = 40.0
    value_error: float = 0.25
    score_error: float = 30.0


@dataclass(frozen=True, eq=False)
class KataGoModel:
    """A network file of KataGo."""

    name: str
    version: int
    planes: int
    scalars: int
    multipliers: Multipliers
    pass_alive_under_suicide: bool
    """The planes of pass-alive area are those of rules that allow suicide."""
    trunk: Trunk
    policy: PolicyHead
    value: ValueHead

    @property
    def plane_set(self) -> str:
        """The plane set that the network reads."""
        return PLANE_SETS[self.version] + ("-suicide" if self.pass_alive_under_suicide else "")

    @property
    def parameters(self) -> int:
        """The number of weights."""
        return sum(array.size for array in _arrays(self))


def score_outputs(version: int) -> int:
    """How many numbers about score, time and errors a network of this format predicts."""
    return 6 if version >= 9 else 4 if version == 8 else 2 if version >= 4 else 1


def _arrays(part: Any) -> Iterator[NDArray[Any]]:
    """All weights of a layer and of those within it."""
    if isinstance(part, np.ndarray):
        yield part
    elif isinstance(part, tuple):
        for one in part:
            yield from _arrays(one)
    elif hasattr(part, "__dataclass_fields__"):
        for name in part.__dataclass_fields__:
            yield from _arrays(getattr(part, name))
