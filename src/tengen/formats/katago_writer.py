"""KataGo's network file: its writer, and the networks of the family `residual` as such a file.

A network whose heads are those of KataGo (`head: katago`) and that was trained on the plane set `katago-v7` computes
the same in KataGo. Biases of convolutions, which KataGo lacks, go into the batch norm that follows; those of the
residual stream are added up for the next one; that of the first convolution is a weight of the plane `on_board`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import IO, Any

import numpy as np
import onnx
from numpy.typing import NDArray

from tengen.errors import NetworkError
from tengen.formats.katago_model import (
    BLOCK_KINDS,
    INPUT_SIZES,
    PLANE_SETS,
    Activation,
    AttentionBlock,
    BatchNorm,
    Bias,
    Block,
    Convolution,
    FeedForwardBlock,
    KataGoModel,
    Kind,
    Linear,
    Multipliers,
    NestedBlock,
    OrdinaryBlock,
    PolicyHead,
    PoolingBlock,
    RmsNorm,
    TipNorm,
    Trunk,
    ValueHead,
)
from tengen.formats.network_weights import require, stored_weights

FORMAT = 15
"""The format that exported networks get."""
PLANE_SET = PLANE_SETS[FORMAT]
_NEUTRAL = float(np.log(np.expm1(0.5)))
"""What softplus makes 0.5, for numbers that a network of ours does not predict."""


def write_katago(model: KataGoModel, file: IO[bytes]) -> None:
    """Write the network with binary weights, as `.bin` files have them."""
    _Writer(model.version, file).model(model)


class _Writer:
    """Writes the parts in the order of the file."""

    def __init__(self, version: int, file: IO[bytes]) -> None:
        self._version, self._file = version, file

    def model(self, model: KataGoModel) -> None:
        self._tokens(model.name, model.version, model.planes, model.scalars)
        if self._version >= 13:
            self._tokens(*vars(model.multipliers).values())
        if self._version >= 15:
            self._tokens(int(model.trunk.metadata is not None), int(model.pass_alive_under_suicide), *[0] * 6)
        trunk = model.trunk
        self._tokens(trunk.name, len(trunk.blocks), *trunk.sizes)
        if self._version >= 15:
            self._tokens(int(isinstance(trunk.norm, TipNorm)), *[0] * 5)
        self._parts(trunk.convolution, trunk.linear)
        if trunk.metadata is not None:
            self._tokens(trunk.metadata.name, trunk.metadata.linear1.weights.shape[0])
            self._parts(*list(vars(trunk.metadata).values())[1:])
        self._blocks(trunk.blocks)
        self._parts(trunk.norm, trunk.activation)
        policy = model.policy
        self._tokens(policy.name)
        if self._version >= 17:
            self._tokens(policy.outputs, 0, 0, 0)
        self._parts(*list(vars(policy).values())[2:])
        self._tokens(model.value.name)
        if self._version >= 17:
            self._tokens(0, 0, 0)
        self._parts(*list(vars(model.value).values())[1:])

    def _blocks(self, blocks: tuple[Block, ...]) -> None:
        kinds = {block: kind for kind, block in BLOCK_KINDS.items()}
        for block in blocks:
            self._tokens(kinds[type(block)], block.name)
            match block:
                case NestedBlock():
                    self._tokens(len(block.blocks))
                    self._parts(block.norm1, block.activation1, block.convolution1)
                    self._blocks(block.blocks)
                    self._parts(block.norm2, block.activation2, block.convolution2)
                case AttentionBlock():
                    learned, rope = block.frequencies, block.is_rotary
                    self._tokens(block.heads, block.key_heads, block.query_size, block.value_size)
                    self._tokens(int(rope), int(learned is not None))
                    self._parts(block.norm, block.query, block.key, block.value, block.output)
                    if learned is not None:
                        self._tokens(block.rope_name, *learned.shape)
                        self._floats(learned)
                    elif rope:
                        self._tokens(block.rope_name, block.theta)
                case FeedForwardBlock():
                    self._tokens(*block.linear1.weights.shape, int(block.gate is not None))
                    self._parts(block.norm, block.linear1, block.gate, block.linear2)
                case OrdinaryBlock() | PoolingBlock():
                    self._parts(*list(vars(block).values())[1:])

    def _parts(self, *parts: Any) -> None:
        """Layers; None is a layer that is not there."""
        for part in parts:
            match part:
                case Convolution():
                    self._tokens(part.name, *part.weights.shape, 1, 1)
                    self._floats(part.weights)
                case BatchNorm():
                    has = (part.scale is not None, part.bias is not None)
                    self._tokens(part.name, len(part.mean), part.epsilon, *map(int, has))
                    self._floats(part.mean, part.variance, part.scale, part.bias)
                case Activation():
                    kind = (f"ACTIVATION_{part.kind.upper()}",) if self._version >= 11 else ()
                    self._tokens(part.name, *kind)
                case Linear() | Bias():
                    self._tokens(part.name, *part.weights.shape)
                    self._floats(part.weights)
                case RmsNorm():
                    self._tokens(part.name, len(part.weights), part.epsilon)
                    self._floats(part.weights)
                case TipNorm():
                    self._tokens(part.name, len(part.scale), part.epsilon, int(part.spatial), 0)
                    self._floats(part.scale, part.bias)

    def _tokens(self, *tokens: object) -> None:
        self._file.write("".join(f"{token}\n" for token in tokens).encode("ascii"))

    def _floats(self, *arrays: NDArray[Any] | None) -> None:
        for array in arrays:
            if array is not None:
                self._file.write(b"@BIN@" + np.ascontiguousarray(array, "<f4").tobytes() + b"\n")


def katago_of(network: onnx.ModelProto, config: Mapping[str, Any], plane_set: str, name: str) -> KataGoModel:
    """The network of a file of Tengen as one of KataGo, from the `config` and `plane_set` of its card.

    Raises NetworkError for a network that KataGo's format cannot express.
    """
    wanted: list[tuple[str, object, Sequence[object]]] = [
        ("family", config.get("family"), ("residual",)),
        ("plane_set", plane_set, (PLANE_SET,)),
        ("head", config.get("head", "tengen"), ("katago",)),
        ("activation", config.get("activation", "relu"), ("relu", "silu", "mish")),
    ]
    require("KataGo", wanted)
    stored = {layer: values.astype(np.float64) for layer, values in stored_weights(network).items()}
    try:
        return _Residual(stored, config.get("activation", "relu")).model(name)
    except KeyError as error:
        raise NetworkError(f"the network file does not hold {error.args[0]}") from None


class _Residual:
    """Builds KataGo's layers from the weights of a residual network."""

    def __init__(self, stored: Mapping[str, NDArray[np.float64]], activation: Kind) -> None:
        self._stored, self._kind = stored, activation

    def model(self, name: str) -> KataGoModel:
        stored = self._stored
        stem = self._convolution("stem")
        # On the board the plane `on_board` is 1, so that its weight in the middle is a bias.
        middle = stem.weights.shape[0] // 2
        stem.weights[middle, middle, 0] += stored["stem.bias"] + stored["scalars.bias"]
        width = stem.weights.shape[3]
        blocks, stream = self._blocks("blocks", np.zeros(width))
        middle, pooled = width, width
        for block in chain(blocks, *(block.blocks for block in blocks if isinstance(block, NestedBlock))):
            if isinstance(block, NestedBlock):
                middle = block.convolution1.weights.shape[3]
            elif isinstance(block, PoolingBlock):
                pooled = len(block.pooled_norm.mean)
        trunk = Trunk(
            "trunk", (width, middle, middle, middle, pooled), stem, self._linear("scalars"), None, blocks,
            self._bias_norm("trunk.norm", stream), self._activation("trunk.act"),
        )  # fmt: skip
        return KataGoModel(
            name, FORMAT, *INPUT_SIZES[PLANE_SET], Multipliers(score_error=150.0), False, trunk,
            self._policy(), self._value(),
        )  # fmt: skip

    def _blocks(self, name: str, stream: NDArray[np.float64]) -> tuple[tuple[Block, ...], NDArray[np.float64]]:
        """The blocks below a name, and the bias of the residual stream after them; `stream` is that before them."""
        stored, blocks = self._stored, list[Block]()
        while True:
            layer = f"{name}.{len(blocks)}"
            norm1, activation = self._bias_norm(f"{layer}.norm1", stream), self._activation(f"{layer}.act1")
            if f"{layer}.reduce.weight" in stored:
                inner, after = self._blocks(f"{layer}.inner", stored[f"{layer}.reduce.bias"])
                blocks.append(
                    NestedBlock(
                        layer, norm1, activation, self._convolution(f"{layer}.reduce"), inner,
                        self._bias_norm(f"{layer}.norm2", after), self._activation(f"{layer}.act2"),
                        self._convolution(f"{layer}.expand"),
                    )
                )  # fmt: skip
                stream = stream + stored[f"{layer}.expand.bias"]
            elif f"{layer}.first.weight" in stored:
                blocks.append(self._block(layer, norm1, activation))
                stream = stream + stored[f"{layer}.second.bias"]
            else:
                return tuple(blocks), stream

    def _block(self, layer: str, norm1: BatchNorm, activation: Activation) -> OrdinaryBlock | PoolingBlock:
        stored, bias = self._stored, self._stored[f"{layer}.first.bias"]
        first, second = self._convolution(f"{layer}.first"), self._convolution(f"{layer}.second")
        last = (self._activation(f"{layer}.act2"), second)
        if (view := f"{layer}.global_bias.view") + ".weight" not in stored:
            return OrdinaryBlock(layer, norm1, activation, first, self._bias_norm(f"{layer}.norm2", bias), *last)
        bias = bias + stored[f"{layer}.global_bias.mix.bias"]
        return PoolingBlock(
            layer, norm1, activation, first, self._convolution(view),
            self._bias_norm(f"{view}.norm", stored[f"{view}.bias"]), self._activation(f"{view}.act"),
            self._linear(f"{layer}.global_bias.mix"), self._bias_norm(f"{layer}.norm2", bias), *last,
        )  # fmt: skip

    def _policy(self) -> PolicyHead:
        stored = self._stored
        view, mix = "policy.board_bias.view", "policy.board_bias.mix"
        bias = stored["policy.local.bias"] + stored[f"{mix}.bias"]
        # Both policies are the same. The pass logit z runs through a layer of two as relu(z) and relu(-z).
        both = np.repeat(self._convolution("policy.point").weights, 2, axis=3)
        width = len(bias)
        first, summand, last = np.zeros((3 * width, width)), np.zeros(width), np.zeros((width, 2))
        passing = self._linear("policy.passing").weights
        first[:, :2] = passing * [1, -1]
        summand[:2] = stored["policy.passing.bias"] * [1, -1]
        last[:2] = [[1, 1], [-1, -1]]
        return PolicyHead(
            "policyhead", 2, self._convolution("policy.local"), self._convolution(view),
            self._bias_norm(f"{view}.norm", stored[f"{view}.bias"]), self._activation(f"{view}.act"),
            self._linear(mix), self._bias_norm("policy.norm", bias), self._activation("policy.act"),
            Convolution("policy.point", both), _linear("policy.pass1", first), _bias("policy.pass1.bias", summand),
            Activation("policy.pass.act", "relu"), _linear("policy.pass2", last),
        )  # fmt: skip

    def _value(self) -> ValueHead:
        stored = self._stored
        order = [0, 2, 1]  # win, draw, loss -> win, loss, no result
        value, score = self._linear("value.outcome").weights[:, order], self._linear("value.score").weights
        # Score, its deviation, lead, time and two errors; what a network of ours does not know is constant.
        numbers = np.zeros((len(score), 6))
        numbers[:, [0, 2]] = score
        summand = np.full(6, _NEUTRAL)
        summand[4:] *= 2  # formats from 14 on halve these
        summand[[0, 2]] = stored["value.score.bias"]
        return ValueHead(
            "valuehead", self._convolution("value.local"),
            self._bias_norm("value.norm", stored["value.local.bias"]), self._activation("value.act1"),
            self._linear("value.hidden"), _bias("value.hidden.bias", stored["value.hidden.bias"]),
            self._activation("value.act2"), _linear("value.outcome", value),
            _bias("value.outcome.bias", stored["value.outcome.bias"][order]), _linear("value.numbers", numbers),
            _bias("value.numbers.bias", summand), self._convolution("value.owner"),
        )  # fmt: skip

    def _convolution(self, name: str) -> Convolution:
        return Convolution(name, self._stored[f"{name}.weight"].transpose(2, 3, 1, 0).astype(np.float32))

    def _linear(self, name: str) -> Linear:
        return _linear(name, self._stored[f"{name}.weight"].T)

    def _activation(self, name: str) -> Activation:
        return Activation(name, self._kind)

    def _bias_norm(self, name: str, bias: NDArray[np.float64]) -> BatchNorm:
        """A batch norm that adds a bias and does nothing else."""
        zeros = np.zeros(len(bias), np.float32)
        return BatchNorm(name, 1e-20, zeros, zeros + 1, None, bias.astype(np.float32))


def _linear(name: str, weights: NDArray[Any]) -> Linear:
    return Linear(name, weights.astype(np.float32))


def _bias(name: str, weights: NDArray[Any]) -> Bias:
    return Bias(name, weights.astype(np.float32))
