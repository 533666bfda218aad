"""The strict reader of KataGo's network files, formats 3 to 17.

A file is text with one blank-separated token after the other, plain or compressed with gzip. The weights are decimal
numbers (`.txt`) or `@BIN@` and little-endian float32 (`.bin`). The content decides, not the name. The order of the
layers is fixed.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tengen.errors import NetworkError, os_reason
from tengen.formats import has_binary_weights, open_network
from tengen.formats.katago_model import (
    ACTIVATIONS,
    BLOCK_KINDS,
    INPUT_SIZES,
    METADATA_INPUTS,
    NEWEST,
    OLDEST,
    PLANE_SETS,
    Activation,
    AttentionBlock,
    BatchNorm,
    Bias,
    Block,
    Convolution,
    FeedForwardBlock,
    KataGoModel,
    Linear,
    MetadataEncoder,
    Multipliers,
    NestedBlock,
    OrdinaryBlock,
    PolicyHead,
    PoolingBlock,
    RmsNorm,
    TipNorm,
    Trunk,
    ValueHead,
    score_outputs,
)
from tengen.formats.katago_tokens import Malformed, TokenReader

# Limits of what is plausible, as those of the tokens.
_MAX_KERNEL, _MAX_BLOCKS, _MAX_DEPTH = 31, 1000, 8


def read_katago(path: str | Path) -> KataGoModel:
    """Read a network file of KataGo.

    Raises NetworkError for a file that cannot be read, is cut short, damaged or has more than a network, for an unknown
    format and for layers that do not fit together; the message names the layer and what was expected.
    """
    path = Path(path)
    try:
        with open_network(path) as file:
            binary = has_binary_weights(file)
            tokens = TokenReader(file, binary)
            model = _ModelReader(tokens).model()
            tokens.end()
            return model
    except Malformed as error:
        raise NetworkError(f"{path} is no KataGo network that can be read: {error}") from None
    except EOFError:
        raise NetworkError(f"{path} is cut short: its gzip stream does not end") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise NetworkError(f"{path} is damaged or not compressed with gzip: {error}") from None
    except OSError as error:
        raise NetworkError(f"{path} cannot be read: {os_reason(error)}") from error


class _ModelReader:
    """Reads one network, layer by layer. Blocks are read by their kind, those within blocks by the same methods."""

    def __init__(self, tokens: TokenReader) -> None:
        self._tokens = tokens
        self._version = 0  # the format, once it is read
        self._depth = 0  # of the blocks that are being read: how many blocks they are in
        self._readers: dict[str, Callable[[str, int], Block]] = {
            "ordinary_block": self._ordinary,
            "gpool_block": self._pooling,
            "nested_bottleneck_block": self._nested,
            "transformer_attention_block": self._attention,
            "transformer_ffn_block": self._feed_forward,
        }

    def model(self) -> KataGoModel:
        """Read the whole network."""
        name = self._tokens.name("the network")
        try:
            self._version = self._tokens.integer("the format", 0, 1_000_000)
        except Malformed as error:
            raise Malformed(f"{error}; it begins with {name[:40]!r}") from None
        if not OLDEST <= self._version <= NEWEST:
            age = "newer than" if self._version > NEWEST else "older than"
            raise Malformed(
                f"it has format {self._version}, which is {age} the formats {OLDEST} to {NEWEST} that Tengen reads"
            )
        planes, scalars = self._tokens.integer("the number of planes"), self._tokens.integer("the number of scalars")
        expected = INPUT_SIZES[PLANE_SETS[self._version]]
        if (planes, scalars) != expected:
            raise Malformed(f"format {self._version} has {expected[0]} planes and {expected[1]} scalars, "
                            f"found {planes} and {scalars}")  # fmt: skip
        multipliers = Multipliers()
        if self._version >= 13:
            names = Multipliers.__dataclass_fields__
            multipliers = Multipliers(**{field: self._tokens.positive(f"the multiplier {field}") for field in names})
        metadata = under_suicide = False
        if self._version >= 15:
            metadata = bool(self._tokens.integer("the version of the metadata encoder", 0, 1))
            under_suicide = self._tokens.flag("the rule of the pass-alive planes")
            self._tokens.reserved(6, "the network")
        trunk = self._trunk(metadata)
        _fits(trunk.convolution, planes, trunk.channels)
        _fits(trunk.linear, scalars, trunk.channels)
        policy, value = self._policy(trunk.channels), self._value(trunk.channels)
        return KataGoModel(name, self._version, planes, scalars, multipliers, under_suicide, trunk, policy, value)

    def _trunk(self, metadata: bool) -> Trunk:
        name = self._tokens.name("the trunk")
        count = self._tokens.integer("the number of blocks", 1, _MAX_BLOCKS)
        sizes = tuple(
            self._tokens.integer(f"the number of {kind} channels", int(kind != "dilated"))
            for kind in ("trunk", "mid", "regular", "dilated", "pooled")
        )
        rms = False
        if self._version >= 15:
            rms = bool(self._tokens.integer("the kind of the last norm of the trunk", 0, 1))
            self._tokens.reserved(5, "the trunk")
        convolution, linear = self._convolution(), self._linear()
        encoder = self._metadata(sizes[0]) if metadata else None
        blocks = self._blocks(count, sizes[0])
        norm: BatchNorm | TipNorm = self._tip_norm() if rms else self._batch_norm()
        _fits(norm, sizes[0])
        return Trunk(
            name,
            sizes,  # type: ignore[arg-type]  # five, by the loop above
            convolution,
            linear,
            encoder,
            blocks,
            norm,
            self._activation(),
        )

    def _metadata(self, channels: int) -> MetadataEncoder:
        name = self._tokens.name("the metadata encoder")
        if (inputs := self._tokens.integer("the number of metadata inputs")) != METADATA_INPUTS:
            raise Malformed(f"{name} takes {inputs} metadata inputs, not {METADATA_INPUTS}")
        linear1, bias1, activation1 = self._linear(), self._bias(), self._activation()
        linear2, bias2, activation2 = self._linear(), self._bias(), self._activation()
        linear3 = self._linear()
        width1, width2 = linear1.weights.shape[1], linear2.weights.shape[1]
        _fits(linear1, METADATA_INPUTS, width1)
        _fits(bias1, width1)
        _fits(linear2, width1, width2)
        _fits(bias2, width2)
        _fits(linear3, width2, channels)
        return MetadataEncoder(name, linear1, bias1, activation1, linear2, bias2, activation2, linear3)

    def _blocks(self, count: int, channels: int) -> tuple[Block, ...]:
        if self._depth > _MAX_DEPTH:
            raise Malformed(f"its blocks are nested more than {_MAX_DEPTH} deep")
        blocks: list[Block] = []
        for number in range(count):
            kind = self._tokens.token(f"the kind of block {number + 1} of {count}")
            if kind not in BLOCK_KINDS:
                raise Malformed(f"block {number + 1} of {count} is of the unknown kind {kind[:40]!r}; known are "
                                 f"{', '.join(BLOCK_KINDS)}")  # fmt: skip
            name = self._tokens.name("a block")
            blocks.append(self._readers[kind](name, channels))
        return tuple(blocks)

    def _ordinary(self, name: str, channels: int) -> OrdinaryBlock:
        norm1, activation1, convolution1 = self._batch_norm(), self._activation(), self._convolution()
        norm2, activation2, convolution2 = self._batch_norm(), self._activation(), self._convolution()
        middle = convolution1.weights.shape[3]
        _fits(norm1, channels)
        _fits(convolution1, channels, middle)
        _fits(norm2, middle)
        _fits(convolution2, middle, channels)
        return OrdinaryBlock(name, norm1, activation1, convolution1, norm2, activation2, convolution2)

    def _pooling(self, name: str, channels: int) -> PoolingBlock:
        norm1, activation1, convolution1 = self._batch_norm(), self._activation(), self._convolution()
        pooled, pooled_norm, pooled_activation = self._convolution(), self._batch_norm(), self._activation()
        to_bias = self._linear()
        norm2, activation2, convolution2 = self._batch_norm(), self._activation(), self._convolution()
        middle, width = convolution1.weights.shape[3], pooled.weights.shape[3]
        _fits(norm1, channels)
        _fits(convolution1, channels, middle)
        _fits(pooled, channels, width)
        _fits(pooled_norm, width)
        _fits(to_bias, 3 * width, middle)
        _fits(norm2, middle)
        _fits(convolution2, middle, channels)
        return PoolingBlock(
            name,
            norm1,
            activation1,
            convolution1,
            pooled,
            pooled_norm,
            pooled_activation,
            to_bias,
            norm2,
            activation2,
            convolution2,
        )

    def _nested(self, name: str, channels: int) -> NestedBlock:
        count = self._tokens.integer(f"the number of blocks in {name}", 1, _MAX_BLOCKS)
        norm1, activation1, convolution1 = self._batch_norm(), self._activation(), self._convolution()
        middle = convolution1.weights.shape[3]
        _fits(norm1, channels)
        _fits(convolution1, channels, middle)
        self._depth += 1
        blocks = self._blocks(count, middle)
        self._depth -= 1
        norm2, activation2, convolution2 = self._batch_norm(), self._activation(), self._convolution()
        _fits(norm2, middle)
        _fits(convolution2, middle, channels)
        return NestedBlock(name, norm1, activation1, convolution1, blocks, norm2, activation2, convolution2)

    def _attention(self, name: str, channels: int) -> AttentionBlock:
        heads, key_heads = (
            self._tokens.integer(f"the heads of {name}"),
            self._tokens.integer(f"the key heads of {name}"),
        )
        query_size, value_size = (
            self._tokens.integer(f"the query size of {name}"),
            self._tokens.integer(f"the value size of {name}"),
        )
        rope, learned = (
            self._tokens.flag(f"the rotary embedding of {name}"),
            self._tokens.flag(f"the learned embedding of {name}"),
        )
        if heads % key_heads:
            raise Malformed(f"the {heads} heads of {name} are no multiple of its {key_heads} key heads")
        if rope and query_size % 2:
            raise Malformed(f"{name} has rotary embedding and heads of {query_size} channels, which must be even")
        norm, query, key, value, output = (self._rms_norm(), *(self._linear() for _ in range(4)))
        _fits(norm, channels)
        _fits(query, channels, heads * query_size)
        _fits(key, channels, key_heads * query_size)
        _fits(value, channels, key_heads * value_size)
        _fits(output, heads * value_size, channels)
        rope_name, frequencies, theta = "", None, None
        if rope:
            rope_name = self._tokens.name(f"the rotary embedding of {name}")
            if learned:
                shape = tuple(self._tokens.integer(f"the shape of {rope_name}") for _ in range(3))
                if shape != (key_heads, query_size // 2, 2):
                    raise Malformed(f"{rope_name} has shape {shape}, not {(key_heads, query_size // 2, 2)}")
                frequencies = self._tokens.floats(rope_name, *shape)
            else:
                theta = self._tokens.positive(f"theta of {rope_name}")
        return AttentionBlock(
            name,
            heads,
            key_heads,
            query_size,
            value_size,
            norm,
            query,
            key,
            value,
            output,
            rope_name,
            frequencies,
            theta,
        )

    def _feed_forward(self, name: str, channels: int) -> FeedForwardBlock:
        found, width = (
            self._tokens.integer(f"the channels of {name}"),
            self._tokens.integer(f"the inner channels of {name}"),
        )
        gated = self._tokens.flag(f"the gate of {name}")
        if found != channels:
            raise Malformed(f"{name} has {found} channels, not {channels}")
        norm, linear1 = self._rms_norm(), self._linear()
        gate = self._linear() if gated else None
        linear2 = self._linear()
        _fits(norm, channels)
        _fits(linear1, channels, width)
        if gate is not None:
            _fits(gate, channels, width)
        _fits(linear2, width, channels)
        return FeedForwardBlock(name, norm, linear1, gate, linear2)

    def _policy(self, channels: int) -> PolicyHead:
        name = self._tokens.name("the policy head")
        outputs = 4 if self._version == 16 else 2 if self._version >= 12 else 1
        if self._version >= 17:
            outputs = self._tokens.integer("the number of policy outputs", 2, 4)
            if outputs == 3:
                raise Malformed("the number of policy outputs must be 2 or 4, found 3")
            self._tokens.reserved(3, "the policy head")
        convolution, pooled, pooled_norm = self._convolution(), self._convolution(), self._batch_norm()
        pooled_activation, to_bias = self._activation(), self._linear()
        norm, activation, last = self._batch_norm(), self._activation(), self._convolution()
        pass_linear = self._linear()
        width, pooled_width = convolution.weights.shape[3], pooled.weights.shape[3]
        _fits(convolution, channels, width)
        _fits(pooled, channels, pooled_width)
        _fits(pooled_norm, pooled_width)
        _fits(to_bias, 3 * pooled_width, width)
        _fits(norm, width)
        _fits(last, width, outputs)
        bias, pass_activation, pass_linear2 = None, None, None
        if self._version >= 15:
            bias, pass_activation, pass_linear2 = self._bias(), self._activation(), self._linear()
            _fits(bias, width)
            _fits(pass_linear2, width, outputs)
        _fits(pass_linear, 3 * pooled_width, outputs if pass_linear2 is None else width)
        return PolicyHead(
            name,
            outputs,
            convolution,
            pooled,
            pooled_norm,
            pooled_activation,
            to_bias,
            norm,
            activation,
            last,
            pass_linear,
            bias,
            pass_activation,
            pass_linear2,
        )

    def _value(self, channels: int) -> ValueHead:
        name = self._tokens.name("the value head")
        if self._version >= 17:
            self._tokens.reserved(3, "the value head")
        convolution, norm, activation = self._convolution(), self._batch_norm(), self._activation()
        linear1, bias1, activation1 = self._linear(), self._bias(), self._activation()
        value, value_bias, numbers, numbers_bias = self._linear(), self._bias(), self._linear(), self._bias()
        ownership = self._convolution()
        width, hidden = convolution.weights.shape[3], linear1.weights.shape[1]
        _fits(convolution, channels, width)
        _fits(norm, width)
        _fits(linear1, 3 * width, hidden)
        _fits(bias1, hidden)
        _fits(value, hidden, 3)
        _fits(value_bias, 3)
        _fits(numbers, hidden, score_outputs(self._version))
        _fits(numbers_bias, score_outputs(self._version))
        _fits(ownership, width, 1)
        return ValueHead(
            name,
            convolution,
            norm,
            activation,
            linear1,
            bias1,
            activation1,
            value,
            value_bias,
            numbers,
            numbers_bias,
            ownership,
        )

    def _convolution(self) -> Convolution:
        name = self._tokens.name("a convolution")
        rows, columns = (self._tokens.integer(f"the kernel size of {name}", 1, _MAX_KERNEL) for _ in range(2))
        inputs, outputs = (self._tokens.integer(f"the channels of {name}") for _ in range(2))
        dilation = [self._tokens.integer(f"the dilation of {name}") for _ in range(2)]
        if not rows % 2 or not columns % 2:
            raise Malformed(f"{name} has a kernel of {rows}x{columns}; both must be odd")
        if dilation != [1, 1]:
            raise Malformed(f"{name} has dilation {dilation[0]}x{dilation[1]}; only 1x1 is supported")
        return Convolution(name, self._tokens.floats(name, rows, columns, inputs, outputs))

    def _batch_norm(self) -> BatchNorm:
        name = self._tokens.name("a batch norm")
        channels, epsilon = self._tokens.integer(f"the channels of {name}"), self._tokens.positive(f"epsilon of {name}")
        has_scale, has_bias = (
            self._tokens.flag(f"whether {name} has a scale"),
            self._tokens.flag(f"whether {name} has a bias"),
        )
        mean, variance = (
            self._tokens.floats(f"the mean of {name}", channels),
            self._tokens.floats(f"the variance of {name}", channels),
        )
        if not (variance.astype(np.float64) + epsilon > 0).all():
            raise Malformed(f"{name} has a negative variance")
        scale = self._tokens.floats(f"the scale of {name}", channels) if has_scale else None
        bias = self._tokens.floats(f"the bias of {name}", channels) if has_bias else None
        return BatchNorm(name, epsilon, mean, variance, scale, bias)

    def _activation(self) -> Activation:
        name = self._tokens.name("an activation")
        if self._version < 11:
            return Activation(name, "relu")
        text = self._tokens.token(f"the kind of {name}")
        for kind in ACTIVATIONS:
            if text == f"ACTIVATION_{kind.upper()}":
                return Activation(name, kind)  # type: ignore[arg-type]  # ACTIVATIONS are the values of Kind
        known = ", ".join(f"ACTIVATION_{kind.upper()}" for kind in ACTIVATIONS)
        raise Malformed(f"{name} is of the unknown kind {text[:40]!r}; known are {known}")

    def _linear(self) -> Linear:
        name = self._tokens.name("a matrix product")
        inputs, outputs = self._tokens.integer(f"the inputs of {name}"), self._tokens.integer(f"the outputs of {name}")
        return Linear(name, self._tokens.floats(name, inputs, outputs))

    def _bias(self) -> Bias:
        name = self._tokens.name("a bias")
        return Bias(name, self._tokens.floats(name, self._tokens.integer(f"the channels of {name}")))

    def _rms_norm(self) -> RmsNorm:
        name = self._tokens.name("an RMS norm")
        channels, epsilon = self._tokens.integer(f"the channels of {name}"), self._tokens.positive(f"epsilon of {name}")
        return RmsNorm(name, epsilon, self._tokens.floats(name, channels))

    def _tip_norm(self) -> TipNorm:
        name = self._tokens.name("the last norm of the trunk")
        channels, epsilon = self._tokens.integer(f"the channels of {name}"), self._tokens.positive(f"epsilon of {name}")
        spatial = self._tokens.flag(f"whether {name} is spatial")
        self._tokens.reserved(1, name)  # the size of a group of channels
        return TipNorm(
            name,
            epsilon,
            spatial,
            self._tokens.floats(f"the scale of {name}", channels),
            self._tokens.floats(f"the bias of {name}", channels),
        )


def _fits(layer: Convolution | BatchNorm | TipNorm | RmsNorm | Linear | Bias, *channels: int) -> None:
    """Raise unless the layer has these channels: in and out, or the only number."""
    if isinstance(layer, BatchNorm):
        found = layer.mean.shape
    elif isinstance(layer, TipNorm):
        found = layer.scale.shape
    else:
        found = layer.weights.shape[-len(channels) :]
    if found != channels:
        raise Malformed(f"{layer.name} has {' to '.join(map(str, found))} channels, where "
                         f"{' to '.join(map(str, channels))} were expected")  # fmt: skip
