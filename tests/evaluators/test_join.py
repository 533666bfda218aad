"""The policy of one network and the value of another in one network file."""

from pathlib import Path

import katago_twin
import numpy as np
import onnx
import pytest

pytest.importorskip("torch", reason="networks are made with the extra [train]")

from tengen.cli.app import main
from tengen.data.planes import plane_set
from tengen.engine import Engine, Limits, SearchParams
from tengen.errors import NetworkError
from tengen.evaluators import load_evaluator
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.join import _BEGINNINGS, join
from tengen.evaluators.network_file import Card, read_card
from tengen.game import Game
from tengen.networks import build, parse_config
from tengen.networks.export import export
from tengen.recipes import load_recipe

CONVS = ["5x5x8", "3x3x8"]


def write(folder: Path, preset: str, sizes: tuple[int, ...] = (19,), **fields: object) -> Path:
    config = parse_config({"preset": preset, **fields})
    chosen = plane_set(config.plane_set)
    widths = len(chosen.planes), len(chosen.scalars)
    path = folder / f"{preset}.onnx"
    card = Card(name=preset, family="plain", config={}, plane_set=config.plane_set, board_sizes=list(sizes))
    export(build(config, *widths), *widths, path, card.metadata())
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """AlphaGo's two networks with few filters: 48 planes for the policy, 49 for the value."""
    folder = tmp_path_factory.mktemp("join")
    return write(folder, "alphago-policy-128", convs=CONVS), write(folder, "alphago-value", convs=CONVS)


