"""Leela Zero's weights: read, run, written, and run by Leela Zero itself."""

from __future__ import annotations

import gzip
import random
import subprocess
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from other_programs import LEELA_ZERO, needs

from tengen.cli.app import main
from tengen.coords import to_gtp
from tengen.data.planes import encode_game
from tengen.errors import NetworkError
from tengen.evaluators import load_evaluator
from tengen.evaluators.export import EXPORT_SUFFIXES, export_network
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.network_file import read_card
from tengen.formats import leela_zero, network_format
from tengen.formats.leela_zero import read_leela_zero
from tengen.game import Game

FILTERS, BLOCKS = 8, 2


def write_random(path: Path, version: int = 1, planes: int = 18) -> Path:
    """A file of random weights, by the description of the format."""
    rng = np.random.default_rng(version + planes)

    def line(*shape: int, scale: float = 1.0, least: float | None = None) -> str:
        values = rng.normal(0, scale, 997)  # a few numbers are written faster
        words = [f"{x:.6g}" for x in (values if least is None else np.abs(values) + least)]
        return " ".join(words[i] for i in rng.integers(0, len(words), int(np.prod(shape))).tolist())

    def convolution(inputs: int, outputs: int, edge: int) -> list[str]:
        weights = line(outputs, inputs, edge, edge, scale=1 / np.sqrt(inputs * edge * edge))
        return [weights, *(line(outputs, scale=0.1) for _ in range(2)), line(outputs, least=0.5)]

    lines = [str(version), *convolution(planes, FILTERS, 3)]
    for _ in range(2 * BLOCKS):
        lines += convolution(FILTERS, FILTERS, 3)
    lines += [*convolution(FILTERS, 2, 1), line(362, 722, scale=0.1), line(362, scale=0.1)]
    lines += [*convolution(FILTERS, 1, 1), line(256, 361, scale=0.06), line(256, scale=0.1)]
    lines += [line(256, scale=0.1), line(1, scale=0.1)]
    text = "\n".join(lines) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_random(tmp_path_factory.mktemp("leela") / "random.txt.gz")


def position(seed: int) -> Game:
    rng = random.Random(seed)
    game = Game(19, "tromp-taylor", 7.5)
    for _ in range(rng.randrange(0, 120)):
        game.play(rng.choice(game.legal_points()))
    return game


