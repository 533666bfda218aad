"""Whole runs: what they leave behind, and that a broken run ends like an unbroken one."""

import itertools
import json
import re
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import replace
from multiprocessing.context import ForkServerContext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import yaml
from killing import kill_at
from pydantic import ValidationError
from training.small_run import GAMES, random_record, settings_of

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from tengen.cli.app import main  # noqa: E402
from tengen.data.store import StoreWriter  # noqa: E402
from tengen.errors import RecipeError, StoreError, TrainingDiverged  # noqa: E402
from tengen.evaluators.network_file import read_card  # noqa: E402
from tengen.evaluators.openvino import OpenVinoEvaluator  # noqa: E402
from tengen.evaluators.torch import TorchEvaluator  # noqa: E402
from tengen.game import Game  # noqa: E402
from tengen.runs.checkpoints import DamagedCheckpoint, checkpoints  # noqa: E402
from tengen.runs.events import read_events  # noqa: E402
from tengen.runs.folder import RunFolder  # noqa: E402
from tengen.runs.interruption import ShutdownFlag  # noqa: E402
from tengen.training import supervised  # noqa: E402
from tengen.training.callbacks import CALLBACKS, Checkpoints  # noqa: E402
from tengen.training.config import RunConfig  # noqa: E402
from tengen.training.losses import LOSSES  # noqa: E402
from tengen.training.metrics import measure  # noqa: E402
from tengen.training.samplers import open_samplers  # noqa: E402
from tengen.training.supervised import make_trainer, train  # noqa: E402
from tengen.training.trainer import Callback, Trainer, newest_checkpoint  # noqa: E402

pytestmark = pytest.mark.usefixtures("unrendered")  # but the unbroken run, whose report is looked at


