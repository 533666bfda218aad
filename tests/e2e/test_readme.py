"""The README and the documentation: examples run, commands exist, links have targets, the site builds."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise, takewhile
from pathlib import Path

import pytest

from tengen.cli.app import VERBS, check_command
from tengen.errors import TengenError
from tengen.recipes.loader import load_run, recipe_names

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = {ROOT / "docs" / name for name in ("reference/cli.md", "reference/recipes.md", "changelog.md")}


def test_the_session_works_when_pasted(tmp_path: Path) -> None:
    (session,) = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert len([line for line in session.splitlines() if line]) <= 10
    done = subprocess.run(
        [sys.executable, "-c", session],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    moves, board = done.stdout.splitlines()[:3], done.stdout.splitlines()[3:]
    assert all(re.fullmatch(r"[A-J][1-9] winrate \d+%, score [+-]\d+\.\d, \d+ visits", line) for line in moves)
    assert any("X" in line for line in board)


def test_the_commands_exist() -> None:
    used = set(re.findall(r"^ {4}tengen (\w+)|`tengen (\w+)", README, re.MULTILINE))
    verbs = {first or second for first, second in used} - {"COMMAND"}
    assert verbs and verbs <= set(VERBS)
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        named = set(re.findall(r"\bmake ([a-z]+)\b(?= {4}|`| PORT| PYTHON)", page.read_text(encoding="utf-8")))
        assert named <= targets, f"{page.name} names make targets that do not exist"


def test_continuous_integration_runs_the_test_command_of_the_readme() -> None:
    assert "    make test " in README
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_have_targets(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)[^):]*\)", page.read_text(encoding="utf-8"))
    paths = [(page.parent / link).resolve() for link in links]
    assert not [path for path in paths if not path.exists() and path not in GENERATED]


def test_links_to_headings_have_headings() -> None:
    """As MkDocs names them: a heading's words joined by hyphens, or `{#name}` behind it."""
    missing = []
    for page in PAGES:
        for link, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve() if link else page
            if target.suffix == ".md" and target not in GENERATED:
                headings = re.findall(r"^#+ (.+)$|\{#([\w-]+)\}", target.read_text(encoding="utf-8"), re.MULTILINE)
                slugs = {
                    named or re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower())
                    for text, named in headings
                }
                missing += [] if anchor in slugs else [(str(page.relative_to(ROOT)), link, anchor)]
    assert not missing


def test_the_files_that_pages_name_exist() -> None:
    """A path in backticks is a file of the repository or of `src/tengen`. The log keeps the names of its date."""
    missing = []
    for page in PAGES:
        for path in re.findall(r"`(\w+/[\w./-]+)`", page.read_text(encoding="utf-8")):
            known = path.split("/")[0] in ("native", "tests", "benchmarks", "docs", "examples") or path.endswith(".py")
            if known and "NAME" not in path and page.name != "log.md":
                missing += [] if any((base / path).exists() for base in (ROOT, ROOT / "src/tengen")) else [(page, path)]
    assert not missing


def test_the_commands_of_the_pages_exist() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        verbs = set(re.findall(r"^(?: {4})?tengen ([a-z]\w*)|`tengen ([a-z]\w*)", text, re.MULTILINE))
        unknown = {first or second for first, second in verbs} - set(VERBS)
        assert page.name == "log.md" or not unknown, f"{page.name} names commands that do not exist: {unknown}"


def commands_of(page: Path) -> list[list[str]]:
    """The words of the commands of `tengen` on a page, without comments and redirections."""
    text = page.read_text(encoding="utf-8")
    blocks = "\n".join(re.findall(r"^ *```sh\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE)).replace("\\\n", " ")
    lines = re.findall(r"^ *(tengen .*)", blocks, re.M) + re.findall(r"`(tengen [^`]+)`|^ {4}(tengen .*)", text, re.M)
    # Variables: `${board%:*}` is a number there, `$net` a name.
    plain = [re.sub(r"\$\w+", "name", re.sub(r"\$\{[^}]+\}", "9", "".join(line))) for line in lines]
    found = [shlex.split(line, comments=True) for line in plain]
    return [list(takewhile(lambda word: word not in (">", "|", "&&"), words[1:])) for words in found]


WITH_COMMANDS = [page for page in PAGES if page.name != "log.md" and commands_of(page)]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_options_and_settings_of_the_commands_exist(page: Path) -> None:
    """Commands may be named without their arguments, and lists of options are no commands."""
    for words in commands_of(page):
        if "--help" in words or words[0] == "COMMAND" or any(word.startswith("[-") for word in words):
            continue
        try:
            check_command(words)
        except TengenError as error:
            assert re.search("missing argument|requires an argument", str(error)), f"{words}: {error}"
        if words[0] not in ("train", "zero") or len(words) < 2:
            continue
        assert words[1] in recipe_names() or words[1].endswith((".yaml", ".yml")) or words[1].isupper(), words
        if words[1] in recipe_names():
            settings = [word for before, word in pairwise(words) if before == "--set"]
            load_run(words[0], words[1], settings)


@pytest.fixture(scope="module")
def examples_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the examples of the Python guide read."""
    from tengen.cli.app import main

    folder = tmp_path_factory.mktemp("examples")
    assert (
        main(["import", str(ROOT / "tests" / "data" / "tygem-300.sgf.xz"), "--out", str(folder / "stores/mine")]) == 0
    )
    (folder / "game.sgf").write_text("(;GM[1]SZ[9]KM[7]PB[A]PW[B]RE[B+R];B[ee];W[ce])", encoding="utf-8")
    return folder


def python_blocks(page: str) -> dict[str, str]:
    """The Python code of a page by its heading, the blocks of one section as one program."""
    sections = re.split(r"^##+ ", (ROOT / "docs" / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    blocks = {part.splitlines()[0]: re.findall(r"^```python\n(.*?)^```", part, re.DOTALL | re.M) for part in sections}
    return {f"{page}: {title}": "\n".join(found) for title, found in blocks.items() if found}


EXAMPLES = python_blocks("guides/python.md") | python_blocks("guides/extend.md") | python_blocks("reference/planes.md")


@pytest.mark.slow
@pytest.mark.parametrize("title", EXAMPLES)
def test_the_examples_of_the_pages_run(title: str, examples_folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EXAMPLES[title]],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=examples_folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_site_builds_without_warnings_and_needs_no_network(tmp_path: Path) -> None:
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=280,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    commands = (tmp_path / "reference" / "cli.html").read_text(encoding="utf-8")
    assert all(f'id="{verb}"' in commands for verb in VERBS)
    recipes = (tmp_path / "reference" / "recipes.html").read_text(encoding="utf-8")
    assert "games_per_cycle" in recipes and "warmup_steps" in recipes
    for page in tmp_path.rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"?(https?://[^\s\">]+)", page.read_text()
        )
        assert not loaded, f"{page.relative_to(tmp_path)} loads {loaded}"
