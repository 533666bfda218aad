"""Whole runs, small ones: from the rules to a network file, stopped, killed and gone on with."""

from __future__ import annotations

import errno
import itertools
import json
import os
import random
import re
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from multiprocessing.context import ForkServerContext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from killing import kill_at
from unrendered import skip_rendering

from tengen.cli.app import main
from tengen.data import store as store_module
from tengen.data.planes import plane_set
from tengen.data.store import Store
from tengen.errors import RecipeError, TengenError, TrainingDiverged
from tengen.evaluators.load import load_evaluator
from tengen.evaluators.network_file import compute_the_same, read_card
from tengen.game import Game
from tengen.match.folder import read_folder
from tengen.networks.load import load_module
from tengen.recipes import load_recipe
from tengen.runs.events import read_events
from tengen.runs.interruption import ShutdownFlag
from tengen.selfplay import helper, learn, loop, transport
from tengen.selfplay.anchors import early_numbers
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.events import hours_of
from tengen.selfplay.folder import SelfPlayFolder, code_version
from tengen.selfplay.loop import SelfPlayRun, kept_networks
from tengen.selfplay.network_checks import draw_probe, prediction_figures
from tengen.selfplay.progress import Observer
from tengen.selfplay.rating_book import RatingBook, RatingEvent
from tengen.selfplay.transport import FolderGames
from tengen.training.trainer import Callback, Trainer

pytestmark = pytest.mark.usefixtures("unrendered")  # but the runs of whole modules, whose reports are looked at

RECIPE = """
kind: selfplay
cycles: 3
games_per_cycle: 24
games_at_once: 8
workers: 2
device: onnxruntime  # opens a network in a tenth of the time
network: {family: residual, size: b1c8, reply: true, soft: true}
game:
  sizes: {5: 2, 6: 1}
  komi: {start: 5, deviation: 2}
search:
  visits: 6
  cheap_visits: 2
  cheap_share: 0.4
  full: {noise_weight: 0.25}
opening: {moves_mean: 1, high_surprise: 0.2}
resign: {after: 1, played_out: 0.5}
learn:
  batch_size: 32
  reuse: 2
  window: {min_positions: 200}
  ema: 0.9
  threads: 1
  losses: {policy: 1, value: 1, reply: 0.15, soft: 1}
gate: {games: 8, score: 0.4}
rating: {every: 2, games: 4, anchors: [random, early]}
"""


