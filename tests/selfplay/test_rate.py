"""Rating a network of a run: who is met, what is said, and that a killed rating goes on as the unbroken one."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from selfplay.made_up import Passer

from tengen.engine.search import TreeSearch
from tengen.errors import ClusterError, NetworkError
from tengen.evaluators import Evaluation, Evaluator, InputBatch, UniformEvaluator
from tengen.game import Game
from tengen.match.batch import never_stop
from tengen.match.folder import read_folder
from tengen.match.player import Choice, Turn
from tengen.ratings.pool import matches_in
from tengen.selfplay import rate as rating
from tengen.selfplay.anchors import RunPlayers
from tengen.selfplay.config import GameConfig, KomiConfig, RatingConfig, SearchConfig, SelfPlayConfig
from tengen.selfplay.matches import Load, PlayerOpener
from tengen.selfplay.rate import match_of, pairing_seed, program_rules, rate
from tengen.selfplay.rating_book import FILE, RatingBook, RatingEvent

HOSTILE = Path(__file__).parents[1] / "hostile.py"
NETWORKS = {k: Path(f"{k:05d}.onnx") for k in range(9)}
BY_WORD = {f"network {k}": path for k, path in NETWORKS.items()}


def program(kind: str) -> str:
    return "gtp:" + shlex.join([sys.executable, str(HOSTILE), kind])


def recipe(*anchors: str, games: int = 6, visits: int = 1, seed: int = 3) -> SelfPlayConfig:
    return SelfPlayConfig(
        name="tiny",
        seed=seed,
        cycles=8,
        games_per_cycle=4,
        network={"family": "residual"},
        game=GameConfig(sizes={5: 1.0}, komi=KomiConfig(start=0.5)),
        search=SearchConfig(params={"selection": "gumbel"}, full={"noise_weight": 0.25}),
        rating=RatingConfig(games=games, visits=visits, anchors=anchors, opening=2),
    )


class Centred(UniformEvaluator):
    """Likes the centre, the more so the higher its number: networks of a run that differ."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number

    def infer(self, batch: InputBatch) -> Evaluation:
        mask = batch.mask
        found = super().infer(batch)
        size = mask.shape[1]
        distance = np.abs(np.arange(size) - size // 2)
        weight = np.exp(-self._number * np.add.outer(distance, distance) / 4).ravel()
        policy = found.policy * np.append(weight, 0.01)
        policy /= policy.sum(axis=1, keepdims=True)
        return Evaluation(policy.astype(np.float32), found.value, found.score, found.ownership)


def load(path: str | Path) -> Evaluator:
    return Centred(int(Path(path).stem)) if path in NETWORKS.values() else UniformEvaluator()


def without_times(book: RatingBook) -> dict[str, object]:
    events = [
        event.model_copy(update={"pairings": tuple(p.model_copy(update={"seconds": 0}) for p in event.pairings)})
        for event in book.events
    ]
    return book.model_copy(update={"events": tuple(events)}).model_dump()


def test_a_network_meets_its_anchors_with_both_colors(tmp_path: Path) -> None:
    config = recipe("random", "playouts@20", "early", "past", program("polite"))
    rate(tmp_path, config, 2, NETWORKS, 0.5, load=load)
    event = rate(tmp_path, config, 8, NETWORKS, 0.5, games=32, hours=0.1, load=load)
    assert [pairing.anchor for pairing in event.pairings] == [
        "random",
        "playouts, 20 visits, passes last",
        "network 2, raw policy",
        f"{Path(sys.executable).name} hostile.py polite",
        "network 1, raw policy",
        "network 4, raw policy",
    ]
    assert all(sum(pairing.black) == sum(pairing.white) == 3 for pairing in event.pairings)
    assert event.past is not None and event.past.number == 2
    assert (event.games, event.hours, event.size, event.komi) == (32, 0.1, 5, 0.5)
    assert event.elo is not None and event.outside is not None
    book = RatingBook.read(tmp_path)
    assert book.anchor == "random" and book.events[-1] == event
    assert book.networks() == {1, 2, 4, 8}


class CountingPasser(Passer):
    """Always passes, and counts the positions in which it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def infer(self, batch: InputBatch) -> Evaluation:
        mask = batch.mask
        self.asked += len(mask)
        return super().infer(batch)


@pytest.mark.parametrize("forbid", [False, True])
def test_networks_of_a_run_that_forbids_passes_are_rated_without(forbid: bool, tmp_path: Path) -> None:
    """Two networks that like nothing but to pass: two games of two moves each, or full boards."""
    config, passer = recipe("past", games=2), CountingPasser()
    game, rating = config.game, config.rating
    update = {
        "game": game.model_copy(update={"pass_policy": "no-legal-move" if forbid else "free"}),
        "rating": rating.model_copy(update={"opening": 0}),
    }
    config = config.model_copy(update=update)
    for number in (7, 8):
        rate(tmp_path, config, number, NETWORKS, 0.5, load=lambda path: passer)
    assert (passer.asked > 4) == forbid and passer.asked >= 4


def test_default_is_opened_by_its_name() -> None:
    """So it is the network of the board size, as in `tengen match`; its file alone is that of 19x19."""
    opened: list[str | Path] = []

    def load(path: str | Path) -> Evaluator:
        opened.append(path)
        return UniformEvaluator()

    PlayerOpener(BY_WORD, load, never_stop)(RunPlayers(1).parse("policy:default"))
    assert opened == ["default"]


@pytest.mark.parametrize("word", ["network 7", "playouts@20"])
def test_players_of_a_rating_capture_dead_stones_only_where_they_count(word: str) -> None:
    """White's E3 is dead in Black's pass-alive area, which counts for White where no stone is dead."""
    game = Game.from_diagram(". X . X .\nX X X X X\n. X . . O\nX X X X .\n. X . X .")
    players = RunPlayers(1, pass_policy="no-useful-move")
    spec = players.network(7) if word == "network 7" else players.parse(word)
    opener = PlayerOpener(BY_WORD, load, never_stop)
    passes = []
    for dead_stones in ("pass-alive", "none"):
        player = opener(spec)
        player.start_game(0, game, 1)
        (choice,) = player.choose([Turn(0, game, dead_stones=dead_stones)])
        assert isinstance(choice, Choice)
        passes.append(choice.point == 25)
        player.close()
    assert passes == [True, False]


class Mortal(Centred):
    """Stops the run, as Ctrl-C would, when all of an attempt have evaluated for the `left`-th time."""

    def __init__(self, number: int, left: list[int]) -> None:
        super().__init__(number)
        self._left = left

    def infer(self, batch: InputBatch) -> Evaluation:
        self._left[0] -= 1
        if self._left[0] < 0:
            raise KeyboardInterrupt
        return super().infer(batch)


def mortals(left: list[int]) -> Load:
    return lambda path: Mortal(int(path.stem), left)


@pytest.mark.slow
def test_a_rating_is_a_function_of_the_recipe_however_often_it_was_killed(tmp_path: Path) -> None:
    config = recipe("random", "playouts@20", "early", "past", visits=8)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for folder in (whole, broken):
        folder.mkdir()
    for number in (1, 8):
        rate(whole, config, number, NETWORKS, 0.5, load=load)
    kills, patience = 0, 20
    for number in (1, 8):
        while True:
            left = [patience]
            try:
                rate(broken, config, number, NETWORKS, 0.5, load=mortals(left))
                break
            except KeyboardInterrupt:
                kills, patience = kills + 1, patience + 40
                assert kills < 100
    assert kills >= 5
    assert without_times(RatingBook.read(broken)) == without_times(RatingBook.read(whole))
    matches = sorted(path.name for path in (whole / "matches").iterdir())
    assert len(matches) == 7 and "rating-00008-vs-random" in matches
    for name in matches:
        games = [sorted((folder / "matches" / name / "games").iterdir()) for folder in (whole, broken)]
        assert len(games[0]) == 6
        assert [path.read_bytes() for path in games[0]] == [path.read_bytes() for path in games[1]]


def test_the_games_lie_in_match_folders_that_can_be_rated(tmp_path: Path) -> None:
    rate(tmp_path, recipe("random"), 1, NETWORKS, 0.5, load=load)
    (game_set,) = matches_in(tmp_path)
    assert game_set.source.name == "rating-00001-vs-random" and len(game_set.scores) == 6
    about, outcomes = read_folder(game_set.source)
    assert about.names == ("network 1, raw policy", "random")
    assert about.conditions["dead_stones"] == "pass-alive" and {outcome.reason for outcome in outcomes} <= {
        "count", "settled", "limit", "cycle",
    }  # fmt: skip


def test_the_games_of_another_network_of_the_same_number_are_played_anew(tmp_path: Path) -> None:
    networks = {1: tmp_path / "00001.onnx"}
    networks[1].write_bytes(b"one")
    rate(tmp_path, recipe("random"), 1, networks, 0.5, load=load)
    (tmp_path / FILE).unlink()
    before = read_folder(tmp_path / "matches" / "rating-00001-vs-random")[0]
    networks[1].write_bytes(b"another")
    rate(tmp_path, recipe("random"), 1, networks, 0.5, load=load)
    after = read_folder(tmp_path / "matches" / "rating-00001-vs-random")[0]
    assert before.more["files"] != after.more["files"]


def test_a_wish_to_stop_is_heard_before_the_next_batch(tmp_path: Path) -> None:
    asked = []

    def check() -> None:
        asked.append(None)
        if len(asked) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rate(tmp_path, recipe(program("polite")), 1, NETWORKS, 0.5, load=load, check=check)
    assert len(asked) >= 5
    assert rate(tmp_path, recipe(program("polite")), 1, NETWORKS, 0.5, load=load).pairings[0].tally.games == 6


def test_programs_play_fewer_games_but_at_the_end(tmp_path: Path) -> None:
    config = recipe("random", program("polite"))
    config = config.model_copy(update={"rating": config.rating.model_copy(update={"program_games": 2})})
    found = [rate(tmp_path, config, number, NETWORKS, 0.5, load=load) for number in (7, 8)]
    assert [[pairing.tally.games for pairing in event.pairings] for event in found] == [[6, 2], [6, 6]]


@pytest.mark.parametrize("cluster", [None, Mock()])
def test_what_is_not_played_on_a_cluster_is_played_by_the_cpu(
    cluster: Mock | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    def load_on(path: Path, device: str) -> Evaluator:
        opened.append(device)
        return load(path)

    monkeypatch.setattr(rating, "load_temporary", load_on)
    config = recipe(program("polite"), games=2).model_copy(update={"device": "cuda"})
    rate(tmp_path, config, 2, NETWORKS, 0.5, cluster=cluster)
    assert opened == ["cuda" if cluster is None else "cpu"]


def test_what_is_complete_is_not_played_again(tmp_path: Path) -> None:
    config = recipe("random")
    event = rate(tmp_path, config, 1, NETWORKS, 0.5, load=load)
    before = (tmp_path / FILE).read_bytes()

    def nobody(path: Path) -> Evaluator:
        raise AssertionError("nothing is left to play")

    assert rate(tmp_path, config, 1, NETWORKS, 0.5, load=nobody) == event
    assert (tmp_path / FILE).read_bytes() == before


def test_who_is_not_there_is_left_out_with_the_reason_and_the_rest_is_played(tmp_path: Path) -> None:
    config = recipe("gtp:no-such-program", "no-such-network", program("only-9x9"), "random")
    event = rate(tmp_path, config, 1, NETWORKS, 0.5, load=load)
    assert [pairing.anchor for pairing in event.pairings] == ["random"]
    text = "\n".join(event.left_out)
    assert (
        "no program 'no-such-program'" in text
        and "no network 'no-such-network'" in text
        and "unacceptable size" in text
    )
    assert len(event.left_out) == 3


def test_a_fault_of_the_cluster_ends_the_rating_and_is_not_kept_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network had no rating for good, its anchors being left out."""

    def away(*_: object) -> None:
        raise ClusterError("no machine is there")

    with monkeypatch.context() as patch:
        patch.setattr(rating, "play_anchor", away)
        with pytest.raises(ClusterError):
            rate(tmp_path, recipe("random"), 1, NETWORKS, 0.5, load=load)
    assert rate(tmp_path, recipe("random"), 1, NETWORKS, 0.5, load=load).pairings[0].tally.games == 6


def test_a_program_that_dies_does_not_stop_the_rating_and_is_named(tmp_path: Path) -> None:
    event = rate(tmp_path, recipe(program("dies"), "random"), 3, NETWORKS, 0.5, load=load)
    died, random = event.pairings
    assert random.tally.games == 6
    assert died.tally.games < 6
    assert any("do not count, the program failed" in warning and "goodbye" in warning for warning in event.warnings)


def test_games_that_are_all_alike_are_told(tmp_path: Path) -> None:
    config = recipe("past", games=8)
    config = config.model_copy(update={"rating": config.rating.model_copy(update={"opening": 0})})
    rate(tmp_path, config, 7, NETWORKS, 0.5, load=load)
    event = rate(tmp_path, config, 8, NETWORKS, 0.5, load=load)
    assert event.pairings[0].distinct <= 2
    assert any(warning.startswith(f"only {event.pairings[0].distinct} of 8 games") for warning in event.warnings)


def test_a_network_that_cannot_be_loaded_is_an_error(tmp_path: Path) -> None:
    def broken(path: Path) -> Evaluator:
        raise NetworkError(f"{path} is no network file")

    with pytest.raises(NetworkError, match=r"00001\.onnx"):
        rate(tmp_path, recipe("random"), 1, NETWORKS, 0.5, load=broken)


def test_rules_against_programs() -> None:
    rules = ("tromp-taylor", "chinese", "japanese")
    assert [program_rules(name) for name in rules] == ["chinese", "chinese", "japanese"]


def test_seeds_differ_by_run_network_and_anchor() -> None:
    seeds = {pairing_seed(*words) for words in ((1, 1, "a"), (2, 1, "a"), (1, 2, "a"), (1, 1, "b"))}
    assert len(seeds) == 4
    assert pairing_seed(1, 1, "a") == pairing_seed(1, 1, "a")


def test_rated_at_the_usual_size_by_a_search_without_noise() -> None:
    assert GameConfig(sizes={5: 1, 7: 3, 9: 3}).main_size == GameConfig(sizes={9: 3, 7: 3}).main_size == 9
    match = match_of(recipe("random", visits=50), 0.5)
    params, conditions = match.players.params, match.conditions
    assert (params.selection, params.gumbel_scale, params.noise_weight) == ("gumbel", 0.0, 0.0)
    assert (conditions.size, conditions.komi, match.players.visits, match.games, conditions.opening) == (
        5,
        0.5,
        50,
        6,
        2,
    )


@pytest.mark.slow
def test_simulations_to_the_end_of_the_game_have_room_in_a_rating() -> None:
    to_end = {"selection": "puct-alphago", "score_weight": 0, "simulate_to_end": True}
    changes = {"game": GameConfig(sizes={9: 1}), "search": SearchConfig(params=to_end)}
    match = match_of(recipe("random", visits=600).model_copy(update=changes), 0.5)
    search = TreeSearch(UniformEvaluator(), match.players.params, 8)
    search.set_root(match.conditions.new_game())
    search.run(600)
    assert not search.is_full


def test_tiny_boards_have_shorter_openings() -> None:
    for size, opening in ((2, 1), (3, 3), (4, 4), (9, 4)):
        config = recipe("random").model_copy(update={"game": GameConfig(sizes={size: 1}), "rating": RatingConfig()})
        match = match_of(config, 0.5)
        settings = match.settings(match.players.network(1), match.players.network(0), seed=1)
        assert settings.conditions.opening == opening


def test_an_event_in_words() -> None:
    event = RatingEvent(number=1, games=1, hours=0, player="network 1", size=5, komi=0)
    assert str(event) == "network 1: Elo unknown; no games"
