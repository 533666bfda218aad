"""The gate: the binomial test by hand, and a network against itself and against a better one."""

from pathlib import Path

import pytest
from made_matches import series
from selfplay.made_up import Checksum

from tengen.engine.search import TreeSearch
from tengen.evaluators import Evaluation, InputBatch, UniformEvaluator
from tengen.game import Game
from tengen.match.folder import read_folder
from tengen.match.outcome import Outcome
from tengen.match.runner import InBatch
from tengen.match.settings import MatchSettings
from tengen.selfplay import gate as gates
from tengen.selfplay.config import MIN_TREE, GameConfig, GateConfig, SearchConfig, SelfPlayConfig
from tengen.selfplay.gate import gate, gate_verdict
from tengen.sgf import read_game
from tengen.statistics import Tally, binomial_tail


def test_the_binomial_tail_by_hand() -> None:
    assert binomial_tail(0, 10) == 1.0
    assert binomial_tail(10, 10) == pytest.approx(2**-10)
    assert binomial_tail(9, 10) == pytest.approx(11 / 1024)


def test_the_published_gate_of_256_games() -> None:
    """One-sided p < 0.05 of 256 games asks for 142 wins."""
    assert binomial_tail(142, 256) < 0.05 < binomial_tail(141, 256)


def test_draws_say_nothing() -> None:
    """256 games at a whole fair komi, 110 of them drawn, are judged by the other 146, of which 84 are enough."""
    rules = GateConfig(games=256, confidence=0.95)
    assert gate_verdict(Tally(84, 110, 62), rules) == (binomial_tail(84, 146), True)
    assert not gate_verdict(Tally(83, 110, 63), rules)[1]
    assert not gate_verdict(Tally(0, 256, 0), rules)[1]
    assert gate_verdict(Tally(73, 110, 73), GateConfig(games=256, score=0.5))[1]


