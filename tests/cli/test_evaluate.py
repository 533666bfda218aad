"""`tengen evaluate`: figures of networks on game stores, and games that a network has learned from."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import katago_twin
import numpy as np
import pyarrow as pa
import pytest
from training.small_run import GAMES, SIZE, random_record

from tengen.checksums import content_digest
from tengen.cli import evaluate
from tengen.cli.app import main
from tengen.data.format import MANIFEST, ROWS, games_digest, rows_to_batch
from tengen.data.planes import plane_set
from tengen.data.record import GameRecord, pack_moves
from tengen.data.sampler import OnePerGame
from tengen.data.store import Store, StoreWriter
from tengen.evaluators import installed_networks, load_evaluator
from tengen.evaluators.evaluation import InputBatch
from tengen.evaluators.network_file import Card, read_card
from tengen.evaluators.symmetric import infer_under
from tengen.training import held_out
from tengen.training.held_out import Draw, EvaluationGames
from tengen.training.metrics import PredictionResults

ROOT = Path(__file__).parents[2]


def test_evaluate_takes_one_position_a_game(mine: str, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = []
    for _ in range(2):
        assert main(["evaluate", "mine", str(store), "--json"]) == 0
        figures.append(json.loads(capsys.readouterr().out))
    assert figures[0] == figures[1]
    assert figures[0]["positions"] == GAMES
    assert figures[0]["top1"]["low"] <= figures[0]["top1"]["mean"] <= figures[0]["top1"]["high"]
    assert set(figures[0]["phases"]) == {"0-49"} and figures[0]["phases"]["0-49"]["positions"] == GAMES
    for row in figures[0]["calibration"]:
        assert 0 <= row["low"] <= row["won"] <= row["high"] <= 1
    assert sum(row["positions"] for row in figures[0]["calibration"]) == GAMES
    assert main(["evaluate", "mine", str(store)]) == 0
    printed = capsys.readouterr()
    assert "by phase of the game" in printed.out and "new to it" not in printed.err


def test_evaluate_takes_a_file_of_katago(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the network that it is converted to."""
    network, figures = katago_twin.written(tmp_path / "tiny.txt", metadata=False), []
    for path in (network, installed_networks.find_network(network)):
        assert main(["evaluate", str(path), str(store), "--json"]) == 0
        figures.append(json.loads(capsys.readouterr().out))
    assert figures[0]["positions"] == GAMES and figures[0]["cross_entropy"] == figures[1]["cross_entropy"]


