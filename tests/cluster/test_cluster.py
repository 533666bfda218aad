"""Work on a Ray cluster of several nodes on this machine: the same results, whatever is slow or dies."""

from __future__ import annotations

import errno
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import pairwise
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import Mock

import cluster_work
import onnx
import pytest
import torch
from cluster_work import (
    Bare,
    Both,
    Dying,
    DyingAtStep,
    DyingOnce,
    DyingThere,
    FullDisk,
    Hanging,
    Old,
    OldThere,
    Opened,
    Slow,
    Squares,
    Stuck,
    Wrong,
)
from killing import kill_at
from training.small_run import settings_of, write_store
from unrendered import skip_rendering

ray = pytest.importorskip("ray", reason="the extra [cluster] is not installed")
from ray import cloudpickle  # noqa: E402
from ray.cluster_utils import Cluster as RayNodes  # noqa: E402

import tengen  # noqa: E402
from tengen.checksums import Integrity  # noqa: E402
from tengen.cli.review import command as review_command  # noqa: E402
from tengen.cluster import Cluster, Place, SharedFiles, Worker, files  # noqa: E402
from tengen.cluster import cluster as cluster_module  # noqa: E402
from tengen.data.record import GameRecord  # noqa: E402
from tengen.data.store import Store  # noqa: E402
from tengen.errors import ClusterError, TengenError  # noqa: E402
from tengen.evaluators.installed_networks import find_network  # noqa: E402
from tengen.match.cluster import MatchWork  # noqa: E402
from tengen.match.folder import read_folder  # noqa: E402
from tengen.match.runner import InCluster, InWorkers, play_match  # noqa: E402
from tengen.match.settings import MatchSettings  # noqa: E402
from tengen.runs.events import read_events  # noqa: E402
from tengen.runs.interruption import ShutdownFlag  # noqa: E402
from tengen.runs.verify import verify  # noqa: E402
from tengen.selfplay import transport as transport_module  # noqa: E402
from tengen.selfplay.cluster import ClusterPlayer  # noqa: E402
from tengen.selfplay.conditions import CycleConditions  # noqa: E402
from tengen.selfplay.config import SelfPlayConfig  # noqa: E402
from tengen.selfplay.folder import SelfPlayFolder  # noqa: E402
from tengen.selfplay.loop import SelfPlayRun  # noqa: E402
from tengen.selfplay.play import CyclePlayer, RecentGames  # noqa: E402
from tengen.selfplay.progress import Observer  # noqa: E402
from tengen.selfplay.transport import FolderTransport  # noqa: E402
from tengen.training.cluster import train_on  # noqa: E402
from tengen.training.config import RunConfig  # noqa: E402
from tengen.training.supervised import train  # noqa: E402
from tengen.training.trainer import newest_checkpoint  # noqa: E402

T = TypeVar("T")

# A loaded machine takes half a minute to start a node.
pytestmark = [pytest.mark.timeout(600), pytest.mark.usefixtures("unrendered")]

cloudpickle.register_pickle_by_value(cluster_work)
SMALL = {"object_store_memory": 10**8, "include_dashboard": False}


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense", "nonsense:port", "ray://127.0.0.1:10001"])
def test_no_cluster_at_the_address(address: str) -> None:
    with pytest.raises(TengenError, match=f"no Ray cluster answers at '{address}'|--cluster {address}: give HOST:PORT"):
        Cluster(address)


def twice(start: Callable[[], T]) -> T:
    """Start nodes, once more if it fails: Ray waits 30 seconds for each, which a loaded machine may exceed."""
    try:
        return start()
    except Exception:  # Ray's own, of no class
        return start()


def two_nodes() -> RayNodes:
    found = RayNodes()
    try:
        found.add_node(num_cpus=0, **SMALL)
        found.add_node(num_cpus=2, **SMALL)
    except Exception:
        found.shutdown()
        raise
    return found


def add_node(nodes: RayNodes, cpus: int) -> Any:
    """A machine more, which a test removes."""
    before = set(nodes.worker_nodes)

    def start() -> Any:
        for late in nodes.worker_nodes - before:
            nodes.remove_node(late)
        return nodes.add_node(num_cpus=cpus, **SMALL)

    return twice(start)


