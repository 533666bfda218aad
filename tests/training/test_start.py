"""Runs that begin with another network: what is taken, what is not, and fine-tuning of the shipped network."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

import katago_twin  # noqa: E402
from torch import nn  # noqa: E402
from training.small_run import random_record, write_store  # noqa: E402

from tengen.cli.app import main  # noqa: E402
from tengen.data.planes import plane_set  # noqa: E402
from tengen.data.sampler import Sampler  # noqa: E402
from tengen.data.store import Store, StoreWriter  # noqa: E402
from tengen.errors import RecipeError  # noqa: E402
from tengen.evaluators.installed_networks import find_network  # noqa: E402
from tengen.evaluators.network_file import read_card  # noqa: E402
from tengen.evaluators.openvino import OpenVinoEvaluator  # noqa: E402
from tengen.game import Game  # noqa: E402
from tengen.networks import parse_config  # noqa: E402
from tengen.networks.blocks import ScalarLinear, ScaledConv2d  # noqa: E402
from tengen.runs.events import read_events  # noqa: E402
from tengen.runs.folder import RunFolder  # noqa: E402
from tengen.training.batches import TensorBatch  # noqa: E402
from tengen.training.callbacks import CALLBACKS  # noqa: E402
from tengen.training.card import learned_games  # noqa: E402
from tengen.training.cluster import _paths  # noqa: E402
from tengen.training.config import RunConfig  # noqa: E402
from tengen.training.held_out import Draw, EvaluationGames  # noqa: E402
from tengen.training.network import make_network  # noqa: E402
from tengen.training.start import LEARNED, Origin, scale_down, start_from, start_whole, with_network  # noqa: E402
from tengen.training.supervised import train  # noqa: E402
from tengen.training.trainer import Callback, Trainer  # noqa: E402

pytestmark = pytest.mark.usefixtures("unrendered")
RESIDUAL = {"family": "residual", "size": "b1c8"}
PREACT = {"family": "preact", "plane_set": "tengen", "units": 1, "filters": 8, "board_size": 7}
PREACT["policy"] = {"kind": "conv", "maps": 2}  # type: ignore[assignment]


def fresh(network: dict[str, Any], seed: int = 5) -> nn.Module:
    return make_network(network, plane_set("tengen"), seed).eval()


@pytest.fixture(scope="module", params=["residual", "preact"])
def trained(request: pytest.FixtureRequest, store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a short run of a family with standardized filters, or of one with batch norm and a second map."""
    from training.small_run import settings_of

    settings = settings_of(store)
    settings["training"] |= {"steps": 4, "log_every": 2, "losses": {"move2": 0.5} if request.param == "preact" else {}}
    settings["network"] = RESIDUAL if request.param == "residual" else PREACT
    folder = tmp_path_factory.mktemp("trained") / request.param
    train(RunConfig.model_validate(settings), folder, show_progress=False)
    return folder


@pytest.mark.slow
def test_the_figures_of_a_further_map_are_in_log_card_and_report(trained: Path) -> None:
    figures = {f"move2_{name}" for name in ("top1", "top5", "cross_entropy")}
    card = read_card(trained / "nets" / "small.onnx")
    has_map = card.family == "preact"
    validation, step = read_events(trained, "validation")[-1], read_events(trained, "train")[-1]
    assert (figures <= card.metrics.keys()) == (figures <= validation.keys()) == has_map
    assert ("move2_top1" in step) == has_map and {"top1", "top5"} <= step.keys()
    assert ("Top-1 of later moves" in (trained / "report.html").read_text()) == has_map
    if has_map:
        low, high = card.metrics["move2_top1_interval"]
        assert low <= card.metrics["move2_top1"] <= high


def outputs(network: nn.Module, store: Path) -> torch.Tensor:
    """The policy of positions of the store: a file has the scalars that were constant there folded in."""
    batch = TensorBatch.of(Sampler(Store.open(store), "all", "tengen", 6).batch(0))
    found: torch.Tensor = network(batch.planes, batch.scalars, batch.mask).policy.detach()
    return found


