"""The published families compute what their papers say: each again from the stored numbers, step by step."""

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="networks need the extra [train]")

import torch.nn.functional as F  # noqa: E402
from pydantic import ValidationError  # noqa: E402
from torch import Tensor  # noqa: E402

from tengen.errors import RecipeError  # noqa: E402
from tengen.networks import build, parse_config  # noqa: E402
from tengen.recipes.loader import network_fields  # noqa: E402

PLANES, EDGE, ROWS = 5, 9, 3


@pytest.mark.parametrize("family", ["preact", "a0", "mobile"])
def test_every_norm_has_the_settings_of_the_configuration(family: str) -> None:
    fields = {"family": family, "board_size": EDGE, "norm_epsilon": 0.01, "norm_momentum": 0.25}
    network = build(parse_config(fields), PLANES, 0)
    norms = [layer for layer in network.modules() if isinstance(layer, torch.nn.BatchNorm2d)]
    assert norms and {(norm.eps, norm.momentum) for norm in norms} == {(0.01, 0.25)}


class Stored:
    """The numbers of a network by name, and layers made of them."""

    def __init__(self, state: dict[str, Tensor]) -> None:
        self.state = state

    def conv(self, x: Tensor, name: str, padding: int = 1, groups: int = 1) -> Tensor:
        weight, bias = self.state[f"{name}.weight"], self.state.get(f"{name}.bias")
        return F.conv2d(x, weight, bias, padding=padding, groups=groups)

    def norm(self, x: Tensor, name: str, epsilon: float = 1e-5) -> Tensor:
        mean, variance, gain, shift = (
            self.state[f"{name}.{part}"].view(1, -1, 1, 1) for part in ("running_mean", "running_var", "weight", "bias")
        )
        return (x - mean) / torch.sqrt(variance + epsilon) * gain + shift

    def dense(self, x: Tensor, name: str) -> Tensor:
        return x @ self.state[f"{name}.weight"].T + self.state[f"{name}.bias"]


def plain_after(n: Stored, x: Tensor) -> Tensor:
    for i in range(3):
        x = n.norm(F.relu(n.conv(x, f"convs.{i}.0")), f"convs.{i}.2")
    return x


def plain_before_valid_pooled(n: Stored, x: Tensor) -> Tensor:
    for i in range(2):
        x = torch.tanh(n.norm(n.conv(x, f"convs.{i}.0", padding=0), f"convs.{i}.1"))
    return F.max_pool2d(x, 2)  # 9 - 2 - 2 = 5, of which the last line is lost


def preact(n: Stored, x: Tensor) -> Tensor:
    x = F.relu(n.norm(n.conv(x, "stem.0", padding=2), "norm.0"))
    for unit in range(2):
        y = x
        for i in range(2):
            y = n.conv(F.relu(n.norm(y, f"units.{unit}.norms.{i}.0")), f"units.{unit}.convs.{i}.0")
        x = x + y
    return x


def preact_bare(n: Stored, x: Tensor) -> Tensor:
    x = n.conv(x, "stem.0", padding=2)
    for unit in range(3):
        x = x + n.conv(F.relu(n.norm(x, f"units.{unit}.norms.0.0")), f"units.{unit}.convs.0.0")
    return F.relu(x)


def a0(n: Stored, x: Tensor) -> Tensor:
    x = F.relu(n.norm(n.conv(x, "stem.0"), "stem.1"))
    for block in (f"blocks.{i}" for i in range(2)):
        y = F.relu(n.norm(n.conv(x, f"{block}.first.0"), f"{block}.first.1"))
        x = F.relu(x + n.norm(n.conv(y, f"{block}.second.0"), f"{block}.second.1"))
    return x


def golois(n: Stored, x: Tensor) -> Tensor:
    x = F.relu(n.norm(n.conv(x, "stem.0", padding=0), "stem.1"))
    for block in (f"blocks.{i}" for i in range(2)):
        y = F.relu(n.conv(F.relu(n.conv(x, f"{block}.first.0")), f"{block}.second.0"))
        x = n.norm(x + y, f"{block}.end")
    return x


def mobile(n: Stored, x: Tensor) -> Tensor:
    x = F.relu(n.norm(n.conv(x, "stem.0", padding=0), "stem.1"))
    for block in (f"blocks.{i}" for i in range(2)):
        y = F.relu(n.norm(n.conv(x, f"{block}.expand.0", padding=0), f"{block}.expand.1"))
        y = F.relu(n.norm(n.conv(y, f"{block}.depthwise.0", groups=9), f"{block}.depthwise.1"))
        x = x + n.norm(n.conv(y, f"{block}.squeeze.0", padding=0), f"{block}.squeeze.1")
    return x