@pytest.fixture(scope="module")
def nodes() -> Iterator[RayNodes]:
    """A head without cores and a machine with two, which know nothing of the outside."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        found = twice(two_nodes)
        yield found
        ray.shutdown()
        found.shutdown()


@pytest.fixture(scope="module")
def cluster(nodes: RayNodes) -> Iterator[Cluster]:
    """Two workers, which leave room for those of other tests."""
    with Cluster(nodes.address, Place(cpus=0.5, workers=2)) as found:
        yield found


@pytest.mark.slow
def test_every_item_is_done_once_and_asked_for_when_there_is_room(cluster: Cluster, tmp_path: Path) -> None:
    numbers = (number for number in range(100))
    done: list[int] = []
    workers, before = set(), cluster.traffic.items - cluster.traffic.repeated
    for items, (square, worker) in cluster.run(Both(tmp_path), numbers, ahead=3):
        assert square == items[0] ** 2
        done += items
        workers.add(worker)
        assert max(done) < len(done) + 2 * 3
    assert sorted(done) == list(range(100)) and len(workers) == 2
    assert cluster.traffic.items - cluster.traffic.repeated == before + 100 and cluster.traffic.bytes > 100


def test_two_threads_share_the_workers(cluster: Cluster) -> None:
    found: dict[int, list[int]] = {}

    def work(first: int) -> None:
        found[first] = sorted(square for _, (square, _) in cluster.run(Squares(), range(first, first + 50), ahead=5))

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {first: [number**2 for number in range(first, first + 50)] for first in (0, 100)}


def test_a_thread_may_be_the_last_to_learn_that_all_workers_died() -> None:
    """Another one noticed: the cluster has no worker any more, while this one still waits for an answer of its own."""
    died, anything = Mock(), Mock()
    dispatcher = cluster_module._Dispatcher(anything, anything, Squares(), [1, 2, 3], 1)
    dispatcher._assignments[died] = cluster_module._Assignment(stream=anything)
    dispatcher._hand_out(0)
    died.actor.add.remote.assert_called_once_with(dispatcher.key, [1])


def pretended(monkeypatch: pytest.MonkeyPatch, cpus: int, workers: int) -> Cluster:
    """Of one machine with so many cores, whose workers have started, and without Ray."""
    fake, started = Mock(), list[Any]()
    fake.is_initialized.return_value = True
    address = {"NodeID": "a", "NodeManagerHostname": "anna", "NodeManagerAddress": "10.0.0.1"}
    fake.nodes.return_value = [{"Alive": True, "Resources": {"CPU": cpus}, **address}]
    fake.get.return_value = tengen.__version__, "a"
    fake.exceptions.RayError = fake.exceptions.RayTaskError = RuntimeError

    def start() -> Mock:
        started.append(Mock())
        return started[-1]

    fake.remote.return_value.options.return_value.remote.side_effect = start

    def wait(references: list[Any], **_: Any) -> tuple[list[Any], list[Any]]:
        ready = {worker.version.remote.return_value for worker in started[:cpus]}
        return [found for found in references if found in ready], []

    fake.wait.side_effect = wait
    monkeypatch.setattr(cluster_module, "import_ray", lambda: fake)
    monkeypatch.setattr(cluster_module, "_POLL_SECONDS", 0)
    return Cluster("", Place(workers=workers))


def test_a_lost_machine_is_one_failure_however_many_workers_it_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "MAX_FAILURES", 2)
    monkeypatch.setattr(cluster_module, "REST_SECONDS", 0)
    cluster, died = pretended(monkeypatch, 100, 16), RuntimeError("The node died.")
    for _ in range(2):
        cluster.scale_up(16)
        for worker in cluster.scale_up(0)[0]:
            cluster.worker_died(worker, died)
    cluster.scale_up(16)
    *others, last = cluster.scale_up(0)[0]
    for worker in others:
        cluster.worker_died(worker, died)
    assert cluster.traffic.died == 3 * 16 - 1
    with pytest.raises(ClusterError, match=r"3 workers .* died one after the other: The node died"):
        cluster.worker_died(last, died)


@pytest.mark.slow
def test_a_machine_that_fails_again_and_again_rests_longer_and_longer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A worker there started again at once, for ever, and nothing was said."""
    clock = Mock(return_value=1000.0)
    monkeypatch.setattr(cluster_module, "time", Mock(monotonic=clock))
    monkeypatch.setattr(cluster_module, "MAX_FAILURES", 1000)
    cluster, starts = pretended(monkeypatch, 100, 1), list[float]()
    while clock.return_value < 1000 + 3600:
        clock.return_value += 0.5
        for worker in cluster.scale_up(1)[0]:
            starts.append(clock.return_value)
            cluster.worker_died(worker, RuntimeError("Killed."))
    waits = [int(b - a) for a, b in pairwise(starts)]
    assert waits[:3] == [1, 2, 4] and max(waits) <= 301 and len(starts) < 25
    assert caplog.messages[0] == "anna failed and rests for a while: Killed."
    assert all("waiting for the cluster" in text for text in caplog.messages[1:])


