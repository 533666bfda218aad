"""The command itself: its verbs, its help, and how it fails."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, get_type_hints

import pytest
import typer
import yaml

from tengen.cli import app
from tengen.disk import DISK_FULL
from tengen.errors import StoreError, Terminated

GAMES = Path(__file__).parent.parent / "data" / "tygem-300.sgf.xz"


def fake_verb(monkeypatch: pytest.MonkeyPatch, command: object) -> None:
    monkeypatch.setitem(sys.modules, "tengen.cli.fake", SimpleNamespace(command=command))
    monkeypatch.setitem(app.VERBS, "fake", app.Verb("tengen.cli.fake", "for this test"))


def one_line(text: str) -> str:
    lines = text.splitlines()
    assert len(lines) == 1, text
    assert lines[0].startswith("error: ")
    return lines[0]


@pytest.mark.parametrize("name", app.VERBS)
def test_every_verb_helps(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert f"tengen {name}" in text
    doc = importlib.import_module(app.VERBS[name].module).command.__doc__
    assert doc and doc.split()[0] in text


@pytest.mark.parametrize(("interruption", "status"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_an_interruption_has_a_status_of_its_own(
    monkeypatch: pytest.MonkeyPatch, interruption: type[BaseException], status: int
) -> None:
    def command(number: int = 3) -> None:
        """Is interrupted."""
        raise interruption

    fake_verb(monkeypatch, command)
    assert app.main(["fake", "--number", "4"]) == status


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_import_says_that_no_store_was_written(
    number: int, status: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        assert callable(signal.getsignal(number))
        signal.raise_signal(number)

    monkeypatch.setattr("tengen.data.importer.import_games", interrupted)
    assert app.main(["import", str(GAMES), "--out", str(tmp_path / "store"), "--quiet"]) == status
    assert capsys.readouterr().err == "stopped; no store was written: run the command again\n"


def test_the_end_of_a_file_is_no_interruption(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint of 0 bytes ended `tengen train` with status 130, in silence."""

    def command() -> None:
        """Reads what is not there."""
        raise EOFError("Ran out of input")

    fake_verb(monkeypatch, command)
    with pytest.raises(EOFError, match="Ran out of input"):
        app.main(["fake"])