def test_the_joined_network_gives_the_policy_of_one_and_the_value_of_the_other(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy, value = files
    assert main(["nets", "join", str(policy), str(value), "--out", str(tmp_path / "alphago.onnx")]) == 0
    assert capsys.readouterr().out.endswith("value of alphago-value, plane set alphago49, boards 19\n")
    card = read_card(tmp_path / "alphago.onnx")
    assert (card.name, card.plane_set, card.board_sizes) == ("alphago", "alphago49", [19])
    game = Game(size=19, komi=7.5)
    games = [game.copy()] + [game.play(point).copy() for point in ("Q16", "D4", "Q3", "D16", "E16")]
    joined, first, second = (
        load_evaluator(path, precision="f32").evaluate(games) for path in (tmp_path / "alphago.onnx", policy, value)
    )
    np.testing.assert_allclose(joined.policy, first.policy, atol=1e-6)
    np.testing.assert_allclose(joined.value, second.value, atol=1e-5)
    assert np.ptp(second.value) > 0
    engine = Engine(load_evaluator(tmp_path / "alphago.onnx"), limits=Limits(visits=4))
    engine.set_position(game)
    assert game.is_legal(engine.think().move)


def test_the_longer_plane_set_may_be_that_of_the_policy_and_the_card_says_what_both_say(tmp_path: Path) -> None:
    policy, value = tmp_path / "policy.onnx", tmp_path / "value.onnx"
    cards = (
        {"data": "records of a server", "licence": "MIT", "search": {"c_puct": 5.0, "batch": 8}},
        {"data": "self-play", "licence": "CC0", "rules": "chinese", "search": {"c_puct": 1.0, "threads": 2}},
    )
    for path, planes, fields in zip((policy, value), ("alphago49", "alphago48"), cards, strict=True):
        written = write(tmp_path, "alphago-value", plane_set=planes, convs=CONVS)
        model, card = onnx.load(written), read_card(written).model_copy(update={"name": path.stem, **fields})
        onnx.helper.set_model_props(model, card.metadata())
        onnx.save(model, path)
    join(policy, value, tmp_path / "new" / "joined.onnx")
    joined = read_card(tmp_path / "new" / "joined.onnx")
    assert (joined.plane_set, joined.config) == ("alphago49", {"policy": "policy", "value": "value"})
    assert (joined.rules, joined.data) == ("chinese", "records of a server and self-play")
    assert joined.licence == "MIT and CC0"
    assert joined.search == {"c_puct": 5.0, "batch": 8, "threads": 2}, "that of the policy first"
    games = [Game(19), Game(19).play("Q16")]
    found, first, second = (
        load_evaluator(path, precision="f32").evaluate(games)
        for path in (tmp_path / "new" / "joined.onnx", policy, value)
    )
    np.testing.assert_allclose(found.policy, first.policy, atol=1e-6)
    np.testing.assert_allclose(found.value, second.value, atol=1e-5)


def test_the_joined_networks_of_alphago_mix_their_value_with_playouts(files: tuple[Path, Path], tmp_path: Path) -> None:
    """The policy alone is advised playouts for all of a leaf's value, for it has none."""
    advised = []
    for path, recipe in zip(files, ("alphago-policy", "alphago-value"), strict=True):
        model, card = onnx.load(path), read_card(path)
        card = card.model_copy(update={"search": load_recipe(recipe).card.search})
        onnx.helper.set_model_props(model, card.metadata())
        onnx.save(model, tmp_path / path.name)
        advised.append(SearchParams().advised(card.search).playout_weight)
    assert advised == [1, 0.5]
    for value in (tmp_path / files[1].name, files[1]):
        search = join(tmp_path / files[0].name, value, tmp_path / "alphago.onnx").search
        assert SearchParams().advised(search) == SearchParams.preset("alphago")


def test_networks_of_other_versions_of_the_operators_are_joined(tmp_path: Path) -> None:
    """KataGo's have a newer one than ours. The optimistic policy goes with the policy, and one board size with both."""
    ours = write(tmp_path, "alphago-value", plane_set="katago-v7", convs=CONVS)
    katago = find_network(katago_twin.written(tmp_path / "tiny.txt", metadata=False))
    versions = [onnx.load(path).opset_import[0].version for path in (ours, katago)]
    assert versions[0] < versions[1]
    games = [Game(19), Game(19).play("Q16")]
    alone = {path: load_evaluator(path, "onnxruntime").evaluate(games) for path in (ours, katago)}
    for policy, value in ((ours, katago), (katago, ours)):
        join(policy, value, tmp_path / "joined.onnx")
        assert onnx.load(tmp_path / "joined.onnx").opset_import[0].version == versions[1]
        joined = load_evaluator(tmp_path / "joined.onnx", "onnxruntime").evaluate(games)
        np.testing.assert_allclose(joined.value, alone[value].value, atol=1e-5)
        np.testing.assert_allclose(joined.policy, alone[policy].policy, atol=1e-5)


def test_networks_that_do_not_fit_are_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    policy, value = files
    with pytest.raises(NetworkError, match=r"alphago-value\.onnx would be written over itself"):
        join(policy, value, value)
    with pytest.raises(NetworkError, match="has no value"):
        join(policy, policy, tmp_path / "joined.onnx")
    with pytest.raises(NetworkError, match=r"plane sets 'deepgo8' .* and 'alphago49' .* do not fit"):
        join(write(tmp_path, "deepgo-small"), value, tmp_path / "joined.onnx")
    with pytest.raises(NetworkError, match="no board size suits both"):
        join(write(tmp_path, "alphago-policy-128", (9,), convs=CONVS), value, tmp_path / "joined.onnx")
    assert not (tmp_path / "joined.onnx").exists()


@pytest.mark.parametrize(
    "sets",
    [
        ("bakago39", "bakago39-bug"),
        ("darkforest25", "darkforest12"),
        ("darkforest12", "betago7"),
        ("katago-v3", "katago-v4"),
        ("katago-v7", "katago-v7-suicide"),
    ],
)
def test_planes_of_the_same_names_may_be_others(
    files: tuple[Path, Path], sets: tuple[str, str], tmp_path: Path
) -> None:
    paths = [tmp_path / f"{name}.onnx" for name in sets]
    for path, name in zip(paths, sets, strict=True):
        model, card = onnx.load(files[1]), read_card(files[1]).model_copy(update={"plane_set": name})
        onnx.helper.set_model_props(model, card.metadata())
        onnx.save(model, path)
    for policy, value in (paths, paths[::-1]):
        with pytest.raises(NetworkError, match=r"do not fit: they must be the same, or alphago49 and alphago48 or"):
            join(policy, value, tmp_path / "joined.onnx")


@pytest.mark.parametrize(("long", "short"), _BEGINNINGS.items())
def test_plane_sets_begin_with_those_that_they_are_said_to_begin_with(long: str, short: str) -> None:
    random, game, games = np.random.default_rng(0), Game(7), []
    while len(games) < 60 and not game.is_over:
        games.append(game.play(int(random.choice(game.legal_points() or [49]))).copy())
    (planes, scalars, _), (first, all_scalars, _) = (plane_set(name).encode_games(games) for name in (long, short))
    assert planes.shape[1] > first.shape[1]
    assert np.array_equal(planes[:, : first.shape[1]], first) and np.array_equal(scalars, all_scalars)