def test_a_run_outlives_the_absence_of_all_machines(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Weeks of work ended when the last machine was started anew, with the advice to lower what the recipe asks for."""
    cluster = pretended(monkeypatch, 1, 0)
    cluster.scale_up(1)
    (worker,), _ = cluster.scale_up(1)
    for name in ("JOIN_SECONDS", "PATIENCE", "_CHECK_SECONDS"):
        monkeypatch.setattr(cluster_module, name, -1)
    (node,) = cluster._ray.nodes.return_value
    cluster._ray.nodes.return_value = [{**node, "Alive": False}]
    cluster.worker_died(worker, RuntimeError("The node died."))
    for _ in range(3):
        assert cluster.scale_up(1) == ([], [])
    words = "waiting for the cluster: no machine with 1 cores for a worker is there that has not just failed"
    assert caplog.messages == [words]
    cluster._ray.nodes.return_value = [node]
    assert len(cluster.scale_up(1)[1]) == 1


def test_a_worker_that_waits_for_another_machine_may_start_on_the_one_that_has_rested(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the others have no free place."""
    clock = Mock(return_value=1000.0)
    monkeypatch.setattr(cluster_module, "time", Mock(monotonic=clock))
    cluster = pretended(monkeypatch, 1, 1)
    cluster.scale_up(1)
    (worker,), _ = cluster.scale_up(1)
    cluster.give_up(worker, OSError("No space left on device"))
    options = cluster._ray.remote.return_value.options
    for seconds, selector in ((0.1, {"ray.io/node-id": "!in(a)"}), (2, None)):
        clock.return_value += seconds
        ready, (waiting,) = cluster.scale_up(1)
        assert not ready and options.call_args.kwargs.get("label_selector") == selector
    assert cluster._workers == [waiting]


def test_work_that_raises_everywhere_is_wrong_and_that_of_some_machines_is_done_by_others() -> None:
    cluster, first = Mock(), TengenError("first")
    dispatcher = cluster_module._Dispatcher(cluster, Mock(), Squares(), [1], 1)

    def fails(*nodes: str) -> bool:
        dispatcher._errors = [(time.monotonic(), node, first) for node in nodes]
        try:
            dispatcher._check_errors()
        except TengenError as error:
            assert error is first
            return True
        return False

    cluster.has_others.return_value = True
    assert not fails() and not fails("a", "b") and not fails(*"aaaa") and fails("a", "b", "c")
    cluster.has_others.return_value = False
    assert fails("a", "b")
    dispatcher._assignments[Mock()] = cluster_module._Assignment(stream=Mock())
    assert not fails("a", "b", "c"), "others are still at it"
    dispatcher._assignments.clear()
    dispatcher._finished = 1
    assert not fails(*"aaa") and fails(*"abababababab"), "it could be done before"


def test_workers_that_no_machine_has_room_for_take_no_items_from_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = pretended(monkeypatch, 4, 256)
    list(cluster.run(Squares(), range(1000), ahead=41, stop=Mock(side_effect=[False] * 3 + [True])))
    given = [worker.actor.run.options.return_value.remote.call_args for worker in cluster._workers]
    assert [len(call.args[2]) for call in given if call] == [41] * 4 and len(given) == 256


@pytest.mark.parametrize(
    ("learner", "room"),
    [
        (Place(workers=1), 5),
        (Place(cpus=3, workers=1), 4),
        (Place(cpus=1, gpus=0.5, workers=1), 5),
        (Place(cpus=7, workers=1), 2),
        (Place(cpus=64, workers=1), 6),
    ],
)
def test_the_players_leave_a_learner_its_share_of_a_machine(
    learner: Place, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all cores that they had taken none became free, and the run stood still after the games of its first cycle."""
    cluster = pretended(monkeypatch, 4, 0)
    cluster.place = Place(cpus=2)
    monkeypatch.setattr(Cluster, "_machines", lambda *_: [{"CPU": 8, "GPU": 1}, {"CPU": 4, "memory": 10**9}])
    beside = cluster.add_workers(learner)
    assert len(beside._workers) == 1, "it starts first"
    cluster.scale_up(100)
    assert len(cluster._workers) == cluster.capacity == room


def test_no_room_beside_a_learner_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "JOIN_SECONDS", -1)
    cluster = pretended(monkeypatch, 1, 0)
    cluster.add_workers(Place(workers=1))
    with pytest.raises(TengenError, match="no room for a worker of 1 cores beside the learner's 1 cores: lower what"):
        cluster.scale_up(1)


def test_what_a_slow_worker_does_not_finish_is_done_by_another(cluster: Cluster, tmp_path: Path) -> None:
    found = [square for _, (square, _) in cluster.run(Stuck(tmp_path), list(range(40)), ahead=4)]
    assert sorted(found) == [number**2 for number in range(40)]
    for _ in cluster.run(Squares(), [1, 2]):  # it is free again
        pass
    until = 300
    while not (tmp_path / "stopped").exists() and (until := until - 1):
        threading.Event().wait(0.1)
    assert (tmp_path / "stopped").exists()


def test_an_error_of_the_work_is_raised_here(cluster: Cluster) -> None:
    with pytest.raises(TengenError, match=r"^7 is no number$"):
        list(cluster.run(Wrong(), [7]))


@pytest.fixture(scope="module")
def second(nodes: RayNodes, cluster: Cluster) -> Iterator[Any]:
    """A second machine, for two workers of half a core: the first one is left with as many places."""
    node = add_node(nodes, 1)
    yield node
    nodes.remove_node(node)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "work", "words"),
    [
        (Worker, FullDisk, "OSError: .* No space left on device"),
        (OldThere, Slow, "a machine of the cluster has Tengen 0.0.1"),
        (DyingThere, Slow, "The actor died unexpectedly"),
    ],
)
def test_a_machine_that_fails_is_named_and_the_others_do_its_items(
    kind: type[Worker],
    work: type[Slow],
    words: str,
    nodes: RayNodes,
    second: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The run of all machines ended."""
    monkeypatch.setattr(OldThere, "folder", tmp_path)
    monkeypatch.setattr(cluster_module, "Worker", kind)
    until = time.monotonic() + 60
    with Cluster(nodes.address, Place(cpus=0.5)) as found:
        done: list[int] = []
        for items, _ in found.run(
            work(tmp_path),
            list(range(10_000)),
            ahead=2,
            stop=lambda: time.monotonic() > until or (len(done) > 40 and bool(caplog.messages)),
        ):
            done.extend(items)
        assert len(set(done)) == len(done) > 40
        (warning, *_) = caplog.messages
        assert re.fullmatch(rf"\S+ failed and rests for a while: {words}.*", warning)
        assert found.traffic.died < 20


@pytest.mark.slow
def test_a_single_worker_is_replaced_by_one_on_another_machine(nodes: RayNodes, second: Any, tmp_path: Path) -> None:
    """As the learner."""
    with Cluster(nodes.address, Place(cpus=0.5, workers=1)) as found:
        done = [square for _, (square, _) in found.run(FullDisk(tmp_path), [2, 3])]
    assert done == [4, 9]


@pytest.mark.slow
def test_what_raises_on_all_machines_ends_soon(nodes: RayNodes, second: Any) -> None:
    started = time.monotonic()
    with (
        Cluster(nodes.address, Place(cpus=0.5)) as found,
        pytest.raises(TengenError, match=r"^\d is no number$"),
    ):
        list(found.run(Wrong(), [7, 8, 9]))
    assert time.monotonic() - started < 60


@pytest.mark.slow
def test_a_worker_that_hangs_is_replaced(
    nodes: RayNodes, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It was waited for without end and without a word."""
    monkeypatch.setattr(cluster_module, "SILENCE", 2)
    until = time.monotonic() + 90
    with Cluster(nodes.address, Place(cpus=0.5, workers=1)) as found:
        run = found.run(Hanging(tmp_path), range(10), stop=lambda: time.monotonic() > until)
        assert [square for _, (square, _) in run] == [number**2 for number in range(10)]
    assert re.search(r"\S+ failed and .*: a worker with 1 items has not answered for \d+ s", caplog.text)


def test_a_worker_that_is_asked_has_a_minute_to_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was given up at once when its last result was long ago, as while this process did something else."""
    clock, cluster, ray, worker = Mock(return_value=5000.0), Mock(), Mock(), Mock()
    monkeypatch.setattr(cluster_module, "time", Mock(monotonic=clock))
    ray.wait.return_value = [], ["the answer"]
    dispatcher = cluster_module._Dispatcher(cluster, ray, Squares(), [1], 1)
    assignment = cluster_module._Assignment(stream=Mock(), missing=OrderedDict({1: 0.0}))
    dispatcher._assignments[worker] = assignment
    for seconds in (0, 1, 59):
        clock.return_value = 5000.0 + seconds
        dispatcher._check_silence()
        assert not cluster.give_up.called, f"after {seconds} s"
    worker.actor.version.remote.assert_called_once_with()
    clock.return_value = 5061.0
    dispatcher._check_silence()
    ((found, error), _) = cluster.give_up.call_args
    assert found is worker and str(error) == "a worker with 1 items has not answered for 61 s"


@pytest.mark.slow
def test_a_worker_that_gives_no_result_is_named(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cluster_module, "SILENCE", 1)
    until = time.monotonic() + 60
    stop = lambda: bool(caplog.messages) or time.monotonic() > until  # noqa: E731
    list(cluster.run(Stuck(tmp_path), [0], stop=stop))
    assert re.search(r"^\S+ gives no result for \d+ s though it answers: it has 1 items, first 0$", caplog.messages[0])


def test_files_of_workers_that_were_killed_are_removed_by_the_next_one(tmp_path: Path) -> None:
    """Those of a learner, with all games of a run, stayed on its machine when the process that leads was killed."""
    code = "import os, tempfile; from tengen.cluster.files import WorkerFolder; folder = WorkerFolder(); "
    code += "print(tempfile.mkdtemp(), flush=True); "

    def start(end: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        return subprocess.Popen([sys.executable, "-c", code + end], env=environment, **pipes)

    def folder(process: subprocess.Popen[str]) -> Path:
        assert process.stdout is not None
        return Path(process.stdout.readline().strip()).parent

    with start("input()") as alive, start("os.kill(os.getpid(), 9)") as killed:
        folders = folder(alive), folder(killed)
        killed.wait()
        for each in folders:
            os.utime(each / "lock", (0, 0))  # one that has just been made may be of a worker that starts
        with start("folder.close()") as last:
            assert folder(last).parent == tmp_path
        assert set(tmp_path.iterdir()) == {folders[0]} and folders[0] != folders[1]
        alive.kill()


def test_a_worker_that_starts_leaves_alone_the_folder_of_another_that_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It removed the folder when the other one had made the lock and not yet taken it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    try_lock, made = files.try_lock, list[files.WorkerFolder]()

    def slow(path: Path) -> Any:
        path.touch()
        monkeypatch.setattr(files, "try_lock", try_lock)
        made.append(files.WorkerFolder())
        return try_lock(path)

    monkeypatch.setattr(files, "try_lock", slow)
    made.append(files.WorkerFolder())
    assert len(made) == 2 and {each.path for each in made} == set(tmp_path.iterdir())
    for each in made:
        assert try_lock(each.path / "lock") is None, "it is locked"
        each.close()
    assert not list(tmp_path.iterdir())


def test_a_file_that_was_written_in_part_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a disk that was full for a moment."""
    monkeypatch.setattr(files, "import_ray", lambda: Mock(get=lambda content: content))
    shared, write = SharedFiles({"store": {"store/games": b"all of it"}}), Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        write(path, content[:3])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space left"):
            shared.unpack(tmp_path)
    assert (shared.unpack(tmp_path)["store"] / "games").read_bytes() == b"all of it"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Old, r"a machine of the cluster has Tengen 0\.0\.1, this one [\d.]+\S*: install the same"),
        (Bare, r"a machine of the cluster cannot import Tengen: install tengen [\d.]+"),
        (Dying, "2 workers of the cluster died one after the other"),
    ],
)
def test_workers_that_cannot_work_end_the_run(
    kind: type[Worker], words: str, nodes: RayNodes, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "MAX_FAILURES", 1)
    monkeypatch.setattr(cluster_module, "Worker", kind)
    with Cluster(nodes.address, Place(cpus=0.5, workers=1)) as found, pytest.raises(TengenError, match=words):
        list(found.run(Squares(), [1]))


def test_a_recipe_that_asks_for_more_than_any_machine_has(
    nodes: RayNodes, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "JOIN_SECONDS", -1)
    with (
        Cluster(nodes.address, Place(cpus=64, gpus=0.5)) as found,
        pytest.raises(TengenError, match=r"a worker needs 64 cores and 0\.5 GPUs, .*the largest of \d has 2 cores"),
    ):
        list(found.run(Squares(), [1]))


@pytest.mark.slow
def test_workers_that_an_autoscaler_must_make_room_for_are_waited_for_with_a_warning(
    nodes: RayNodes, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cluster_module, "PATIENCE", 0)
    with Cluster(nodes.address, Place(cpus=3, workers=1)) as found:
        run = found.run(Squares(), [3], stop=lambda: bool(caplog.messages))
        assert list(run) == []
        assert "waiting for the cluster: a worker needs 3 cores, more than any machine" in caplog.text
        node = add_node(nodes, 3)
        assert [square for _, (square, _) in found.run(Squares(), [3])] == [9]
    nodes.remove_node(node)


RECIPE = {
    "name": "x",
    "seed": 4,
    "cycles": 2,
    "games_per_cycle": 50,
    "games_at_once": 8,
    "workers": 1,
    "network": {"family": "residual", "size": "b1c8"},
    "game": {"sizes": {7: 1}, "max_moves": 20},
    "search": {"visits": 12},
    "cluster": {"cpus": 0.5, "workers": 1},
    "learn": {"batch_size": 16, "threads": 1},
    "gate": {"games": 6, "score": 0.1},
    "rating": {"games": 4, "anchors": ["random"]},
}
CONFIG = SelfPlayConfig.model_validate(RECIPE)
TINY = {
    "cluster": {"cpus": 0.5, "workers": 1, "learner": {"cpus": 0.5}},
    "games_per_cycle": 16,
    "game": {"sizes": {5: 1}},
    "search": {"visits": 4},
    "learn": {"batch_size": 8, "threads": 1},
}
RUN = SelfPlayConfig.model_validate({**RECIPE, **TINY, "gate": {"games": 4, "score": 0.1}})


def play(
    folder: Path,
    cluster: Cluster | None,
    seen: Callable[[int], None] = lambda _: None,
) -> list[Any]:
    """All games of a cycle as plain values; `seen` gets the number of games after each batch."""
    run = SelfPlayFolder(folder)
    run.network(0).parent.mkdir(parents=True)
    shutil.copyfile(find_network("zero-7x7"), run.network(0))
    transport = FolderTransport(run)
    conditions = CycleConditions.of(CONFIG, RecentGames(transport).before(0), 0)
    with ShutdownFlag() as stop:
        player = ClusterPlayer(CONFIG, transport, stop, cluster) if cluster else CyclePlayer(CONFIG, transport, stop)
        stats = player.play(0, conditions, lambda _, done, *__: seen(done))
    assert stats.games == CONFIG.games_per_cycle and stats.evaluations > 20 * stats.games
    return [plain(game) for game in transport.store_cycle(0)]


def plain(game: GameRecord) -> list[Any]:
    return [game.source, game.komi, game.score, game.moves.tolist(), [v.tolist() for v in game.visits or ()]]


@pytest.mark.slow
def test_workers_and_a_machine_may_die_at_any_moment(nodes: RayNodes, cluster: Cluster, tmp_path: Path) -> None:
    alone = play(tmp_path / "alone", None)
    moments = random.Random(os.environ.get("TENGEN_KILL_SEED", "1"))
    deaths = sorted(moments.sample(range(1, 50), 2))
    node = add_node(nodes, 1)
    removed: list[int] = []

    def kill(done: int) -> None:
        if deaths and done >= deaths[0]:
            deaths.pop(0)
            ray.kill(moments.choice(cluster._workers).actor)
        if done >= 20 and not removed:
            removed.append(done)
            nodes.remove_node(node, allow_graceful=False)

    assert play(tmp_path / "run", cluster, kill) == alone
    assert removed and not deaths and cluster.traffic.died >= 2


def lead(out: Path, address: str | None, death: int = 0, learner_dies_at: int = 0) -> None:
    """A whole run, on the cluster at this address or alone; it dies at this change of a file (0: never).

    The worker that trains dies once, at this step.
    """
    with pytest.MonkeyPatch.context() as patch, ShutdownFlag() as stop:
        skip_rendering(patch)
        if address is None:
            SelfPlayRun(RUN, out, Observer(), stop).go()
            return
        patch.setattr(transport_module, "_FLUSH_SECONDS", 0)  # games are kept one by one, and some of a cycle are there
        patch.setattr(DyingAtStep, "step", learner_dies_at)
        patch.setattr(DyingAtStep, "marker", out.with_suffix(".dead"))
        patch.setattr(cluster_module, "Worker", DyingAtStep)
        if death:
            kill_at(out, number=death)
        with Cluster(address, RUN.cluster.place()) as joined:
            SelfPlayRun(RUN, out, Observer(), stop, joined).go()
            assert joined.traffic.items >= 4  # the games of the rating at least


def made(out: Path) -> dict[str, Any]:
    """Games, networks, gates and ratings of a run."""
    path = SelfPlayFolder(out).network(RUN.cycles)
    events = [event for event in read_events(out) if event["event"] == "cycle"]
    matches = sorted((out / "matches").glob("*/games/*.sgf"))
    return {
        "games": [plain(game) for game in Store.open(out / "games")],
        "cycles": [{k: v for k, v in e.items() if k in ("cycle", "fair_komi", "losses", "gate")} for e in events],
        "matches": {path.relative_to(out): path.read_bytes() for path in matches},
        "weights": [part.raw_data for part in onnx.load(path).graph.initializer],
    }


@pytest.mark.slow
def test_a_driver_that_is_killed_again_and_again_ends_as_the_unbroken_run(
    nodes: RayNodes, tmp_path: Path, forks: ForkServerContext
) -> None:
    """While it plays, learns, rates or is in the gate. The worker that trains dies once, in the middle of a cycle."""
    lead(tmp_path / "alone", None)
    out, moments = tmp_path / "run", random.Random(os.environ.get("TENGEN_KILL_SEED", "3"))
    first, second = (event["steps"] for event in read_events(tmp_path / "alone", "cycle"))
    step = moments.randrange(1, first + second)
    # The run changes its files some 150 times, so that two deaths leave it unfinished.
    for death in [*(moments.randrange(1, 70) for _ in range(2)), 0]:
        process = forks.Process(target=lead, args=(out, nodes.address, death, step))
        process.start()
        process.join()
        assert process.exitcode == (-signal.SIGKILL if death else 0)
    assert out.with_suffix(".dead").exists()
    found, expected = made(out), made(tmp_path / "alone")
    assert len(expected["matches"]) == 2 * 4 + 4 * len(list((tmp_path / "alone" / "matches").glob("rating-*")))
    for key, value in expected.items():
        assert found[key] == value, key


@pytest.mark.slow
def test_training_on_a_worker_that_dies_ends_as_the_unbroken_run(
    nodes: RayNodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(write_store(tmp_path / "games"))
    settings["training"] |= {"steps": 20, "checkpoint_minutes": 1e-6, "log_every": 1}
    shutil.copyfile(find_network("zero-7x7"), tmp_path / "first.onnx")
    settings |= {"start": str(tmp_path / "first.onnx"), "network": {}, "cluster": {"cpus": 0.5}}
    shutil.copyfile(find_network("zero-7x7"), tmp_path / "teacher.onnx")
    settings["data"]["teacher"] = {"network": str(tmp_path / "teacher.onnx")}
    run = RunConfig.model_validate(settings)
    train(run, tmp_path / "alone", show_progress=False)
    monkeypatch.setattr(DyingOnce, "marker", tmp_path / "dead")
    monkeypatch.setattr(cluster_module, "Worker", DyingOnce)
    with Cluster(nodes.address, run.cluster.place()) as joined:
        path = train_on(joined, run, tmp_path / "run", show_progress=False)
        assert joined.traffic.died >= 1 and (tmp_path / "dead").exists()  # a busy machine may lose a worker more
    ends = [newest_checkpoint(tmp_path / name / "checkpoints") for name in ("run", "alone")]
    (_, found), (_, expected) = [end for end in ends if end is not None]
    assert found["step"] == expected["step"] == 20
    for part in ("network", "average"):
        assert all(torch.equal(found[part][name], weights) for name, weights in expected[part].items())
    assert [event["step"] for event in read_events(tmp_path / "run", "train")] == list(range(1, 21))
    files = [
        {file.relative_to(tmp_path / name).as_posix() for file in (tmp_path / name).rglob("*.*")}
        for name in ("run", "alone")
    ]
    assert {name for name in files[0] ^ files[1] if "tfevents" not in name} == set()
    assert [state for _, state in verify(path)] == [Integrity.INTACT]


@pytest.mark.slow
def test_a_match_with_networks_and_openings_of_this_machine(cluster: Cluster, tmp_path: Path) -> None:
    network = tmp_path / "own.onnx"
    shutil.copyfile(find_network("zero-7x7"), network)
    (tmp_path / "openings.txt").write_text("D4 C3\nD4 E5\nC4 D3\n")
    settings = MatchSettings.of(
        f"own={network}@8",
        "random",
        games=6,
        conditions={"size": 7, "komi": 9, "openings": str(tmp_path / "openings.txt"), "turns": 6},
    )
    figures = play_match(settings, tmp_path / "cluster", InCluster(cluster))
    assert figures["complete"] and len(read_folder(tmp_path / "cluster")[1]) == 6
    play_match(settings, tmp_path / "alone", InWorkers(1))
    for name in [f"games/{i:05d}.sgf" for i in range(6)]:
        assert (tmp_path / "cluster" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    missing = MatchSettings.of("gtp:no-such-program", "random", games=2, conditions={"size": 7})
    with pytest.raises(TengenError, match="no-such-program"):
        play_match(missing, tmp_path / "missing", InCluster(cluster))
    assert not (tmp_path / "missing" / "match.json").exists()


def test_a_player_that_cannot_start_is_named_as_in_a_match_of_one_machine(tmp_path: Path) -> None:
    """With a network that does not come with Tengen, too."""
    network = tmp_path / "own.onnx"
    shutil.copyfile(find_network("zero-7x7"), network)
    settings = MatchSettings.of(
        f"own={network}@8", "random", defaults={"device": "rocm"}, games=2, conditions={"size": 7}
    )
    work = MatchWork(settings, 1, find_network)
    with pytest.raises(TengenError, match=r"^own: device rocm"):
        work.open().start()
    work.close()


@pytest.mark.slow
def test_a_folder_of_games_is_reviewed(nodes: RayNodes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = tmp_path / "games"
    games.mkdir()
    for name in ("a", "b"):
        (games / f"{name}.sgf").write_text("(;SZ[7]KM[9];B[dd];W[ce];B[ec];W[ee])")
    (games / "c.sgf").write_text("(;SZ[7]HA[5];W[dd])")
    words: dict[str, Any] = {"visits": 4, "net": "zero-7x7", "formats": ["sgf", "json"], "quiet": True}
    for out, more in ((tmp_path / "alone", {}), (tmp_path / "cluster", {"cluster": nodes.address})):
        with pytest.raises(TengenError, match="1 of 3 games could not be reviewed"):
            review_command([str(games)], out=out, **words, **more)
        assert capsys.readouterr().err.startswith("c: ")
    for path in (tmp_path / "alone").iterdir():
        assert (tmp_path / "cluster" / path.name).read_bytes() == path.read_bytes()
    assert len(list((tmp_path / "cluster").iterdir())) == 4


@pytest.mark.slow
def test_a_cluster_of_its_own_leaves_no_token_in_the_home_folder(tmp_path: Path) -> None:
    """With Ray's token there, no cluster that was started without one could be joined any more."""
    words = ["match", "random", "random", "--size", "5", "--games", "2", "--cluster", "local", "--quiet", "--out"]
    command = [sys.executable, "-m", "tengen", *words, str(tmp_path / "match")]
    without = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    home = tmp_path / "home"
    home.mkdir()
    subprocess.run(command, env={**without, "HOME": str(home)}, check=True, capture_output=True, timeout=300)
    assert len(read_folder(tmp_path / "match")[1]) == 2 and not (home / ".ray").exists()


def test_workers_close_their_work_before_they_end(cluster: Cluster, tmp_path: Path) -> None:
    """Folders with networks, openings and games stayed on each machine."""
    with Cluster("auto", Place(cpus=0.1, workers=2)) as other:
        while len(other.scale_up(2)[0]) < 2:
            time.sleep(0.1)
        for items, _ in other.run(Opened(tmp_path), range(20), ahead=2):
            if items == [0]:
                break
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_cluster_is_left_though_ray_cannot_end_a_worker(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that had not begun when its node went."""

    def cancelled(_actor: object) -> None:
        raise ray.exceptions.RaySystemError("Actor creation cancelled")

    other = Cluster("auto", Place(cpus=0.1, workers=1))  # beside the cluster that this process has joined
    assert len(list(other.run(Squares(), [3]))) == 1
    workers = list(other._workers)
    with monkeypatch.context() as patch:
        patch.setattr(ray, "kill", cancelled)
        other.close()
    assert workers and not other._workers
    for worker in workers:
        ray.kill(worker.actor)
