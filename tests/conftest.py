"""What all tests share: where things lie, and how the command is run."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from offspring import Offspring
from other_programs import SHARED, check_required, give_up, missing
from unrendered import skip_rendering

if TYPE_CHECKING:  # it brings numpy, which reads OMP_NUM_THREADS
    from tengen.plugins import Registry

# A shell without job control starts background jobs with Ctrl-C ignored, and they hand that on to what they start: the
# tests that press Ctrl-C would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
# The same with nohup and SIGHUP. Programs that are started do not inherit a handler.
if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)

# Two threads of PyTorch wait for each other at every layer, which takes ten times as long once others use the machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A busy machine may stop any example for longer than Hypothesis allows it, 0.2 s.
settings.register_profile("tengen", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tengen")

ROOT = Path(__file__).parent.parent
Runner = Callable[..., "subprocess.CompletedProcess[str]"]


# Each runs for half a minute or more, and begins early: alone at the end it would keep all but one worker idle.
LONG = (
    "selfplay/test_loop.py",
    "cluster/test_cluster.py",
    "training/test_supervised.py",
    "reinforce/test_loop.py",
    "web/test_browser.py",
    "web/test_browser_phone.py",
    "web/test_accessibility.py",
    "web/test_language.py",
)


def pytest_configure() -> None:
    """End at once where something of TENGEN_REQUIRE is missing, without which whole files would be skipped silently."""
    check_required()


# What a test that is marked so needs of the system.
SYSTEMS = {"linux": sys.platform == "linux", "posix": os.name == "posix"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long files first, the others in the order of the tree; those for other systems are skipped."""
    names = {ROOT / "tests" / name: rank for rank, name in enumerate(LONG)}
    items.sort(key=lambda item: names.get(item.path, len(LONG)))
    for item in items:
        for system, is_here in SYSTEMS.items():
            if not is_here and item.get_closest_marker(system):
                item.add_marker(pytest.mark.skip(reason=f"tests what {system} does"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of large real data beside the checkout; a test that needs it is skipped where there is none."""
    if why := missing("shared"):
        give_up("shared", why)
    return SHARED


@pytest.fixture(autouse=True, scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of compiled models, and a folder of added networks, that are not the user's."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        yield folder


@pytest.fixture(scope="session")
def tengen() -> Runner:
    """`tengen("stats", path)` runs the command in a process of its own and returns what it printed and its status."""

    def run(*args: str | Path, timeout: float = 120, **options: object) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1", "PYTHONPATH": str(ROOT / "src")}
        return subprocess.run(
            [sys.executable, "-m", "tengen", *map(str, args)],
            capture_output=True,
            text=True,
            timeout=timeout,
            env=environment,
            **options,  # type: ignore[call-overload]
        )

    return run


@pytest.fixture(scope="session")
def forks() -> ForkServerContext:
    """Starts processes for runs, forks of one that has loaded what they need, which takes seconds."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system starts no processes by fork")
    context = multiprocessing.get_context("forkserver")
    names = ["selfplay.loop", "reinforce.loop", "training.supervised", "recipes", "cli.app"]
    programs = ["lightning_fabric", "openvino", "onnxruntime", "matplotlib.backends.backend_svg", "ray"]
    context.set_forkserver_preload([*(f"tengen.{name}" for name in names), *programs])
    return context


@pytest.fixture
def restored(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`restored(FAMILIES, LOSSES)`: the parts that are registered from now on are gone after the test."""

    def restore(*registries: Registry[Any]) -> None:
        for registry in registries:
            monkeypatch.setattr(registry, "_parts", dict(registry._parts))

    return restore


@pytest.fixture
def registered(restored: Callable[..., None]) -> Callable[..., None]:
    """`registered(FAMILIES, "mine", family)` registers a part, which is gone after the test."""

    def register(registry: Registry[Any], name: str, part: object) -> None:
        restored(registry)
        registry.register(name, part)

    return register


@pytest.fixture
def unrendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves the plots of reports empty."""
    skip_rendering(monkeypatch)


@pytest.fixture
def offspring(monkeypatch: pytest.MonkeyPatch) -> Offspring:
    """Marks every process that the test starts from now on."""
    mark = f"TENGEN_TEST_{uuid.uuid4().hex}"
    monkeypatch.setenv("TENGEN_TEST_MARK", mark)
    return Offspring(mark)


@pytest.fixture
def no_process_is_left(offspring: Offspring) -> Iterator[None]:
    """Whatever a program did, it and its children are gone when the test is over."""
    yield
    assert offspring.gone(10)