_POOL = {"kind": "pool", "hidden": 7, "output": "win-loss"}
_FLAT = {"kind": "dense", "channels": 0, "hidden": 6}
FAMILIES: dict[str, tuple[dict[str, Any], Callable[[Stored, Tensor], Tensor]]] = {
    "plain after": ({"family": "plain", "convs": ["3 * 3x3x6"], "batch_norm": "after", "policy": _FLAT}, plain_after),
    "plain before": (
        {"family": "plain", "convs": ["2 * 3x3x6"], "batch_norm": "before", "padding": "valid", "pool": 2,
         "activation": "tanh", "policy": _FLAT},
        plain_before_valid_pooled,
    ),
    "preact": (
        {"family": "preact", "filters": 6, "units": 2, "stem": 5,
         "policy": {"kind": "conv", "kernel": 3, "bias": "map", "maps": 3}},
        preact,
    ),
    "preact without outer norms": (
        {"family": "preact", "filters": 6, "units": 3, "convs": 1, "stem": 5, "stem_norm": False,
         "final_activation": True, "policy": {"kind": "conv", "kernel": 3, "bias": "map", "maps": 3}},
        preact_bare,
    ),
    "a0": ({"family": "a0", "filters": 6, "blocks": 2, "policy": {"kind": "dense", "pass_move": True}}, a0),
    "golois": (
        {"family": "a0", "filters": 6, "blocks": 2, "stem": 1, "batch_norm": "after-addition",
         "policy": {"kind": "conv", "bias": "point", "relu": True}},
        golois,
    ),
    "mobile": ({"family": "mobile", "filters": 6, "inner": 9, "blocks": 2}, mobile),
}  # fmt: skip


