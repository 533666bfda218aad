"""A teacher that labels batches in training, against the same network asked about the replayed games."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from training.small_run import GAMES, random_record  # noqa: E402

from tengen.data.batch import Rows  # noqa: E402
from tengen.data.label_sampler import LabelSampler, TargetMix  # noqa: E402
from tengen.data.planes import plane_set  # noqa: E402
from tengen.data.sampler import Sampler  # noqa: E402
from tengen.data.store import Store, StoreWriter  # noqa: E402
from tengen.engine.label import Labeller, LabelPlan  # noqa: E402
from tengen.errors import NetworkError, RecipeError  # noqa: E402
from tengen.evaluators import load_evaluator  # noqa: E402
from tengen.evaluators.evaluation import InputBatch  # noqa: E402
from tengen.evaluators.installed_networks import find_network  # noqa: E402
from tengen.evaluators.network_file import load_onnx, read_card  # noqa: E402
from tengen.game import EMPTY  # noqa: E402
from tengen.runs.events import read_events  # noqa: E402
from tengen.training.batches import TensorBatch, targets_named  # noqa: E402
from tengen.training.config import RunConfig  # noqa: E402
from tengen.training.samplers import open_samplers  # noqa: E402
from tengen.training.supervised import make_trainer, train, with_facts  # noqa: E402
from tengen.training.teacher import PLANES, SCALARS, LabelBuffer, Teacher, TeacherTargets  # noqa: E402
from tengen.training.trainer import newest_checkpoint  # noqa: E402

pytestmark = pytest.mark.usefixtures("unrendered")
TEACHER = "zero-7x7"


def findings(mix: TargetMix, name: str = TEACHER) -> TeacherTargets:
    return Teacher.named(name).targets(mix, torch.device("cpu"), compiled=False)


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games on 9x9 and 7x7."""
    path = tmp_path_factory.mktemp("boards") / "store"
    with StoreWriter(path) as writer:
        for seed in range(12):
            writer.add(random_record(seed, size=9 if seed % 3 else 7))
    return path


def test_targets_are_what_the_teacher_says_of_the_games(boards: Path) -> None:
    """Of another plane set than the student's, seen under symmetries, on boards of two sizes."""
    name = "distilled-b8c64"
    store = Store.open(boards)
    sampler = Sampler(store, "all", "agz17", batch_size=64, extra=Teacher.named(name).inputs(2, None))
    rows, batch = sampler.rows(0), sampler.batch(0)
    found = findings(TargetMix(policy=0.75, value=0.5, score=1, ownership=1), name)(TensorBatch.of(batch))
    inputs = InputBatch.zeros("tengen", 64, 9)
    for i, (game, ply, symmetry) in enumerate(zip(rows.game, rows.ply, rows.symmetry, strict=True)):
        inputs.encode(i, store.row(int(game)).game(int(ply)), int(symmetry))
    said = load_evaluator(name, "onnxruntime").infer(inputs)  # illegal moves keep their probability
    assert {7, 9} == set(inputs.sizes.tolist())
    policy = said.policy.copy()
    stones = [plane_set("tengen").planes.index(f"{side}_stones") for side in ("own", "opponent")]
    policy[:, :-1][inputs.planes[:, stones].sum(1).reshape(64, 81) > 0] = 0
    policy /= policy.sum(1, keepdims=True)
    policy[policy < 1 / 8192] = 0
    policy /= policy.sum(1, keepdims=True)
    assert np.abs(policy - said.policy).max() > 1e-4
    played = np.eye(82)[batch.policy]
    assert np.allclose(found.target, 0.75 * policy + 0.25 * played, atol=1e-5)
    assert np.allclose(found.value, 0.5 * said.value + 0.5 * batch.value, atol=1e-5)
    assert np.allclose(found.score, said.score, atol=1e-3)
    assert np.allclose(found.ownership.nan_to_num(), said.ownership, atol=1e-5)
    assert torch.equal(found.ownership.isnan(), torch.from_numpy(inputs.mask == 0))


