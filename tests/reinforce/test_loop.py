"""Runs of policy gradients and of action values: they learn, and go on after anything as if nothing had happened."""

import json
import signal
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import pytest
from killing import kill_at
from unrendered import skip_rendering

torch = pytest.importorskip("torch", reason="learning needs the extra [train]")

from small_parent import SMALL, small_config, small_q_config, write_parent  # noqa: E402

from tengen.errors import RecipeError, TrainingDiverged  # noqa: E402
from tengen.evaluators import load_evaluator  # noqa: E402
from tengen.evaluators.network_file import read_card  # noqa: E402
from tengen.networks.load import load_module  # noqa: E402
from tengen.recipes import load_recipe  # noqa: E402
from tengen.reinforce import loop  # noqa: E402
from tengen.reinforce.config import EpsilonConfig, PolicyGradientConfig  # noqa: E402
from tengen.reinforce.learner import PolicyLearner  # noqa: E402
from tengen.reinforce.loop import run_reinforce  # noqa: E402
from tengen.reinforce.report import write_reinforce_report  # noqa: E402
from tengen.reinforce.trajectories import Trajectories  # noqa: E402
from tengen.runs.checkpoints import checkpoints  # noqa: E402
from tengen.runs.events import read_events  # noqa: E402
from tengen.runs.folder import RunFolder  # noqa: E402
from tengen.sgf import read_game  # noqa: E402
from tengen.training.card import learned_games  # noqa: E402

pytestmark = pytest.mark.usefixtures("unrendered")  # but the unbroken run, whose report is looked at
_CLOCKS = ("time", "hours", "seconds", "play_seconds", "learn_seconds")


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_parent(tmp_path_factory.mktemp("parent") / "parent.onnx")