@pytest.mark.parametrize("source", ["file", "folder"])
def test_a_start_takes_all_that_its_source_has(trained: Path, store: Path, source: str, tmp_path: Path) -> None:
    """Of a file, whose filters are folded and which lacks the further map; of a checkpoint, all of it, bit for bit.

    Both play alike on boards of another size than that of the games.
    """
    path = trained / "nets" / "small.onnx"
    card = read_card(path)
    network, other = fresh(card.config), fresh(card.config, seed=6)
    begun = start_from(network, str(path if source == "file" else trained))
    assert not begun.unused and begun.total == sum(p.numel() for p in network.parameters())
    if source == "file":
        assert all(".maps." in layer for layer in begun.fresh) and bool(begun.fresh) == (card.family == "preact")
        assert begun.source == "small"
    else:
        saved = torch.load(trained / "checkpoints" / "step-00000004.ckpt", weights_only=True)["average"]
        # Rules that no game had are folded into the bias, as in a file.
        folded = [f"{name}." for name, part in network.named_modules() if isinstance(part, ScalarLinear)]
        # So is the width of the board, which was 7 in all games.
        width = ("mix", "passing", "hidden") if card.family == "residual" else ()
        folded += [f"{name}." for name, _ in network.named_modules() if name.endswith(width)] if width else []
        floats = [
            key for key, value in saved.items() if value.is_floating_point() and not key.startswith(tuple(folded))
        ]
        assert all(torch.equal(network.state_dict()[key], saved[key]) for key in floats)
        assert begun.parameters == begun.total and "step 4" in begun.source
    start_from(other, str(path))
    torch.testing.assert_close(outputs(network, store), outputs(other, store), rtol=1e-3, atol=1e-3)
    if card.family == "residual":  # the other one takes 7x7 alone
        larger = write_store(tmp_path / "larger", games=12, size=9)
        torch.testing.assert_close(outputs(network, larger), outputs(other, larger), rtol=1e-3, atol=1e-3)
    assert (outputs(network, store) - outputs(fresh(card.config), store)).abs().max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("source", ["file", "folder"])
@pytest.mark.parametrize("network", ["same", "other"])
def test_rules_that_neither_run_had_make_no_difference(
    trained: Path, settings: dict[str, Any], tmp_path: Path, source: str, network: str
) -> None:
    """Their weights are as random after the second run as at the start of the first: those of fresh layers too, as the
    first ones of a wider trunk."""
    start = trained / "nets" / "small.onnx" if source == "file" else trained
    others = {"preact": {**PREACT, "units": 2}, "residual": {**RESIDUAL, "size": "b1c16"}}
    settings["training"] |= {"steps": 2, "validate_every": 2}
    path = train(
        RunConfig.model_validate(
            {**settings, "network": others[trained.name] if network == "other" else {}, "start": str(start)}
        ),
        tmp_path / "run",
        show_progress=False,
    )
    evaluator = OpenVinoEvaluator(path, precision="f32", remember=False)
    found = [evaluator.evaluate([Game(7, rules, 0.5)]) for rules in ("chinese", "tromp-taylor", "aga")]
    assert len({evaluation.policy.tobytes() + evaluation.value.tobytes() for evaluation in found}) == 1


def test_a_whole_start_is_without_the_maps_that_served_training() -> None:
    """The run of zero-7x7 had `reply` and `soft`, of which its file has nothing."""
    zero = {"family": "residual", "size": "b4c32", "stem": 3}
    alone, both = fresh(zero), fresh({**zero, "reply": True})
    before = {key: value.clone() for key, value in both.state_dict().items() if ".maps." in key}
    for network in (alone, both):
        start_whole(network, "zero-7x7")
    after = both.state_dict()
    assert before and all(torch.equal(value, after[key]) for key, value in before.items())
    assert all(torch.equal(value, after[key]) for key, value in alone.state_dict().items())
    with pytest.raises(RecipeError, match="which the recipe's network lacks"):
        start_whole(fresh({**zero, "size": "b2c32"}), "zero-7x7")