SMALL = (
    "cycles=2",
    "games_per_cycle=8",
    "game.sizes={5: 1}",
    "gate=null",
    "learn.batch_size=8",
    "rating={games: 2, anchors: [random]}",
)
"""Changes that make the run shorter still: two cycles, rated once at the end."""
OVERLAP = ("overlap=true",)


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recipe") / "micro.yaml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def unbroken(recipe: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("unbroken") / "run"

    class Counted(store_module.Shard):
        def __init__(self, path: Path, *args: Any) -> None:
            with (out.parent / "opened").open("a") as file:
                file.write(f"{path.name}\n")
            super().__init__(path, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(out.parent / "cache"))
        patch.setattr(store_module, "Shard", Counted)
        run(recipe, out)
    return out


@pytest.mark.slow
def test_a_cycle_opens_its_own_shard_alone(unbroken: Path) -> None:
    """The report opens the store for itself, which takes at most 2% of a run's time."""
    opened = Counter((unbroken.parent / "opened").read_text().split())
    reports = 2  # at the end of the first cycle and of the run
    assert opened == {f"shard-{cycle:05d}.arrow": 1 + (1 if cycle else reports) for cycle in range(3)}


@pytest.fixture(scope="module")
def small(recipe: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the settings SMALL."""
    out = tmp_path_factory.mktemp("small") / "run"
    run(recipe, out, *SMALL)
    return out


def run(recipe: Path, out: Path, *settings: str) -> Path:
    config = load_recipe(str(recipe), settings, model=SelfPlayConfig)
    with ShutdownFlag() as stop:
        return SelfPlayRun(config, out, Observer(), stop).go()


def what_was_made(out: Path) -> dict[str, Any]:
    """Everything that a run is: its games and the learner's last state."""
    store = Store.open(out / "games")
    (_, checkpoint) = SelfPlayFolder(out).saved_checkpoints()[-1]
    saved = torch.load(checkpoint, map_location="cpu", weights_only=True)
    return {
        "games": [
            (g.source, g.size, g.komi, g.score, g.winner, g.moves.tolist(), [v.tolist() for v in g.visits or ()])
            for g in store
        ],
        "weights": {name: value.numpy() for name, value in saved["network"].items()},
        "step": saved["step"],
        "cycles": [
            {k: v for k, v in e.items() if k in ("cycle", "fair_komi", "losses", "window_positions", "resign_winrate")}
            for e in events_of(out)
        ],
    }


def events_of(out: Path) -> list[dict[str, Any]]:
    """The cycles of a run's log."""
    return [entry for entry in read_events(out) if entry["event"] == "cycle"]


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found["games"] == expected["games"]
    assert found["step"] == expected["step"]
    assert found["cycles"] == expected["cycles"]
    for name, value in expected["weights"].items():
        np.testing.assert_array_equal(found["weights"][name], value, err_msg=name)


def test_a_run_ends_with_a_network_and_all_its_games(unbroken: Path) -> None:
    assert len(Store.open(unbroken / "games")) == 3 * 24
    card = read_card(unbroken / "nets" / "micro.onnx")
    assert card.board_sizes == [5, 6] and card.games == 72
    assert card.data == "72 games of its own, from nothing but the rules"
    assert re.fullmatch(r"1 CPU thread, \w+; \d+ CPU cores? plays?", card.hardware)
    assert 0 < card.hours == pytest.approx(hours_of(events_of(unbroken)), rel=0.005)  # of playing and learning
    assert not list((unbroken / "pending").glob("*"))
    assert [event["cycle"] for event in events_of(unbroken)] == [0, 1, 2]
    assert {(event["played_here"], event["played_before"]) for event in events_of(unbroken)} == {(24, 0)}
    assert {event["code"] for event in events_of(unbroken)} == {code_version()}
    assert (unbroken / "report.html").stat().st_size > 10_000
    assert (unbroken / "ratings.json").exists()


def test_the_network_plays_under_all_rules_as_under_those_of_the_run(unbroken: Path) -> None:
    network = load_evaluator(unbroken / "nets" / "micro.onnx")
    found = {}
    for rules, komi in (("tromp-taylor", 7.0), ("chinese", 7.0), ("aga", 7.0), ("japanese", 7.0), ("chinese", 3.0)):
        found[rules, komi] = network.evaluate([Game(5, rules, komi)]).policy.tobytes()
    assert len({found[rules, 7.0] for rules, komi in found if komi == 7.0}) == 1
    assert found["chinese", 3.0] != found["chinese", 7.0]


@pytest.mark.slow
def test_a_network_of_one_size_reads_no_width_elsewhere(
    unbroken: Path, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On one size the width never changed: its weights are random. A run of two sizes has learned it."""
    modules = [load_module(out / "nets" / "micro.onnx").eval() for out in (small, unbroken)]
    inputs = (
        torch.rand(1, len(plane_set("tengen").planes), 9, 9),
        torch.zeros(1, len(plane_set("tengen").scalars)),
        torch.ones(1, 9, 9),
    )
    before = [module(*inputs).policy for module in modules]
    monkeypatch.setattr("tengen.networks.blocks.width_factor", torch.zeros_like)
    same = [torch.equal(module(*inputs).policy, was) for module, was in zip(modules, before, strict=True)]
    assert same == [True, False]


def test_what_the_recipe_says_of_the_network_may_change_afterwards(
    recipe: Path, unbroken: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again"
    shutil.copytree(unbroken, again)
    path = run(recipe, again, "card.search={c_puct: 0.7}", "card.data=games of its own")
    card, before = read_card(path), read_card(unbroken / "nets" / "micro.onnx")
    assert (card.search, card.data) == ({"c_puct": 0.7}, "games of its own")
    assert (
        card.reproduce == "tengen zero micro.yaml --set 'card.search={c_puct: 0.7}' --set 'card.data=games of its own'"
    )
    same = {name: getattr(before, name) for name in ("search", "data", "reproduce", "provenance")}
    assert card.model_copy(update=same) == before


def test_networks_of_a_run_leave_nothing_in_the_cache_of_the_user(unbroken: Path) -> None:
    """Games, figures, gate and ratings made them by the dozen, each to be asked for some minutes."""
    assert not [path for path in (unbroken.parent / "cache").rglob("*") if path.is_file()]


def test_the_games_are_what_the_recipe_asks_for(unbroken: Path) -> None:
    games = list(Store.open(unbroken / "games"))
    assert {game.size for game in games} == {5, 6}
    assert len({game.komi for game in games}) > 5
    searched = [v for game in games for v in game.visits or ()]
    recorded = [v for v in searched if len(v)]
    assert 0.4 < len(recorded) / len(searched) < 0.75  # a share of 0.4 is searched cheaply, openings not at all
    assert all((v >> 16).sum() <= 6 for v in recorded)
    for game in games:
        game.game()  # legal to the last move
        assert len(game.moves) <= 2 * game.size**2
        assert (game.score is None) == (game.ending in ("resign", "void"))


def test_a_finished_run_is_left_as_it_is(unbroken: Path, recipe: Path) -> None:
    before = what_was_made(unbroken)
    run(recipe, unbroken)
    assert_same(what_was_made(unbroken), before)


@pytest.fixture(scope="module")
def overlapped(recipe: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that learns while it plays."""
    out = tmp_path_factory.mktemp("overlapped") / "run"
    with pytest.MonkeyPatch.context() as patch:
        skip_rendering(patch)
        run(recipe, out, *OVERLAP)
    return out


@pytest.mark.slow
def test_learning_beside_the_games_plays_all_games_one_network_late(overlapped: Path) -> None:
    """That two such runs are the same, the run shows that is killed again and again."""
    found = what_was_made(overlapped)
    assert len(found["games"]) == 3 * 24 and len(found["cycles"]) == 3
    assert_seen_is_what_was_learned(overlapped)


def assert_seen_is_what_was_learned(out: Path) -> None:
    """Beside the games of cycle 2 plays network 1, which has learned from cycle 0 alone."""
    seen = [event["seen"] for event in events_of(out)]
    assert seen[0]["policy"] is None and seen[1]["policy"] is None
    network = load_evaluator(SelfPlayFolder(out).network(1))
    assert seen[2] == pytest.approx(
        prediction_figures(network, draw_probe(network, Store.open(out / "games"), 0, 24, seed=2)), abs=1e-3
    )


@pytest.mark.slow
def test_the_number_of_workers_and_games_in_flight_change_nothing(unbroken: Path, recipe: Path, tmp_path: Path) -> None:
    run(recipe, tmp_path / "run", "workers=1", "games_at_once=5")
    assert_same(what_was_made(tmp_path / "run"), what_was_made(unbroken))


def _go(recipe: Path, out: Path, settings: tuple[str, ...], death: int) -> None:
    """In a process of its own, which dies at this change of a file of the run; 0: never."""
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        skip_rendering(patch)
        patch.setattr(transport, "_FLUSH_SECONDS", 0)  # games are kept one by one, and some of a cycle are there
        if death:
            kill_at(out, number=death)
        run(recipe, out, *settings)


@pytest.mark.timeout(600)
@pytest.mark.slow
@pytest.mark.parametrize("overlap", [False, True])
def test_killed_again_and_again_it_ends_as_the_unbroken_run(
    overlap: bool, recipe: Path, tmp_path: Path, forks: ForkServerContext, request: pytest.FixtureRequest
) -> None:
    expected = request.getfixturevalue("overlapped" if overlap else "unbroken")
    out = tmp_path / "run"
    moments = random.Random(os.environ.get("TENGEN_KILL_SEED", "1"))
    kept = 0
    # The run changes its files some 300 times, so that three deaths leave it unfinished.
    for death in [*(moments.randrange(1, 80) for _ in range(3)), 0]:
        process = forks.Process(target=_go, args=(recipe, out, OVERLAP if overlap else (), death))
        process.start()
        process.join()
        assert process.exitcode == (-signal.SIGKILL if death else 0)
        games = len(Store.open(out / "games")) if (out / "games" / "manifest.json").exists() else 0
        assert games >= kept
        kept = games
    assert_same(what_was_made(out), what_was_made(expected))


class StopsWhileLearning(Callback):
    """Sends its process a SIGTERM after the third step, and notes how many steps were taken."""

    def __init__(self, steps: Path) -> None:
        self._steps = steps

    def on_step(self, trainer: Trainer[Any]) -> None:
        self._steps.write_text(str(trainer.step))
        if trainer.step == 3:
            os.kill(os.getpid(), signal.SIGTERM)


def _command(recipe: Path, out: Path, words: tuple[str, ...], stopped: str = "") -> None:
    """`tengen zero` in a process of its own, which may get a SIGTERM when it claims its first games, or while it
    learns."""
    torch.set_num_threads(1)
    if stopped == "playing":
        kill_at(out, "pending/*/block-*", signum=signal.SIGTERM)
    with pytest.MonkeyPatch.context() as patch:
        skip_rendering(patch)
        if stopped == "learning":
            patch.setattr(learn, "make_callbacks", lambda _: [StopsWhileLearning(out.with_suffix(".steps"))])
        patch.setattr(transport, "BLOCK", 4)  # so that two processes share a cycle
        sys.exit(main(["zero", str(recipe), "--out", str(out), "--quiet", *words]))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("moment", ["playing", "learning"])
def test_sigterm_stops_cleanly_and_the_run_goes_on(
    moment: str, small: Path, recipe: Path, tmp_path: Path, forks: ForkServerContext
) -> None:
    settings = tuple(word for setting in SMALL for word in ("--set", setting))
    process = forks.Process(target=_command, args=(recipe, tmp_path / "run", settings, moment))
    process.start()
    process.join()
    assert process.exitcode == 143 and not events_of(tmp_path / "run")
    if moment == "learning":
        taken, wanted = (tmp_path / "run.steps").read_text(), events_of(small)[0]["steps"]
        assert taken == "4" and wanted > 4, "the step that follows the signal is the last"
        assert not SelfPlayFolder(tmp_path / "run").saved_checkpoints()
    run(recipe, tmp_path / "run", *SMALL)
    assert_same(what_was_made(tmp_path / "run"), what_was_made(small))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_second_process_helps_and_changes_nothing(
    unbroken: Path, recipe: Path, tmp_path: Path, forks: ForkServerContext
) -> None:
    lead, helper = (
        forks.Process(target=_command, args=(recipe, tmp_path / "run", words)) for words in ((), ("--role", "generate"))
    )
    lead.start()
    while lead.is_alive() and not (tmp_path / "run" / "recipe.yaml").exists():
        time.sleep(0.05)
    helper.start()
    lead.join()
    helper.join()
    assert (lead.exitcode, helper.exitcode) == (0, 0)
    assert_same(what_was_made(tmp_path / "run"), what_was_made(unbroken))


@pytest.mark.slow
def test_a_run_through_both_doors(unbroken: Path, recipe: Path, tmp_path: Path) -> None:
    """It begins with a trained network, and records are mixed into what it learns from."""
    network = shutil.copyfile(unbroken / "nets" / "micro.onnx", tmp_path / "start.onnx")
    records = f"learn.records={{store: {unbroken / 'games'}, share: 0.5, until: 2}}"
    words = f"start={network}", records, "device=auto", SMALL[0], "gate=null", "rating.games=2"
    run(recipe, tmp_path / "run", *words, "cycles=1")
    network = network.rename(tmp_path / "elsewhere.onnx")
    run(recipe, tmp_path / "run", *words)  # goes on without the file of its start
    first, last = (load_evaluator(tmp_path / "run" / "nets" / f"cycle-0000{cycle}.onnx") for cycle in (0, 2))
    game = Game(5, "tromp-taylor", 5.0).play("C3")
    found = [evaluator.evaluate([game]).policy for evaluator in (load_evaluator(network), first, last)]
    np.testing.assert_allclose(found[1], found[0], atol=1e-4)
    assert np.abs(found[2] - found[1]).max() > 5e-4  # a few steps, most of them of the warm-up


@pytest.mark.slow
def test_what_another_process_rated_is_warned_of_in_every_cycle(recipe: Path, tmp_path: Path) -> None:
    """A helper holds the duty of rating and has found that the run only beats itself."""
    out = tmp_path / "run"
    out.mkdir()
    said = RatingEvent(
        number=1, games=8, hours=0, player="1", size=5, komi=5, only_beats_itself="it beats itself alone"
    )
    RatingBook(events=(said,)).write(out)
    with SelfPlayFolder(out).locked("rate"):
        run(recipe, out, *SMALL)
    kinds = [[warning["kind"] for warning in event["warnings"]] for event in events_of(out)]
    assert len(kinds) == 2 and all("only beats itself" in warnings for warnings in kinds)


def test_a_rating_counts_the_hours_of_its_own_cycle(unbroken: Path) -> None:
    """It stands after the games and the learning of the cycle that made its network, and before its own games."""
    seconds = [event["seconds"] for event in events_of(unbroken)]
    points = json.loads((unbroken / "ratings.json").read_text())["points"]
    assert [point["network"] for point in points] == [2, 3]
    for point in points:
        *before, own = seconds[: point["network"]]
        begun = sum(sum(parts.values()) for parts in before)
        assert begun + own["generate"] + own["learn"] <= 3600 * point["hours"] + 0.01
        assert 3600 * point["hours"] <= begun + sum(own.values()) - own["rate"] + 0.01


@pytest.mark.slow
@pytest.mark.parametrize("cycles", [2, 4])
def test_helpers_end_with_the_run_and_not_with_their_own_recipe(
    cycles: int, small: Path, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A helper of more cycles waited for ever, one of fewer left early; the run has two."""
    out, waits = tmp_path / "run", itertools.count(1)
    shutil.copytree(small, out)
    config = load_recipe(str(recipe), [*SMALL, f"cycles={cycles}"], model=SelfPlayConfig)
    if cycles == 2:  # the lead goes on to a third cycle, and then ends with these two
        longer = load_recipe(str(recipe), [*SMALL, "cycles=3"], model=SelfPlayConfig)
        SelfPlayFolder(out).prepare(longer)

    def sleep(_: float) -> None:
        assert cycles == 2 and next(waits) <= 2, "it waits"
        SelfPlayFolder(out).prepare(config)

    monkeypatch.setattr(helper, "time", SimpleNamespace(sleep=sleep))
    helper.help_generate(config, out, Observer(), ShutdownFlag())
    if cycles == 2:
        SelfPlayFolder(out).prepare(longer)
    helper.help_rate(config, out, Observer(), ShutdownFlag())
    assert next(waits) == (3 if cycles == 2 else 1)


def test_a_helper_rates_what_is_there_once_its_cycle_is_over(
    unbroken: Path, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another `rating.every` than before asks for networks that were tidied; the last cycle's event comes late."""
    out = tmp_path / "run"
    shutil.copytree(unbroken, out)
    (out / "ratings.json").unlink()
    (out / "report.html").unlink()
    for number in (1, 2):
        SelfPlayFolder(out).network(number).unlink()
    log = (out / "log.jsonl").read_text().splitlines(keepends=True)
    last = max(i for i, line in enumerate(log) if '"event": "cycle"' in line)
    (out / "log.jsonl").write_text("".join(log[:last]))
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        (out / "log.jsonl").write_text("".join(log))

    monkeypatch.setattr(helper, "time", SimpleNamespace(sleep=sleep))
    config = load_recipe(str(recipe), ["rating={every: 1, games: 2, anchors: [random]}"], model=SelfPlayConfig)
    with ShutdownFlag() as stop:
        helper.help_rate(config, out, Observer(), stop)
    (rated,) = RatingBook.read(out).events
    assert len(waits) == 1 and rated.number == 3
    assert (out / "report.html").exists(), "the lead wrote its last one before the rating"
    assert 3600 * rated.hours == pytest.approx(sum(sum(event["seconds"].values()) for event in events_of(out)))


@pytest.mark.slow
def test_a_network_that_diverges_never_plays(recipe: Path, tmp_path: Path) -> None:
    """The run stops before it is promoted, and goes on with another learning rate."""
    out = tmp_path / "run"
    with pytest.raises(TrainingDiverged, match=r"a lower --set learn\.optimizer\.lr"):
        run(recipe, out, *SMALL, "learn.optimizer.lr_rest=1e30")
    assert not events_of(out) and not SelfPlayFolder(out).saved_checkpoints()
    assert [number for number, _ in SelfPlayFolder(out).networks()] == [0]
    path = run(recipe, out, *SMALL)
    assert [event["played_before"] for event in events_of(out)] == [8, 0], "its games are kept"
    assert np.isfinite(load_evaluator(path).evaluate([Game(5)]).policy).all()


def test_a_gate_stops_when_it_is_told_to(recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was played to its end, however many games it has."""
    config = load_recipe(str(recipe), [*SMALL, "gate={games: 2, score: 0}"], model=SelfPlayConfig)
    whole, stop = loop.gate, ShutdownFlag()

    def stopped(*arguments: Any) -> Any:
        stop.set()
        return whole(*arguments)

    monkeypatch.setattr(loop, "gate", stopped)
    with pytest.raises(KeyboardInterrupt):
        SelfPlayRun(config, tmp_path / "run", Observer(), stop).go()
    assert not read_folder(tmp_path / "run" / "matches" / "gate-00001")[1]


@pytest.mark.slow
def test_a_network_that_the_gate_refused_has_learned_nothing(recipe: Path, tmp_path: Path) -> None:
    gate = "gate={games: 2, score: 1, confidence: 0.9999}"
    made = run(recipe, tmp_path / "run", *SMALL, "cycles=3", gate)
    events = events_of(tmp_path / "run")
    assert [event["gate"]["passed"] for event in events] == [False] * 3
    assert [event["seen"]["policy"] for event in events] == [None] * 3, "the first network plays, which knows no game"
    assert read_card(made).name == "micro"


@pytest.mark.slow
@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04"])
def test_damaged_files_do_not_end_a_run(recipe: Path, small: Path, tmp_path: Path, damage: bytes) -> None:
    """In its second cycle, which is learned but not over, the log of the first one is no JSON any more, and the
    checkpoint between the two is damaged."""
    out, folder = tmp_path / "run", SelfPlayFolder(tmp_path / "run")
    shutil.copytree(small, out)
    lines = (out / "log.jsonl").read_text().splitlines()
    kept = [line[: len(line) // 2] if '"cycle": 0' in line else line for line in lines if '"cycle": 1' not in line]
    (out / "log.jsonl").write_text("\n".join(kept) + "\n")
    folder.network(2).unlink()
    folder.checkpoint(1).write_bytes(damage)
    path = run(recipe, out, *SMALL)
    found, expected = what_was_made(out), what_was_made(small)
    assert_same({**found, "cycles": found["cycles"][1:]}, {**expected, "cycles": expected["cycles"][1:]})
    assert [event.get("lost", False) for event in events_of(out)] == [True, False]
    assert read_card(path).name == "micro" and (out / "log.jsonl.damaged").exists()


@pytest.mark.slow
@pytest.mark.parametrize("change", [[], ["learn.swa=2"], ["gate={games: 2, score: 0}"]], ids=["plain", "swa", "gate"])
def test_a_rating_that_was_killed_keeps_its_games(
    change: list[str], recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its network is learned again, and that takes other hours, which its card has."""
    out, rated, hours = tmp_path / "run", RatingBook.write, itertools.count(1)
    make_card = learn.make_card
    monkeypatch.setattr(learn, "make_card", lambda facts, **of: make_card(facts, **{**of, "hours": float(next(hours))}))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(RatingBook, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        run(recipe, out, *SMALL, *change)
    played = {path: path.stat().st_mtime_ns for path in out.glob("matches/*/games.jsonl")}
    assert len(played) == (3 if "gate" in str(change) else 1) and len(events_of(out)) == 1
    monkeypatch.setattr(RatingBook, "write", rated)
    run(recipe, out, *SMALL, *change)
    assert played == {path: path.stat().st_mtime_ns for path in out.glob("matches/*/games.jsonl")}


def test_a_checkpoint_of_an_earlier_version_is_refused_before_a_game_is_played(
    recipe: Path, small: Path, tmp_path: Path
) -> None:
    """One with other groups of weights. A run that has ended needs it no more."""
    out = tmp_path / "run"
    shutil.copytree(small, out)
    path = SelfPlayFolder(out).checkpoint(2)
    state = torch.load(path, weights_only=True)
    state["optimizer"]["param_groups"].pop()
    torch.save(state, path)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises(RecipeError, match=r"another version of Tengen; .* with start: .*cycle-00002\.onnx$"):
        run(recipe, out, *SMALL, "cycles=3")
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file() and path.name[0] != "."} == {
        path: content for path, content in before.items() if path.name[0] != "."
    }
    run(recipe, out, *SMALL)


@pytest.mark.parametrize("kept", [None, 0, 1000], ids=["missing", "empty", "cut short"])
def test_a_newest_network_that_is_damaged_is_learned_again(
    kept: int | None, recipe: Path, small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    shutil.copytree(small, out)
    network = SelfPlayFolder(out).network(2)
    content = network.read_bytes()
    network.unlink() if kept is None else network.write_bytes(content[:kept])
    run(recipe, out, *SMALL)
    assert network.read_bytes() == content
    assert_same(what_was_made(out), what_was_made(small))
    assert [event.get("lost", False) for event in events_of(out)] == [False, False]


@pytest.mark.slow
def test_a_run_that_is_stopped_in_its_first_rating_goes_on_with_it(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network of the cycle is there, its event is not."""

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    settings = (*SMALL, "cycles=1")
    with monkeypatch.context() as moment, pytest.raises(KeyboardInterrupt):
        moment.setattr(loop, "rate_network", stopped)
        run(recipe, tmp_path / "run", *settings)
    assert SelfPlayFolder(tmp_path / "run").network(1).exists()
    run(recipe, tmp_path / "run", *settings)
    assert [event.get("lost", False) for event in events_of(tmp_path / "run")] == [False]
    assert [event["step"] for event in read_events(tmp_path / "run", "rating")] == [1]


class OneWorker:
    """A cluster whose worker is this process."""

    def run(self, work: Any, items: Iterable[int], *_: object) -> Iterator[Any]:
        yield from work.do(iter(items), threading.Event())
        work.close()


def test_a_process_that_leads_a_cluster_needs_no_device_of_the_workers_and_no_memory_for_their_games(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load_recipe(str(recipe), SMALL, model=SelfPlayConfig)
    opened = []

    def load(path: Path, device: str, **options: Any) -> Any:
        opened.append(device)
        return load_evaluator(path, device, **options)  # type: ignore[arg-type]

    def refuse(*_: object) -> None:
        raise TengenError("it is not here")

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(loop, "load_evaluator", load)
    monkeypatch.setattr(loop, "check_device", refuse)
    monkeypatch.setattr("tengen.selfplay.check.available_memory", lambda: 1)
    monkeypatch.setattr(loop._Lead, "_promote", stopped)  # gate and rating are matches
    with ShutdownFlag() as stop, pytest.raises(KeyboardInterrupt):
        SelfPlayRun(config, tmp_path / "run", Observer(), stop, cast(Any, OneWorker())).go()
    assert len(Store.open(tmp_path / "run" / "games")) == 8 and set(opened) == {"cpu"}


@pytest.mark.slow
def test_the_last_network_is_the_mean_of_the_last_ones(
    recipe: Path, small: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Of the networks that the same run makes without."""
    plain = small / "nets" / "micro.onnx"
    mean = run(recipe, tmp_path / "mean", *SMALL, "learn.swa=2")
    before, last = (load_module(SelfPlayFolder(small).network(number)).state_dict() for number in (1, 2))
    found = load_module(mean).state_dict()
    assert any(not torch.equal(before[name], last[name]) for name in found)
    bias = [name for name in found if name.endswith("bias")]  # filters are kept at norm 1, with a gain
    assert bias
    for name in bias:
        torch.testing.assert_close(found[name], (before[name] + last[name]) / 2)
    assert read_card(mean).name == read_card(plain).name
    assert not [w for event in events_of(tmp_path / "mean") for w in event["warnings"] if "normalis" in str(w)]
    # More cycles were asked for and none was finished: it is the mean all the same.
    longer = load_recipe(str(recipe), [*SMALL, "learn.swa=2", "cycles=3"], model=SelfPlayConfig)
    SelfPlayFolder(tmp_path / "mean").prepare(longer)
    run(recipe, tmp_path / "mean", *SMALL, "learn.swa=2")
    assert not [message for message in caplog.messages if "learn.swa" in message]


@pytest.mark.slow
def test_a_run_that_ends_early_says_that_its_network_is_no_mean(
    recipe: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It kept the rating of the network as it was, or lost it, where the mean took its place."""
    out, folder = tmp_path / "run", SelfPlayFolder(tmp_path / "run")
    settings = [*SMALL, "learn.swa=2", "rating={every: 2, games: 2, anchors: [random]}"]
    config = load_recipe(str(recipe), [*settings, "cycles=9"], model=SelfPlayConfig)
    stop = ShutdownFlag()

    class StopsInThirdCycle(Observer):
        def cycle_done(self, event: Any) -> None:
            if event["cycle"] == 1:
                stop.set()

    def files() -> dict[Path, bytes]:
        kept = (*out.glob("nets/cycle-*"), *out.glob("pending/*/*"), *out.glob("matches/**/*"))
        return {path: path.read_bytes() for path in (*kept, out / "log.jsonl", folder.ratings) if path.is_file()}

    with pytest.raises(KeyboardInterrupt):
        SelfPlayRun(config, out, StopsInThirdCycle(), stop).go()
    page = folder.report.read_text()
    assert "stopped after 2 of 9 cycles" in page and "http-equiv" not in page
    assert folder.pending(2).exists() and [event.number for event in RatingBook.read(out).events] == [2]
    before = files()
    for _ in range(2):  # the second time it is over
        made = run(recipe, out, *settings)
        assert files() == before
    assert "The run is over: 2 cycles." in folder.report.read_text()
    assert compute_the_same(made, folder.network(2)) and read_card(made).name == "micro"
    (warning,) = (message for message in caplog.messages if "learn.swa" in message)
    assert "network 2, which is not the mean of the last 2 networks" in warning and "cycles = 3 ends with" in warning


def test_a_run_that_ends_early_is_rated(small: Path, recipe: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    shutil.copytree(small, out)
    (out / "ratings.json").unlink()
    run(recipe, out, *SMALL)
    assert [event.number for event in RatingBook.read(out).events] == [2]
    logged = read_events(out, "rating")
    run(recipe, out, *SMALL)
    assert read_events(out, "rating") == logged


def test_a_run_that_fails_says_in_its_report_that_it_stopped(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And raises its error, whether or not there is room for a report."""
    out = tmp_path / "run"

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(learn.Learner, "learn", full)
        run(recipe, out, *SMALL)
    assert "stopped after 0 of 2 cycles" in (out / "report.html").read_text()
    with monkeypatch.context() as patch, pytest.raises(TrainingDiverged):
        patch.setattr(loop, "write_report", full)
        run(recipe, out, *SMALL, "learn.optimizer.lr_rest=1e30")


def test_fewer_cycles_than_are_done_are_refused(unbroken: Path, recipe: Path) -> None:
    before = (unbroken / "recipe.yaml").read_bytes()
    with pytest.raises(RecipeError, match="has 3 cycles behind it, and cycles = 1 asks for fewer"):
        run(recipe, unbroken, "cycles=1")
    assert (unbroken / "recipe.yaml").read_bytes() == before


def test_pending_games_that_are_in_the_store_already_are_cleared(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(pending: FolderGames) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as moment, pytest.raises(KeyboardInterrupt):
        moment.setattr(FolderGames, "clear", killed)
        run(recipe, tmp_path / "run", *SMALL, "cycles=1")
    assert len(Store.open(tmp_path / "run" / "games")) == 8
    assert list((tmp_path / "run" / "pending").iterdir())
    run(recipe, tmp_path / "run", *SMALL, "cycles=1")
    assert len(Store.open(tmp_path / "run" / "games")) == 8
    assert not list((tmp_path / "run" / "pending").iterdir())
    (event,) = events_of(tmp_path / "run")
    assert (event["evaluations"], event["played_here"], event["played_before"]) == (0, 0, 8)


def test_early_networks_are_kept_for_the_ratings_to_come(recipe: Path, tmp_path: Path) -> None:
    """Two hundred cycles that are rated once, at the end: the last network then meets networks 1 and 64."""
    config = load_recipe(str(recipe), ["cycles=200", "rating.every=1000"], model=SelfPlayConfig)
    kept = kept_networks(config, SelfPlayFolder(tmp_path))
    assert set(early_numbers(200, range(201))) == {1, 64}
    assert kept == {1, 4, 16, 64, 200}
    for number in range(1, 201):
        assert set(early_numbers(number, range(number + 1))) <= kept
    nobody = load_recipe(str(recipe), ["cycles=200", "rating={every: 1000, anchors: [random]}"], model=SelfPlayConfig)
    assert kept_networks(nobody, SelfPlayFolder(tmp_path)) == {1, 200}


def test_records_of_larger_boards_are_refused(recipe: Path, unbroken: Path, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="holds 6x6 games, the largest board of the run is 5x5"):
        run(recipe, tmp_path / "run", "game.sizes={5: 1}", f"learn.records={{store: {unbroken / 'games'}}}")


@pytest.mark.parametrize(("name", "reason"), [("match.json", "a match"), ("recipe.yaml", "a run of kind supervised")])
def test_a_folder_of_something_else_stays_as_it_is(recipe: Path, tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / name).write_text("name: mine\n", encoding="utf-8")
    with pytest.raises(RecipeError, match=f"holds {reason}"):
        run(recipe, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_another_recipe_in_the_same_folder_is_refused(unbroken: Path, recipe: Path) -> None:
    with pytest.raises(RecipeError, match=r"search\.visits = 6, not 7"):
        run(recipe, unbroken, "search.visits=7")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("start=nonesuch", "^start: no network 'nonesuch'"),
        ("learn.records={store: nowhere}", "nowhere is no game store"),
        ("games_at_once=100000000", "are free: give games_at_once"),
        ("game.rules=nonsense", "unknown rules 'nonsense'"),
        ("game.rules=korean", "choose area rules"),
        ("search.full={policy_temperature: 1.3}", "settings that share a tree must agree"),
        ("search.visits=1", "give 2 or more"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_written(
    setting: str, words: str, recipe: Path, tmp_path: Path
) -> None:
    with pytest.raises(TengenError, match=words):
        run(recipe, tmp_path / "run", setting)
    assert not (tmp_path / "run" / "recipe.yaml").exists()
    assert not (tmp_path / "run" / "games").exists()
