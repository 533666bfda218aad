"""Generated KataGo networks, their text, and a slow forward pass that shares nothing with the graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tengen.formats import katago_model as kata

CHANNELS, MIDDLE, POOLED = 6, 4, 3
KINDS: dict[type, str] = {block: kind for kind, block in kata.BLOCK_KINDS.items()}


class Maker:
    """Makes layers with random weights. `kind` is the activation of all but a few layers."""

    def __init__(self, version: int, seed: int, kind: str = "relu") -> None:
        self.version, self.kind = version, kind if version >= 11 else "relu"
        self.random = np.random.default_rng(seed)
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"layer{self.count}"

    def weights(self, *shape: int) -> Any:
        fan_in = np.prod(shape[:-1]) or 1
        return (self.random.standard_normal(shape) / np.sqrt(fan_in)).astype(np.float32)

    def conv(self, size: int, inputs: int, outputs: int) -> kata.Convolution:
        return kata.Convolution(self.name(), self.weights(size, size, inputs, outputs))

    def norm(self, channels: int, scale: bool = True, bias: bool = True) -> kata.BatchNorm:
        one = self.random.uniform
        return kata.BatchNorm(
            self.name(),
            1e-3,
            one(-0.3, 0.3, channels).astype(np.float32),
            one(0.5, 2, channels).astype(np.float32),
            one(0.5, 1.5, channels).astype(np.float32) if scale else None,
            one(-0.5, 0.5, channels).astype(np.float32) if bias else None,
        )

    def act(self, kind: str | None = None) -> kata.Activation:
        return kata.Activation(self.name(), kind or self.kind)  # type: ignore[arg-type]

    def linear(self, inputs: int, outputs: int) -> kata.Linear:
        return kata.Linear(self.name(), self.weights(inputs, outputs))

    def bias(self, channels: int) -> kata.Bias:
        return kata.Bias(self.name(), self.weights(channels))

    def rms(self, channels: int) -> kata.RmsNorm:
        return kata.RmsNorm(self.name(), 1e-5, self.random.uniform(0.5, 1.5, channels).astype(np.float32))

    def ordinary(self, channels: int = CHANNELS) -> kata.OrdinaryBlock:
        return kata.OrdinaryBlock(
            self.name(), self.norm(channels), self.act(), self.conv(3, channels, MIDDLE),
            self.norm(MIDDLE, scale=False), self.act(), self.conv(1, MIDDLE, channels),
        )  # fmt: skip

    def pooling(self, channels: int = CHANNELS) -> kata.PoolingBlock:
        return kata.PoolingBlock(
            self.name(),
            self.norm(channels),
            self.act(),
            self.conv(3, channels, MIDDLE),
            self.conv(3, channels, POOLED),
            self.norm(POOLED),
            self.act(),
            self.linear(3 * POOLED, MIDDLE),
            self.norm(MIDDLE, bias=False),
            self.act(),
            self.conv(3, MIDDLE, channels),
        )

    def nested(self, blocks: tuple[kata.Block, ...], middle: int = MIDDLE) -> kata.NestedBlock:
        return kata.NestedBlock(
            self.name(), self.norm(CHANNELS), self.act(), self.conv(1, CHANNELS, middle), blocks, self.norm(middle),
            self.act(), self.conv(1, middle, CHANNELS),
        )  # fmt: skip

    def attention(self, channels: int, heads: int, keys: int, q: int, v: int, rope: str) -> kata.AttentionBlock:
        frequencies = self.weights(keys, q // 2, 2) if rope == "learned" else None
        return kata.AttentionBlock(
            self.name(), heads, keys, q, v, self.rms(channels), self.linear(channels, heads * q),
            self.linear(channels, keys * q), self.linear(channels, keys * v), self.linear(heads * v, channels),
            "rope" if rope else "", frequencies, 50.0 if rope == "fixed" else None,
        )  # fmt: skip

    def feed_forward(self, channels: int, gate: bool = True) -> kata.FeedForwardBlock:
        return kata.FeedForwardBlock(
            self.name(), self.rms(channels), self.linear(channels, 8), self.linear(channels, 8) if gate else None,
            self.linear(8, channels),
        )  # fmt: skip

    def metadata(self) -> kata.MetadataEncoder:
        return kata.MetadataEncoder(
            self.name(), self.linear(192, 5), self.bias(5), self.act(), self.linear(5, 7), self.bias(7), self.act(),
            self.linear(7, CHANNELS),
        )  # fmt: skip

    def model(
        self,
        blocks: tuple[kata.Block, ...],
        tip: str = "",
        metadata: bool = False,
        policy_outputs: int = 0,
        ownership_kernel: int = 1,
    ) -> kata.KataGoModel:
        version = self.version
        planes, scalars = kata.INPUT_SIZES[kata.PLANE_SETS[version]]
        tip_norm = self.norm(CHANNELS) if not tip else kata.TipNorm(
            "tip", 1e-5, tip == "spatial", self.random.uniform(0.5, 1.5, CHANNELS).astype(np.float32),
            self.weights(CHANNELS),
        )  # fmt: skip
        trunk = kata.Trunk(
            "trunk", (CHANNELS, MIDDLE, MIDDLE, MIDDLE, POOLED), self.conv(5, planes, CHANNELS),
            self.linear(scalars, CHANNELS), self.metadata() if metadata else None, blocks, tip_norm, self.act(),
        )  # fmt: skip
        outputs = policy_outputs or (4 if version == 16 else 2 if version >= 12 else 1)
        late = version >= 15
        policy = kata.PolicyHead(
            "policyhead", outputs, self.conv(1, CHANNELS, 5), self.conv(1, CHANNELS, POOLED), self.norm(POOLED),
            self.act(), self.linear(3 * POOLED, 5), self.norm(5), self.act(), self.conv(1, 5, outputs),
            self.linear(3 * POOLED, 5 if late else outputs), self.bias(5) if late else None,
            self.act("identity" if version >= 11 else None) if late else None,
            self.linear(5, outputs) if late else None,
        )  # fmt: skip
        numbers = kata.score_outputs(version)
        value = kata.ValueHead(
            "valuehead", self.conv(1, CHANNELS, 4), self.norm(4), self.act(), self.linear(12, 6), self.bias(6),
            self.act(), self.linear(6, 3), self.bias(3), self.linear(6, numbers), self.bias(numbers),
            self.conv(ownership_kernel, 4, 1),
        )  # fmt: skip
        multipliers = kata.Multipliers(21, 19, 18, 22, 41, 0.3, 140) if version >= 13 else kata.Multipliers()
        return kata.KataGoModel(
            f"tiny-v{version}", version, planes, scalars, multipliers, version == 17, trunk, policy, value
        )


def text(model: kata.KataGoModel, binary: bool = True) -> bytes:
    """The file of a network."""
    return b"".join(part if isinstance(part, bytes) else f"{part}\n".encode() for part in _parts(model, binary))


def _parts(model: kata.KataGoModel, binary: bool) -> Iterator[Any]:
    version = model.version
    yield from (model.name, version, model.planes, model.scalars)
    if version >= 13:
        yield from vars(model.multipliers).values()
    if version >= 15:
        yield from (int(model.trunk.metadata is not None), int(model.pass_alive_under_suicide), *[0] * 6)

    def floats(array: Any) -> Any:
        flat = array.astype("<f4").reshape(-1)
        return b"@BIN@" + flat.tobytes() + b"\n" if binary else " ".join(repr(float(x)) for x in flat)

    def layer(one: Any) -> Iterator[Any]:
        if isinstance(one, tuple(kata.BLOCK_KINDS.values())):
            yield KINDS[type(one)]
        yield one.name
        match one:
            case kata.Convolution():
                yield from (*one.weights.shape, 1, 1, floats(one.weights))
            case kata.Linear() | kata.Bias():
                yield from (*one.weights.shape, floats(one.weights))
            case kata.RmsNorm():
                yield from (len(one.weights), one.epsilon, floats(one.weights))
            case kata.TipNorm():
                yield from (len(one.scale), one.epsilon, int(one.spatial), 0, floats(one.scale), floats(one.bias))
            case kata.BatchNorm():
                there = [part for part in (one.scale, one.bias) if part is not None]
                yield from (len(one.mean), one.epsilon, int(one.scale is not None), int(one.bias is not None))
                yield from map(floats, (one.mean, one.variance, *there))
            case kata.Activation():
                if version >= 11:
                    yield f"ACTIVATION_{one.kind.upper()}"
            case kata.AttentionBlock():
                rope, learned = int(bool(one.rope_name)), int(one.frequencies is not None)
                yield from (one.heads, one.key_heads, one.query_size, one.value_size, rope, learned)
                for part in (one.norm, one.query, one.key, one.value, one.output):
                    yield from layer(part)
                if one.frequencies is not None:
                    yield from (one.rope_name, *one.frequencies.shape, floats(one.frequencies))
                elif one.theta is not None:
                    yield from (one.rope_name, one.theta)
            case kata.FeedForwardBlock():
                yield from (*one.linear1.weights.shape, int(one.gate is not None))
                for inner in (one.norm, one.linear1, one.gate, one.linear2):
                    yield from layer(inner) if inner is not None else ()
            case _:  # layers in the order of the fields, after a few numbers
                if isinstance(one, kata.NestedBlock):
                    yield len(one.blocks)
                if isinstance(one, kata.Trunk):
                    yield from (len(one.blocks), *one.sizes)
                    yield from (int(isinstance(one.norm, kata.TipNorm)), *[0] * 5) if version >= 15 else ()
                if isinstance(one, kata.PolicyHead) and version >= 17:
                    yield from (one.outputs, 0, 0, 0)
                if isinstance(one, kata.ValueHead) and version >= 17:
                    yield from (0, 0, 0)
                if isinstance(one, kata.MetadataEncoder):
                    yield 192
                for part in vars(one).values():
                    for inner in part if isinstance(part, tuple) else [part]:
                        if hasattr(inner, "name"):
                            yield from layer(inner)

    for part in (model.trunk, model.policy, model.value):
        yield from layer(part)


# The forward pass, of one position: planes [C, E, E], scalars [S] and mask [E, E]; values are [E, E, C] in float64.


def forward(model: kata.KataGoModel, planes: Any, scalars: Any, mask: Any, metadata: Any = None) -> dict[str, Any]:
    """The outputs of the network file for one position; off the board they are 0."""
    on = mask[..., None].astype(np.float64)
    trunk = model.trunk
    x = conv(planes.transpose(1, 2, 0).astype(np.float64), trunk.convolution) + scalars @ trunk.linear.weights
    if trunk.metadata is not None:
        part = trunk.metadata
        inputs = metadata.astype(np.float64)
        inputs[86] = 0.5 * np.log(mask.sum() / 361)
        inputs = act(inputs @ part.linear1.weights + part.bias1.weights, part.activation1)
        inputs = act(inputs @ part.linear2.weights + part.bias2.weights, part.activation2)
        x = x + inputs @ part.linear3.weights
    x = run(x * on, trunk.blocks, on)
    if isinstance(trunk.norm, kata.BatchNorm):
        x = norm(x, trunk.norm)
    else:
        squares = ((x * on) ** 2).sum(axis=(0, 1, 2) if trunk.norm.spatial else 2, keepdims=True)
        count = x.shape[2] * (mask.sum() if trunk.norm.spatial else 1)
        x = x / np.sqrt(squares / count + trunk.norm.epsilon) * trunk.norm.scale + trunk.norm.bias
    x = act(x, trunk.activation) * on
    return policy_outputs(model, x, on) | value_outputs(model, x, on, scalars)


def policy_outputs(model: kata.KataGoModel, x: Any, on: Any) -> dict[str, Any]:
    head = model.policy
    pooled = pool(act(norm(conv(x, head.pooled_convolution), head.pooled_norm), head.pooled_activation), on, True)
    inner = conv(x, head.convolution) + pooled @ head.pooled_to_bias.weights
    logits = conv(act(norm(inner, head.norm), head.activation) * on, head.last_convolution) * on
    passing = pooled @ head.pass_linear.weights
    if head.pass_linear2 is not None:
        passing = act(passing + head.pass_bias.weights, head.pass_activation) @ head.pass_linear2.weights  # type: ignore[union-attr, arg-type]
    names = ("policy", "policy_optimistic")[: 1 if model.trunk.metadata else min(head.outputs, 2)]
    return {name: np.append(logits[..., i].reshape(-1), passing[i]) for i, name in enumerate(names)}


def value_outputs(model: kata.KataGoModel, x: Any, on: Any, scalars: Any) -> dict[str, Any]:
    head, version, by = model.value, model.version, model.multipliers
    inner = act(norm(conv(x, head.convolution), head.norm), head.activation) * on
    hidden = act(pool(inner, on, False) @ head.linear1.weights + head.bias1.weights, head.activation1)
    win, loss, none = hidden @ head.value.weights + head.value_bias.weights
    numbers = hidden @ head.numbers.weights + head.numbers_bias.weights
    if version >= 4 and scalars[6] == 1 and scalars[9] == 0:
        none = none - 1e4
    found = {
        "value": np.array([win, none, loss]),
        "ownership": np.tanh(conv(inner, head.ownership)[..., 0]) * on[..., 0],
    }
    found["no_result"] = np.exp(none) / (np.exp(win) + np.exp(loss) + np.exp(none))
    there = 1 - found["no_result"]
    if version == 3:
        return found | {"score": numbers[0] * 2 * np.sqrt(on.sum())}
    mean, stdev = numbers[0] * by.score_mean, softplus(numbers[1]) * by.score_stdev
    found |= {"score": mean * there}
    found["score_stdev"] = np.sqrt((mean**2 + stdev**2) * there - found["score"] ** 2)
    if version >= 8:
        found["lead"] = numbers[2] * by.lead * there
    if version >= 9:
        found["time_left"] = softplus(numbers[3]) * by.variance_time
        factors = (by.value_error, by.score_error)
        for name, x, factor, old in zip(("value_error", "score_error"), numbers[4:], factors, (1, 10), strict=True):
            if version >= 14:
                found[name] = np.sqrt(softplus(x / 2) ** 2 * factor)
            else:
                found[name] = np.sqrt(softplus(x) * factor) if version >= 10 else softplus(x) * old
    return found


def run(x: Any, blocks: tuple[kata.Block, ...], on: Any) -> Any:
    for block in blocks:
        match block:
            case kata.OrdinaryBlock():
                inner = conv(act(norm(x, block.norm1), block.activation1) * on, block.convolution1)
                inner = conv(act(norm(inner, block.norm2), block.activation2) * on, block.convolution2)
            case kata.PoolingBlock():
                start = act(norm(x, block.norm1), block.activation1) * on
                pooled = act(norm(conv(start, block.pooled_convolution), block.pooled_norm), block.pooled_activation)
                inner = conv(start, block.convolution1) + pool(pooled, on, True) @ block.pooled_to_bias.weights
                inner = conv(act(norm(inner, block.norm2), block.activation2) * on, block.convolution2)
            case kata.NestedBlock():
                inner = conv(act(norm(x, block.norm1), block.activation1) * on, block.convolution1)
                inner = run(inner * on, block.blocks, on)
                inner = conv(act(norm(inner, block.norm2), block.activation2) * on, block.convolution2)
            case kata.AttentionBlock():
                inner = attend(x, block, on)
            case kata.FeedForwardBlock():
                start = rms(x, block.norm)
                inner = start @ block.linear1.weights
                inner = inner / (1 + np.exp(-inner))
                if block.gate is not None:
                    inner = inner * (start @ block.gate.weights)
                inner = inner @ block.linear2.weights
        x = x + inner * on
    return x


def attend(x: Any, block: kata.AttentionBlock, on: Any) -> Any:
    """Attention, point by point and head by head."""
    start, size, result = rms(x, block.norm), block.query_size, []
    places = [(row, column) for row, column in np.ndindex(*on.shape[:2]) if on[row, column, 0]]
    for head in range(block.heads):
        group = head * block.key_heads // block.heads
        queries: dict[Any, Any] = {}
        keys: dict[Any, Any] = {}
        for row, column in places:
            point = start[row, column]
            for found, layer, number in ((queries, block.query, head), (keys, block.key, group)):
                vector = point @ layer.weights[:, number * size : (number + 1) * size]
                found[row, column] = rotated(vector, block, group, row, column)
        v = block.value_size
        values = {place: start[place] @ block.value.weights[:, group * v : (group + 1) * v] for place in places}
        mixed = np.zeros((*on.shape[:2], v))
        for place in places:
            shares = np.exp([queries[place] @ keys[other] / np.sqrt(size) for other in places])
            mixed[place] = sum(s * values[other] for s, other in zip(shares / shares.sum(), places, strict=True))
        result.append(mixed)
    return np.concatenate(result, axis=2) @ block.output.weights


def rotated(vector: Any, block: kata.AttentionBlock, group: int, row: int, column: int) -> Any:
    pairs = block.query_size // 2
    out = vector.copy()
    for pair in range(pairs if block.rope_name else 0):
        if block.frequencies is not None:
            angle = column * block.frequencies[group, pair, 0] + row * block.frequencies[group, pair, 1]
        else:
            place, number = (row, pair) if pair < pairs // 2 else (column, pair - pairs // 2)
            angle = place * block.theta ** (-2 * number / pairs)  # type: ignore[operator]
        a, b = vector[2 * pair : 2 * pair + 2]
        out[2 * pair] = a * np.cos(angle) - b * np.sin(angle)
        out[2 * pair + 1] = a * np.sin(angle) + b * np.cos(angle)
    return out


def conv(x: Any, layer: kata.Convolution) -> Any:
    ky, kx = layer.weights.shape[:2]
    padded = np.pad(x, ((ky // 2, ky // 2), (kx // 2, kx // 2), (0, 0)))
    height, width = x.shape[:2]
    return sum(
        padded[dy : dy + height, dx : dx + width] @ layer.weights[dy, dx].astype(np.float64)
        for dy in range(ky)
        for dx in range(kx)
    )


def norm(x: Any, layer: kata.BatchNorm) -> Any:
    scaled = (x - layer.mean) / np.sqrt(layer.variance + layer.epsilon)
    return scaled * (1 if layer.scale is None else layer.scale) + (0 if layer.bias is None else layer.bias)


def rms(x: Any, layer: kata.RmsNorm) -> Any:
    return x / np.sqrt((x**2).mean(axis=2, keepdims=True) + layer.epsilon) * layer.weights


def act(x: Any, activation: kata.Activation) -> Any:
    return {
        "relu": lambda: np.maximum(x, 0),
        "identity": lambda: x,
        "silu": lambda: x / (1 + np.exp(-x)),
        "mish": lambda: x * np.tanh(softplus(x)),
    }[activation.kind]()


def pool(x: Any, on: Any, maximum: bool) -> Any:
    mean, s = (x * on).sum(axis=(0, 1)) / on.sum(), np.sqrt(on.sum()) - 14
    last = np.maximum(x[on[..., 0] > 0].max(axis=0), -1) if maximum else mean * (s * s * 0.01 - 0.1)
    return np.concatenate([mean, mean * s * 0.1, last])


def softplus(x: Any) -> Any:
    return np.log1p(np.exp(x))


def written(path: Path, *, metadata: bool) -> Path:
    """A file of format 15 with one block; with `metadata` of a human-style network."""
    maker = Maker(15, 3, "mish")
    path.write_bytes(text(maker.model((maker.ordinary(),), metadata=metadata), binary=False))
    return path