def test_a_paragraph_of_a_help_text_fills_its_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command() -> None:
        """First line.

        A paragraph that the source breaks
        where it likes.
        """

    fake_verb(monkeypatch, command)
    assert app.main(["fake", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "A paragraph that the source breaks where it likes." in shown
    assert not any("First line." in line and "paragraph" in line for line in shown.splitlines())


@pytest.mark.parametrize("name", app.VERBS)
def test_no_word_of_a_help_text_is_lost(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Typer takes [word] for markup and prints nothing of it."""
    monkeypatch.setenv("COLUMNS", "250")  # so that no other column is broken into lines
    assert app.main([name, "--help"]) == 0
    shown = re.sub(r"[\s│]", "", capsys.readouterr().out)
    command = importlib.import_module(app.VERBS[name].module).command
    for hint in get_type_hints(command, include_extras=True).values():
        for option in getattr(hint, "__metadata__", ()):
            assert re.sub(r"\s", "", option.help) in shown


@pytest.mark.parametrize("name", app.VERBS)
def test_names_of_options_are_whole_in_a_narrow_window(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert app.main([name, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    program = typer.Typer(add_completion=False)
    program.command()(importlib.import_module(app.VERBS[name].module).command)
    words = {word.strip(",") for line in lines for word in line.split()}
    for parameter in typer.main.get_command(program).params:
        assert {option for option in parameter.opts if option.startswith("-")} <= words
    assert not any("\u2026" in line for line in lines)


@pytest.mark.parametrize("name", ["import", "stats", "label", "evaluate"])
def test_help_needs_no_game_stores(name: str) -> None:
    program = (
        "import sys; sys.modules.update(pyarrow=None, torch=None)\n"
        "from tengen.cli.app import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", program, name]
    done = subprocess.run([*command, "--help"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "") and f"Usage: tengen {name}" in done.stdout
    words = {
        "import": [str(GAMES), "--out", "x"],
        "stats": ["x"],
        "label": ["x", "--teacher", "default", "--out", "y"],
        "evaluate": ["uniform", "x"],
    }
    done = subprocess.run([*command, *words[name]], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "pip install 'tengen[data]'" in one_line(done.stderr)


def test_a_home_folder_behind_an_option_is_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A shell leaves the ~ of --out=~/x as it is, and a folder of this name was made."""

    def command(out: Annotated[Path, typer.Option()], settings: Annotated[list[str], typer.Option("--set")]) -> None:
        print(out, *settings)

    fake_verb(monkeypatch, command)
    home = os.path.expanduser("~")
    assert app.main(["fake", "--out=~/x", "--set", "data.store=~/y", "--set=a.b=~/z"]) == 0
    assert capsys.readouterr().out == f"{Path(home) / 'x'} data.store={home}/y a.b={home}/z\n"


def test_a_recipe_is_printed_for_programs_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["recipes", "tiny", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert app.main(["recipes", "tiny"]) == 0
    assert printed == yaml.safe_load(capsys.readouterr().out)


@pytest.mark.slow
def test_the_bars_of_statistics_can_be_printed_in_any_encoding(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "cp1250"}  # has no bars
    for args in (("import", GAMES, "--out", tmp_path / "s", "--no-ownership", "--quiet"), ("stats", tmp_path / "s")):
        done = subprocess.run(
            [sys.executable, "-m", "tengen", *map(str, args)], capture_output=True, env=environment, check=True
        )
    assert b"##" in done.stdout and b"\\u" not in done.stdout


@pytest.mark.parametrize("args", [("nets",), ("recipes", "tiny")], ids=["a table", "text"])
def test_a_reader_that_ends_early_is_no_error(args: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-m", "tengen", *args], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_home_that_cannot_be_written_is_no_news_of_a_command(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = subprocess.run(
        [sys.executable, "-m", "tengen", "review", "missing.sgf"],
        env={**os.environ, "MPLCONFIGDIR": str(tmp_path / "file" / "folder")},
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 2 and "missing.sgf" in one_line(done.stderr)


def test_brackets_in_the_description_of_a_command_are_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = importlib.import_module(app.VERBS["recipes"].module).command
    monkeypatch.setattr(command, "__doc__", "Needs the extra [train].")
    assert app.main(["recipes", "--help"]) == 0
    assert "[train]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ("gtp --visits abc", "invalid value for '--visits': Input should be a valid integer (found 'abc'); see"),
        ("gtp --visits 0", "greater than or equal to 1 (found '0'); see"),
        ("gtp --batch 1000000000", "less than or equal to 1024 (found '1000000000'); see"),
        ("analysis --batch 1000000000", "less than or equal to 1024 (found '1000000000'); see"),
        ("review x.sgf --at-once 1000000000", "less than or equal to 16384 (found '1000000000'); see"),
        ("gtp --device x", "'x' is not one of 'auto'"),
        ("import x.sgf --out y --since 2010", "'2010' is no date such as 2024-12-31; see"),
        ("recipes one two", "error: unexpected argument: two; see"),
        ("recipes tiny --published", "error: --published is for the list of recipes: leave it out, or tiny"),
        ("recipes tinny", "unknown recipe 'tinny'; did you mean tiny?"),
        ("nets exprot default", "unexpected argument: default; its commands: add, remove, export, join, quantize; see"),
        ("bench --tune", "error: --tune concerns one network"),
        ("train missing.yaml", "error: missing.yaml: there is no such file"),
        ("train .", "error: .: a folder is no recipe"),
        ("study missing.yaml", "error: missing.yaml: there is no such file"),
        ("study --quick", "error: the options are those of one study: give its name or path, such as alphago-2016"),
        ("study --hours 0", "error: the options are those of one study"),
        ("verify missing", "error: missing: there is no such file, folder or installed network"),
        ("verify .", "error: . is an empty folder"),
        ("review {games} --out taken", "a folder is needed, but there is a file: taken; name another folder"),
        ("nets default --raw taken.sgf", "error: taken.sgf: no game tree"),
        ("nets add taken.sgf", "taken.sgf is no network that can be read: give an .onnx file of Tengen"),
        ("label store --teacher default --out store", "store is one of the stores to label; choose another folder"),
    ],
)
def test_a_mistake_is_named_with_what_would_be_right(
    args: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    if "taken" in args:
        (tmp_path / "taken").touch()
        (tmp_path / "taken.sgf").touch()
    if "store" in args.split():
        (tmp_path / "game.sgf").write_text("(;SZ[19];B[dd];W[pp];B[dp];W[pd];B[cf];W[nc];B[fc];W[qn];B[nq];W[dj])")
        assert app.main(["import", "game.sgf", "--out", "store", "--quiet"]) == 0
    assert app.main(args.replace("{games}", str(GAMES.parent / "tygem-pass.sgf")).split()) == 2
    assert told in one_line(capsys.readouterr().err)


def test_a_network_that_a_recipe_makes_is_told_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for args in ("play --net ", "gtp --net ", "match random ", "nets ", "match random policy:"):
        assert app.main(f"{args}bakago-v3".split()) == 2
        told = one_line(capsys.readouterr().err)
        assert "'tengen train bakago-v3' makes runs/bakago-v3/nets/bakago-v3.onnx" in told.replace("\\", "/"), args
    assert app.main(["gtp", "--net", "cody-7x7"]) == 2
    assert "'tengen zero cody-7x7' makes" in one_line(capsys.readouterr().err)
    assert app.main(["gtp", "--net", "bakago"]) == 2
    assert "recipe" not in one_line(capsys.readouterr().err)
    (made := tmp_path / "runs/bakago-v3/nets/bakago-v3.onnx").parent.mkdir(parents=True)
    made.touch()
    assert app.main(["gtp", "--net", "bakago-v3"]) == 2
    assert "the network of this recipe is runs" in one_line(capsys.readouterr().err)


@pytest.mark.parametrize("name", app.VERBS)
def test_every_verb_refuses_what_it_does_not_know(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main([name, "--no-such-option"]) == 2
    captured = capsys.readouterr()
    assert "--no-such-option" in one_line(captured.err)
    assert captured.out == ""


@pytest.mark.parametrize(
    "args",
    [
        ("stats", "no-such-store"),
        ("import", "no-such-file.sgf", "--out", "store"),
        ("evaluate", "no-such-net.onnx", "no-such-store"),
        ("train", "no-such-recipe"),
        ("gtp", "--net", "no-such-net"),
        ("match", "no-such-net", "random"),
    ],
    ids=lambda args: args[0],
)
def test_a_missing_file_is_one_line(
    args: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert app.main(list(args)) == 2
    assert "no-such" in one_line(capsys.readouterr().err)
    assert list(tmp_path.iterdir()) == [], "nothing half-made is left behind"


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (("gtp", "--seed", "-1"), "--seed"),
        (("gtp", "--seed", str(2**63)), "--seed"),
        (("import", "{games}", "--out", "store", "--workers", "-1"), "workers"),
        (("import", "{games}", "--out", "store", "--sample", "-1"), "sample"),
        (("import", "{games}", "--out", "store", "--sample", "nan"), "sample"),
        (("import", "{games}", "--out", "store", "--sample", "inf"), "sample"),
        (("import", "{games}", "--out", "store", "--sample", "1.5"), "a whole number of games, not 1.5"),
        (("import", "{games}", "--out", "store", "--max-handicap", "-1"), "must be 0 or more, not -1"),
        (("import", "{games}", "--out", "store", "--komi", "nan"), "nan is no komi"),
        (
            ("import", "{games}", "--out", "store", "--min-moves", "500", "--max-moves", "50"),
            "500 moves or more and 50",
        ),
        (("import", "{games}", "--out", "store", "--since", "2015-01-01", "--until", "2014-01-01"), "2014-01-01"),
        (("stats", "{games}"), "is a file, no game store"),
        (("stats", "."), ". is no game store"),
        (("label", ".", "--teacher", "linear", "--out", "store"), "linear is a playout policy: give a network"),
        (("evaluate", "{games.parent}", "uniform"), "is a folder, no network"),
        (("evaluate", "uniform", "{games}"), "is a file, no game store"),
        (("match", "m.yaml", "random"), "m.yaml describes a whole match, with its players"),
        (("import", "{games}", "--out", "store", "--seed", "-2", "--sample", "0.5"), "seed"),
        (("zero", "alphago-rl-9x9", "--role", "generate"), "policy-gradient"),
        (("zero", "alphago-rl-9x9", "--role", "rate"), "policy-gradient"),
    ],
    ids=lambda value: " ".join(value[-2:]) if isinstance(value, tuple) else None,
)
def test_an_argument_that_cannot_work_is_one_line(
    args: tuple[str, ...],
    word: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert app.main([arg.format(games=GAMES) for arg in args]) == 2
    assert word in one_line(capsys.readouterr().err)
    assert list(tmp_path.iterdir()) == [], "nothing is begun"


def test_help_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {name} " in text for name in app.VERBS)


def test_an_unknown_verb_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["trian"]) == 2
    assert "did you mean train?" in one_line(capsys.readouterr().err)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("tengen ")


def test_an_error_is_one_line_and_debug_shows_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command() -> None:
        raise StoreError("no store\nat x")

    fake_verb(monkeypatch, command)
    assert app.main(["fake"]) == 2
    assert one_line(capsys.readouterr().err) == "error: no store at x"
    assert app.main(["fake", "--debug"]) == 2
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("number", DISK_FULL)
def test_a_full_disk_is_one_line(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command() -> None:
        raise OSError(number, os.strerror(number), "store/shard")

    fake_verb(monkeypatch, command)
    assert app.main(["fake"]) == 2
    assert "the disk is full: store/shard" in one_line(capsys.readouterr().err)


def test_a_missing_extra_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def command() -> None:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    fake_verb(monkeypatch, command)
    assert app.main(["fake"]) == 2
    assert "pip install 'tengen[train]'" in one_line(capsys.readouterr().err)


def test_a_command_names_the_extra_that_it_needs_though_another_is_missed_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*args: object) -> int:
        raise ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")

    monkeypatch.setattr(app, "_run", run)
    for verb, extra in (("zero", "train"), ("study", "train"), ("stats", "data")):
        assert app.main([verb]) == 2
        assert f"pip install 'tengen[{extra}]'" in one_line(capsys.readouterr().err)


def test_a_path_is_no_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "s[" / "x]"
    assert app.main(["import", str(GAMES), "--out", str(store), "--sample", "5", "--quiet"]) == 0
    assert app.main(["stats", str(store)]) == 0
    assert "s[/x]" in capsys.readouterr().out


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def command() -> None:
        raise KeyError("a bug")

    fake_verb(monkeypatch, command)
    with pytest.raises(KeyError):
        app.main(["fake"])


def test_interruption_is_clean(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        raise KeyboardInterrupt

    fake_verb(monkeypatch, command)
    assert app.main(["fake"]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_a_reader_that_leaves_is_no_error() -> None:
    program = (
        "import sys; from types import SimpleNamespace; from tengen.cli import app\n"
        "def command() -> None:\n    for i in range(100000): print('line', i)\n"
        "sys.modules['tengen.cli.fake'] = SimpleNamespace(command=command)\n"
        "app.VERBS['fake'] = app.Verb('tengen.cli.fake', '')\n"
        "sys.exit(app.main(['fake']))\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stderr is not None
    assert child.stdout.readline() == "line 0\n"
    child.stdout.close()
    assert child.wait(timeout=60) == 0
    assert child.stderr.read() == ""
    child.stderr.close()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell of POSIX")
@pytest.mark.parametrize("words", ["nets >&-", "--help >&-", "nets <&- >&- 2>&-", "stats nowhere 2>&-"])
def test_a_closed_output_is_no_error(words: str) -> None:
    done = subprocess.run(["sh", "-c", f"{sys.executable} -m tengen {words}"], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (2 if "nowhere" in words else 0, b"", b"")


@pytest.mark.posix
def test_messages_that_cannot_be_written_end_no_work() -> None:
    """A full disk or a reader that had gone ended a game."""
    program = (
        "import logging, sys\nfrom rich.console import Console\nfrom tengen.cli.app import guarded\n"
        "def work():\n    print('ready', file=sys.stderr, flush=True)\n    Console(stderr=True).print('a game')\n"
        "    logging.getLogger().error('a warning')\n    print('done')\n    return 0\n"
        "sys.exit(guarded(work, debug=False))\n"
    )
    reader, writer = os.pipe()
    os.close(reader)
    for stderr in [writer, *([os.open("/dev/full", os.O_WRONLY)] if Path("/dev/full").exists() else [])]:
        done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=stderr, timeout=60)
        os.close(stderr)
        assert (done.returncode, done.stdout) == (0, b"done\n")


@pytest.mark.posix
def test_no_file_takes_the_place_of_a_closed_stream() -> None:
    program = (
        "import os, sys\nfrom tengen.cli.app import guarded\n"
        "def work():\n    with open(sys.executable, 'rb') as file:\n        print(file.fileno() > 2, os.read(0, 9))\n"
        "    return 0\nsys.exit(guarded(work, debug=False))\n"
    )
    for closed in ("<&-", "2>&-", "<&- 2>&-"):
        words = ["sh", "-c", f'"$0" -c "$1" {closed}', sys.executable, program]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"True b''\n", b""), closed


@pytest.mark.posix
def test_a_closed_input_has_no_game_records(tmp_path: Path) -> None:
    """Its import ended with a traceback."""
    words = f"{sys.executable} -m tengen import - --out {tmp_path / 'games'} <&-"
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "no game tree in the file" in one_line(done.stderr)


@pytest.mark.slow
def test_letters_that_the_output_cannot_have_are_escaped(tmp_path: Path) -> None:
    for name in ("辜梓豪", "é"):
        (tmp_path / f"{name}.sgf").write_bytes("(;SZ[5]PB[é😀]PW[辜梓豪]RE[B+R];B[cc])".encode())
    out = tmp_path / "辜"
    for words in (["rate", tmp_path, "--json", "-"], ["rate", tmp_path, "--report", out]):
        command = [sys.executable, "-m", "tengen", *map(str, words)]
        environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
        done = subprocess.run(command, capture_output=True, timeout=60, env=environment)
        assert (done.returncode, done.stderr) == (0, b"")
        if "-" in words:
            assert json.loads(done.stdout)["sizes"][0]["anchor"] == "é😀"
        else:
            assert rb"\u8f9c\u6893\u8c6a" in done.stdout and "é".encode("cp1252") in done.stdout


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("tengen re", ["review", "recipes"]), ("tengen review --fo", ["--format", "--force"]),
        ("tengen nets q", ["quantize"]), ("tengen nets add --", ["--name", "--profile", "--help"]),
        ("tengen nets --ra", ["--raw"]), ("tengen nets default --ra", ["--raw"]),
    ],
)  # fmt: skip
def test_a_shell_completes_commands_and_options(
    line: str, found: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("_TENGEN_COMPLETE", "complete_bash"), ("COMP_WORDS", line), ("COMP_CWORD", line.count(" "))):
        monkeypatch.setenv(name, str(value))
    with pytest.raises(SystemExit) as end:
        app.main([])
    assert (end.value.code, capsys.readouterr().out.split()) == (0, found)


def test_the_script_of_a_shell_asks_for_completion(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    with pytest.raises(SystemExit):
        app.main(["--show-completion", "bash"])
    assert f"{app._COMPLETE}=complete_bash" in capsys.readouterr().out


def test_help_is_quick_because_it_imports_little() -> None:
    program = "import sys; from tengen.cli.app import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert not {"typer", "torch", "openvino", "nicegui", "pyarrow", "rich"} & set(done.stderr.split())


def test_review_loads_no_plots_before_it_draws_one() -> None:
    program = "import sys; import tengen.review.work; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(done.stdout.split())
    assert "tengen.review.report" in loaded and not {"matplotlib", "torch", "openvino"} & loaded


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("play", "--prot", "3"),
            "unknown option --prot; did you mean --host, --port, --program? See tengen play --help",
        ),
        (("gtp", "-foo", "--size", "9"), "unknown option -foo; see tengen gtp --help"),
        (("gtp", "--size", "1"), "board size 1 is out of range: choose 2 to "),
        (("play", "--size", "26"), "board size 26 is out of range: choose 2 to "),
        (
            ("gtp", "--net", "none", "--playouts", "fast"),
            "playout policy 'fast' is unknown: choose uniform, ",
        ),
        (("review", "x.sgf", "--net", "none"), "this command needs a network: none is for tengen play and gtp alone"),
        (("gtp", "--device", "x"), "invalid value for '--device': 'x' is not one of "),
        (
            ("nets", "a", "b"),
            "unexpected argument: b; its commands: add, remove, export, join, quantize; see tengen nets",
        ),
    ],
)
def test_a_wrong_argument_is_named(args: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(list(args)) == 2
    assert one_line(capsys.readouterr().err).startswith(f"error: {message}")
