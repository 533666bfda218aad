"""What every network family must do: one suite for all names in the registry."""

import math
from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch", reason="networks need the extra [train]")

from pydantic import Field, ValidationError  # noqa: E402

from tengen.data import plane_set  # noqa: E402
from tengen.errors import NetworkError  # noqa: E402
from tengen.networks import FAMILIES, Family, Heads, NetConfig, NetOutput, build, parse_config  # noqa: E402
from tengen.networks.registry import check_heads, mac_count, parameter_count  # noqa: E402
from tengen.networks.residual import ResidualConfig  # noqa: E402
from tengen.training.network import make_network  # noqa: E402

PLANES, SCALARS = 11, 4
TOWER = {"score": True, "ownership": True, "value": {"kind": "pool", "output": "win-loss", "hidden": 8}}
SMALL = {
    "residual": {"size": "b2c16"},
    "plain": {**TOWER, "convs": ["5x5x8", "2 * 3x3x8"], "policy": {"kernel": 3, "maps": 3, "kind": "conv"}},
    "preact": {**TOWER, "filters": 8, "units": 2, "policy": {"kind": "conv", "bias": "map"}},
    "a0": {**TOWER, "filters": 8, "blocks": 2, "policy": {"kind": "conv"}},
    "mobile": {**TOWER, "filters": 8, "inner": 12, "blocks": 2},
}
FIXED = ["cody7x7"]  # of one board size: tests/networks/test_cody.py
VARIANTS = [
    *SMALL.items(),
    ("residual", {"size": "b2c16", "reply": True, "soft": True, "pooling": False}),
    ("residual", {"size": "b2c32nbt"}),
    ("plain", {**SMALL["plain"], "batch_norm": "before", "activation": "prelu", "ownership": False}),
    ("a0", {**SMALL["a0"], "batch_norm": "after-addition", "activation": "mish", "stem": 1, "init": 0.1}),
    ("mobile", {**SMALL["mobile"], "activation": "silu", "value": {"kind": "pool", "output": "scalar"}}),
]


@pytest.fixture(params=VARIANTS, ids=lambda variant: "-".join([variant[0], *map(str, variant[1])]))
def config(request: pytest.FixtureRequest) -> NetConfig:
    family, fields = request.param
    return parse_config({"family": family, **fields})


def test_every_family_is_tested() -> None:
    assert {*SMALL, *FIXED} == set(FAMILIES)


def make(config: NetConfig) -> torch.nn.Module:
    """A network in evaluation mode, with running statistics that are not those of a fresh one."""
    network = build(config, PLANES, SCALARS).eval()
    for layer in network.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.running_mean.normal_(std=0.3)
            layer.running_var.uniform_(0.5, 2.0)
    return network


def parts(out: NetOutput) -> list[torch.Tensor]:
    """The outputs and further maps that the network has."""
    return [*(part for part in out[:4] if part is not None), *out.maps.values()]