@pytest.fixture(scope="module")
def unbroken(parent: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unbroken") / "run"
    run_reinforce(small_config(parent), folder, progress=False)
    return folder


def logged(folder: Path) -> list[dict[str, object]]:
    """The log without its clocks."""
    return [_without_clocks(entry) for entry in read_events(folder)]


def _without_clocks(entry: dict[str, Any]) -> dict[str, object]:
    return {k: _without_clocks(v) if isinstance(v, dict) else v for k, v in entry.items() if k not in _CLOCKS}


def weights(path: Path) -> list[bytes]:
    return [parameter.detach().numpy().tobytes() for parameter in load_module(path).parameters()]


def test_a_policy_without_value_learns_from_results_alone(tmp_path: Path) -> None:
    """AlphaGo's policy network, on its own board size."""
    fields = {"preset": "alphago-policy-128", "board_size": 5, "convs": ["5x5x8", "3x3x8"]}
    parent = write_parent(tmp_path / "parent.onnx", network=fields)
    with pytest.raises(RecipeError, match=r"learn\.baseline = value, but .* has no value head: give mean or none"):
        run_reinforce(small_config(parent), tmp_path / "run", progress=False)
    learn = {"threads": 1, "batch_size": 64, "optimizer": {"name": "sgd", "lr": 0.01}, "baseline": "mean"}
    changes: dict[str, Any] = {"learn": learn, "iterations": 2, "evaluation": {"every": 2, "games": 2}}
    with pytest.raises(RecipeError, match=r"game\.size asks for 7x7, but this network of the family plain takes 5x5"):
        run_reinforce(small_config(parent, **changes, game={"size": 7}), tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()
    path = run_reinforce(small_config(parent, **changes), tmp_path / "run", progress=False)
    assert all("explained" not in event for event in read_events(tmp_path / "run", "train"))
    assert weights(path) != weights(parent) and not load_evaluator(path).on(5).has_pass


def test_action_values_of_a_new_network(tmp_path: Path) -> None:
    config = small_q_config(iterations=2, games=4, evaluation={"every": 2, "games": 2})
    path = run_reinforce(config, tmp_path / "run", progress=False)
    card = read_card(path)
    assert card.data == "action values from untrained network (random weights)" and card.board_sizes == [5]
    for event in read_events(tmp_path / "run", "train"):
        assert set(event) >= {"policy_loss", "explained", "gradient"} and "kl" not in event
    assert "<title>small: action values</title>" in (tmp_path / "run" / "report.html").read_text()
    assert not load_evaluator(path).on(5).has_pass


@pytest.mark.slow
def test_a_run_of_a_new_network_follows_from_its_seed_and_goes_on_after_a_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped before its fourth update, with the share of random moves of that time."""
    calls, real = 0, loop.trajectories

    def interrupted(*given: Any) -> Trajectories:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt
        return real(*given)

    run_reinforce(small_q_config(), tmp_path / "unbroken", progress=False)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(loop, "trajectories", interrupted)
        run_reinforce(small_q_config(), tmp_path / "run", progress=False)
    run_reinforce(small_q_config(), tmp_path / "run", progress=False)
    same_run(tmp_path / "run", tmp_path / "unbroken")
    run_reinforce(small_q_config(iterations=1, seed=1), tmp_path / "other", progress=False)
    assert weights(tmp_path / "other" / "pool" / "00000.onnx") != weights(tmp_path / "run" / "pool" / "00000.onnx")


def test_the_share_of_random_moves_falls_to_its_minimum() -> None:
    epsilon = EpsilonConfig(start=0.4, decay=0.5, minimum=0.1)
    assert [epsilon.after(updates) for updates in range(4)] == [0.4, 0.2, 0.1, 0.1]


@pytest.mark.slow
def test_action_values_soon_beat_their_untrained_network(tmp_path: Path) -> None:
    config = small_q_config(
        iterations=20,
        games=64,
        pool={"every": 10},
        learn={"threads": 1, "batch_size": 128, "optimizer": {"name": "adamw", "lr": 0.003}},
        evaluation={"every": 100, "games": 100, "opening_moves": 3},
    )
    run_reinforce(config, tmp_path / "run", progress=False)
    final = read_events(tmp_path / "run")[-1]
    assert final["score"] > 0.65 and final["drawn"]["score"] > 0.65


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"start": "default", "network": {"preset": "betago-q"}}, "network and start are both given"),
        ({}, "network is missing: give its family"),
    ],
)
def test_a_run_has_one_parent(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PolicyGradientConfig.model_validate({**SMALL, **given})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"preset": "alphago-value", "convs": ["3x3x8"]}, "the network has no policy to choose moves by"),
        ({"preset": "bakago-v1", "convs": ["3x3x8"]}, "a new network with batch norm has no statistics of positions"),
    ],
)
def test_a_network_that_cannot_play_or_learn_is_refused(fields: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=message):
        run_reinforce(small_q_config(network={**fields, "board_size": 5}), tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_the_games_of_an_update_have_the_share_of_random_moves_of_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an update and of the games with the parent; the best moves have none."""
    shares: list[float] = []
    real = loop.PolicyPlayer

    def noted(*given: Any, random_share: float = 0.0) -> Any:
        shares.append(random_share)
        return real(*given, random_share=random_share)

    monkeypatch.setattr(loop, "PolicyPlayer", noted)
    epsilon = {"start": 0.5, "decay": 0.5, "minimum": 0.1}
    rarely = {"every": 9, "games": 2}
    config = small_q_config(iterations=2, games=4, epsilon=epsilon, evaluation=rarely)
    run_reinforce(config, tmp_path / "run", progress=False)
    assert shares == [0.5, 0.5, 0.25, 0.25, 0.0, 0.0, 0.125, 0.125]
    counts = [event["different_games"] for event in read_events(tmp_path / "run", "train")]
    assert all(1 < count <= 4 for count in counts)


@pytest.mark.slow
def test_a_run_leaves_a_network_its_pool_its_ratings_and_its_report(unbroken: Path, parent: Path) -> None:
    card = read_card(unbroken / "nets" / "small.onnx")
    assert (card.name, card.board_sizes, card.games) == ("small", [5], 48)
    assert card.positions == sum(event["positions"] for event in read_events(unbroken, "train")) > 48
    assert card.metrics["games_against_parent"] == 10
    assert "knows nothing" in card.data
    assert learned_games(card.provenance) == [{"store": "games of the parent"}]
    assert sorted(path.name for path in (unbroken / "pool").iterdir()) == [f"{n:05d}.onnx" for n in (0, 2, 4, 6)]
    assert (unbroken / "pool" / "00000.onnx").read_bytes() == parent.read_bytes()
    ratings = json.loads((unbroken / "ratings.json").read_text())
    assert [point["step"] for point in ratings["points"]] == [3, 6]
    for point in (*ratings["points"], *(point["drawn"] for point in ratings["points"])):
        assert point["wins"] + point["draws"] + point["losses"] == 10
    assert read_game((unbroken / "games" / "00006-a.sgf").read_bytes())[0].moves
    assert "Score against the parent" in (unbroken / "report.html").read_text()
    load_evaluator(unbroken / "nets" / "small.onnx")
    seen = torch.load(newest(unbroken), weights_only=True)["learner"]["scalars"]
    assert torch.isinf(seen["lowest"]).all(), "its parent looked at all scalars, so it knows them"
    assert weights(unbroken / "pool" / "00002.onnx") != weights(parent)


@pytest.mark.slow
def test_a_run_that_was_begun_when_only_best_moves_were_played_has_its_report(
    unbroken: Path, parent: Path, tmp_path: Path
) -> None:
    entries = [{k: v for k, v in e.items() if k != "drawn"} for e in read_events(unbroken)]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    (tmp_path / "recipe.yaml").write_text("name: small\n")
    text = write_reinforce_report(tmp_path, small_config(parent), "mother").read_text()
    assert "against mother, best moves" in text and "against mother, moves sampled" not in text


@pytest.mark.slow
def test_opponents_are_earlier_selves(unbroken: Path) -> None:
    drawn = [int(str(entry["opponent"])) for entry in logged(unbroken) if entry["event"] == "train"]
    assert all(number % 2 == 0 and number <= update for update, number in enumerate(drawn))
    assert len(set(drawn)) > 1


@pytest.mark.slow
def test_a_finished_run_returns_its_network_at_once(unbroken: Path, parent: Path) -> None:
    before = logged(unbroken)
    assert run_reinforce(small_config(parent), unbroken, progress=False) == unbroken / "nets" / "small.onnx"
    assert logged(unbroken) == before


@pytest.mark.slow
def test_a_run_goes_on_without_the_file_of_its_start(tmp_path: Path) -> None:
    """It keeps a copy."""
    parent = write_parent(tmp_path / "parent.onnx")
    config = small_config(parent, iterations=1)
    made = run_reinforce(config, tmp_path / "run", progress=False)
    expected = weights(made)
    made.unlink()
    parent.unlink()
    assert weights(run_reinforce(config, tmp_path / "run", progress=False)) == expected


def test_losses_that_a_policy_gradient_has_not_are_refused(parent: Path, tmp_path: Path) -> None:
    with pytest.raises(
        RecipeError, match=r"learn\.losses\.move2 = 0\.5: a network that learns from results has the losses policy"
    ):
        run_reinforce(small_config(parent, learn={"losses": {"move2": 0.5}}), tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_openings_are_as_long_as_the_board_allows(parent: Path, tmp_path: Path) -> None:
    evaluation: dict[str, Any] = {"every": 1, "games": 2, "opening_moves": 6}
    changes: dict[str, Any] = {"game": {"size": 4, "komi": 0.5}, "iterations": 1, "games": 2}
    with pytest.raises(RecipeError, match=r"evaluation\.opening_moves: an opening on 4x4 has at most 5 moves"):
        run_reinforce(small_config(parent, **changes, evaluation=evaluation), tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()
    del evaluation["opening_moves"]
    config = small_config(parent, **changes, evaluation=evaluation)
    assert run_reinforce(config, tmp_path / "run", progress=False).exists()


@pytest.mark.slow
def test_another_run_is_refused(unbroken: Path, parent: Path) -> None:
    with pytest.raises(RecipeError, match=r"holds a run with games = 8, not 16"):
        run_reinforce(small_config(parent, games=16), unbroken, progress=False)
    changed = {"threads": 2, "batch_size": 64, "optimizer": {"name": "adamw", "lr": 0.003}}
    run_reinforce(small_config(parent, learn=changed), unbroken, progress=False)
    with pytest.raises(RecipeError, match="holds a run with learn"):
        run_reinforce(small_config(parent, learn={**changed, "passes": 2}), unbroken, progress=False)


def test_one_process_at_a_time(parent: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with (
        RunFolder(tmp_path / "run", "policy-gradient").locked("lead"),
        pytest.raises(RecipeError, match="another process"),
    ):
        run_reinforce(small_config(parent), tmp_path / "run", progress=False)


@pytest.mark.slow
@pytest.mark.parametrize(("where", "call"), [("BatchMatch", 3), ("trajectories", 5), ("export", 2), ("write_text", 2)])
def test_stopped_anywhere_a_run_goes_on_as_the_unbroken_one(
    where: str, call: int, unbroken: Path, parent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle of a step leaves what kill -9 leaves, since nothing is saved on the way out."""
    calls = 0
    real = getattr(loop, where)

    def interrupted(*given: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        if calls == call:
            raise KeyboardInterrupt
        return real(*given, **named)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(loop, where, interrupted)
        run_reinforce(small_config(parent), tmp_path / "run", progress=False)
    run_reinforce(small_config(parent), tmp_path / "run", progress=False)
    same_run(tmp_path / "run", unbroken)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["within an update", "in its last step"])
def test_a_run_that_diverges_keeps_its_checkpoint_and_goes_on(
    when: str, unbroken: Path, parent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After two good updates; it ends as if it had never diverged."""
    folder, real = tmp_path / "run", loop.PolicyLearner.update

    def diverging(learner: PolicyLearner, steps: Trajectories) -> dict[str, float]:
        if learner.updates == 2 and when == "within an update":
            learner.trainer.optimizer.param_groups[0]["initial_lr"] = 1e30
        figures = real(learner, steps)
        if learner.updates == 3:
            next(learner.trainer.network.parameters()).data[0] = float("nan")
        return figures

    wrong = "the loss" if when == "within an update" else "a weight"
    message = rf"training diverged: {wrong} is not finite at step \d+; .*a lower --set learn\.optimizer\.lr="
    with monkeypatch.context() as patch, pytest.raises(TrainingDiverged, match=message):
        patch.setattr(loop.PolicyLearner, "update", diverging)
        run_reinforce(small_config(parent), folder, progress=False)
    assert torch.load(newest(folder), weights_only=True)["learner"]["updates"] == 2
    assert sorted(path.name for path in (folder / "pool").iterdir()) == ["00000.onnx", "00002.onnx"]
    run_reinforce(small_config(parent), folder, progress=False)
    same_run(folder, unbroken)


def newest(folder: Path) -> Path:
    """The newest checkpoint of a run."""
    return checkpoints(folder / "checkpoints")[-1][1]


def same_run(found: Path, expected: Path) -> None:
    assert logged(found) == logged(expected)
    for name in ("pool/00004.onnx", "pool/00006.onnx", "nets/small.onnx"):
        assert weights(found / name) == weights(expected / name), name
    one, two = (torch.load(newest(folder), weights_only=True)["learner"] for folder in (found, expected))
    assert one.pop("schedule") == two.pop("schedule")
    torch.testing.assert_close(one, two, rtol=0, atol=0)


@pytest.mark.slow
def test_a_pool_of_limited_size_keeps_no_others_and_a_run_that_goes_on_needs_none(
    parent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also from the checkpoint before the newest, whose pool was another one."""
    rarely = {"every": 6, "games": 2, "opening_moves": 3}
    config = small_config(parent, pool={"every": 2, "max_members": 1}, evaluation=rarely)
    run_reinforce(config, tmp_path / "whole", progress=False)
    assert sorted(path.stem for path in (tmp_path / "whole" / "pool").iterdir()) == ["00000", "00004", "00006"]
    folder = tmp_path / "run"

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(loop._Run, "_finish", interrupted)
        run_reinforce(config, folder, progress=False)
    newest(folder).write_bytes(b"damaged")
    run_reinforce(config, folder, progress=False)
    assert logged(folder) == logged(tmp_path / "whole")


def _go(recipe: str, folder: Path, death: int) -> None:
    """In a process of its own, which dies at this change of a file of the run."""
    kill_at(folder, number=death)
    with pytest.MonkeyPatch.context() as patch:
        skip_rendering(patch)
        run_reinforce(PolicyGradientConfig.model_validate_json(recipe), folder, progress=False)


@pytest.mark.slow
def test_killed_again_and_again_a_run_ends_as_the_unbroken_one(
    unbroken: Path, parent: Path, tmp_path: Path, forks: ForkServerContext
) -> None:
    folder = tmp_path / "run"
    for death in (10, 19, 25):  # of 86 changes
        process = forks.Process(target=_go, args=(small_config(parent).model_dump_json(), folder, death))
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    run_reinforce(small_config(parent), folder, progress=False)
    same_run(folder, unbroken)


@pytest.mark.slow
def test_the_policy_soon_beats_its_parent(parent: Path, tmp_path: Path) -> None:
    config = small_config(
        parent,
        iterations=20,
        games=64,
        pool={"every": 10},
        learn={"threads": 1, "batch_size": 512, "optimizer": {"name": "adamw", "lr": 0.003}},
        evaluation={"every": 100, "games": 100, "opening_moves": 3},
    )
    run_reinforce(config, tmp_path / "run", progress=False)
    final = read_events(tmp_path / "run")[-1]
    assert final["event"] == "final"
    assert final["score"] > 0.65
    assert final["drawn"]["score"] > 0.65
    card = read_card(tmp_path / "run" / "nets" / "small.onnx")
    assert card.metrics["score_against_parent"] == final["drawn"]["score"]
    assert card.metrics["score_against_parent_best_move"] == final["score"]


def test_the_recipe_of_the_package_is_one() -> None:
    config = load_recipe("alphago-rl-9x9", model=PolicyGradientConfig)
    assert (config.start, config.game.size, config.games) == ("tygem-b8c64", 9, 128)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"iterations": 0}, "iterations"),
        ({"games": 1}, "games"),
        ({"game": {"size": 1}}, "size"),
        ({"temperature": 0}, "temperature"),
        ({"learn": {"baseline": "guess"}}, "baseline"),
        ({"pool": {"evry": 3}}, "evry"),
        ({"game": {"rules": "house"}}, "unknown rules"),
        ({"game": {"rules": "japanese"}}, "area rules"),
    ],
)
def test_recipes_that_cannot_work_are_refused(change: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        PolicyGradientConfig.model_validate({"name": "x", "start": "default", "iterations": 1, **change})


@pytest.mark.parametrize("settings", [{"games": 3}, {"evaluation": {"games": 5}}])
def test_half_of_the_games_are_with_each_color(settings: dict[str, Any], parent: Path) -> None:
    with pytest.raises(ValueError, match="multiple of 2"):
        small_config(parent, **settings)