def policy(n: Stored, x: Tensor, fields: dict[str, Any], name: str = "logits") -> Tensor:
    """Logits of the policy head, or of a further map of a convolutional head."""
    head = fields.get("policy", {"kind": "conv"})
    if head["kind"] == "conv":
        points = n.conv(x, f"policy.{'point' if name == 'logits' else name}.0", padding=head.get("kernel", 1) // 2)
        points = points + n.state["policy.point_bias"] if head.get("bias") == "point" else points
        return (F.relu(points) if head.get("relu") else points).flatten(1)
    if head.get("channels", 2):
        x = F.relu(n.norm(n.conv(x, "policy.flat.conv.0", padding=0), "policy.flat.conv.1"))
    x = x.flatten(1)
    if head.get("hidden"):
        act = torch.tanh if fields.get("activation") == "tanh" else F.relu
        x = act(n.dense(x, "policy.hidden.0"))
    return n.dense(x, "policy.logits")


@pytest.mark.parametrize("value", ["pool", "dense"])
@pytest.mark.parametrize("name", FAMILIES)
def test_it_computes_what_is_published(name: str, value: str) -> None:
    fields, trunk = FAMILIES[name]
    act = torch.tanh if fields.get("activation") == "tanh" else F.relu
    torch.manual_seed(2)
    head = _POOL if value == "pool" else {"kind": "dense", "hidden": 7}
    module = build(parse_config({**fields, "board_size": EDGE, "value": head}), PLANES, 1).eval()
    for part in (*module.parameters(), *module.buffers()):
        if part.is_floating_point():
            part.data += 0.2 * torch.rand_like(part)
    planes = (torch.rand(ROWS, PLANES, EDGE, EDGE) < 0.4).float()
    out = module(planes, torch.zeros(ROWS, 1), torch.ones(ROWS, EDGE, EDGE))
    n = Stored(module.state_dict())
    x = trunk(n, planes)
    close = {"rtol": 1e-4, "atol": 1e-4}
    torch.testing.assert_close(out.policy, policy(n, x, fields), **close)
    assert out.policy.shape[1] == EDGE**2 + (name == "a0")
    for map_name, logits in out.maps.items():
        torch.testing.assert_close(logits, policy(n, x, fields, f"maps.{map_name}"), **close)
    assert set(out.maps) == ({"move2", "move3"} if name.startswith("preact") else set())
    if value == "pool":
        wanted = n.dense(act(n.dense(x.mean((2, 3)), "value.hidden")), "value.output")
    else:
        y = act(n.norm(n.conv(x, "value.flat.conv.0", padding=0), "value.flat.conv.1"))
        wanted = torch.tanh(n.dense(act(n.dense(y.flatten(1), "value.hidden")), "value.output")).squeeze(1)
    torch.testing.assert_close(out.value, wanted, **close)


def test_a_network_without_batch_norm_has_none_in_its_heads() -> None:
    """AlphaGo's value network: a 1x1 convolution alone, and every move alike."""
    fields = {"preset": "alphago-value", "convs": ["5x5x4", "3x3x4"], "board_size": EDGE}
    module = build(parse_config(fields), PLANES, 1)
    planes, n = torch.rand(2, PLANES, EDGE, EDGE), Stored(module.state_dict())
    out = module(planes, torch.zeros(2, 1), torch.ones(2, EDGE, EDGE))
    x = F.relu(n.conv(F.relu(n.conv(planes, "convs.0.0", padding=2)), "convs.1.0"))
    x = n.conv(x, "value.flat.conv.0", padding=0).flatten(1)
    wanted = torch.tanh(n.dense(F.relu(n.dense(x, "value.hidden")), "value.output")).squeeze(1)
    torch.testing.assert_close(out.value, wanted)
    assert out.policy.shape == (2, EDGE**2) and not out.policy.any()


@pytest.mark.parametrize("init", ["he", "xavier", 0.05])
def test_first_weights_have_the_deviation_that_is_asked_for(init: str | float) -> None:
    torch.manual_seed(0)
    fields = {"family": "plain", "convs": ["3x3x64", "3x3x48"], "policy": {"kind": "conv", "bias": "map"}}
    module = build(parse_config({**fields, "init": init, "init_bias": 0.3}), PLANES, 1)
    weight = module.state_dict()["convs.1.0.weight"]
    ins, outs = 64 * 9, 48 * 9
    expected = {"he": (2 / ins) ** 0.5, "xavier": (2 / (ins + outs)) ** 0.5}.get(str(init), init)
    assert weight.std().item() == pytest.approx(expected, rel=0.03)
    assert module.state_dict()["convs.1.0.bias"].tolist() == pytest.approx([0.3] * 48)


def test_an_action_value_is_that_of_position_and_move_side_by_side() -> None:
    """The published layers, in which a move is a vector beside the features: one pass for each move."""
    head = {"kind": "action-value", "hidden": 7, "pass_move": True}
    fields = {"family": "plain", "convs": ["3x3x4"], "dense": 5, "board_size": EDGE, "policy": head}
    module: Any = build(parse_config(fields), PLANES, 1).eval()
    planes, mask = torch.rand(2, PLANES, EDGE, EDGE), torch.ones(2, EDGE, EDGE)
    found = module(planes, torch.zeros(2, 1), mask).policy
    features = torch.relu(module.dense[0](torch.relu(module.convs[0][0](planes)).flatten(1)))
    weights = torch.cat([module.policy.move.weight.t(), module.policy.board.weight], dim=1)
    moves = EDGE**2 + 1
    assert found.shape == (2, moves)
    for row in range(2):
        for move in range(moves):
            together = torch.cat([torch.nn.functional.one_hot(torch.tensor(move), moves), features[row]])
            hidden = torch.relu(weights @ together + module.policy.board.bias)
            torch.testing.assert_close(found[row, move], module.policy.output(hidden)[0])


def test_dropout_acts_in_training_alone() -> None:
    fields = {"family": "plain", "convs": ["3x3x8"], "board_size": EDGE, "policy": {"kind": "dense", "hidden": 8}}
    given = torch.rand(2, PLANES, EDGE, EDGE), torch.zeros(2, 1), torch.ones(2, EDGE, EDGE)
    for where in ({"dropout": 0.5}, {"spatial_dropout": 0.5}, {"policy": {**fields["policy"], "dropout": 0.5}}):
        module = build(parse_config({**fields, **where}), PLANES, 1)
        assert not torch.equal(module.train()(*given).policy, module(*given).policy)
        assert torch.equal(module.eval()(*given).policy, module(*given).policy)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"policy": {"kind": "dense"}}, r"policy.kind = dense fixes the network to one board size: give board_size"),
        ({"policy": {"kind": "action-value"}}, r"policy.kind = action-value fixes"),
        ({"value": {"kind": "dense"}}, r"value.kind = dense fixes"),
        ({"policy": {"kind": "conv", "bias": "point"}}, r"policy.bias = point fixes"),
        ({"padding": "valid"}, r"a trunk that shrinks the board fixes"),
        ({"padding": "valid", "board_size": 19}, r"takes policy.kind dense, action-value or null"),
        ({"dense": 8, "board_size": 19}, r"dense takes policy.kind dense, action-value or null"),
        ({"convs": ["20 * 3x3x8"], "padding": "valid", "board_size": 19, "policy": {"kind": "dense"}}, "nothing of"),
        ({"convs": ["20 * 3x3x8"], "padding": "valid", "board_size": 19, "dense": 8, "policy": None}, "nothing of"),
        ({"convs": ["3x5x8"]}, r"'3x5x8' is no convolution: write kernel and filters"),
        ({"policy": {"kind": "conv", "channels": 2}}, "channels"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        parse_config({"family": "plain", **fields})
    with pytest.raises(RecipeError, match=message):
        network_fields({"family": "plain", **fields})


def test_it_is_printed_with_the_fields_that_were_given() -> None:
    config = parse_config({"preset": "mobile.small.conv", "filters": 8})
    assert str(config).startswith("family=mobile plane_set=golois21 board_size=19 policy={'kind': 'conv'} value=")
    assert "filters=8 inner=200" in str(config) and "dropout" not in str(config)


def test_a_wrong_key_of_a_head_is_told_the_nearest() -> None:
    with pytest.raises(RecipeError, match=r"dense\.hiden'; did you mean network\.policy\.dense\.hidden\?"):
        network_fields({"preset": "bakago-v3", "policy": {"hiden": 2}})