def inputs(edge: int, *sizes: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    mask = torch.zeros(len(sizes), edge, edge)
    for row, size in enumerate(sizes):
        mask[row, :size, :size] = 1
    planes = (torch.rand(len(sizes), PLANES, edge, edge) < 0.3).float() * mask[:, None]
    return planes, torch.rand(len(sizes), SCALARS), mask


@pytest.mark.parametrize("edge", [5, 6, 13, 19])
def test_every_size_has_the_promised_shapes(config: NetConfig, edge: int) -> None:
    out = make(config)(*inputs(edge, edge, 5, edge))
    heads = config.heads
    assert set(out.maps) == set(config.heads.maps)
    assert all(config.heads.has(name) == out.has(name) for name in out._fields[:4])
    assert out.policy.shape == (3, edge * edge + heads.pass_move)
    assert out.value.shape == {"win-draw-loss": (3, 3), "win-loss": (3, 1), "scalar": (3,)}[heads.value]
    assert out.score.shape == (3,)
    assert not heads.ownership or (out.ownership.shape == (3, edge, edge) and out.ownership.abs().max() <= 1)
    assert all(part.isfinite().all() for part in parts(out))
    assert all(extra.shape == out.policy.shape for extra in out.maps.values())


def test_a_small_board_in_a_large_tensor_gives_what_it_gives_alone(config: NetConfig) -> None:
    network = make(config)
    planes, scalars, mask = inputs(13, 9, 13)
    together = network(planes, scalars, mask)
    alone = network(planes[:1, :, :9, :9], scalars[:1], mask[:1, :9, :9])
    board = together.policy[0, :169].view(13, 13)
    torch.testing.assert_close(board[:9, :9].flatten(), alone.policy[0, :81], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(together.policy[0, 169:], alone.policy[0, 81:], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(together.value[0], alone.value[0], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(together.score[0], alone.score[0], rtol=1e-4, atol=1e-4)
    assert board[9:].max() < -1000 and board[:, 9:].max() < -1000


def test_rows_do_not_see_each_other(config: NetConfig) -> None:
    network = make(config)
    planes, scalars, mask = inputs(9, 9, 9)
    first = network(planes, scalars, mask)
    planes[1] = 1 - planes[1]
    second = network(planes, scalars + torch.tensor([[0.0], [1.0]]), mask)
    for before, after in zip(parts(first), parts(second), strict=True):
        torch.testing.assert_close(before[0], after[0])
        assert not torch.allclose(before[1], after[1])


def test_the_same_seed_builds_the_same_network(config: NetConfig) -> None:
    torch.manual_seed(4)
    first = build(config, PLANES, SCALARS).state_dict()
    torch.manual_seed(4)
    second = build(config, PLANES, SCALARS).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_every_parameter_is_reached_by_the_outputs(config: NetConfig) -> None:
    network = make(config)
    out = network(*inputs(9, 9, 7))
    sum(part.float().clamp(min=-100).square().sum() for part in parts(out)).backward()
    dead = [name for name, p in network.named_parameters() if p.grad is None or not p.grad.isfinite().all()]
    assert not dead


def test_a_config_survives_json(config: NetConfig) -> None:
    assert parse_config(config.model_dump(mode="json")) == config


def test_an_unknown_family_is_told_the_nearest() -> None:
    with pytest.raises(NetworkError, match=r"'residul'; did you mean residual\?"):
        parse_config({"family": "residul"})


@pytest.mark.parametrize("size", ["b0c64", "b6", "b6c60", "c64b6", "b6c4"])
def test_a_wrong_size_is_refused(size: str) -> None:
    with pytest.raises(ValidationError, match="blocks and channels"):
        ResidualConfig(size=size)


def test_widths_follow_from_the_dial() -> None:
    config = ResidualConfig(size="b6c96")
    assert (config.blocks, config.channels, config.pooling_blocks) == (6, 96, (1, 3, 5))
    assert config.derived()["pooled"] == 24
    assert ResidualConfig(size="b1c8").pooling_blocks == (0,)


def test_pooling_can_be_left_out_of_the_trunk() -> None:
    config = ResidualConfig(size="b6c96", pooling=False)
    assert config.pooling_blocks == () and config.derived()["pooling_blocks"] == ()
    network = build(ResidualConfig(size="b2c16", pooling=False), PLANES, SCALARS)
    pooling = [name for name, _ in network.blocks.named_modules() if "global_bias" in name]
    assert pooling == []


def test_heads_for_training_leave_the_rest_as_it_was() -> None:
    """A network with more heads takes the weights of one without, and its policy is the same."""
    plain, more = ResidualConfig(size="b2c16"), ResidualConfig(size="b2c16", reply=True, soft=True)
    one, two = (build(config, PLANES, SCALARS) for config in (plain, more))
    extra = two.load_state_dict(one.state_dict(), strict=False).missing_keys
    assert extra and all(name.startswith("policy.maps.") for name in extra)
    given = inputs(9, 9, 7)
    first, second = one(*given), two(*given)
    assert not first.maps and plain.heads.maps == () and more.heads.maps == ("reply", "soft")
    reply, soft = second.maps["reply"], second.maps["soft"]
    assert not torch.allclose(reply, soft) and not torch.allclose(reply, second.policy)
    for before, after in zip(parts(first), parts(second)[:4], strict=True):
        assert torch.equal(before, after)


def test_costs_agree_with_counting_by_hand() -> None:
    layers = torch.nn.Sequential(
        torch.nn.Conv2d(3, 6, 3, padding=1), torch.nn.BatchNorm2d(6), torch.nn.Conv2d(6, 4, 3, padding=1, groups=2)
    )

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers, self.linear = layers, torch.nn.Linear(4, 7)

        def forward(self, planes: torch.Tensor, scalars: torch.Tensor, mask: torch.Tensor) -> None:
            self.layers(planes), self.linear(scalars)

    network = Net()
    assert parameter_count(network) == (6 * 27 + 6) + 2 * 6 + (4 * 27 + 4) + (4 * 7 + 7)
    # Each of the 4 outputs of the grouped convolution sees 3 of the 6 channels.
    assert mac_count(network, 3, 4, edge=9) == 81 * (6 * 27 + 4 * 3 * 9) + 4 * 7
    assert network.training and network.layers[1].num_batches_tracked == 0


@pytest.mark.parametrize("fields", [fields for family, fields in VARIANTS if family == "residual"], ids=str)
def test_the_start_is_a_guess_without_opinion(fields: dict[str, object]) -> None:
    """Before training the loss is that of a uniform guess, not of a confident error."""
    torch.manual_seed(0)
    out = build(parse_config({"family": "residual", **fields}), PLANES, SCALARS)(*inputs(9, *[9] * 16))
    policy_loss = -torch.log_softmax(out.policy, 1).mean()
    assert policy_loss.item() == pytest.approx(math.log(82), abs=0.5)
    assert torch.softmax(out.value, 1).max() < 0.6


def test_every_family_returns_the_heads_that_it_declares(config: NetConfig) -> None:
    network = build(config, PLANES, SCALARS)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    check_heads(network, config, PLANES, SCALARS)
    assert network.training and all(torch.equal(before[name], found) for name, found in network.state_dict().items())


class MadeConfig(NetConfig):
    """Declares `declares`."""

    family: str = "made"
    declares: dict[str, object] = Field(default_factory=dict)
    sizes: tuple[int, ...] | None = None

    @property
    def heads(self) -> Heads:
        return Heads(**self.declares)  # type: ignore[arg-type]

    @property
    def board_sizes(self) -> tuple[int, ...] | None:
        return self.sizes


class Made(torch.nn.Module):
    """Returns a policy without pass and a value [B, 1], or what `returns` makes of (rows, points)."""

    def __init__(self, returns: object = None) -> None:
        super().__init__()
        self.returns = returns

    def forward(self, planes: torch.Tensor, scalars: torch.Tensor, mask: torch.Tensor) -> object:
        rows, points = len(planes), mask[0].numel()
        if callable(self.returns):
            return self.returns(rows, points)
        return NetOutput(torch.zeros(rows, points), torch.zeros(rows, 1))


RIGHT = {"pass_move": False, "value": "win-loss", "score": False, "ownership": False}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({}, ""),
        ({"pass_move": True}, r"policy of shape \(2, 49\), and .* declare \(2, 50\)"),
        ({"value": "scalar"}, r"value of shape \(2, 1\), and .* declare \(2,\)"),
        ({"value": None}, r"value of shape \(2, 1\), and .* declare None"),
        ({"score": True}, r"score of shape None, and .* declare \(2,\)"),
        ({"ownership": True}, r"ownership of shape None, and .* declare \(2, 7, 7\)"),
        ({"maps": ("reply",)}, r"reply of shape None, and .* declare \(2, 49\)"),
    ],
)
def test_heads_that_are_declared_and_not_returned_are_named(change: dict[str, object], says: str) -> None:
    """Their losses were left out silently, and a scalar [B, 1] was read as the logit of a win."""
    config = MadeConfig(declares={**RIGHT, **change}, sizes=(7,))
    if not says:
        check_heads(Made(), config, PLANES, SCALARS)
        return
    with pytest.raises(NetworkError, match=f"network family 'made': of 2 positions on 7x7 forward returns {says}"):
        check_heads(Made(), config, PLANES, SCALARS)


def test_a_forward_that_returns_no_output_is_named() -> None:
    with pytest.raises(NetworkError, match="network family 'made': forward returns a tuple, no NetOutput"):
        check_heads(Made(lambda rows, points: (torch.zeros(rows, points), None)), MadeConfig(), PLANES, SCALARS)


def test_a_module_is_no_family(registered: Callable[..., None]) -> None:
    with pytest.raises(NetworkError, match="network family 'made' is the class Made, no Family"):
        registered(FAMILIES, "made", Made)


def test_what_a_family_makes_is_a_module(registered: Callable[..., None]) -> None:
    registered(FAMILIES, "made", Family(MadeConfig, lambda config, planes, scalars: 5))  # type: ignore[arg-type,return-value]
    with pytest.raises(NetworkError, match=r"network family 'made' makes an int, no torch\.nn\.Module"):
        build(MadeConfig(), PLANES, SCALARS)


def test_a_plane_set_without_scalars_is_refused_where_a_network_needs_them() -> None:
    with pytest.raises(NetworkError, match="family 'residual' needs a plane set with one scalar or more"):
        build(ResidualConfig(), PLANES, 0)


def test_training_begins_with_a_look_at_the_heads(registered: Callable[..., None]) -> None:
    registered(FAMILIES, "made", Family(MadeConfig, lambda config, planes, scalars: Made()))
    with pytest.raises(NetworkError, match=r"network family 'made': .* forward returns policy"):
        make_network({"family": "made"}, plane_set("tengen"), 1)
