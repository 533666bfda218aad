"""The learner: its replay window, cycles that are learned again, and game records in its batches."""

import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs the extra [train]")

from selfplay.random_games import played_game, write_store  # noqa: E402
from selfplay.run_folder import write_run  # noqa: E402

from tengen.cluster import Place, files  # noqa: E402
from tengen.data import LabelSampler, Store, StoreWriter  # noqa: E402
from tengen.data.batch import Batch  # noqa: E402
from tengen.data.label_sampler import MixedSampler, TargetMix, recorded_positions  # noqa: E402
from tengen.evaluators.network_file import read_card  # noqa: E402
from tengen.runs.interruption import ShutdownFlag  # noqa: E402
from tengen.selfplay import learn as learning  # noqa: E402
from tengen.selfplay.cluster_learner import ClusterLearner, LearningWork, TrainingCycle  # noqa: E402
from tengen.selfplay.config import LearnConfig, SelfPlayConfig, WindowConfig  # noqa: E402
from tengen.selfplay.folder import SelfPlayFolder  # noqa: E402
from tengen.selfplay.learn import Learner, Window, window_size  # noqa: E402
from tengen.training.card import games_learned, learned_games  # noqa: E402


def test_all_there_is_until_the_minimum() -> None:
    config = WindowConfig(min_positions=1000)
    assert [window_size(n, config) for n in (0, 1, 999, 1000)] == [0, 1, 999, 1000]


def test_grows_slower_than_the_total_and_never_beyond_the_maximum() -> None:
    config = WindowConfig(min_positions=1000, max_positions=5000, exponent=0.75, expand=0.4)
    sizes = [window_size(n, config) for n in range(1000, 100_000, 500)]
    assert sizes == sorted(sizes)
    assert sizes[1] - sizes[0] <= 0.4 * 500 + 1
    assert sizes[-1] == 5000


def test_the_published_curve() -> None:
    """KataGo's compute_desired_num_rows for 250,000 rows, exponent 0.65, expansion 0.4: 2.9 of 22 million rows."""
    config = WindowConfig(min_positions=250_000, max_positions=10**9, exponent=0.65, expand=0.4)
    assert window_size(22_000_000, config) == 2_921_036


def store_of(path: Path, *positions: int) -> Store:
    """A store whose games have so many recorded positions."""
    game = next(game for seed in count() if len((game := played_game(seed)).moves) >= max(positions))
    visits = game.visits
    assert visits is not None
    nothing = (visits[0][:0],) * len(visits)
    store = write_store(path, [replace(game, visits=visits[:many] + nothing[many:]) for many in positions])
    assert recorded_positions(store).tolist() == list(positions)
    return store


def test_the_window_is_the_newest_games(tmp_path: Path) -> None:
    """Of 50 positions, in whole games; of more where the newest cycle has more."""
    store = store_of(tmp_path / "store", 10, 20, 30, 40)
    config = WindowConfig(min_positions=50, max_positions=50)
    assert Window.of(store, 1, config) == Window(first_game=2, games=2, positions=70, fresh=40, total=100)
    assert Window.of(store, 3, config) == Window(first_game=1, games=3, positions=90, fresh=90, total=100)


RESIDUAL = {"family": "residual", "size": "b1c8"}


def learner_of(
    path: Path, start: Path | None = None, cycles: int = 1, network: dict[str, Any] = RESIDUAL, **learn: Any
) -> tuple[Learner, Store]:
    config = write_run(path, cycles, games=12, cycles_done=1)
    config = SelfPlayConfig.model_validate(
        config.model_dump(exclude_unset=True)
        | ({"start": str(start)} if start else {})
        | {"network": network, "learn": {"batch_size": 8, **learn}}
    )
    folder = SelfPlayFolder(path)
    for made in (folder.checkpoint(1), folder.candidate(1)):
        made.parent.mkdir(parents=True, exist_ok=True)
    return Learner(config, folder, ShutdownFlag()), Store.open(path / "games")


@pytest.mark.slow
def test_a_cycle_that_is_learned_again_ends_the_same(tmp_path: Path) -> None:
    """The first one too, which begins without a checkpoint."""
    learner, store = learner_of(tmp_path)
    ends = []
    for _ in range(2):
        learner.learn(0, store, len(store))
        ends.append((learner.trainer.step, [p.detach().clone() for p in learner.trainer.network.parameters()]))
    assert ends[0][0] == ends[1][0] > 0
    assert all(torch.equal(*both) for both in zip(ends[0][1], ends[1][1], strict=True))


class NoWorkers:
    """A cluster whose workers nobody asks."""

    def add_workers(self, _: Place) -> "NoWorkers":
        return self

    def run(self, *_: object, **__: object) -> Iterator[Any]:
        return iter(())


@pytest.mark.slow
def test_a_run_that_learns_on_a_gpu_of_a_cluster_is_resumed_without_one_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    learner, store = learner_of(tmp_path)
    learner.learn(0, store, len(store))
    learn = learner.config.learn.model_copy(update={"device": "cuda"})
    config, nobody = learner.config.model_copy(update={"learn": learn}), cast(Any, NoWorkers())
    ClusterLearner(config, learner.folder, ShutdownFlag(), nobody, Place()).check_state(1)


class OneWorker(NoWorkers):
    """A cluster whose worker is this process; `sent` are the cycles that it got."""

    def __init__(self) -> None:
        self.sent: list[TrainingCycle] = []

    def run(self, work: LearningWork, cycles: Iterator[TrainingCycle], **_: object) -> Iterator[Any]:
        for cycle in cycles:
            self.sent.append(cycle)
            yield from work.do(iter([cycle]), threading.Event())