def test_layers_that_differ_stay_fresh(trained: Path) -> None:
    """A deeper, re-headed network: only what has the same name and shapes is taken, whole layers at a time."""
    family = trained.name
    changed = (
        {**PREACT, "units": 2, "policy": {"kind": "dense"}} if family == "preact" else {**RESIDUAL, "size": "b2c8"}
    )
    network, untouched = fresh(changed), fresh(changed)
    begun = start_from(network, str(trained))
    new = "units.1" if family == "preact" else "blocks.1"
    assert any(layer.startswith(new) for layer in begun.fresh)
    assert not any(layer.startswith(new) for layer in begun.layers)
    assert any(layer.startswith("policy") for layer in (begun.fresh if family == "preact" else begun.layers))
    before, after = untouched.state_dict(), network.state_dict()
    for layer in begun.fresh:
        names = [key for key in after if key.rpartition(".")[0] == layer]
        assert names and all(torch.equal(before[key], after[key]) for key in names)
    taken = sum(p.numel() for name, p in network.named_parameters() if name.rpartition(".")[0] in begun.layers)
    assert 0 < begun.parameters == taken < begun.total
    assert f"{len(begun.layers)} of {len(begun.layers) + len(begun.fresh)} layers" in str(begun)


@pytest.mark.parametrize(
    ("start", "network", "message"),
    [
        ("tygem-b8c64", PREACT, r"no layer of tygem-b8c64 has the name and shape.*stem\.weight 64x"),
        ("{folder}", RESIDUAL, "is no folder of a supervised run"),
        ("tygem-b8c46", RESIDUAL, "^start: no network 'tygem-b8c46'"),
    ],
)
def test_a_start_that_gives_nothing_is_refused(
    settings: dict[str, Any], tmp_path: Path, start: str, network: dict[str, Any], message: str
) -> None:
    settings |= {"start": start.format(folder=tmp_path), "network": network}
    with pytest.raises((RecipeError, ValueError), match=message):
        train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"network": {**PREACT, "board_size": 9}}, r"are on 7x7, but this network .* takes 9x9 boards alone"),
        ({"network": {**PREACT, "plane_set": "tengne"}}, "tengne"),
        ({"network": {}}, "network is missing"),
    ],
)
def test_a_network_that_does_not_suit_the_data_is_refused(
    settings: dict[str, Any], tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        train(RunConfig.model_validate(settings | change), tmp_path / "run", show_progress=False)
    assert not (tmp_path / "run").exists()


def test_the_network_is_that_of_the_start_unless_given(trained: Path, settings: dict[str, Any]) -> None:
    for start in (trained, trained / "nets" / "small.onnx"):
        run = with_network(RunConfig.model_validate({**settings, "network": {}, "start": str(start)}))
        expected = fresh(read_card(trained / "nets" / "small.onnx").config).state_dict().keys()
        assert fresh(run.network).state_dict().keys() == expected
        assert run.card.search == {}


def test_the_search_is_that_of_the_start_unless_given(settings: dict[str, Any]) -> None:
    """The default network is advised another search than the usual one; so is what was trained on from it."""
    start = {**settings, "network": {}, "start": "distilled-b8c64"}
    own = {"c_puct": 2.0}
    for change, search in (({}, {"preset": "katago"}), ({"card": {"search": own}}, own), ({"network": PREACT}, {})):
        assert with_network(RunConfig.model_validate(start | change)).card.search == search


@pytest.mark.slow
@pytest.mark.parametrize("source", ["file", "folder"])
def test_a_run_goes_on_when_its_start_is_gone(
    trained: Path, settings: dict[str, Any], tmp_path: Path, source: str
) -> None:
    """By the same command, which does not say the network, to the same card as if the start were there."""
    (copy := tmp_path / "start").mkdir()
    start = shutil.copytree(trained, copy / "run")
    if source == "file":
        start = start / "nets" / "small.onnx"
    settings |= {"network": {}, "start": str(start)}
    settings["training"] |= {"steps": 1, "losses": {}}
    recipe, folder = tmp_path / "tuned.yaml", tmp_path / "run"
    recipe.write_text(yaml.safe_dump(settings))
    first = read_card(train(RunConfig.model_validate(settings), folder, show_progress=False))
    shutil.rmtree(copy)
    command = ["train", str(recipe), "--set", "training.steps=2", "--out", str(folder), "--quiet"]
    assert main(command) == 0
    card = read_card(folder / "nets" / "small.onnx")
    names = ("config", "board_sizes", "data", "search")
    assert card.positions == 16 and all(getattr(card, name) == getattr(first, name) for name in names)
    assert card.provenance["games"] == first.provenance["games"]
    run = RunConfig.model_validate(settings)
    assert str(start) not in _paths(run, RunFolder(folder, run.kind)), "nor does a machine of a cluster need it"
    # Not a run of an earlier version, which did not note what its start was.
    (folder / LEARNED).unlink()
    with pytest.raises(RecipeError, match="another version of Tengen; give another folder, or a network file"):
        with_network(run, RunFolder(folder, run.kind))


@pytest.mark.slow
def test_a_network_says_what_its_start_learned(
    settings: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Of a file and of a folder; `evaluate` takes what none of them learned."""
    stores = {"first": range(40), "second": range(40, 80)}
    for name, seeds in stores.items():
        with StoreWriter(tmp_path / name) as writer:
            for seed in seeds:
                writer.add(random_record(seed))

    def run(name: str, store: str, fraction: float, start: Path | None) -> Path:
        data = {"store": str(tmp_path / store), "validation_fraction": fraction}
        network = {} if start else RESIDUAL
        changed = {"name": name, "data": data, "network": network, "start": start and str(start)}
        changed["training"] = settings["training"] | {"steps": 1}
        return train(RunConfig.model_validate(settings | changed), tmp_path / name, show_progress=False)

    def entries(path: Path) -> list[tuple[str, float]]:
        return [(each["store"], each["validation_fraction"]) for each in learned_games(read_card(path).provenance)]

    parent = run("parent", "first", 0.25, None)
    child = run("child", "second", 0.5, parent)
    assert entries(parent) == [("first", 0.25)] and entries(child) == [("second", 0.5), ("first", 0.25)]
    assert entries(run("of-folder", "second", 0.5, parent.parents[1])) == entries(child)
    assert "the start has learned" not in caplog.text
    grandchild = run("grandchild", "first", 0.5, child)  # it holds out half, its first network a quarter
    assert "the start has learned from about 67% of the games of" in caplog.text
    assert entries(grandchild) == [("first", 0.5), *entries(child)]
    for path, store, fraction, said in (
        (child, "first", 0.25, ["a network that it began with learned from about"]),
        (child, "second", 0.5, ["it learned from about"]),
        (grandchild, "first", 0.25, ["it learned from about", "a network that it began with learned from about"]),
    ):
        games = Store.open(tmp_path / store)
        found = EvaluationGames.choose(games, read_card(path), Draw())
        assert (found.split, found.fraction) == ("validation", fraction)
        assert len(found.notes) == len(said) and all(map(str.startswith, found.notes, said)), found.notes
        assert all("evaluated on those that were held out" in note for note in found.notes)
        notes = EvaluationGames.choose(games, read_card(path), Draw("all")).notes
        assert len(notes) == len(said) and all(note.startswith("warning: ") for note in notes)
    assert main(["evaluate", str(child), str(tmp_path / "first"), "--json"]) == 0
    evaluated = json.loads(capsys.readouterr().out)["positions"]
    assert evaluated == Sampler(Store.open(tmp_path / "first"), "validation", validation_fraction=0.25).games < 20


class Killed(Callback):
    def on_step(self, trainer: Trainer[Any]) -> None:
        raise RuntimeError("killed")


@pytest.mark.slow
def test_a_run_that_is_killed_before_its_first_checkpoint_says_nothing_twice(
    trained: Path, settings: dict[str, Any], tmp_path: Path, registered: Callable[..., None]
) -> None:
    registered(CALLBACKS, "killed", Killed)
    settings |= {"start": str(trained), "network": {}}
    settings["training"] |= {"steps": 2, "callbacks": {"killed": {}}}
    with pytest.raises(RuntimeError, match="killed"):
        train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    settings["training"]["callbacks"] = {}
    train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    events = [(event["event"], event["step"]) for event in read_events(tmp_path / "run")]
    assert events.count(("start", 0)) == events.count(("validation", 0)) == 1


def fine_tuned(store: Path, folder: Path, *changes: str) -> Path:
    """The folder of a run that continues the shipped network for two steps."""
    settings = [f"data.store={store}", "training.epochs=null", "training.steps=2", "training.batch_size=4"]
    settings += ["training.device=cpu", "training.precision=f32", "training.validation_games=5", *changes]
    words = [part for setting in settings for part in ("--set", setting)]
    assert main(["train", "fine-tune", *words, "--out", str(folder), "--quiet"]) == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("maps", [{}, {"reply": True, "soft": True}])
def test_a_network_that_goes_on_with_one_size_keeps_what_it_knows_of_others(
    store: Path, tmp_path: Path, maps: dict[str, bool]
) -> None:
    """At a rate of nearly 0 on 7x7 it stays the same on 9x9, also where maps for training alone are new."""
    network = {**read_card(find_network("default")).config, **maps}
    folder = fine_tuned(store, tmp_path / "mine", "training.optimizer.lr=1e-12", f"network={json.dumps(network)}")
    files = [find_network("default"), folder / "nets" / "fine-tune.onnx"]
    assert read_card(files[1]).board_sizes == list(range(5, 20))
    before, after = (OpenVinoEvaluator(path, precision="f32", remember=False) for path in files)
    game = Game(9, "chinese", 7.5)
    for vertex in ("E5", "C3"):
        game.play(vertex)
    expected, found = (evaluator.infer(evaluator.encoded([game])) for evaluator in (before, after))
    for name in ("policy", "value", "score", "ownership"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=2e-3), name


@pytest.mark.slow
def test_a_start_from_a_folder_knows_the_boards_of_its_file(store: Path, tmp_path: Path) -> None:
    """Of a run on 7x7 whose card names 7x7 alone, and whose start knows more."""
    folder = fine_tuned(store, tmp_path / "mine", "training.optimizer.lr=1e-12", "card.board_sizes=[7]")
    file = folder / "nets" / "fine-tune.onnx"
    card = read_card(file)
    assert card.board_sizes == [7]
    network, other = fresh(card.config), fresh(card.config, seed=6)
    start_from(network, str(folder))
    start_from(other, str(file))
    larger = write_store(tmp_path / "larger", games=12, size=13)
    torch.testing.assert_close(outputs(network, larger), outputs(other, larger), rtol=1e-3, atol=1e-3)


def test_another_network_has_not_learned_the_sizes_of_its_start() -> None:
    config = read_card(find_network("zero-7x7")).config
    origin = Origin(config, {}, [5, 7], [])
    for change, known in (
        ({}, [5, 7]), ({"soft": not config["soft"]}, [5, 7]), ({"size": "b1c8"}, []), ({"plane_set": "betago7"}, []),
        ({"activation": "mish"}, []),
    ):  # fmt: skip
        assert origin.sizes_of(parse_config({**config, **change})) == known, change


@pytest.mark.slow
def test_the_shipped_network_is_fine_tuned_by_one_command(store: Path, tmp_path: Path) -> None:
    folder = fine_tuned(store, tmp_path / "mine")
    start, first = (next(e for e in read_events(folder) if e["event"] == name) for name in ("start", "validation"))
    assert start["source"] == "distilled-b8c64-2" and not start["fresh"] and start["parameters"] == start["total"]
    assert first["step"] == 0
    card = read_card(folder / "nets" / "fine-tune.onnx")
    assert card.data == "the games of random, begun with distilled-b8c64-2" and card.board_sizes == list(range(5, 20))
    assert card.search == {"preset": "katago"}
    # Another start is another run.
    other = RunConfig.model_validate({**(RunFolder(folder, "supervised").saved_recipe() or {}), "start": str(folder)})
    with pytest.raises(RecipeError, match="start = distilled-b8c64-2, not"):
        train(other, folder, show_progress=False)
    # Two small steps: the predictions are still those of the shipped network.
    final = read_events(folder, "final")[-1]
    assert final["cross_entropy"] == pytest.approx(first["cross_entropy"], rel=0.3)


@pytest.mark.parametrize("recipe", ["fine-tune", "tiny-5x5"])
def test_a_network_of_katago_can_teach_and_not_be_a_start(
    recipe: str, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = katago_twin.written(tmp_path / "katago.txt", metadata=False)
    verb = "zero" if recipe == "tiny-5x5" else "train"
    data = [] if verb == "zero" else ["--set", f"data.store={store}"]
    assert main([verb, recipe, "--set", f"start={start}", *data, "--out", str(tmp_path / "run"), "--quiet"]) == 2
    error = capsys.readouterr().err
    assert (
        f"start: {start} is a network of another program" in error and f"tengen label STORE --teacher {start}" in error
    )
    assert not list(tmp_path.glob("run/checkpoints/*"))


def test_fresh_layers_behind_large_outputs_are_scaled_down(store: Path) -> None:
    """As behind a policy without batch norm, where a fresh value was -1 or 1 everywhere and learned nothing."""
    convs = {"family": "plain", "board_size": 7, "plane_set": "tengen", "convs": ["3x3x8", "3x3x8"]}
    network = fresh({**convs, "policy": None, "value": {"kind": "dense"}})
    before = {name: value.clone() for name, value in network.state_dict().items()}
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.startswith("convs."):
                parameter *= 20
    batch = TensorBatch.of(Sampler(Store.open(store), "all", "tengen", 7).batch(0))
    heads = [name for name, part in network.named_modules() if list(part.parameters(recurse=False)) and "value" in name]
    value = network(batch.planes, batch.scalars, batch.mask).value
    scale_down(network, heads, batch)
    scaled = network(batch.planes, batch.scalars, batch.mask).value
    assert value.abs().mean() > 0.99 > 0.9 > scaled.abs().mean() and scaled.std() > 0.05
    after = network.state_dict()
    assert all(torch.equal(after[name], 20 * value) for name, value in before.items() if name.startswith("convs."))
    assert not network.training
    scale_down(network, heads, batch)
    assert all(torch.allclose(after[name], value, rtol=1e-5) for name, value in network.state_dict().items())


def test_standardized_filters_keep_their_norm_where_a_fresh_layer_is_scaled_down(store: Path) -> None:
    """Their gain is the scale: smaller filters would only turn faster, and vanish beside the epsilon of their norm."""
    network = fresh(RESIDUAL)
    with torch.no_grad():
        network.stem.gain *= 500
    head = network.value.local
    assert isinstance(head, ScaledConv2d)
    batch = TensorBatch.of(Sampler(Store.open(store), "all", "tengen", 7).batch(0))
    spreads: list[float] = []
    filters = head.weight.clone()
    scale_down(network, ["value.local"], batch)
    head.register_forward_hook(lambda _layer, _inputs, output: spreads.append(float(output.detach().std())))
    network(batch.planes, batch.scalars, batch.mask)
    assert torch.equal(head.weight, filters) and spreads == pytest.approx([1.0], rel=1e-3)


def test_a_fresh_value_of_one_position_stays_finite(store: Path) -> None:
    network = fresh({**PREACT, "value": {"kind": "dense"}})
    scale_down(network, ["value.output"], TensorBatch.of(Sampler(Store.open(store), "all", "tengen", 1).batch(0)))
    assert all(parameter.isfinite().all() for parameter in network.parameters())