def test_evaluate_shows_the_agreement_with_labels(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = str(tmp_path / "labels")
    assert main(["label", str(store), "--teacher", "zero-7x7", "--per-game", "2", "--out", labels, "--quiet"]) == 0
    capsys.readouterr()
    assert main(["evaluate", "zero-7x7", labels, "--json", "--positions", "50"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["positions"] == 50 and found["same_move"]["mean"] == 1
    assert all(found[key]["mean"] < 2e-3 for key in ("divergence", "teacher_value_mse", "teacher_score_error"))
    assert main(["evaluate", "zero-7x7", labels]) == 0
    assert f"agreement with the labels: {GAMES} positions" in capsys.readouterr().out


def test_evaluate_leaves_out_what_labels_do_not_say(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The results of the games are known, but they are none of the teacher's."""
    visits = np.array([1 << 16 | 3], np.uint32)
    with StoreWriter(tmp_path / "labels") as writer:
        for record in Store.open(store):
            writer.add(replace(record, winner=0, score=3.5, visits=(visits,) * len(record.moves)))
    assert main(["evaluate", "zero-7x7", str(tmp_path / "labels")]) == 0
    printed = capsys.readouterr().out
    assert f"agreement with the labels: {GAMES} positions" in printed and "the teacher's best move" in printed
    assert "difference from its" not in printed and "unknown" not in printed and "nan" not in printed
    assert main(["evaluate", "zero-7x7", str(tmp_path / "labels"), "--json"]) == 0
    assert not {"teacher_value_mse", "teacher_score_error"} & set(json.loads(capsys.readouterr().out))


def test_evaluate_says_which_boards_a_network_never_learned(
    mine: str, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with StoreWriter(tmp_path / "mixed") as writer:
        writer.add(next(iter(Store.open(store))))
        writer.add(GameRecord(9, pack_moves([0, 1], [40, 41]), hash=2))
    assert main(["evaluate", "mine", str(tmp_path / "mixed"), "--json"]) == 0
    boards, learned = capsys.readouterr().err.splitlines()
    assert boards == "mine learned 7x7: 1 of the store's 2 games are 9x9, new to it"
    assert learned.startswith(
        f"warning: it learned from about 50% of the games of {tmp_path / 'mixed'}, and holds none out:"
    )


def test_evaluate_takes_the_default_network_of_the_board(
    trained: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its own card, which tells what it learned, and under its own name."""
    for path in (trained / "nets" / "mine.onnx", installed_networks.SHIPPED / "zero-7x7.onnx"):
        shutil.copy(path, tmp_path)
    (tmp_path / "default").write_text("zero-7x7\n7 mine\n", encoding="utf-8")
    monkeypatch.setattr(installed_networks, "SHIPPED", tmp_path)
    monkeypatch.setattr(installed_networks, "DEFAULT_NAME", tmp_path / "default")
    assert main(["evaluate", "default", str(store), "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["network"] == "mine" and "warning: it learned from the games of" in printed.err
    with StoreWriter(tmp_path / "mixed") as writer:
        writer.add(next(iter(Store.open(store))))
        writer.add(GameRecord(5, pack_moves([0, 1], [12, 13]), hash=2))
    assert main(["evaluate", "default", str(tmp_path / "mixed"), "--json"]) == 0
    assert "default plays 5x5 with other networks: mine is evaluated on all boards" in capsys.readouterr().err


def test_evaluate_says_which_positions_it_drew(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The figures of two networks compare only where these entries are the same."""
    monkeypatch.setattr(held_out, "DEFAULT_FRACTION", 0.25)
    found = {}
    for split in ("auto", "validation"):
        command = ["evaluate", "uniform", str(store), "--split", split, "--seed", "3"]
        assert main([*command, "--json"]) == 0
        found[split] = json.loads(capsys.readouterr().out)
        assert main(command) == 0
        found[split]["title"] = capsys.readouterr().out.splitlines()[0].strip()
    whole, part = found["auto"], found["validation"]
    assert whole["store"] == part["store"] == {"path": str(store), "sha256": games_digest(Store.open(store).manifest)}
    assert (whole["split"], whole["validation_fraction"], whole["seed"]) == ("all", None, 3)
    assert (part["split"], part["validation_fraction"], part["seed"]) == ("validation", 0.25, 3)
    assert not whole["all_positions"] and 0 < part["positions"] < whole["positions"] == GAMES
    assert whole["title"] == f"uniform: {GAMES} positions, all games"
    assert part["title"] == f"uniform: {part['positions']} positions, validation split (25%)"


def test_evaluate_takes_the_games_on_one_board(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a network that takes 7x7 alone: a store with other boards too is refused, with the option that helps."""
    pytest.importorskip("torch", reason="networks need the extra [train]")
    from tengen.networks import build, parse_config
    from tengen.networks.export import export

    store, path = str(tmp_path / "mixed"), tmp_path / "seven.onnx"
    with StoreWriter(Path(store)) as writer:
        for seed in range(12):
            record = random_record(seed, size=5 + 2 * (seed % 2))
            visits = (np.array([1 << 16 | 3], np.uint32),) * len(record.moves)
            writer.add(replace(record, visits=visits))
    fields = {"family": "plain", "convs": ["3x3x4"], "board_size": 7,
              "policy": {"kind": "conv", "bias": "point"}}  # fmt: skip
    planes = plane_set("tengen")
    sizes = len(planes.planes), len(planes.scalars)
    card = Card(name="seven", family="plain", config=fields, plane_set="tengen", board_sizes=[7])
    export(build(parse_config(fields), *sizes), *sizes, path, card.metadata())
    assert main(["evaluate", str(path), store]) == 2
    assert "takes 7x7 boards alone, not 5x5: choose games on one of the store's boards with --size" in (
        capsys.readouterr().err
    )
    assert main(["evaluate", str(path), store, "--size", "7", "--json"]) == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert (found["positions"], found["size"], printed.err) == (6, 7, "") and "divergence" in found
    assert main(["evaluate", "uniform", store, "--size", "5"]) == 0
    assert "uniform: 6 positions, all games on 5x5" in capsys.readouterr().out
    assert main(["evaluate", "linear", store, "--size", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["positions"] == 6
    assert main(["evaluate", "uniform", store, "--size", "9"]) == 2
    assert "holds no games on 9x9: give one of 5x5, 7x7" in capsys.readouterr().err


def test_an_interval_without_ends_is_valid_json(mine: str, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON")

    assert main(["evaluate", "mine", str(store), "--positions", "1", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert figures["cross_entropy"]["low"] is figures["cross_entropy"]["high"] is None


def test_few_positions_give_no_interval_that_cannot_be(
    mine: str, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "mine", str(store), "--positions", "1"]) == 0
    printed = capsys.readouterr().out
    assert "unknown" in printed and "inf" not in printed
    results = PredictionResults(
        *(np.array(column, float) for column in ([0] * 3, [1] * 3, [1] * 3, [0] * 3, [0, 0, 1], [5] * 3)),
        np.arange(3),
    )
    assert results.estimates()["value_mse"].low < 0
    evaluate._print("mine", EvaluationGames(Store.open(store), Draw(), "all", 0.1), results, {})
    assert "0.000 to " in capsys.readouterr().out
    assert evaluate._as_json("mine", {}, results, {})["value_mse"]["low"] == 0  # type: ignore[index]


def test_a_network_without_a_policy_has_no_figures_of_moves(
    trained: Path, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its file gives all moves the same probability: a top-1 of 1/50 was shown."""
    relabel = pytest.importorskip("tengen.networks.export").relabel
    network = trained / "nets" / "mine.onnx"
    card = read_card(network)
    relabel(network, tmp_path / "value.onnx", card.model_copy(update={"config": {"policy": None}}).metadata())
    assert main(["evaluate", str(tmp_path / "value.onnx"), str(store), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert not {"top1", "top5", "cross_entropy"} & {*figures, *figures["phases"]["0-49"]} and "value_mse" in figures
    assert main(["evaluate", str(tmp_path / "value.onnx"), str(store)]) == 0
    assert re.search(r"top-1 .*unknown", capsys.readouterr().out)


def test_evaluate_gives_the_figures_of_the_card(mine: str, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nets", "mine", "--json"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert main(["evaluate", "mine", str(store), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["cross_entropy"]["mean"] == pytest.approx(card["metrics"]["cross_entropy"], abs=0.01)


def test_the_mean_of_the_symmetries(mine: str, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "mine", str(store), "--average-symmetries", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    network = load_evaluator("mine").on(SIZE)
    positions = OnePerGame(Store.open(store), "all", network.plane_set, GAMES, symmetries=False)
    batch = positions.encode(positions.rows(0))
    inputs = InputBatch(network.plane_set, batch.planes, batch.scalars, batch.mask)
    seen = [infer_under(network, inputs, np.full(GAMES, symmetry)).policy for symmetry in range(8)]
    played = np.mean(seen, axis=0)[np.arange(GAMES), batch.policy]
    assert figures["average_symmetries"]
    assert figures["cross_entropy"]["mean"] == pytest.approx(-np.log(played).mean(), rel=1e-4)


def test_the_uniform_policy_is_chance(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "uniform", str(store), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["top1"]["mean"] == pytest.approx(1 / 50, rel=1e-3)
    assert figures["top5"]["mean"] == pytest.approx(5 / 50, rel=1e-3)


def test_a_split_without_games_is_told_what_this_command_can_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with StoreWriter(tmp_path / "store") as writer:
        writer.add_batch(rows_to_batch([random_record(0)]))
    assert main(["evaluate", "uniform", str(tmp_path / "store"), "--split", "validation"]) == 2
    message = capsys.readouterr().err
    assert "none of its games (1) is among the 2% that are held out: take all games with --split all" in message


def test_a_missing_store_is_one_line(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "uniform", str(store / "nowhere")]) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: ") and "nowhere" in message and message.count("\n") == 1


@pytest.mark.parametrize(
    ("verb", "column", "value", "message"),
    [
        ("stats", "winner", pa.array([9], pa.int8()), "holds a value that Tengen does not write (KeyError: 9)"),
        ("stats", "date", pa.array([2**31 - 1], pa.int32()).cast(pa.date32()), "does not write (OverflowError: "),
        ("stats", "bytes", None, "does not write (KeyError: 'bytes')"),
        ("stats", "black_rank", pa.array(["zz"]), ""),
        ("evaluate uniform", "rules", pa.array(["zz"]), "unknown rules 'zz'"),
        ("evaluate uniform", "visits", pa.array([[[5]]], ROWS.field("visits").type), "row 0 has 1 lists for 24 moves"),
        ("evaluate uniform", "games", None, "holds no games"),
    ],
)
def test_a_store_with_values_that_cannot_be_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str, column: str, value: pa.Array | None, message: str
) -> None:
    """Another program wrote it, with checksums that are right."""
    batch = rows_to_batch([random_record(0)] * (column != "games"))
    arrays = [batch.column(name) if name != column else value for name in batch.schema.names]
    with StoreWriter(tmp_path / "store") as writer:
        writer.add_batch(pa.RecordBatch.from_arrays(arrays, schema=ROWS))
    if column == "bytes":
        manifest = json.loads((tmp_path / "store" / MANIFEST).read_text())
        del manifest["shards"][0]["bytes"], manifest["sha256"]
        manifest["sha256"] = content_digest(manifest)
        (tmp_path / "store" / MANIFEST).write_text(json.dumps(manifest))
    status = main([*verb.split(), str(tmp_path / "store")])
    error = capsys.readouterr().err
    assert (status, error.count("\n"), message in error) == ((2, 1, True) if message else (0, 0, True))


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (["train", "tiny"], 2, "error: making and training networks needs the extra [train]: pip install"),
        (["evaluate", "uniform", "STORE", "--json"], 0, ""),
    ],
)
def test_without_the_extra(store: Path, args: list[str], status: int, message: str) -> None:
    program = (
        "import sys; sys.modules.update(torch=None, lightning=None, onnx=None)\n"
        "from tengen.cli.app import main; sys.exit(main(sys.argv[1:]))"
    )
    words = [str(store) if word == "STORE" else word for word in args]
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True,
        text=True,
        timeout=100,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin"},
    )
    assert (done.returncode, done.stderr[: len(message)]) == (status, message)