@pytest.mark.slow
def test_a_worker_that_learns_gets_the_games_of_its_window_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It got all games of the run, and the process that leads kept them. A damaged state is made again all the same."""
    monkeypatch.setattr(files, "import_ray", lambda: Mock(put=lambda content: content, get=lambda content: content))
    learn = {"batch_size": 8, "reuse": 0.5, "window": {"min_positions": 100, "max_positions": 150}}
    config = write_run(tmp_path / "alone", cycles=6, games=8, cycles_done=6)
    config = config.model_copy(update={"network": RESIDUAL, "learn": LearnConfig.model_validate(learn)})
    shutil.copytree(tmp_path / "alone", tmp_path / "cluster")
    cluster, results = OneWorker(), []
    for name in ("alone", "cluster"):
        folder, store = SelfPlayFolder(tmp_path / name), Store.open(tmp_path / name / "games")
        folder.candidate(1).parent.mkdir(parents=True, exist_ok=True)
        folder.checkpoint(1).parent.mkdir(parents=True, exist_ok=True)
        leading = ClusterLearner(config, folder, ShutdownFlag(), cast(Any, cluster), Place())
        learner = leading if name == "cluster" else Learner(config, folder, ShutdownFlag())
        events = []
        for cycle in range(6):
            if cycle == 4:
                folder.checkpoint(4).write_bytes(b"damaged")
            events.append(learner.learn(cycle, store.head(cycle + 1), 8).event())
        results.append((events, [p.detach().clone() for p in learner.trainer.network.parameters()]))
    (found, weights), (expected, others) = results
    assert found == expected
    assert all(torch.equal(*both) for both in zip(weights, others, strict=True))
    sent = [[place for place in item.files.parts["run"] if place.endswith(".arrow")] for item in cluster.sent]
    assert [len(names) for names in sent[:3]] == [1, 2, 3] and len(sent[-1]) < 6
    assert set(leading._shards) == {Path(place).name for place in sent[-1]}


def test_a_cycle_draws_from_its_window_as_the_recipe_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """40 fresh positions, each used twice, are 10 batches of 8; each cycle draws in an order of its own."""
    asked: list[dict[str, Any]] = []
    seeds: list[int] = []

    class Spy(LabelSampler):
        def __init__(self, store: Store, first: int, plane_set: str, batch_size: int, seed: int, **more: Any) -> None:
            super().__init__(store, first, plane_set, batch_size, seed, **more)
            asked.append({"games": self.game_rows.tolist(), "surprise": more.get("surprise"), "mix": more.get("mix")})
            seeds.append(seed)

    monkeypatch.setattr(learning, "LabelSampler", Spy)
    window = {"min_positions": 50, "max_positions": 50}
    targets = {"surprise": 0.3, "value_mix": 0.2}
    learner, _ = learner_of(tmp_path / "run", cycles=2, reuse=2, window=window, targets=targets)
    store = store_of(tmp_path / "store", 10, 20, 30, 40)
    for cycle in range(2):
        learner.learn(cycle, store, 1)
        assert learner.trainer.step == 10 * (cycle + 1)
    assert asked == [{"games": [2, 3], "surprise": 0.3, "mix": TargetMix(value=0.2)}] * 2
    assert seeds[0] != seeds[1]


def test_the_card_tells_the_games_of_records_and_those_of_the_start(tmp_path: Path) -> None:
    """A network that begins with them is not to be judged by them."""
    with StoreWriter(tmp_path / "others") as writer:
        for seed in range(12):
            writer.add(played_game(seed, 5, 3.5))
    records = {"store": str(tmp_path / "others"), "share": 0.5, "until": 9}
    first, _ = learner_of(tmp_path / "first", records=records)
    path = tmp_path / "first.onnx"
    first.export(0, path)
    (games,) = learned_games(read_card(path).provenance)
    assert games == games_learned(Store.open(tmp_path / "others"), np.arange(12), None)
    second, _ = learner_of(tmp_path / "second", path)
    assert learned_games(second.card(0, {}).provenance) == [games]


def test_records_of_a_player_teach_results_of_both_sides(tmp_path: Path) -> None:
    """The player won all of them, which the positions of the opponents show; their moves are not learned."""
    with StoreWriter(tmp_path / "player") as writer:
        for seed in range(12):
            record = played_game(seed, 5, 3.5)
            writer.add(replace(record, player=0, winner=0, score=3.5, visits=None))
    records = {"store": str(tmp_path / "player"), "share": 1.0, "until": 9}
    learner, store = learner_of(tmp_path / "run", records=records)
    sampler = LabelSampler(store, 0, learner.inputs.name, 8, edge=5)
    batch = Batch.join([learner._mixed(sampler, 0).batch(step) for step in range(40)])
    of_opponent = batch.policy < 0
    assert 0.4 < of_opponent.mean() < 0.6 and abs(batch.value.mean()) < 0.2  # 1 without the opponent's
    assert batch.target is not None and not batch.target[of_opponent].any() and batch.target[~of_opponent].any(1).all()


@pytest.mark.parametrize("sees", [True, False])
def test_records_are_put_under_other_rules_where_the_network_sees_them(sees: bool, tmp_path: Path) -> None:
    """Another network would learn several results of one and the same position."""
    with StoreWriter(tmp_path / "others") as writer:
        writer.add(played_game(1, 5, 3.5))
    records = {"store": str(tmp_path / "others"), "share": 0.5, "until": 9}
    plain = {"family": "plain", "board_size": 5, "convs": ["3x3x8"], "value": {"kind": "dense"}}
    learner, store = learner_of(tmp_path / "run", network=RESIDUAL if sees else plain, records=records)
    mixed = learner._mixed(LabelSampler(store, 0, learner.inputs.name, 8, edge=5), 0)
    assert isinstance(mixed, MixedSampler)
    assert mixed._records.rules == ("vary" if sees else "recorded")