def test_labels_of_a_store_and_of_a_live_teacher_are_the_same(boards: Path, tmp_path: Path) -> None:
    """Flattened, where a little on each stone would be much; at positions where all empty points are legal."""
    name, mix = "distilled-b8c64", TargetMix(temperature=4)
    labeller = Labeller(
        [Store.open(boards)], load_evaluator(name, "onnxruntime"), LabelPlan(per_game=20, vary_rules=False)
    )
    with StoreWriter(tmp_path / "labels") as writer:
        for record in labeller.label(0, 12):
            writer.add(record)
    store = Store.open(tmp_path / "labels")
    stored = LabelSampler(store, batch_size=200, symmetries=False, mix=mix)
    places = stored._order(np.arange(200))
    rows = Rows.as_played(*(x[places].astype(np.int64) for x in (stored._game, stored._ply)), np.zeros(200, np.int64))
    live = Sampler(store, "all", edge=9, extra=Teacher.named(name).inputs(1, None)).encode(rows)
    found, wanted = findings(mix, name)(TensorBatch.of(live)).target, stored.batch(0).target
    games = [store.row(int(game)).game(int(ply)) for game, ply in zip(rows.game, rows.ply, strict=True)]
    plain = [len(game.legal_points()) == int((game.board == EMPTY).sum()) for game in games]
    assert found is not None and wanted is not None and sum(plain) > 50
    assert np.allclose(found[plain], wanted[plain], atol=2e-3)


def test_what_is_unknown(store: Path) -> None:
    """The policy is taken at the temperature; a value that one does not say is the other's; the move of an opponent has
    no policy; a network without values leaves those of the record."""
    batch = Sampler(
        Store.open(store), "all", batch_size=40, symmetries=False, extra=Teacher.named(TEACHER).inputs(1, None)
    ).batch(0)
    full = findings(TargetMix(value=1))(TensorBatch.of(batch))
    recorded = batch.value.copy()
    batch.value[:10], batch.policy[:20] = np.nan, -1
    found = findings(TargetMix(policy=1, value=0.25, temperature=2))(TensorBatch.of(batch))
    assert full.target is not None and found.target is not None
    flat = full.target.sqrt() / full.target.sqrt().sum(1, keepdim=True)
    assert torch.allclose(found.target[20:], flat[20:], atol=1e-5) and not found.target[:20].any()
    assert torch.allclose(found.value[:10], full.value[:10], atol=1e-6)
    assert torch.allclose(found.value[10:], 0.25 * full.value[10:] + 0.75 * torch.from_numpy(recorded[10:]), atol=1e-6)

    def silent(planes: Any, scalars: Any, mask: Any) -> dict[str, Any]:
        """Without pass; its values are no numbers."""
        return {"policy": torch.zeros(len(planes), 49), "value": torch.full((len(planes),), torch.nan)}

    other = TeacherTargets(silent, TargetMix(value=0.5))(TensorBatch.of(batch))
    assert other.target is not None and torch.allclose(other.target[20:, :49], torch.full((20, 49), 1 / 49))
    for name in ("value", "score", "ownership"):
        assert torch.equal(getattr(other, name).nan_to_num(9), getattr(TensorBatch.of(batch), name).nan_to_num(9))