@pytest.mark.parametrize("to_end", [False, True])
def test_a_gate_counts_dead_stones_as_the_search_does(
    to_end: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Networks pass last. Where simulations count the board without dead stones, they capture them before."""
    devices = []

    def load(path: Path, device: str) -> Checksum:
        devices.append(device)
        return Checksum(path.stem)

    monkeypatch.setattr(gates, "load_temporary", load)
    files = [tmp_path / name for name in ("a.onnx", "b.onnx")]
    for path in files:
        path.write_bytes(b"")
    params = {"selection": "puct-alphago", "score_weight": 0, "simulate_to_end": True} if to_end else {}
    config = SelfPlayConfig(
        name="tiny",
        seed=1,
        cycles=2,
        games_per_cycle=4,
        network={"family": "residual"},
        game=GameConfig(sizes={5: 1.0}, settle=False, max_moves=200, pass_policy="no-legal-move"),
        search=SearchConfig(params=params),
        gate=GateConfig(games=40, visits=1),
        device="torch",
    )
    gate(tmp_path, config, 1, *files, {5: 0.5})
    folder = tmp_path / "matches" / "gate-00001"
    about, outcomes = read_folder(folder)
    assert about.conditions["dead_stones"] == ("none" if to_end else "pass-alive")
    assert {player["pass_policy"] for player in about.players} == {"no-useful-move"}
    assert devices == [player["device"] for player in about.players] == ["torch", "torch"]
    passed_out = [outcome for outcome in outcomes if outcome.reason == "count"]
    records = [read_game((folder / "games" / f"{outcome.index:05d}.sgf").read_bytes())[0] for outcome in passed_out]
    assert len(records) > 10
    assert any(game.pass_dead() for game in records) != to_end


def config_of(size: int, gate: GateConfig) -> SelfPlayConfig:
    return SelfPlayConfig(
        name="tiny",
        cycles=2,
        games_per_cycle=4,
        network={"family": "residual"},
        game=GameConfig(sizes={size: 1.0}),
        gate=gate,
    )


@pytest.mark.parametrize(("winner", "loser"), [("candidate 1", "network 0"), ("network 0", "candidate 1")])
def test_the_network_that_wins_plays_on(
    winner: str, loser: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """30 games of 40, at the fair komi of the cycle; each player has the network of its name."""
    candidate, playing = tmp_path / "a.onnx", tmp_path / "b.onnx"
    asked: list[tuple[MatchSettings, InBatch]] = []
    loaded: list[Path] = []

    def play(settings: MatchSettings, _: Path, execution: InBatch) -> list[Outcome]:
        asked.append((settings, execution))
        return series(winner, loser, 30, 10)

    def load(path: Path, _: str) -> Checksum:
        loaded.append(path)
        return Checksum()

    monkeypatch.setattr(gates, "play_run_match", play)
    monkeypatch.setattr(gates, "load_temporary", load)
    result = gate(tmp_path, config_of(19, GateConfig(games=40, score=0.55)), 1, candidate, playing, {19: 6.5})
    promoted = winner == "candidate 1"
    assert result.tally == (Tally(30, 0, 10) if promoted else Tally(10, 0, 30))
    assert result.passed == promoted
    ((settings, execution),) = asked
    assert settings.conditions.komi == 6.5
    assert [execution.find_network(name) for name in ("candidate 1", "network 0")] == [candidate, playing]
    assert [spec.name for spec in settings.players] == ["candidate 1", "network 0"]
    for spec in settings.players:
        execution.open_player(spec)
    assert loaded == [candidate, playing]


def test_a_gate_stops_before_its_next_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not after its next move, which takes hundreds of batches."""
    batches = 0

    class Counted(Checksum):
        def infer(self, batch: InputBatch) -> Evaluation:
            nonlocal batches
            batches += 1
            return super().infer(batch)

    def check() -> None:
        if batches == 9:
            raise KeyboardInterrupt

    monkeypatch.setattr(gates, "load_temporary", lambda *_: Counted())
    files = [tmp_path / name for name in ("a.onnx", "b.onnx")]
    for path in files:
        path.write_bytes(b"")
    config = config_of(5, GateConfig(games=2, visits=400))
    with pytest.raises(KeyboardInterrupt):
        gate(tmp_path, config, 1, *files, {5: 0.5}, check=check)
    assert batches == 9


def test_the_searches_of_a_gate_are_without_noise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[MatchSettings] = []

    def play(settings: MatchSettings, *_: object) -> list[Outcome]:
        asked.append(settings)
        return []

    monkeypatch.setattr(gates, "play_run_match", play)
    for params in ({"selection": "gumbel"}, {"noise_weight": 0.25, "forced_playouts": 2, "root_temperature": 1.1}):
        config = config_of(5, GateConfig(visits=50)).model_copy(update={"search": SearchConfig(params=params)})
        gate(tmp_path, config, 1, tmp_path / "a.onnx", tmp_path / "b.onnx", {5: 7.0})
    for spec in [spec for settings in asked for spec in settings.players]:
        found = spec.params
        noise = (found.gumbel_scale, found.noise_weight, found.forced_playouts, found.root_temperature)
        assert noise == (0.0, 0.0, 0.0, 1.0)


def test_a_search_of_a_gate_has_room_for_its_visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On 19x19 the least memory is full after 2,700 visits, and from then on old leaves would be counted again.

    The recipe's memory is enough for self-play, which has fewer visits.
    """
    asked: list[MatchSettings] = []

    def play(settings: MatchSettings, *_: object) -> list[Outcome]:
        asked.append(settings)
        return []

    monkeypatch.setattr(gates, "play_run_match", play)
    search = SearchConfig(params={"memory": MIN_TREE})
    config = config_of(19, GateConfig(visits=4000)).model_copy(update={"search": search})
    gate(tmp_path, config, 1, tmp_path / "a.onnx", tmp_path / "b.onnx", {19: 7.0})
    for spec in asked[0].players:
        search = TreeSearch(UniformEvaluator(), spec.params, 8)
        search.set_root(Game(19))
        assert search.run(4000) == search.evaluations == 4000
