"""`tengen nets`: the list and the cards, networks that are added and removed, raw outputs of a position."""

from __future__ import annotations

import json
from pathlib import Path

import katago_twin
import numpy as np
import pytest

from tengen.cli.app import main
from tengen.evaluators import installed_networks, load_evaluator
from tengen.evaluators.installed_networks import find_network, installed, user_folder
from tengen.evaluators.network_file import Card, int8_path, read_card
from tengen.game import Game
from tengen.networks import build, parse_config
from tengen.networks.export import export, relabel
from tengen.sgf import write_game


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of added networks."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return user_folder()


@pytest.fixture
def katago_file(tmp_path: Path) -> Path:
    maker = katago_twin.Maker(14, 0)
    path = tmp_path / "tiny.v2.bin"
    path.write_bytes(katago_twin.text(maker.model((maker.ordinary(),))))
    return path


def test_nets_add_installs_a_network_of_katago(
    user: Path, katago_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["nets", "add", str(katago_file)]) == 0
    assert capsys.readouterr().out == f"tiny: katago, b1c6; installed as {user}/tiny.onnx\n"
    assert main(["nets", "add", str(katago_file), "--name", "other"]) == 0
    assert main(["nets", "add", str(katago_file), "--name", "other"]) == 2
    assert "a network 'other' is installed already: choose another name with --name" in capsys.readouterr().err
    assert [card.name for _, card in installed()][-2:] == ["other", "tiny"]
    found = read_card(find_network("tiny"))
    assert (found.family, found.plane_set, found.config["format"]) == ("katago", "katago-v7", 14)
    assert main(["nets", "tiny"]) == 0
    assert "converted from tiny.v2.bin" in capsys.readouterr().out


def test_the_cost_of_int8_files_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    cost = read_card(int8_path(find_network("zero-9x9"))).metrics["int8"]
    assert cost["fine"] and cost["top1_loss"] < 0.005 and cost["winrate_error"] < 0.01
    assert main(["nets"]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "zero-9x9 " in line and "residual" in line)
    assert f"{cost['speed']:g} x" in line
    assert main(["nets", "zero-9x9"]) == 0
    assert f"top1 loss {cost['top1_loss']}" in capsys.readouterr().out
    assert main(["nets", "zero-7x7", "--json"]) == 0
    assert "int8" not in json.loads(capsys.readouterr().out)["metrics"]


def test_nets_add_installs_a_network_of_tengen(user: Path) -> None:
    shipped = find_network("zero-7x7")
    assert main(["nets", "add", str(shipped), "--name", "again"]) == 0
    assert read_card(find_network("again")) == read_card(shipped).model_copy(update={"name": "again"})
    game = Game(7).play("D4")
    again, before = (load_evaluator(name, "onnxruntime").evaluate([game]).policy for name in ("again", "zero-7x7"))
    assert np.array_equal(again, before)


