"""The layers of docs/architecture.md: reads imports and includes, and fails on an upward edge."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "tengen"
NATIVE = ROOT / "native"

# A part of the package, and the parts that it may import besides itself.
RULES = {
    *("_native", "game", "coords", "rules", "handicap", "errors", "sgf"),
    *("disk", "checksums", "protocol_buffer", "machine", "pipes", "plugins"),
}
ENGINE = RULES | {"engine", "evaluators", "data", "formats"}
ALLOWED: dict[str, set[str]] = {
    "__init__": RULES | {"engine"},  # the engine on demand only: see the test of `import tengen`
    "_native": set(),
    "errors": set(),
    "plugins": {"errors"},
    "disk": {"checksums", "errors", "machine"},
    "checksums": {"errors"},
    "protocol_buffer": set(),
    "machine": set(),
    "pipes": set(),
    "coords": {"_native", "errors"},
    "rules": {"errors", "_native"},
    "handicap": {"coords", "errors"},
    "game": {"_native", "coords", "rules", "handicap", "errors"},
    "sgf": RULES,
    "data": RULES,
    "networks": {"errors", "disk", "checksums", "plugins", "formats"},
    "statistics": set(),
    "cluster": {"errors", "disk"},
    "runs": RULES | {"statistics"},
    "training": RULES | {"cluster", "networks", "data", "evaluators", "runs", "statistics"},
    "formats": RULES,
    "evaluators": RULES | {"data", "formats"},
    "engine": RULES | {"evaluators", "data"},
    "benchmark": ENGINE | {"networks", "training"},
    "gtp": ENGINE,
    "analysis": ENGINE | {"gtp"},
    "review": ENGINE | {"runs", "statistics"},
    "web": ENGINE | {"gtp", "review"},
    "match": ENGINE | {"cluster", "gtp", "runs", "statistics"},
    "ratings": ENGINE | {"match", "runs", "statistics"},
    "selfplay": ENGINE | {"cluster", "match", "networks", "ratings", "runs", "statistics", "training"},
    "reinforce": ENGINE | {"match", "networks", "ratings", "runs", "statistics", "training"},
}
TOP = {"cli", "recipes", "studies", "__main__"}

# The heavy libraries, and where alone each may be imported.
HEAVY = {
    "torch": (
        *("networks/", "training/", "runs/events.py", "selfplay/", "reinforce/"),
        *("evaluators/torch.py", "evaluators/torch_graph.py"),
    ),
    "lightning": (),
    "lightning_fabric": ("training/fabric.py", "training/ranks.py", "training/trainer.py"),
    "onnx": ("networks/", "training/", "formats/", "evaluators/"),
    "onnxruntime": ("evaluators/",),
    "openvino": ("evaluators/",),
    "nicegui": ("web/",),
    "ray": ("cluster/connection.py",),
    "sgfmill": ("sgf/",),
    "typer": ("cli/",),
}

NATIVE_ALLOWED = {
    "board": set(),
    "processor": set(),
    "convolution": {"processor"},
    "attention": {"processor"},
    "playout": {"board"},
    "features": {"board", "processor"},
    "search": {"board", "features", "playout", "processor"},
    "pool": {"board", "features", "playout", "processor", "search"},
    "bindings": {"attention", "board", "convolution", "features", "playout", "processor", "search", "pool"},
    "tests": {"processor", "board", "features", "playout", "search", "pool"},
    "fuzz": {"board", "features", "playout"},
    "bench": {"board", "features", "playout", "search", "pool"},
}

PYTHON_FILES = sorted(SOURCE.rglob("*.py"))
NATIVE_FILES = sorted(path for path in NATIVE.rglob("*") if path.suffix in (".h", ".cpp"))


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of every import in a file, also inside functions; relative imports are made absolute."""
    package = ["tengen", *path.relative_to(SOURCE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            if stem == "tengen":
                yield from ((node.lineno, f"tengen.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, stem


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", PYTHON_FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_python_imports_point_down(path: Path) -> None:
    part = part_of(path)
    wrong = []
    for line, name in imported(path):
        words = name.split(".")
        if words[0] == "tengen" and len(words) > 1:
            target = words[1]
            if target in ("cli", "__main__"):
                fine = part in ("cli", "__main__")
            else:
                fine = part in TOP or target == part or target in ALLOWED.get(part, set())
        else:
            homes = HEAVY.get(words[0])
            inside = str(path.relative_to(SOURCE))
            fine = homes is None or any(inside == home or inside.startswith(home) for home in homes)
        if not fine:
            wrong.append(f"line {line}: {name}")
    assert not wrong, f"{path.relative_to(ROOT)} reaches upward or for what is not its own: {'; '.join(wrong)}"


def test_no_import_cycle() -> None:
    """Between modules: inside functions and under TYPE_CHECKING too. A package stands for its `__init__`.

    `tengen/__init__.py` is left out: it loads the engine on demand, and `from tengen import _native` names it.
    """
    names = {".".join(["tengen", *path.relative_to(SOURCE).with_suffix("").parts]): path for path in PYTHON_FILES}
    names = {name.removesuffix(".__init__"): path for name, path in names.items() if name != "tengen.__init__"}
    graph = {name: sorted(imported_modules(path, names) - {name}) for name, path in names.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' -> '.join(reversed(error.args[1]))}")


def imported_modules(path: Path, names: dict[str, Path]) -> set[str]:
    """The modules of Tengen that a file imports; `from package import name` may name a module."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {
                f"{node.module}.{alias.name}" if f"{node.module}.{alias.name}" in names else node.module
                for alias in node.names
            }
    return found & set(names)


def test_every_part_has_a_place() -> None:
    parts = {part_of(path) for path in PYTHON_FILES}
    assert parts <= set(ALLOWED) | TOP, (
        "a new part of the package needs a line in this test and in docs/architecture.md"
    )


@pytest.mark.parametrize("path", NATIVE_FILES, ids=lambda path: str(path.relative_to(NATIVE)))
def test_native_includes_point_down(path: Path) -> None:
    part = path.relative_to(NATIVE).parts[0]
    text = path.read_text(encoding="utf-8")
    wrong = []
    for include in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE):
        if "/" in include:
            target = include.split("/")[0]
            if target != part and target not in NATIVE_ALLOWED[part]:
                wrong.append(include)
    if part != "bindings":
        wrong += re.findall(r"^\s*#\s*include\s*<(?:nanobind|Python|pybind)[^>]*>", text, re.MULTILINE)
    assert not wrong, f"{path.relative_to(ROOT)} includes {', '.join(wrong)}"


@pytest.mark.parametrize("path", NATIVE_FILES, ids=lambda path: str(path.relative_to(NATIVE)))
def test_native_includes_are_in_the_library_of_macos_11(path: Path) -> None:
    """Wheels are for it (pyproject.toml). Apple's compiler refuses there what came later: numbers with a fraction in
    <charconv> and <format> with macOS 13.3, <memory_resource> with 14, <stop_token> in no library of Apple."""
    missing = r"^\s*#\s*include\s*<(charconv|format|print|memory_resource|stop_token)>"
    assert not re.findall(missing, path.read_text(encoding="utf-8"), re.MULTILINE)


def test_import_tengen_needs_numpy_alone() -> None:
    program = (
        "import sys; before = set(sys.modules); import tengen; "
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert set(done.stdout.split()) <= {"tengen", "numpy"}


@pytest.mark.parametrize(
    ("module", "packages"),
    [
        # All that a player runs, with what it imports later, needs neither training nor game stores.
        (
            "cli.play cli.gtp cli.analysis cli.review cli.nets cli.match cli.rate cli.bench "
            "web.server gtp.server analysis.server review.files review.report review.work match.folder match.runner "
            "ratings.report benchmark.suite recipes evaluators.export evaluators.raw",
            "torch lightning_fabric onnx tensorboard pyarrow scipy",
        ),
        (
            "cli.import_ cli.stats cli.evaluate cli.label engine.label_store training.held_out training.linear",
            "torch lightning_fabric onnx tensorboard scipy",
        ),
    ],
)
def test_a_player_needs_no_training_packages(module: str, packages: str) -> None:
    program = (
        f"import importlib, sys; sys.modules.update(dict.fromkeys({packages.split()!r}))\n"
        f"for name in {module.split()!r}: importlib.import_module('tengen.' + name)\n"
        "import tengen.engine; tengen.engine.load_engine('none')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_the_help_of_a_command_imports_no_heavy_package() -> None:
    """For `--help` and the Tab key of a shell a command is imported, not carried out."""
    program = (
        "import contextlib, io, sys\n"
        "from tengen.cli.app import VERBS, main\n"
        "for verb in VERBS:\n"
        "    with contextlib.redirect_stdout(io.StringIO()):\n"
        "        assert main([verb, '--help']) == 0, verb\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    heavy = {*HEAVY, "pyarrow", "pydantic", "yaml", "matplotlib", "jinja2"} - {"typer", "sgfmill"}
    assert not heavy & set(done.stdout.split())