@pytest.fixture(scope="module")
def unbroken(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of `settings` that nothing disturbed."""
    folder = tmp_path_factory.mktemp("runs") / "unbroken"
    train(RunConfig.model_validate(settings_of(store)), folder, show_progress=False)
    return folder


def final_state(folder: Path) -> dict[str, Any]:
    step, path = checkpoints(folder / "checkpoints")[-1]
    assert step == 30
    return dict(torch.load(path, weights_only=True))


def assert_same_end(first: Path, second: Path) -> None:
    """Weights, moving average and optimiser are equal bit for bit."""
    a, b = final_state(first), final_state(second)
    for part in ("network", "average", "scalars"):
        assert a[part].keys() == b[part].keys()
        for name, tensor in a[part].items():
            assert torch.equal(tensor, b[part][name]), name
    for left, right in zip(tensors(a["optimizer"]), tensors(b["optimizer"]), strict=True):
        assert torch.equal(left, right)
    assert a["step"] == b["step"] and a["schedule"] == b["schedule"]


def tensors(tree: Any) -> list[torch.Tensor]:
    if isinstance(tree, torch.Tensor):
        return [tree]
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list | tuple) else ()
    return [tensor for part in inner for tensor in tensors(part)]


def _command(store: Path, folder: Path, signum: int) -> None:
    """`tengen train` in a process of its own, which sends itself a signal when it writes the checkpoint of step 9."""
    settings = settings_of(store)
    settings["training"] |= {"checkpoint_minutes": 1e-6}
    recipe = folder.with_suffix(".yaml")
    recipe.write_text(yaml.safe_dump(settings))
    kill_at(folder, "checkpoints/step-00000009.*", signum=signum)
    with folder.with_suffix(".txt").open("w") as said, redirect_stderr(said):
        sys.exit(main(["train", str(recipe), "--quiet", "--out", str(folder)]))


def test_no_loss_has_the_name_of_another_field_of_the_log(unbroken: Path) -> None:
    """It would replace the field, or be replaced by it."""
    for name in {name for event in read_events(unbroken, "train") for name in event} - {*LOSSES}:
        with pytest.raises(ValueError, match=rf"loss '{name}' exists already: choose another name"):
            LOSSES.register(name, LOSSES["policy"])


def test_a_run_leaves_everything(unbroken: Path) -> None:
    card = read_card(unbroken / "nets" / "small.onnx")
    assert (card.name, card.family, card.positions, card.games) == ("small", "residual", 240, GAMES)
    assert 0 < card.metrics["top1"] < 1 and card.metrics["judged_positions"] == GAMES
    log = read_events(unbroken)
    assert [e["step"] for e in log if e["event"] == "train"] == [5, 10, 15, 20, 25, 30]
    assert [e["step"] for e in log if e["event"] == "validation"] == [10, 20, 30]
    assert [e["count"] for e in log if e["event"] == "validation"] == [20, 20, 20]
    assert log[-1]["event"] == "final"
    assert RunConfig.model_validate(yaml.safe_load((unbroken / "recipe.yaml").read_text())).training.steps == 30
    page = (unbroken / "report.html").read_text()
    assert page.count("<figure><svg") == 7
    assert not re.search(r"<script|<link|<img|@import|url\((?!#)|href=.https?", page), "the page stands alone"
    assert any((unbroken / "tensorboard").iterdir())
    assert not list(unbroken.rglob("*.partial"))


def test_the_network_file_plays_as_the_network_that_was_validated_on_the_way(unbroken: Path, run: RunConfig) -> None:
    """Trained on one size, which is not the usual one, and the recipe does not say which."""
    path = unbroken / "nets" / "small.onnx"
    card = read_card(path)
    assert card.board_sizes == [7] and card.data == f"the games of {Path(run.data.store).name}"
    samplers = open_samplers(run)
    trainer = make_trainer(run, samplers.train.plane_set)
    trainer.restore(final_state(unbroken))
    validated = measure(TorchEvaluator(trainer.average, name="average", device="cpu"), samplers.validation)
    of_file = measure(OpenVinoEvaluator(path, precision="f32"), samplers.validation)
    assert of_file.loss == pytest.approx(validated.loss, abs=1e-3)
    assert of_file.value == pytest.approx(validated.value, abs=1e-3)


def test_rules_that_no_game_had_make_no_difference(unbroken: Path) -> None:
    network = OpenVinoEvaluator(next((unbroken / "nets").glob("*.onnx")), precision="f32")
    found = []
    for rules, komi in (("chinese", 0.5), ("tromp-taylor", 0.5), ("aga", 0.5)):
        found.append(network.evaluate([Game(7, rules, komi)]).value.tobytes())
    assert found[0] == found[1] == found[2]


def test_losses_of_a_head_that_is_not_there_are_refused(settings: dict[str, Any], tmp_path: Path) -> None:
    settings["training"]["losses"] = {"reply": 0.15}
    with pytest.raises(RecipeError, match=r"losses\.reply = 0\.15.*no head 'reply': give network\.reply: true"):
        train(RunConfig.model_validate(settings), tmp_path / "out", show_progress=False)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("metric", "winner"), [("value_accuracy", 0), ("value_mse", None), ("value_accuracy", 2)])
def test_a_plateau_of_a_figure_that_validations_do_not_have_is_refused(
    settings: dict[str, Any], tmp_path: Path, metric: str, winner: int | None
) -> None:
    """A policy alone; games without results; drawn games. The rate would never fall."""
    with StoreWriter(tmp_path / "validation") as writer:
        for seed in range(9):
            writer.add(replace(random_record(seed), winner=winner))
    settings["data"]["validation_store"] = str(tmp_path / "validation")
    if winner == 0:
        settings["network"] = {"family": "plain", "plane_set": "tengen", "convs": ["3x3x8"], "board_size": 7}
    settings["training"]["schedule"] = {"shape": "plateau", "metric": metric}
    message = rf"^training\.schedule\.metric is {metric}, which .* do not have; give one of top1, top5, cross_entropy.*"
    with pytest.raises(RecipeError, match=message):
        train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    assert not (tmp_path / "run").exists()


def test_a_network_without_a_policy_has_no_figures_of_moves(settings: dict[str, Any], tmp_path: Path) -> None:
    """Neither on its card nor in its validations: its file gives all moves the same probability."""
    network = {"family": "plain", "plane_set": "tengen", "convs": ["3x3x8"], "board_size": 7, "policy": None}
    settings["network"] = {**network, "value": {"kind": "dense"}}
    settings["training"] |= {"steps": 1}
    path = train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    (validation,) = read_events(tmp_path / "run", "validation")
    for figures in (read_card(path).metrics, validation):
        assert "value_mse" in figures and not {"top1", "top5", "cross_entropy"} & set(figures)
    settings["training"]["schedule"] = {"shape": "plateau", "metric": "top1"}
    with pytest.raises(RecipeError, match=r"schedule\.metric is top1, .* give one of value_mse, value_accuracy"):
        train(RunConfig.model_validate(settings), tmp_path / "other", show_progress=False)


@pytest.mark.parametrize(
    ("family", "plane_set", "vary_rules", "warned"),
    [
        ("plain", "betago7", True, True),
        ("plain", "betago7", False, False),
        ("plain", "golois31", True, False),  # whose planes show the komi
        ("residual", "betago7", True, False),
    ],
)
def test_a_network_that_does_not_see_rules_and_komi_is_named_where_they_vary(
    settings: dict[str, Any],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    family: str,
    plane_set: str,
    vary_rules: bool,
    warned: bool,
) -> None:
    if family == "plain":
        settings["network"] = {"family": "plain", "convs": ["3x3x8"], "board_size": 7}
    settings["network"]["plane_set"] = plane_set
    settings["data"]["vary_rules"] = vary_rules
    settings["training"] |= {"steps": 1}
    train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    assert ("of the family plain do not see rules and komi" in caplog.text) == warned


@pytest.mark.parametrize(
    ("training", "message"),
    [
        ({"optimizer": {"name": "adma"}}, r"unknown optimizer 'adma'; did you mean adam\?"),
        ({"losses": {"polcy": 1}}, r"unknown loss 'losses\.polcy'; did you mean policy\?"),
        ({"callbacks": {"print": {}}}, r"unknown callback 'print'"),
    ],
)
def test_unknown_parts_are_refused(
    settings: dict[str, Any], tmp_path: Path, training: dict[str, Any], message: str
) -> None:
    settings["training"] |= training
    with pytest.raises(RecipeError, match=message):
        train(RunConfig.model_validate(settings), tmp_path / "out", show_progress=False)
    assert not (tmp_path / "out").exists()


def test_sizes_that_no_game_has_are_refused(settings: dict[str, Any], tmp_path: Path) -> None:
    settings["card"] = {"board_sizes": [19]}
    with pytest.raises(RecipeError, match=r"card\.board_sizes is \[19\].*7x7"):
        train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    assert not (tmp_path / "run").exists()


def test_games_of_a_size_that_the_network_does_not_take_are_refused(settings: dict[str, Any], tmp_path: Path) -> None:
    settings["network"] = {"preset": "a0.small", "filters": 8, "blocks": 1}
    with pytest.raises(
        RecipeError, match=r"random are on 7x7, but this network of the family a0 takes 19x19 boards alo"
    ):
        train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("games", [1, 9])
def test_what_cannot_be_validated_is_no_number_in_the_log(settings: dict[str, Any], tmp_path: Path, games: int) -> None:
    """Games that nobody won, or a single one, which gives no interval: the log is JSON all the same."""
    with StoreWriter(tmp_path / "validation") as writer:
        for seed in range(games):
            writer.add(replace(random_record(seed), winner=None if games > 1 else 0))
    settings["data"]["validation_store"] = str(tmp_path / "validation")
    settings["training"] |= {"steps": 5, "validate_every": 5}
    train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    lines = (tmp_path / "run" / "log.jsonl").read_text().splitlines()
    entries = [json.loads(line, parse_constant=pytest.fail) for line in lines]
    validation = next(entry for entry in entries if entry["event"] == "validation")
    assert validation["count"] == games
    assert ("value_mse" in validation) == (games == 1)
    assert (validation["intervals"]["cross_entropy"] == [None, None]) == (games == 1)


def test_the_same_recipe_gives_the_same_network(unbroken: Path, run: RunConfig, tmp_path: Path) -> None:
    train(run, tmp_path / "again", show_progress=False)
    assert_same_end(unbroken, tmp_path / "again")


@pytest.mark.slow
def test_a_killed_run_resumes_as_if_nothing_had_happened(
    unbroken: Path, store: Path, run: RunConfig, tmp_path: Path, forks: ForkServerContext
) -> None:
    folder = tmp_path / "killed"
    process = forks.Process(target=_command, args=(store, folder, signal.SIGKILL))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert checkpoints(folder / "checkpoints")[-1][0] == 8, "killed in the middle"
    train(run, folder, show_progress=False)
    assert_same_end(unbroken, folder)
    steps = [entry["step"] for entry in read_events(folder) if entry["event"] == "train"]
    assert steps == sorted(set(steps)), "no step is logged twice"
    logs = [[(e["step"], e["policy"], e["lr"]) for e in read_events(each, "train")] for each in (unbroken, folder)]
    assert logs[0] == logs[1], "the means of step 10 are those of steps 6 to 10, of which 9 and 10 came after the kill"


class StopAt(Callback):
    """Stops a run in the middle of an epoch."""

    def __init__(self, step: int) -> None:
        self._at = step

    def on_step(self, trainer: Trainer[Any]) -> None:
        trainer.should_stop |= trainer.step == self._at


@pytest.mark.slow
@pytest.mark.parametrize(
    "optimizer",
    [
        {"name": "adagrad", "lr": 0.05},
        {"name": "adadelta", "lr": 1, "weight_decay": 0.001, "decayed": "kernels"},
        {"name": "adam", "lr": 0.01, "options": {"eps": 1e-6}},
    ],
)
def test_a_plateau_outlives_a_stop(
    settings: dict[str, Any], tmp_path: Path, registered: Callable[..., None], optimizer: dict[str, Any]
) -> None:
    """Stopped between two validations, after the rate has changed, and resumed: bit for bit the unbroken run."""
    registered(CALLBACKS, "stop-at", StopAt)
    schedule = {"shape": "plateau", "patience": 1, "factor": 0.5, "warmup_steps": 0, "metric": "top1"}
    settings["training"] |= {"optimizer": optimizer, "schedule": schedule, "validate_every": None}
    settings["training"] |= {"steps": None, "epoch": 24, "epochs": 10, "log_every": 1, "clip": 0.25}
    ends = []
    for stops in ({}, {"stop-at": {"step": 19}}):
        folder = tmp_path / f"{len(stops)}"
        for callbacks in (stops, {}) if stops else ({},):
            settings["training"]["callbacks"] = callbacks
            train(RunConfig.model_validate(settings), folder, show_progress=False)
        events = read_events(folder)
        assert [e["step"] for e in events if e["event"] == "validation"] == list(range(3, 31, 3))
        ends.append([e["lr"] for e in events if e["event"] == "train"])
    assert ends[0] == ends[1] and len(set(ends[0][:18])) > 1, "the rate has changed before the stop"
    assert_same_end(tmp_path / "0", tmp_path / "1")


def test_a_run_that_diverges_keeps_its_checkpoint_and_goes_on_with_another_rate(
    unbroken: Path, settings: dict[str, Any], tmp_path: Path, registered: Callable[..., None]
) -> None:
    """It ends as if it had never diverged."""
    registered(CALLBACKS, "stop-at", StopAt)
    folder, training = tmp_path / "run", settings["training"]
    settings["training"] = {**training, "callbacks": {"stop-at": {"step": 10}}}
    with pytest.raises(KeyboardInterrupt), pytest.MonkeyPatch.context() as stopping:
        stopping.setattr(supervised.ShutdownFlag, "check", _interrupt)
        train(RunConfig.model_validate(settings), folder, show_progress=False)
    before = {path.name: path.read_bytes() for path in (folder / "checkpoints").iterdir()}
    settings["training"] = {**training, "optimizer": {"lr_rest": 1e30}, "checkpoint_minutes": 1e-9}
    message = (
        r"training diverged: .* is not finite at step 1\d; .*a lower --set training\.optimizer\.lr=\.\.\. \(now 0\.02\)"
    )
    with pytest.raises(TrainingDiverged, match=message):
        train(RunConfig.model_validate(settings), folder, show_progress=False)
    assert {path.name: path.read_bytes() for path in (folder / "checkpoints").iterdir()} == before
    settings["training"] = training
    train(RunConfig.model_validate(settings), folder, show_progress=False)
    assert_same_end(unbroken, folder)


class SetAt(Callback):
    """Sets a flag at the third step."""

    def __init__(self, flag: ShutdownFlag) -> None:
        self._flag = flag

    def on_step(self, trainer: Trainer[Any]) -> None:
        if trainer.step == 3:
            self._flag.set()


def test_a_flag_that_is_given_stops_the_run_once_it_is_set(run: RunConfig, tmp_path: Path) -> None:
    """As that of the worker of a cluster, which no signal reaches."""
    flag = ShutdownFlag()
    with pytest.raises(KeyboardInterrupt):
        train(
            run,
            tmp_path / "run",
            show_progress=False,
            on_start=lambda trainer, _: trainer.callbacks.append(SetAt(flag)),
            stop=flag,
        )
    assert [step for step, _ in checkpoints(tmp_path / "run" / "checkpoints")] == [4]


def _interrupt(_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize(("signum", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_and_leaves_cleanly(
    signum: int, status: int, unbroken: Path, store: Path, run: RunConfig, tmp_path: Path, forks: ForkServerContext
) -> None:
    folder = tmp_path / "stopped"
    process = forks.Process(target=_command, args=(store, folder, signum))
    process.start()
    process.join()
    errors = folder.with_suffix(".txt").read_text()
    (step, _) = checkpoints(folder / "checkpoints")[-1]
    assert process.exitcode == status and "Traceback" not in errors
    assert f"stopped; the run is in {folder}; the same command continues it" in errors.replace("\n", " ")
    assert 9 <= step < 30
    train(run, folder, show_progress=False)
    assert_same_end(unbroken, folder)


def test_fewer_steps_than_a_run_has_behind_it_are_refused(unbroken: Path, run: RunConfig, tmp_path: Path) -> None:
    folder = shutil.copytree(unbroken, tmp_path / "run")
    before = (folder / "recipe.yaml").read_text()
    less = run.model_copy(update={"training": run.training.model_copy(update={"steps": 10})})
    with pytest.raises(RecipeError, match=r"holds a run of 30 steps, more than training\.steps = 10"):
        train(less, folder, show_progress=False)
    assert (folder / "recipe.yaml").read_text() == before


@pytest.mark.parametrize("written", ["nothing of it", "no schedule", "other groups"])
def test_a_checkpoint_of_an_earlier_version_is_refused(
    unbroken: Path, settings: dict[str, Any], tmp_path: Path, written: str
) -> None:
    shutil.copytree(unbroken, tmp_path / "run")
    path = checkpoints(tmp_path / "run" / "checkpoints")[-1][1]
    state = torch.load(path, weights_only=True)
    if written == "nothing of it":
        state = {"state_dict": {}, "global_step": 30, "run": {}}  # the form of Lightning's Trainer
    elif written == "no schedule":
        del state["schedule"]
    else:
        state["optimizer"]["param_groups"].pop()
    torch.save(state, path)
    settings["training"]["steps"] = 35
    with pytest.raises(RecipeError, match="another version of Tengen; give another folder with --out"):
        train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)


def test_a_damaged_later_checkpoint_does_not_push_out_a_good_one(tmp_path: Path) -> None:
    """With one to keep, a run that went on from step 8 wrote step 9 and removed it for the damaged step 10."""
    for step in (8, 10):
        (tmp_path / f"step-{step:08d}.ckpt").write_bytes(b"")
    trainer = Mock(step=9, save=lambda path: path.write_bytes(b"good"))
    Checkpoints(tmp_path, 1, 1, dict).save(trainer)
    assert [step for step, _ in checkpoints(tmp_path)] == [9]


@pytest.mark.parametrize("damage", ["empty", "cut", "one bit"])
def test_the_newest_checkpoint_that_can_be_read_is_taken(unbroken: Path, tmp_path: Path, damage: str) -> None:
    """PyTorch itself reads weights with a wrong bit without a word."""
    (_, good) = checkpoints(unbroken / "checkpoints")[-1]
    data = bytearray(good.read_bytes())
    if damage == "one bit":
        data[len(data) // 2] ^= 1
    (tmp_path / "step-00000040.ckpt").write_bytes({"empty": b"", "cut": data[: len(data) // 2]}.get(damage, data))
    with pytest.raises(DamagedCheckpoint, match=r"step-00000040\.ckpt is (damaged: |altered: )"):
        newest_checkpoint(tmp_path)
    shutil.copyfile(good, tmp_path / "step-00000030.ckpt")
    found = newest_checkpoint(tmp_path)
    assert found is not None and found[0].stem == "step-00000030" and found[1]["step"] == 30
    assert newest_checkpoint(tmp_path / "nowhere") is None


def test_another_recipe_in_the_same_folder_is_refused(unbroken: Path, settings: dict[str, Any]) -> None:
    settings["network"]["size"] = "b1c16"
    with pytest.raises(RecipeError, match=r"network\.size = b1c8, not b1c16.*another folder with --out"):
        train(RunConfig.model_validate(settings), unbroken, show_progress=False)


def test_a_student_learns_from_labels(settings: dict[str, Any], tmp_path: Path) -> None:
    """Its targets are the teacher's; a game whose result is unknown teaches a value; the card names the teacher.

    Labels of games that are held out show how far it agrees with the teacher.
    """
    labels, validation = tmp_path / "labels", settings["data"]["validation_store"]
    games = Path(settings["data"]["store"]).name
    command = ["label", settings["data"]["store"], "--teacher", "zero-7x7", "--per-game", "3", "--licence", "CC0"]
    assert main([*command, "--out", str(labels), "--quiet"]) == 0
    settings["data"] |= {"store": str(labels), "teacher": {"policy": 0.9}}
    settings["training"] |= {"value_loss": "bce", "steps": 60, "validate_every": 20}
    samplers = open_samplers(RunConfig.model_validate(settings))
    assert samplers.train.positions == 3 * GAMES and not np.isnan(samplers.train.batch(0).value).any()
    assert samplers.labels is None
    settings["data"] |= {"validation_store": None, "validation_fraction": 0.3}
    run = RunConfig.model_validate(settings)
    samplers = open_samplers(run)
    assert samplers.labels is not None and samplers.labels.positions + samplers.train.positions == 3 * GAMES
    assert not set(samplers.labels.game_rows) & set(samplers.train.game_rows)
    card = read_card(train(run, tmp_path / "run", show_progress=False))
    assert card.data == f"the games of {games}; targets of zero-7x7 (CC0)"
    found = [event["policy"] for event in read_events(tmp_path / "run", "train")]
    assert np.mean(found[-3:]) < np.mean(found[:3]) - 0.1
    apart = [event["divergence"] for event in read_events(tmp_path / "run", "validation")]
    assert len(apart) == 3 and apart[2] < apart[0] - 0.05
    assert card.metrics["divergence"] == pytest.approx(apart[2], abs=0.02)  # in training bf16 may compute it
    settings["data"]["store"] = validation
    with pytest.raises(StoreError, match="no position with a policy target"):
        open_samplers(RunConfig.model_validate(settings))
    with pytest.raises(ValidationError, match="games does not go with labels of a teacher"):
        RunConfig.model_validate({**settings, "data": {**settings["data"], "games": 5}})


def test_two_do_not_train_in_one_folder(run: RunConfig, tmp_path: Path) -> None:
    with RunFolder(tmp_path, run.kind).lead(), pytest.raises(RecipeError, match="another process works on this run"):
        train(run, tmp_path, show_progress=False)
    assert not (tmp_path / "recipe.yaml").exists()


def test_a_folder_of_a_run_of_another_kind_stays_as_it_is(run: RunConfig, tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text("kind: selfplay\n", encoding="utf-8")
    with pytest.raises(RecipeError, match="holds a run of kind selfplay, not supervised"):
        train(run, tmp_path, show_progress=False)
    assert [path.name for path in tmp_path.iterdir()] == ["recipe.yaml"]


def test_a_folder_of_a_match_stays_as_it_is(run: RunConfig, tmp_path: Path) -> None:
    (tmp_path / "match.json").write_text("{}", encoding="utf-8")
    with pytest.raises(RecipeError, match="holds a match"):
        train(run, tmp_path, show_progress=False)
    assert [path.name for path in tmp_path.iterdir()] == ["match.json"]


def test_a_finished_run_only_finishes_again(
    unbroken: Path, run: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = final_state(unbroken)["network"]
    path = train(run, unbroken, show_progress=False)
    assert read_card(path).positions == 240
    assert [e["event"] for e in read_events(unbroken)].count("final") == 1
    assert not any(path.is_file() for path in tmp_path.rglob("*")), "models that are evaluated once are not kept"
    after = final_state(unbroken)["network"]
    assert all(torch.equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize(
    ("key", "other"),
    [
        ("store", "or give a store of yours with --set data.store=FOLDER"),
        ("validation_store", "or give --set data.validation_store=null to validate on a part of"),
    ],
)
def test_a_missing_store_is_named_and_leaves_nothing(
    settings: dict[str, Any], tmp_path: Path, key: str, other: str
) -> None:
    settings["data"][key] = str(tmp_path / "nowhere")
    with pytest.raises(StoreError, match=f"nowhere is no game store: .*, {other}"):
        train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_time_budget_ends_the_run_annealed(
    settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(monotonic=itertools.count(0.0, 0.1).__next__)  # 0.1 s a step
    monkeypatch.setattr("tengen.training.trainer.time", clock)
    settings["training"] |= {"steps": None, "max_hours": 2.5 / 3600, "log_every": 1}
    run = RunConfig.model_validate(settings)
    path = train(run, tmp_path / "run", show_progress=False)
    rates = [e["lr"] for e in read_events(tmp_path / "run") if e["event"] == "train"]
    assert len(rates) > 5
    assert rates[-1] < 0.1 * max(rates)
    positions = read_card(path).positions
    again = read_card(train(run, tmp_path / "run", show_progress=False))
    assert again.positions == positions, "it is over, not resumed"