def test_a_network_whose_family_has_no_sizes_is_installed(
    user: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its layers are single settings of a recipe."""
    changes = {"name": "mine", "family": "plain", "config": {"family": "plain"}}
    card = read_card(find_network("zero-7x7")).model_copy(update=changes)
    relabel(find_network("zero-7x7"), tmp_path / "mine.onnx", card.metadata())
    assert main(["nets", "add", str(tmp_path / "mine.onnx")]) == 0
    assert capsys.readouterr().out == f"mine: plain; installed as {user / 'mine.onnx'}\n"


def test_brackets_on_a_card_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    changes = {"name": "mine[red]", "data": "[fox] and [/tygem]"}
    card = read_card(find_network("zero-7x7")).model_copy(update=changes)
    relabel(find_network("zero-7x7"), tmp_path / "other.onnx", card.metadata())
    assert main(["nets", str(tmp_path / "other.onnx")]) == 0
    out = capsys.readouterr().out
    assert "mine[red]" in out and "[fox] and [/tygem]" in out


def test_what_a_card_does_not_tell_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = read_card(find_network("zero-7x7")).model_copy(update={"hours": 0.0, "hardware": ""})
    relabel(find_network("zero-7x7"), tmp_path / "other.onnx", card.metadata())
    assert main(["nets", str(tmp_path / "other.onnx")]) == 0
    out = capsys.readouterr().out
    assert "hours" not in out and "hardware" not in out and "board sizes" in out


def test_a_network_that_was_added_is_removed(user: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nets", "add", OURS, "--name", "mine"]) == 0
    int8_path(user / "mine.onnx").write_bytes(b"")
    assert main(["nets", "remove", "zero-7x7"]) == 2
    assert "no network 'zero-7x7' was added by tengen nets add; there are: mine" in capsys.readouterr().err
    assert main(["nets", "remove", "mine"]) == 0 and not list(user.iterdir())
    assert main(["nets", "remove", "mine"]) == 2 and "there are none" in capsys.readouterr().err


OURS = str(find_network("zero-7x7"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing.bin.gz"], "missing.bin.gz cannot be read: No such file"),
        (["missing.onnx"], "missing.onnx cannot be read: No such file"),
        (["FILE", "--name", "../up"], "'../up' cannot be the name of a network"),
        (["FILE", "--name", "default"], "'default' cannot be the name of a network"),
        (["FILE", "--name", "Default"], "'Default' cannot be the name of a network: it has another meaning"),
        (["FILE", "--name", "Zero-9x9"], "a network 'zero-9x9' is installed already"),
        (["FILE", "--name", "mine.onnx"], "'mine.onnx' cannot be the name of a network: it ends with .onnx, as a file"),
        (["FILE", "--name=-mine"], "'-mine' cannot be the name of a network: give another with --name"),
        (["FILE", "--name", "quantize"], "'quantize' cannot be the name of a network"),
        (["FILE", "--name", "mine@2"], "'mine@2' cannot be the name of a network: give another with --name"),
        (["FILE", "--name", "playouts"], "'playouts' cannot be the name of a network: it has another meaning"),
        (["FILE", "--name", "linear"], "'linear' cannot be the name of a network: it has another meaning"),
        (["FILE", "--name", "mine.int8"], "'mine.int8' cannot be the name of a network: it ends with .int8, as a file"),
        (["FILE", "--name", "mine.bin@x"], "it ends with .bin, as a file does; choose another name with --name"),
        (["FILE", "--name", "zero-9x9"], "a network 'zero-9x9' is installed already"),
        (["FILE", "--name", "linear-tygem"], "a network 'linear-tygem' is installed already"),
        (["FILE", "--profile", "rank_5k"], "imitates no people, so that it takes no profile 'rank_5k'"),
        ([OURS, "--name", "x", "--profile", "rank_5k"], "zero-7x7.onnx imitates no people"),
    ],
)
def test_nets_add_refuses(
    words: list[str], message: str, user: Path, katago_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["nets", "add", *(word.replace("FILE", str(katago_file)) for word in words)]) == 2
    assert message in capsys.readouterr().err
    assert not user.exists()


def test_raw_outputs_of_an_sgf_file_and_of_moves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = Game(9, "japanese", 6.5).play("D4").play("E5").play("C3")
    (tmp_path / "game.sgf").write_bytes(write_game(game))

    def shown(*words: str) -> str:
        assert main(["nets", "zero-9x9", *words]) == 0
        return capsys.readouterr().out

    text = shown("--raw", f"{tmp_path}/game.sgf:2", "--symmetry", "3")
    assert text == shown("--raw", "B D4 W E5", "--size", "9", "--rules", "japanese", "--komi", "6.5", "--symmetry", "3")
    assert text == shown("--raw", "B D4 W E5", "--size", "9", "--rules", "japanese", "--symmetry", "3")
    (tmp_path / "occupied.sgf").write_bytes(write_game(game).rstrip()[:-1] + b";W[df])")
    assert text == shown("--raw", f"{tmp_path}/occupied.sgf:2", "--symmetry", "3")
    assert main(["nets", "zero-9x9", "--raw", f"{tmp_path}/occupied.sgf"]) == 2
    assert "White D4, is illegal: occupied" in capsys.readouterr().err
    changed = ("--rules", "chinese", "--komi", "0.5", "--symmetry", "3")
    assert (
        text != shown("--raw", f"{tmp_path}/game.sgf:2", *changed) == shown("--raw", "D4 E5", "--size", "9", *changed)
    )
    lines = text.splitlines()
    assert lines[0] == "symmetry 3" and lines[10] == "policy" and lines[21] == "whiteOwnership" and len(lines) == 31
    assert lines[11 + 4].split()[4] == lines[11 + 5].split()[3] == "NAN"
    everything = json.loads(shown("--raw", f"{tmp_path}/game.sgf", "--symmetry", "all", "--json"))
    assert [one["symmetry"] for one in everything] == list(range(8))
    for one in everything:
        total = sum(x or 0 for row in one["policy"] for x in row) + one["policyPass"]
        assert total == pytest.approx(1, abs=1e-4)
        assert one["policy"][6][2] is None and one["whiteWin"] + one["whiteLoss"] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--raw", ""], "--raw needs a network"),
        (["zero-9x9", "--komi", "5.5"], "--komi 5.5 is for --raw POSITION alone"),
        (["--size", "9"], "--size 9 is for --raw POSITION alone"),
        (["zero-9x9", "--symmetry", "77"], "--symmetry 77 is for --raw POSITION alone"),
        (["zero-9x9", "--optimism", "0.5"], "--optimism 0.5 is for --raw POSITION alone"),
        (["zero-9x9", "--raw", "D4 D4", "--size", "9"], "D4"),
        (["zero-9x9", "--raw", "W D4", "--size", "9"], "it is the turn of B after 0 moves"),
        (["linear", "--raw", "D4"], "linear is a playout policy: give a network"),
        (["export", "linear-tygem", "--format", "katago"], "linear-tygem is a playout policy: give a network"),
        (["export", "zero-7x7", "--format", "katago", "--out", "net.txt.gz"], "net.txt.gz: KataGo knows this form by"),
        (["join", "zero-9x9", "my.playout", "--out", "joined.onnx"], "my.playout is a playout policy: give a network"),
        (["zero-9x9", "--raw", "", "--symmetry", "8"], "no symmetry '8': give 0 to 7 or all"),
        (["zero-9x9", "--raw", "missing.sgf"], "no such file or directory: missing.sgf"),
        (["zero-9x9", "--raw", "missing.sgf:²"], "'missing.sgf:²'"),
        (["zero-9x9", "--raw", f"missing.sgf:{'9' * 5000}"], "missing.sgf:999"),
        (["zero-9x9", "--raw", "", "--size", "99999999999"], "board size 99999999999 is out of range"),
        (["x" * 300], f"no network or playout policy '{'x' * 300}'"),
    ],
)
def test_raw_outputs_refused(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nets", *words]) == 2
    assert message in capsys.readouterr().err


def test_boards_that_a_network_has_not_learned_are_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    warning = "warning: zero-7x7 learned 7x7, not 9x9: its figures there may mean nothing\n"
    of_default = "warning: distilled-b8c64-2 learned 5x5 to 19x19, not 4x4: its figures there may mean nothing\n"
    cases = ("zero-7x7", 9, warning), ("zero-7x7", 7, ""), ("default", 9, ""), ("default", 4, of_default)
    for name, size, told in cases:
        assert main(["nets", name, "--raw", "", "--size", str(size), "--json"]) == 0
        assert capsys.readouterr().err == told


def test_an_altered_network_has_no_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = bytearray(find_network("zero-7x7").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "net.onnx").write_bytes(data)
    assert main(["nets", str(tmp_path / "net.onnx")]) == 2
    assert "net.onnx is altered" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["add", "FILE", "--name", "other"], ["join", "FILE", "FILE", "--out", "OUT"],
              ["export", "FILE", "--format", "katago", "--out", "OUT"]],
)  # fmt: skip
def test_an_altered_network_gets_no_new_checksum(
    words: list[str], user: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = bytearray(find_network("zero-7x7").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "net.onnx").write_bytes(data)
    places = {"FILE": str(tmp_path / "net.onnx"), "OUT": str(tmp_path / "out.bin")}
    assert main(["nets", *(places.get(word, word) for word in words)]) == 2
    assert "net.onnx is altered" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["net.onnx"]


def test_a_card_with_odd_texts_and_metrics_is_listed(
    user: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    user.mkdir(parents=True)
    for name, int8 in (("one", {}), ("two", "fast[/b]")):
        metrics: dict[str, object] = {"int8": int8, "a [/b]": 1}
        changes = {"name": name, "family": "[/b]", "config": {"size": "[/i]"}, "metrics": metrics}
        card = read_card(find_network("zero-7x7")).model_copy(update=changes)
        relabel(find_network("zero-7x7"), user / f"{name}.onnx", card.metadata())
    assert main(["nets"]) == 0
    out = capsys.readouterr().out
    assert "[/b]" in out and "[/i]" in out and "fast[/b]" in out
    assert main(["nets", "one"]) == 0
    assert "a [/b]" in capsys.readouterr().out


def test_an_int8_file_of_a_conversion_needs_a_cache_folder(
    katago_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The conversion is removed when the command ends."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert main(["nets", "quantize", str(katago_file)]) == 2
    assert "networks cannot be written, where the int8 file of" in (error := capsys.readouterr().err)
    assert error.endswith("tengen nets add, and quantize it by its name\n")


def test_nets_lists_and_shows(mine: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nets"]) == 0
    assert "mine (default)" in capsys.readouterr().out.replace("\n", " ")
    assert main(["nets", "--json"]) == 0
    (card,) = json.loads(capsys.readouterr().out)
    assert card["name"] == "mine" and card["config"]["size"] == "b1c8"
    assert main(["nets", "mine"]) == 0
    shown = capsys.readouterr().out
    assert "plane set" in shown and "tengen train mine" in shown
    assert "family residual, plane_set tengen, size b1c8" in shown and ", pooling true" in shown, "one line, as in YAML"
    assert main(["nets", "mine", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == card


def test_int8_files_are_not_written_among_those_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nets", "quantize", "zero-7x7"]) == 2
    assert "zero-7x7 comes with Tengen" in capsys.readouterr().err


def test_nets_says_which_network_is_the_default_where(mine: str, capsys: pytest.CaptureFixture[str]) -> None:
    installed_networks.DEFAULT_NAME.write_text("mine\n7 small\n9 mid\n", encoding="utf-8")
    try:
        assert main(["nets"]) == 0
    finally:
        installed_networks.DEFAULT_NAME.unlink()
    assert "\ndefault: small on 7x7, mid on 9x9, mine on all other board sizes\n" in capsys.readouterr().out


def test_nets_of_an_unknown_name(mine: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nets", "mina"]) == 2
    assert "did you mean mine?" in capsys.readouterr().err
    assert main(["nets", "liner"]) == 2
    assert "did you mean linear?" in capsys.readouterr().err


def test_an_unknown_name_is_told_all_that_there_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, last in ((["nets", "xyz"], "linear-tygem\n"), (["evaluate", "xyz", str(tmp_path)], "uniform\n")):
        assert main(words) == 2
        error = capsys.readouterr().err
        assert "'xyz'" in error and "there are: default, " in error and "linear, linear-tygem" in error
        assert error.endswith(last)


def test_a_network_of_one_board_size_is_refused_elsewhere_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    config = parse_config({"preset": "alphago-policy-128", "convs": ["3x3x4"]})
    card = Card(
        name="small", family=config.family, config=config.model_dump(mode="json"), plane_set=config.plane_set,
        board_sizes=[19],
    )  # fmt: skip
    export(build(config, 48, 1), 48, 1, tmp_path / "small.onnx", card.metadata())
    for words in (("match", "policy:small.onnx", "random", "--games", "2"), ("nets", "small.onnx", "--raw", "")):
        assert main([*words, "--size", "9"]) == 2
        error = capsys.readouterr().err
        assert error.endswith("small takes 19x19 boards alone, not 9x9\n") and error.count("\n") == 1
