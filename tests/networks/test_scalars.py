"""What a network never saw change makes no difference to it: checked on outputs, not on weights."""

import pytest

torch = pytest.importorskip("torch", reason="networks need the extra [train]")

from tengen.networks import NetOutput, build, parse_config  # noqa: E402
from tengen.networks.constant_inputs import ScalarRange, used_scalars, without_constants  # noqa: E402

PLANES, SCALARS, ROWS = 8, 5, 6


@pytest.fixture
def network() -> torch.nn.Module:
    torch.manual_seed(3)
    module = build(parse_config({"family": "residual", "size": "b2c16"}), PLANES, SCALARS)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return module


def outputs(network: torch.nn.Module, scalars: torch.Tensor) -> NetOutput:
    random = torch.Generator().manual_seed(1)
    planes = (torch.rand(ROWS, PLANES, 7, 7, generator=random) < 0.3).float()
    with torch.no_grad():
        found: NetOutput = network(planes, scalars, torch.ones(ROWS, 7, 7))
    return found


def differences(one: NetOutput, other: NetOutput) -> list[float]:
    return [float((a - b).abs().max()) for a, b in zip(one[:4], other[:4], strict=True)]


def test_constants_are_kept_and_then_not_used(network: torch.nn.Module) -> None:
    learned = torch.rand(ROWS, SCALARS)
    learned[:, 1], learned[:, 3] = 1.0, -0.5
    other = learned.clone()
    other[:, 1], other[:, 3] = 0.0, 7.0
    folded = without_constants(network, {1: 1.0, 3: -0.5})
    assert max(differences(outputs(folded, learned), outputs(network, learned))) < 1e-4
    assert max(differences(outputs(folded, other), outputs(folded, learned))) == 0
    assert min(differences(outputs(network, other), outputs(network, learned))) > 1e-3, "or there was nothing to mend"
    assert used_scalars(network) == [0, 1, 2, 3, 4]
    assert used_scalars(folded) == [0, 2, 4]


def test_what_stays_makes_the_difference_that_it_made(network: torch.nn.Module) -> None:
    scalars = torch.rand(ROWS, SCALARS)
    scalars[:, 1] = 1.0
    other = scalars.clone()
    other[:, 2] += 0.5
    folded = without_constants(network, {1: 1.0})
    assert max(differences(outputs(folded, other), outputs(network, other))) < 1e-4
    assert min(differences(outputs(folded, other), outputs(folded, scalars))) > 1e-3


def test_the_range_of_what_was_seen() -> None:
    seen = ScalarRange(3)
    assert seen.constant == {}, "nothing was seen"
    seen.see(torch.tensor([[1.0, 0.0, 2.0], [1.0, 0.5, 2.0]]))
    assert seen.constant == {0: 1.0, 2: 2.0}
    seen.see(torch.tensor([[1.0, 0.0, 2.5]]))
    assert seen.constant == {0: 1.0}
    again = ScalarRange(3)
    again.load_state_dict(seen.state_dict())
    assert again.constant == {0: 1.0}


def test_what_a_network_knows_before_is_not_forgotten(network: torch.nn.Module) -> None:
    seen = ScalarRange(SCALARS)
    seen.know(used_scalars(without_constants(network, {1: 1.0, 3: 0.0})))
    seen.see(torch.ones(ROWS, SCALARS))
    assert seen.constant == {1: 1.0, 3: 1.0}, "those alone that the network did not look at"


def test_a_family_without_scalars_has_nothing_to_forget() -> None:
    network = build(parse_config({"family": "cody7x7"}), PLANES, SCALARS)
    assert used_scalars(network) == []
    assert used_scalars(without_constants(network, {0: 1.0})) == []
