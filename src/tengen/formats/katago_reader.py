"""The strict reader of KataGo's network files, formats 3 to 17.

A file is text with one blank-separated token after the other, plain or compressed with gzip. The weights are decimal
numbers (`.txt`) or `@BIN@` and little-endian float32 (`.bin`). The order of the layers is fixed.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from tengen.errors import NetworkError
from tengen.formats import KATAGO_SUFFIXES, is_katago_file
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

T = TypeVar("T")

# Limits of what is plausible, as those of the tokens.
_MAX_KERNEL, _MAX_BLOCKS, _MAX_DEPTH = 31, 1000, 8


def read_katago(path: str | Path) -> KataGoModel:
    """Read a network file of KataGo.

    Raises NetworkError for a file that cannot be read, is cut short, damaged or has more than a network, for an unknown
    format and for layers that do not fit together; the message names the layer and what was expected.
    """
    path = Path(path)
    lower = path.name.lower()
    if not is_katago_file(lower):
        raise NetworkError(f"{path} is no KataGo network by its name: it must end with {', '.join(KATAGO_SUFFIXES)}")
    try:
        with gzip.open(path, "rb") if lower.endswith(".gz") else path.open("rb") as file:
            reader = TokenReader(file, binary=".bin" in lower[-7:])
            model = _read_model(reader)
            reader.end()
            return model
    except Malformed as error:
        raise NetworkError(f"{path} is no KataGo network that can be read: {error}") from None
    except EOFError:
        raise NetworkError(f"{path} is cut short: its gzip stream does not end") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise NetworkError(f"{path} is damaged or not compressed with gzip: {error}") from None
    except OSError as error:
        raise NetworkError(f"{path} cannot be read: {error.strerror or error}") from error


def _read_model(reader: TokenReader) -> KataGoModel:
    name = reader.name("the network")
    try:
        version = reader.integer("the format", 0, 1_000_000)
    except Malformed as error:
        raise Malformed(f"{error}; it begins with {name[:40]!r}") from None
    if not OLDEST <= version <= NEWEST:
        age = "newer than" if version > NEWEST else "older than"
        raise Malformed(f"it has format {version}, which is {age} the formats {OLDEST} to {NEWEST} that Tengen reads")
    planes, scalars = reader.integer("the number of planes"), reader.integer("the number of scalars")
    expected = INPUT_SIZES[PLANE_SETS[version]]
    if (planes, scalars) != expected:
        raise Malformed(f"format {version} has {expected[0]} planes and {expected[1]} scalars, found {planes} and "
                         f"{scalars}")  # fmt: skip
    multipliers = Multipliers()
    if version >= 13:
        names = Multipliers.__dataclass_fields__
        multipliers = Multipliers(**{field: reader.positive(f"the multiplier {field}") for field in names})
    metadata = under_suicide = False
    if version >= 15:
        metadata = bool(reader.integer("the version of the metadata encoder", 0, 1))
        under_suicide = reader.flag("the rule of the pass-alive planes")
        reader.reserved(6, "the network")
    trunk = _read_trunk(reader, version, metadata)
    _fits(trunk.convolution, planes, trunk.channels)
    _fits(trunk.linear, scalars, trunk.channels)
    policy, value = _read_policy(reader, version, trunk.channels), _read_value(reader, version, trunk.channels)
    return KataGoModel(name, version, planes, scalars, multipliers, under_suicide, trunk, policy, value)


def _read_trunk(reader: TokenReader, version: int, metadata: bool) -> Trunk:
    name = reader.name("the trunk")
    count = reader.integer("the number of blocks", 1, _MAX_BLOCKS)
    sizes = tuple(
        reader.integer(f"the number of {kind} channels", int(kind != "dilated"))
        for kind in ("trunk", "mid", "regular", "dilated", "pooled")
    )
    rms = False
    if version >= 15:
        rms = bool(reader.integer("the kind of the last norm of the trunk", 0, 1))
        reader.reserved(5, "the trunk")
    convolution, linear = _convolution(reader), _linear(reader)
    encoder = _read_metadata(reader, version, sizes[0]) if metadata else None
    blocks = _read_blocks(reader, version, count, sizes[0], 0)
    norm: BatchNorm | TipNorm = _tip_norm(reader) if rms else _batch_norm(reader)
    _fits(norm, sizes[0])
    return Trunk(
        name,
        sizes,  # type: ignore[arg-type]  # five, by the loop above
        convolution,
        linear,
        encoder,
        blocks,
        norm,
        _activation(reader, version),
    )


def _read_metadata(reader: TokenReader, version: int, channels: int) -> MetadataEncoder:
    name = reader.name("the metadata encoder")
    if (inputs := reader.integer("the number of metadata inputs")) != METADATA_INPUTS:
        raise Malformed(f"{name} takes {inputs} metadata inputs, not {METADATA_INPUTS}")
    linear1, bias1, activation1 = _linear(reader), _bias(reader), _activation(reader, version)
    linear2, bias2, activation2 = _linear(reader), _bias(reader), _activation(reader, version)
    linear3 = _linear(reader)
    width1, width2 = linear1.weights.shape[1], linear2.weights.shape[1]
    _fits(linear1, METADATA_INPUTS, width1)
    _fits(bias1, width1)
    _fits(linear2, width1, width2)
    _fits(bias2, width2)
    _fits(linear3, width2, channels)
    return MetadataEncoder(name, linear1, bias1, activation1, linear2, bias2, activation2, linear3)


def _read_blocks(reader: TokenReader, version: int, count: int, channels: int, depth: int) -> tuple[Block, ...]:
    if depth > _MAX_DEPTH:
        raise Malformed(f"its blocks are nested more than {_MAX_DEPTH} deep")
    blocks: list[Block] = []
    for number in range(count):
        kind = reader.token(f"the kind of block {number + 1} of {count}")
        if kind not in BLOCK_KINDS:
            raise Malformed(f"block {number + 1} of {count} is of the unknown kind {kind[:40]!r}; known are "
                             f"{', '.join(BLOCK_KINDS)}")  # fmt: skip
        name = reader.name("a block")
        blocks.append(_READERS[kind](reader, version, name, channels, depth))
    return tuple(blocks)


def _read_ordinary(reader: TokenReader, version: int, name: str, channels: int, depth: int) -> OrdinaryBlock:
    norm1, activation1, convolution1 = _batch_norm(reader), _activation(reader, version), _convolution(reader)
    norm2, activation2, convolution2 = _batch_norm(reader), _activation(reader, version), _convolution(reader)
    middle = convolution1.weights.shape[3]
    _fits(norm1, channels)
    _fits(convolution1, channels, middle)
    _fits(norm2, middle)
    _fits(convolution2, middle, channels)
    return OrdinaryBlock(name, norm1, activation1, convolution1, norm2, activation2, convolution2)


def _read_pooling(reader: TokenReader, version: int, name: str, channels: int, depth: int) -> PoolingBlock:
    norm1, activation1, convolution1 = _batch_norm(reader), _activation(reader, version), _convolution(reader)
    pooled, pooled_norm, pooled_activation = _convolution(reader), _batch_norm(reader), _activation(reader, version)
    to_bias = _linear(reader)
    norm2, activation2, convolution2 = _batch_norm(reader), _activation(reader, version), _convolution(reader)
    middle, width = convolution1.weights.shape[3], pooled.weights.shape[3]
    _fits(norm1, channels)
    _fits(convolution1, channels, middle)
    _fits(pooled, channels, width)
    _fits(pooled_norm, width)
    _fits(to_bias, 3 * width, middle)
    _fits(norm2, middle)
    _fits(convolution2, middle, channels)
    return PoolingBlock(
        name, norm1, activation1, convolution1, pooled, pooled_norm, pooled_activation, to_bias, norm2, activation2,
        convolution2,
    )  # fmt: skip


def _read_nested(reader: TokenReader, version: int, name: str, channels: int, depth: int) -> NestedBlock:
    count = reader.integer(f"the number of blocks in {name}", 1, _MAX_BLOCKS)
    norm1, activation1, convolution1 = _batch_norm(reader), _activation(reader, version), _convolution(reader)
    middle = convolution1.weights.shape[3]
    _fits(norm1, channels)
    _fits(convolution1, channels, middle)
    blocks = _read_blocks(reader, version, count, middle, depth + 1)
    norm2, activation2, convolution2 = _batch_norm(reader), _activation(reader, version), _convolution(reader)
    _fits(norm2, middle)
    _fits(convolution2, middle, channels)
    return NestedBlock(name, norm1, activation1, convolution1, blocks, norm2, activation2, convolution2)


def _read_attention(reader: TokenReader, version: int, name: str, channels: int, depth: int) -> AttentionBlock:
    heads, key_heads = reader.integer(f"the heads of {name}"), reader.integer(f"the key heads of {name}")
    query_size, value_size = reader.integer(f"the query size of {name}"), reader.integer(f"the value size of {name}")
    rope, learned = reader.flag(f"the rotary embedding of {name}"), reader.flag(f"the learned embedding of {name}")
    if heads % key_heads:
        raise Malformed(f"the {heads} heads of {name} are no multiple of its {key_heads} key heads")
    if rope and query_size % 2:
        raise Malformed(f"{name} has rotary embedding and heads of {query_size} channels, which must be even")
    norm, query, key, value, output = (_rms_norm(reader), *(_linear(reader) for _ in range(4)))
    _fits(norm, channels)
    _fits(query, channels, heads * query_size)
    _fits(key, channels, key_heads * query_size)
    _fits(value, channels, key_heads * value_size)
    _fits(output, heads * value_size, channels)
    rope_name, frequencies, theta = "", None, None
    if rope:
        rope_name = reader.name(f"the rotary embedding of {name}")
        if learned:
            shape = tuple(reader.integer(f"the shape of {rope_name}") for _ in range(3))
            if shape != (key_heads, query_size // 2, 2):
                raise Malformed(f"{rope_name} has shape {shape}, not {(key_heads, query_size // 2, 2)}")
            frequencies = reader.floats(rope_name, *shape)
        else:
            theta = reader.positive(f"theta of {rope_name}")
    return AttentionBlock(
        name, heads, key_heads, query_size, value_size, norm, query, key, value, output, rope_name, frequencies, theta
    )


def _read_feed_forward(reader: TokenReader, version: int, name: str, channels: int, depth: int) -> FeedForwardBlock:
    found, width = reader.integer(f"the channels of {name}"), reader.integer(f"the inner channels of {name}")
    gated = reader.flag(f"the gate of {name}")
    if found != channels:
        raise Malformed(f"{name} has {found} channels, not {channels}")
    norm, linear1 = _rms_norm(reader), _linear(reader)
    gate = _linear(reader) if gated else None
    linear2 = _linear(reader)
    _fits(norm, channels)
    _fits(linear1, channels, width)
    if gate is not None:
        _fits(gate, channels, width)
    _fits(linear2, width, channels)
    return FeedForwardBlock(name, norm, linear1, gate, linear2)


_READERS: dict[str, Callable[[TokenReader, int, str, int, int], Block]] = {
    "ordinary_block": _read_ordinary,
    "gpool_block": _read_pooling,
    "nested_bottleneck_block": _read_nested,
    "transformer_attention_block": _read_attention,
    "transformer_ffn_block": _read_feed_forward,
}


def _read_policy(reader: TokenReader, version: int, channels: int) -> PolicyHead:
    name = reader.name("the policy head")
    outputs = 4 if version == 16 else 2 if version >= 12 else 1
    if version >= 17:
        outputs = reader.integer("the number of policy outputs", 2, 4)
        if outputs == 3:
            raise Malformed("the number of policy outputs must be 2 or 4, found 3")
        reader.reserved(3, "the policy head")
    convolution, pooled, pooled_norm = _convolution(reader), _convolution(reader), _batch_norm(reader)
    pooled_activation, to_bias = _activation(reader, version), _linear(reader)
    norm, activation, last = _batch_norm(reader), _activation(reader, version), _convolution(reader)
    pass_linear = _linear(reader)
    width, pooled_width = convolution.weights.shape[3], pooled.weights.shape[3]
    _fits(convolution, channels, width)
    _fits(pooled, channels, pooled_width)
    _fits(pooled_norm, pooled_width)
    _fits(to_bias, 3 * pooled_width, width)
    _fits(norm, width)
    _fits(last, width, outputs)
    bias, pass_activation, pass_linear2 = None, None, None
    if version >= 15:
        bias, pass_activation, pass_linear2 = _bias(reader), _activation(reader, version), _linear(reader)
        _fits(bias, width)
        _fits(pass_linear2, width, outputs)
    _fits(pass_linear, 3 * pooled_width, outputs if pass_linear2 is None else width)
    return PolicyHead(
        name, outputs, convolution, pooled, pooled_norm, pooled_activation, to_bias, norm, activation, last,
        pass_linear, bias, pass_activation, pass_linear2,
    )  # fmt: skip


def _read_value(reader: TokenReader, version: int, channels: int) -> ValueHead:
    name = reader.name("the value head")
    if version >= 17:
        reader.reserved(3, "the value head")
    convolution, norm, activation = _convolution(reader), _batch_norm(reader), _activation(reader, version)
    linear1, bias1, activation1 = _linear(reader), _bias(reader), _activation(reader, version)
    value, value_bias, numbers, numbers_bias = _linear(reader), _bias(reader), _linear(reader), _bias(reader)
    ownership = _convolution(reader)
    width, hidden = convolution.weights.shape[3], linear1.weights.shape[1]
    _fits(convolution, channels, width)
    _fits(norm, width)
    _fits(linear1, 3 * width, hidden)
    _fits(bias1, hidden)
    _fits(value, hidden, 3)
    _fits(value_bias, 3)
    _fits(numbers, hidden, score_outputs(version))
    _fits(numbers_bias, score_outputs(version))
    _fits(ownership, width, 1)
    return ValueHead(
        name, convolution, norm, activation, linear1, bias1, activation1, value, value_bias, numbers, numbers_bias,
        ownership,
    )  # fmt: skip


def _convolution(reader: TokenReader) -> Convolution:
    name = reader.name("a convolution")
    rows, columns = (reader.integer(f"the kernel size of {name}", 1, _MAX_KERNEL) for _ in range(2))
    inputs, outputs = (reader.integer(f"the channels of {name}") for _ in range(2))
    dilation = [reader.integer(f"the dilation of {name}") for _ in range(2)]
    if not rows % 2 or not columns % 2:
        raise Malformed(f"{name} has a kernel of {rows}x{columns}; both must be odd")
    if dilation != [1, 1]:
        raise Malformed(f"{name} has dilation {dilation[0]}x{dilation[1]}; only 1x1 is supported")
    return Convolution(name, reader.floats(name, rows, columns, inputs, outputs))


def _batch_norm(reader: TokenReader) -> BatchNorm:
    name = reader.name("a batch norm")
    channels, epsilon = reader.integer(f"the channels of {name}"), reader.positive(f"epsilon of {name}")
    has_scale, has_bias = reader.flag(f"whether {name} has a scale"), reader.flag(f"whether {name} has a bias")
    mean, variance = reader.floats(f"the mean of {name}", channels), reader.floats(f"the variance of {name}", channels)
    if not (variance.astype(np.float64) + epsilon > 0).all():
        raise Malformed(f"{name} has a negative variance")
    scale = reader.floats(f"the scale of {name}", channels) if has_scale else None
    bias = reader.floats(f"the bias of {name}", channels) if has_bias else None
    return BatchNorm(name, epsilon, mean, variance, scale, bias)


def _activation(reader: TokenReader, version: int) -> Activation:
    name = reader.name("an activation")
    if version < 11:
        return Activation(name, "relu")
    text = reader.token(f"the kind of {name}")
    for kind in ACTIVATIONS:
        if text == f"ACTIVATION_{kind.upper()}":
            return Activation(name, kind)  # type: ignore[arg-type]  # ACTIVATIONS are the values of Kind
    known = ", ".join(f"ACTIVATION_{kind.upper()}" for kind in ACTIVATIONS)
    raise Malformed(f"{name} is of the unknown kind {text[:40]!r}; known are {known}")


def _linear(reader: TokenReader) -> Linear:
    name = reader.name("a matrix product")
    inputs, outputs = reader.integer(f"the inputs of {name}"), reader.integer(f"the outputs of {name}")
    return Linear(name, reader.floats(name, inputs, outputs))


def _bias(reader: TokenReader) -> Bias:
    name = reader.name("a bias")
    return Bias(name, reader.floats(name, reader.integer(f"the channels of {name}")))


def _rms_norm(reader: TokenReader) -> RmsNorm:
    name = reader.name("an RMS norm")
    channels, epsilon = reader.integer(f"the channels of {name}"), reader.positive(f"epsilon of {name}")
    return RmsNorm(name, epsilon, reader.floats(name, channels))


def _tip_norm(reader: TokenReader) -> TipNorm:
    name = reader.name("the last norm of the trunk")
    channels, epsilon = reader.integer(f"the channels of {name}"), reader.positive(f"epsilon of {name}")
    spatial = reader.flag(f"whether {name} is spatial")
    reader.reserved(1, name)  # the size of a group of channels
    return TipNorm(
        name,
        epsilon,
        spatial,
        reader.floats(f"the scale of {name}", channels),
        reader.floats(f"the bias of {name}", channels),
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