@pytest.mark.parametrize("accumulate", [1, 2])
def test_the_teacher_is_asked_once_for_each_position(settings: dict[str, Any], accumulate: int) -> None:
    settings["data"]["teacher"] = {"network": TEACHER}
    settings["training"]["accumulate"] = accumulate
    run = RunConfig.model_validate(settings)
    samplers = open_samplers(run)
    trainer = make_trainer(run, samplers.train.plane_set)
    asked: list[int] = []
    assert trainer._prepare is not None
    teacher = trainer._prepare

    def counted(batch: TensorBatch) -> TensorBatch:
        asked.append(len(batch.planes))
        return teacher(batch)

    trainer._prepare = counted
    trainer.train_step(TensorBatch.of(samplers.train.batch(0)))
    trainer.check_finite()
    assert asked == [8 // accumulate] * accumulate


def test_a_buffer_draws_the_newest_positions_in_all_symmetries(boards: Path) -> None:
    """What it returns is what a sampler encodes under a symmetry, in every column; each position as often as others."""
    sampler = Sampler(
        Store.open(boards), "all", batch_size=8, targets=True, symmetries=False, extra=targets_named(["move2"])
    )

    def as_seen(step: int, symmetry: int) -> dict[str, Any]:
        batch = sampler.encode(replace(sampler.rows(step), symmetry=np.full(8, symmetry)), targets=True)
        batch.value[:] = np.arange(8) + 8 * step  # tells the positions apart
        return {**TensorBatch.of(batch)._asdict(), **{name: torch.from_numpy(x) for name, x in batch.extra.items()}}

    seen = [[as_seen(step, symmetry) for symmetry in range(8)] for step in range(12)]

    def label(batch: TensorBatch) -> TensorBatch:
        return batch._replace(extra={**batch.extra, PLANES: batch.planes, SCALARS: batch.scalars})

    buffer = LabelBuffer(label, uses=6, capacity=32)
    counts, symmetries, sizes = np.zeros(96, int), set(), set()
    for step in range(12):
        given = {name: seen[step][0][name] for name in TensorBatch._fields if name != "extra"}
        drawn = buffer(TensorBatch(**given, extra={"move2": seen[step][0]["move2"]}))
        found = {**drawn._asdict(), **drawn.extra}
        assert set(drawn.extra) == {"move2"} and len(drawn.planes) == 48
        for i, number in enumerate(drawn.value.long().tolist()):
            assert max(0, 8 * step - 24) <= number < 8 * step + 8
            fits = [
                symmetry
                for symmetry, turned in enumerate(seen[number // 8])
                if all(
                    torch.allclose(found[name][i], turned[name][number % 8], atol=1e-3, equal_nan=True)
                    for name in (*given, "move2")
                    if turned[name] is not None
                )
            ]
            assert fits, f"position {number} is seen under no symmetry"
            counts[number] += 1
            symmetries |= {fits[0]} if len(fits) == 1 else set()
            sizes.add(int(drawn.mask[i].sum()))
    assert symmetries == set(range(8)) and sizes == {49, 81}
    assert 5 < counts[24:72].mean() < 7 and (counts[24:72] > 0).all()
    assert not buffer(label(TensorBatch(**given))).planes.isnan().any()


@pytest.mark.slow
def test_a_position_is_labelled_once_for_several_steps(settings: dict[str, Any], tmp_path: Path) -> None:
    """The run draws as many positions fewer, and goes on after a stop; it cannot go on with other uses."""
    settings["data"]["teacher"] = {"network": TEACHER, "uses": 4, "buffer": 64}
    settings["training"] |= {"steps": 6}
    run = RunConfig.model_validate(settings)
    samplers = open_samplers(run)
    trainer = make_trainer(run, samplers.train.plane_set)
    batch = samplers.train.batch(0)
    assert len(batch.planes) == 2 and trainer._prepare is not None
    assert len(trainer._prepare(TensorBatch.of(batch)).planes) == 8
    train(run, tmp_path / "run", show_progress=False)
    settings["training"]["steps"] = 9
    train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    settings["data"]["teacher"]["uses"] = 2
    with pytest.raises(RecipeError, match="uses"):
        train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    settings["data"]["teacher"]["uses"] = 3
    with pytest.raises(ValueError, match=r"batch_size 8 is no multiple of data.teacher.uses x devices"):
        RunConfig.model_validate(settings)
    settings["data"]["teacher"] = {"network": TEACHER, "uses": 2, "buffer": 3}
    with pytest.raises(ValueError, match=r"buffer 3 is less than the 4 positions that are labelled at once"):
        RunConfig.model_validate(settings)
    settings["data"]["teacher"] = {"network": TEACHER, "uses": 2}
    settings["training"] |= {"steps": None, "epochs": 1}
    run = RunConfig.model_validate(settings)
    games = open_samplers(run).train
    assert with_facts(run, games, [7]).training.total_steps == games.positions // 4
    settings["data"]["teacher"] = {"uses": 2}
    with pytest.raises(ValueError, match=r"uses is 2, but without `network`"):
        RunConfig.model_validate(settings)


@pytest.mark.slow
def test_a_student_learns_from_its_teacher(settings: dict[str, Any], tmp_path: Path) -> None:
    """All positions are drawn; the card names the teacher; a run that was stopped goes on as the unbroken one."""
    settings["data"]["teacher"] = {"network": TEACHER, "licence": "CC0"}
    settings["training"] |= {"value_loss": "bce", "steps": 60}
    run = RunConfig.model_validate(settings)
    assert open_samplers(run).train.positions == GAMES * 24
    network = train(run, tmp_path / "run", show_progress=False)
    assert read_card(network).data == "the games of random; targets of zero-7x7 (CC0)"
    found = [event["policy"] for event in read_events(tmp_path / "run", "train")]
    assert np.mean(found[-3:]) < np.mean(found[:3]) - 0.1
    settings["training"]["schedule"] = {"shape": "constant"}
    whole = train(RunConfig.model_validate(settings), tmp_path / "whole", show_progress=False)
    settings["training"]["steps"] = 20
    train(RunConfig.model_validate(settings), tmp_path / "parts", show_progress=False)
    settings["training"]["steps"] = 60
    train(RunConfig.model_validate(settings), tmp_path / "parts", show_progress=False)
    ends = [newest_checkpoint(path / "checkpoints") for path in (tmp_path / "parts", tmp_path / "whole")]
    states = [end[1]["network"] for end in ends if end is not None]
    assert whole.is_file() and all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_games_are_put_under_all_rules_and_other_komi(store: Path) -> None:
    """Half of them each, one set of rules for all positions of a game, with the teacher's inputs under the same; what
    such a game ended with is unknown, and known of the others."""
    games = Store.open(store)
    sampler = Sampler(games, "all", batch_size=1440, rules="any", seed=3, extra=Teacher.named(TEACHER).inputs(2, 3))
    rows, batch = sampler.rows(0), sampler.batch(0)
    plain = Sampler(games, "all", batch_size=1440, seed=3).batch(0)
    assert np.array_equal(batch.scalars, batch.extra["teacher_scalars"])
    assert np.array_equal(batch.planes, batch.extra["teacher_planes"])
    rules: dict[int, set[tuple[float, ...]]] = {}
    for game, side, scalars in zip(rows.game.tolist(), rows.ply % 2, batch.scalars, strict=True):
        komi = float(np.round(scalars[0] * 20 * (1 if side else -1), 3))
        rules.setdefault(game, set()).add((komi, *scalars[2:6].tolist()))
    assert all(len(one) == 1 for one in rules.values())
    assert 15 < sum(next(iter(one))[0] != 0.5 for one in rules.values()) < 45
    assert len({next(iter(one))[1:] for one in rules.values()}) >= 4  # they differ in ko and suicide too
    changed = (batch.scalars != plain.scalars).any(1)
    assert np.isnan(batch.value[changed]).all() and np.isnan(batch.score[changed]).all()
    unchanged = [game for game in rules if not changed[rows.game == game].any()]
    known = [not np.isnan(batch.value[rows.game == game]).any() for game in unchanged]
    assert sum(known) > 5 and sum(known) >= len(unchanged) - 3  # rules may differ in what no input shows


def test_ownership_belongs_to_the_rules_of_the_game(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "owned") as writer:
        for seed in range(40):
            writer.add(replace(random_record(seed), ownership=np.full(49, seed % 2, np.uint8)))
    games = Store.open(tmp_path / "owned")
    sampler = Sampler(games, "all", batch_size=960, rules="any", seed=5, symmetries=False)
    rows, batch = sampler.rows(0), sampler.batch(0)
    unknown = np.isnan(batch.ownership).all((1, 2))
    assert np.array_equal(unknown, np.isnan(batch.value)) and 0.5 < unknown.mean() < 0.9
    for owner, side, ownership in zip(
        rows.game[~unknown] % 2, rows.ply[~unknown] % 2, batch.ownership[~unknown], strict=True
    ):
        assert (ownership == (1 if games.row(int(owner)).ownership[0] == side else -1)).all()


def test_a_teacher_that_does_not_fit(settings: dict[str, Any], tmp_path: Path) -> None:
    """It is refused before the folder of the run is touched."""
    for teacher, error, message in (
        ("zero-9x9", RecipeError, "zero-9x9 learned 9x9, not 7x7"),
        ("no-such-network", NetworkError, r"^data\.teacher\.network: no network 'no-such-network'"),
        (str(tmp_path / "odd.onnx"), NetworkError, "operation Loop is not supported"),
    ):
        model = load_onnx(find_network(TEACHER))
        next(node for node in model.graph.node if node.op_type == "Conv").op_type = "Loop"
        del model.metadata_props[:]
        onnx.helper.set_model_props(model, read_card(find_network(TEACHER)).metadata())
        onnx.save(model, tmp_path / "odd.onnx")
        settings["data"]["teacher"] = {"network": teacher}
        with pytest.raises(error, match=message):
            train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
        assert not (tmp_path / "run").exists()


def test_a_teacher_that_does_not_see_komi(settings: dict[str, Any], tmp_path: Path) -> None:
    """What it says of a game under another komi would be what it says under the game's own."""
    model = load_onnx(find_network(TEACHER))
    for node in model.graph.node:
        node.input[:] = ["blind" if name == "scalars" else name for name in node.input]
    nothing = onnx.numpy_helper.from_array(np.zeros(1, np.float32), "nothing")
    model.graph.initializer.append(nothing)
    model.graph.node.insert(0, onnx.helper.make_node("Mul", ["scalars", "nothing"], ["blind"]))
    del model.metadata_props[:]  # with the digest of the file before
    onnx.helper.set_model_props(model, read_card(find_network(TEACHER)).metadata())
    onnx.save(model, tmp_path / "blind.onnx")
    settings["data"]["teacher"] = {"network": str(tmp_path / "blind.onnx")}
    with pytest.raises(RecipeError, match=r"does not see komi and rules.*set data\.vary_rules to false"):
        train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False)
    settings["data"]["vary_rules"] = False
    settings["training"] |= {"steps": 1}
    assert train(RunConfig.model_validate(settings), tmp_path / "run", show_progress=False).is_file()
