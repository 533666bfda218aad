"""Self-play on a Ray cluster of several nodes on this machine: the same games, whatever dies."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray", reason="the extra [cluster] is not installed")
from ray.cluster_utils import Cluster  # noqa: E402

from tengen.data.record import GameRecord  # noqa: E402
from tengen.errors import TengenError  # noqa: E402
from tengen.evaluators.network_file import find_network  # noqa: E402
from tengen.runs.interruption import ShutdownFlag  # noqa: E402
from tengen.selfplay import cluster as cluster_module  # noqa: E402
from tengen.selfplay.cluster import ClusterPlayer, connected  # noqa: E402
from tengen.selfplay.conditions import CycleConditions  # noqa: E402
from tengen.selfplay.config import SelfPlayConfig  # noqa: E402
from tengen.selfplay.folder import SelfPlayFolder  # noqa: E402
from tengen.selfplay.play import CyclePlayer, RecentGames  # noqa: E402
from tengen.selfplay.transport import FolderTransport  # noqa: E402

CONFIG = SelfPlayConfig.model_validate(
    {
        "name": "x",
        "seed": 4,
        "cycles": 1,
        "games_per_cycle": 80,
        "games_at_once": 8,
        "workers": 1,
        "network": {"family": "residual", "size": "b2c16"},
        "game": {"sizes": {7: 1}, "max_moves": 20},
        "search": {"visits": 12},
        "cluster": {"workers": 3},
    }
)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Cluster]:
    """A head without cores and two machines with one and two cores."""
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 10**8})
    for cpus in (1, 2):
        found.add_node(num_cpus=cpus, object_store_memory=10**8)
    with connected(found.address):
        yield found
    found.shutdown()


def play(
    folder: Path, player: type[CyclePlayer], seen: Callable[[CyclePlayer, int], None] = lambda *_: None
) -> list[Any]:
    """All games of a cycle as plain values; `seen` gets the player and the number of games after each batch."""
    run = SelfPlayFolder(folder)
    run.network(0).parent.mkdir(parents=True)
    shutil.copyfile(find_network("zero-7x7"), run.network(0))
    transport = FolderTransport(run)
    conditions = CycleConditions.of(CONFIG, RecentGames(transport).before(0), 0)
    with ShutdownFlag() as stop:
        playing = player(CONFIG, transport, stop)
        stats = playing.play(0, conditions, lambda _, done, *__: seen(playing, done))
        assert stats.games == CONFIG.games_per_cycle and stats.evaluations > 20 * stats.games
        if isinstance(playing, ClusterPlayer):
            assert playing.wire.games >= CONFIG.games_per_cycle
            playing.close()
    return [plain(game) for game in transport.store_cycle(0)]


def plain(game: GameRecord) -> list[Any]:
    return [game.source, game.komi, game.score, game.moves.tolist(), [v.tolist() for v in game.visits or ()]]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    return play(tmp_path_factory.mktemp("alone") / "run", CyclePlayer)


def test_a_cluster_plays_the_same_games(nodes: Cluster, alone: list[Any], tmp_path: Path) -> None:
    assert play(tmp_path / "run", ClusterPlayer) == alone


def test_workers_and_machines_may_die_at_any_time(nodes: Cluster, alone: list[Any], tmp_path: Path) -> None:
    ended: list[int] = []

    def kill(player: CyclePlayer, done: int) -> None:
        assert isinstance(player, ClusterPlayer)
        if done and len(ended) < 2:  # two workers, one after the other
            ended.append(done)
            busy = [worker for worker in player._workers if worker.missing]
            ray.kill(busy[0].actor)
        elif done >= 40 and len(ended) == 2:  # then a machine, and another joins
            ended.append(done)
            nodes.remove_node(nodes.list_all_nodes()[-1], allow_graceful=False)
            nodes.add_node(num_cpus=1, object_store_memory=10**8)
        if done == CONFIG.games_per_cycle:
            assert player.wire.died >= 2

    assert play(tmp_path / "run", ClusterPlayer, kill) == alone
    assert len(ended) == 3


def test_workers_that_always_die_end_the_run(nodes: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "MAX_FAILURES", 1)

    class Dying(cluster_module.Worker):
        def play(self, *_: Any) -> Iterator[bytes]:
            import os

            os._exit(1)
            yield b""

    monkeypatch.setattr(cluster_module, "Worker", Dying)
    with pytest.raises(TengenError, match="2 workers of the cluster died"):
        play(tmp_path / "run", ClusterPlayer)


def test_no_cluster_at_the_address() -> None:
    with pytest.raises(TengenError, match="no Ray cluster answers at 'ray:/nonsense'"), connected("ray:/nonsense"):
        pass