def slow_forward(path: Path, planes: np.ndarray) -> tuple[np.ndarray, float]:
    """Logits and value by loops over the lines of the file; planes [18, 19, 19] with Leela Zero's row 0, the lowest."""
    rows = [np.array(line.split(), float) for line in gzip.decompress(path.read_bytes()).decode().splitlines()[1:]]

    def convolve(x: np.ndarray, edge: int) -> np.ndarray:
        weights, bias, mean, variance = (rows.pop(0) for _ in range(4))
        filters = weights.reshape(len(bias), len(x), edge, edge)
        padded = np.pad(x, ((0, 0), (edge // 2,) * 2, (edge // 2,) * 2))
        out = np.zeros((len(bias), 19, 19))
        for row in range(edge):
            for column in range(edge):
                part = padded[:, row : row + 19, column : column + 19]
                out += np.tensordot(filters[:, :, row, column], part, 1)
        return (out + (bias - mean)[:, None, None]) / np.sqrt(variance + 1e-5)[:, None, None]

    x = np.maximum(convolve(planes, 3), 0)
    for _ in range(BLOCKS):
        x = np.maximum(x + convolve(np.maximum(convolve(x, 3), 0), 3), 0)
    features = np.maximum(convolve(x, 1), 0).ravel()
    logits = rows.pop(0).reshape(362, 722) @ features + rows.pop(0)
    features = np.maximum(convolve(x, 1), 0).ravel()
    hidden = np.maximum(rows.pop(0).reshape(256, 361) @ features + rows.pop(0), 0)
    return logits, float(np.tanh(rows.pop(0) @ hidden + rows.pop(0))[0])


@pytest.mark.parametrize("version", [1, 2])
def test_runs_as_the_file_says(version: int, weights: Path, tmp_path: Path) -> None:
    path = weights if version == 1 else write_random(tmp_path / "net.txt.gz", version)
    evaluator = load_evaluator(path, precision="f32")
    for game in (position(1), position(2)):
        planes = encode_game("leela18", game)[0][:, ::-1]
        logits, value = slow_forward(path, planes)
        points = logits[:361].reshape(19, 19)[::-1].ravel()
        legal = [*game.legal_points(), 361]
        expected = np.exp(np.append(points, logits[361]))
        found = evaluator.evaluate([game])
        assert found.policy[0, legal] == pytest.approx(expected[legal] / expected[legal].sum(), abs=1e-5)
        # The value of version 2 is Black's.
        assert found.value[0] == pytest.approx(-value if version == 2 and game.to_play else value, abs=1e-5)


def test_written_as_read(weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    network = find_network(weights)
    assert read_card(network).family == "a0"
    again = read_leela_zero(export_network(network, "leela-zero", tmp_path / "again.txt"))
    first = read_leela_zero(weights)
    assert again.weights.keys() == first.weights.keys()
    for name, values in first.weights.items():
        assert (again.weights[name] == values).all(), name
    with pytest.raises(NetworkError, match="would be written over itself"):
        export_network(network, "leela-zero", network)
    before = weights.read_bytes()
    assert main(["nets", "export", str(weights), "--format", "leela-zero", "--out", str(weights)]) == 2
    assert "would be written over itself" in capsys.readouterr().err and weights.read_bytes() == before


def test_version_1_can_be_trained_further(weights: Path) -> None:
    torch = pytest.importorskip("torch")
    from tengen.networks.load import load_module

    network, game = find_network(weights), position(3)
    planes, scalars, mask = (torch.from_numpy(x[None]) for x in encode_game("leela18", game))
    with torch.no_grad():
        output = load_module(network)(planes, scalars, mask)
    evaluator = load_evaluator(network, precision="f32").on(19)
    found = evaluator.infer(evaluator.encoded([game]))
    assert output.policy.softmax(1).numpy() == pytest.approx(found.policy, abs=1e-5)
    assert output.value.numpy() == pytest.approx(found.value, abs=1e-5)


@pytest.mark.parametrize("name", ["best-network", "best.network.gz", "weights.bin.gz", "weights.txt"])
def test_weights_by_any_name(name: str, weights: Path, tmp_path: Path) -> None:
    """Leela Zero's own download is `best-network`, plain or compressed."""
    packed = weights.read_bytes()
    for content in (packed, gzip.decompress(packed)):
        (tmp_path / name).write_bytes(content)
        assert network_format(tmp_path / name) == "leela-zero"
        assert read_card(find_network(tmp_path / name)).plane_set == "leela18"


def test_a_file_of_nothing_known(tmp_path: Path) -> None:
    path = tmp_path / "net.gz"
    path.write_bytes(gzip.compress(b"something else"))
    with pytest.raises(NetworkError, match="no network of KataGo or Leela Zero"):
        find_network(path)


def test_seventeen_planes_get_one_of_zeros(tmp_path: Path) -> None:
    model = read_leela_zero(write_random(tmp_path / "net.txt", planes=17))
    assert model.weights["stem.0.weight"].shape == (FILTERS, 18, 3, 3)
    assert not model.weights["stem.0.weight"][:, 17].any()


def with_line(text: bytes, number: int, change: Callable[[bytes], bytes]) -> bytes:
    """The text with one line changed, counted from 1."""
    lines = text.split(b"\n")
    lines[number - 1] = change(lines[number - 1])
    return b"\n".join(lines)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: text[: len(text) // 2], "line"),
        (lambda text: text.replace(b".", b"x", 1), "expected decimal numbers"),
        (lambda text: b"1\n" + text, "lines"),
        (lambda text: b"2\nnan " + text.split(b" ", 1)[1], "infinite or no number"),
        (lambda text: with_line(text, 5, lambda line: b"-" + line), "line 5: a variance of stem.1.running_var is -"),
    ],
)
def test_damaged_files(weights: Path, tmp_path: Path, spoil: object, message: str) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(spoil(gzip.decompress(weights.read_bytes())))  # type: ignore[operator]
    with pytest.raises(NetworkError, match=message):
        read_leela_zero(bad)


def test_a_small_file_of_many_lines_is_refused_before_it_takes_memory(tmp_path: Path) -> None:
    path = tmp_path / "net.txt.gz"
    path.write_bytes(gzip.compress(b"1\n" * (1 << 20)))
    tracemalloc.start()
    with pytest.raises(NetworkError, match="more than 256 blocks"):
        read_leela_zero(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6 << 20


def test_too_many_weights_are_refused(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    total = sum(values.size for values in read_leela_zero(weights).weights.values())
    monkeypatch.setattr(leela_zero, "_MAX_WEIGHTS", total - 1)
    with pytest.raises(NetworkError, match="weights, which no network of Leela Zero has"):
        read_leela_zero(weights)


def test_a_name_that_leaves_the_working_folder(weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is that on the card, which anyone may have written."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    network = tmp_path / "net.onnx"
    for name in ("../net", "/tmp/net"):
        card = read_card(find_network(weights)).model_copy(update={"name": name})
        model = onnx.load(find_network(weights))
        onnx.helper.set_model_props(model, card.metadata())
        onnx.save(model, network)
        with pytest.raises(NetworkError, match="--out"):
            export_network(network, "leela-zero")
    assert list(tmp_path.rglob("*")) == [tmp_path / "here", network]


def test_only_what_the_format_can_express(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="cannot express this network: family is residual, not a0"):
        export_network(find_network("default"), "leela-zero", tmp_path / "net.txt")


@pytest.mark.parametrize("form", EXPORT_SUFFIXES)
@pytest.mark.parametrize(
    ("family", "config"), [("joined", {"policy": "one", "value": "other"}), ("katago", {"format": 15, "size": "b1c6"})]
)
def test_families_that_no_configuration_names_are_named(
    form: str, family: str, config: dict[str, Any], weights: Path, tmp_path: Path
) -> None:
    """Their cards have no family in the configuration, and a joined network has texts for its heads."""
    network = tmp_path / "net.onnx"
    card = read_card(find_network(weights)).model_copy(update={"family": family, "config": config})
    model = onnx.load(find_network(weights))
    onnx.helper.set_model_props(model, card.metadata())
    onnx.save(model, network)
    with pytest.raises(NetworkError, match=f"cannot express this network: family is {family}, not "):
        export_network(network, form, tmp_path / "out.bin")


def ask_leela_zero(weights: Path, games: list[Game]) -> list[tuple[np.ndarray, float]]:
    """Policy of all points and pass, and winrate of the side to move, in thousandths."""
    assert LEELA_ZERO
    commands = []
    for game in games:
        commands += ["clear_board", *(f"play {'bw'[color]} {to_gtp(p, 19)}" for color, p in game.moves), "heatmap"]
    talk = subprocess.run(
        [LEELA_ZERO, "--gtp", "--cpu-only", "--threads", "1", "--weights", str(weights), "--noponder"],
        input="\n".join([*commands, "quit\n"]), capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    found = []
    lines = talk.stderr.splitlines()
    for start, line in enumerate(lines):
        if line.startswith("pass:"):
            board = [list(map(int, row.split())) for row in lines[start - 19 : start]]
            policy = np.array([*np.array(board).ravel(), int(line.split()[1])]) / 1000
            found.append((policy, float(lines[start + 1].split()[1])))
    assert len(found) == len(games), talk.stderr[-2000:]
    return found


@needs("leela-zero")
def test_leela_zero_plays_the_exported_network(weights: Path, tmp_path: Path) -> None:
    exported = export_network(find_network(weights), "leela-zero", tmp_path / "net.txt")
    games = [position(seed) for seed in range(1000)]
    evaluator = load_evaluator(weights, precision="f32").on(19)
    ours = evaluator.infer(evaluator.encoded(games))
    for row, (policy, winrate) in enumerate(ask_leela_zero(exported, games)):
        # Leela Zero prints thousandths, cut off, and 0 at stones.
        empty = np.append(games[row].board.ravel() == 2, True)
        lost = (ours.policy[row] - policy)[empty]
        assert lost.min() > -1e-5 and lost.max() < 1.01e-3
        assert winrate == pytest.approx((ours.value[row] + 1) / 2, abs=1e-5)
