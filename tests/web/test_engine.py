"""Which network plays on which board of the page."""

from __future__ import annotations

import asyncio
import gc
import weakref

import pytest
from web_engine import FakeEngine

from tengen.engine import Limits, Style
from tengen.engine.levels import SIZES, levels_on
from tengen.errors import NetworkError
from tengen.evaluators import UniformEvaluator
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.network_file import read_card
from tengen.game import Game
from tengen.web.engine import Engines, EngineThread
from tengen.web.new_game_dialog import RULE_NAMES
from tengen.web.settings import first_game, usual_komi


class Forgetful(FakeEngine):
    """Counts how often its tree is dropped."""

    forgotten = 0

    def forget(self) -> None:
        self.forgotten += 1


def test_small_boards_have_networks_of_their_own() -> None:
    engines = Engines("default")
    assert engines.network(19) == read_card(find_network("default")).name
    own = {7: "zero-7x7", 9: "distilled-9x9", 13: "distilled-13x13"}
    assert {size: engines.network(size) for size in own} == own
    for size in own:
        assert read_card(find_network(engines.network(size))).board_sizes == [size]


def test_levels_keep_the_network_that_was_measured() -> None:
    for size in SIZES:
        assert Engines("default").ladder_network(size) == levels_on(size)[0].network
    assert Engines("default").ladder_network(7) == "zero-7x7"  # no level was measured there
    assert Engines("zero-9x9").ladder_network(19) == "zero-9x9" and Engines("none").ladder_network(9) == ""


def test_a_network_by_name_plays_everywhere() -> None:
    assert {Engines("tygem-b8c64").network(size) for size in (7, 9, 19)} == {"tygem-b8c64"}
    assert Engines("none").network(7) == ""
    with pytest.raises(NetworkError, match="tygem-b8c46"):
        Engines("tygem-b8c46")


def test_komi_suits_the_board() -> None:
    assert [first_game(size, 100).komi for size in (7, 9, 19)] == [9.0, 7.5, 7.5]
    assert usual_komi("chinese", 2, 7) == 0.5
    assert usual_komi("japanese", 0, 19) == 6.5
    assert [usual_komi(rules, 0, 7) for rules in RULE_NAMES] == [9.0, 8.0, 8.0, 9.0, 9.0, 9.0]


def test_a_closed_thread_gives_up_its_engine() -> None:
    """Its tree stayed in memory with the page of a tab that was closed."""
    made: list[weakref.ref[FakeEngine]] = []

    def make(network: str) -> FakeEngine:
        engine = FakeEngine()
        made.append(weakref.ref(engine))
        return engine

    async def work() -> EngineThread:
        thread = EngineThread(make)
        await thread.count(Game(9))
        assert made[0]() is not None
        thread.close()
        return thread

    thread = asyncio.run(work())
    gc.collect()
    assert made[0]() is None and thread.latest is None


def test_a_page_chooses_among_installed_networks_alone() -> None:
    """A name that is a path would let a page open files."""
    engines = Engines("none")
    assert engines.networks(9)["zero-9x9"] == "zero-9x9" and next(iter(engines.networks(19))) == "distilled-b8c64-2"
    assert engines.networks(19)["zero-9x9"] == "zero-9x9 (9x9)"
    for name in (str(find_network("zero-9x9")), "../nets/zero-9x9", "gone"):
        with pytest.raises(NetworkError, match="unknown network"):
            engines(name)


@pytest.mark.slow
def test_a_chosen_network_is_given_up_with_the_last_page_that_plays_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every network that any page had chosen stayed loaded: 35 MB and 4 threads each."""
    loaded: list[str] = []

    def load(network: str, device: str, cache: int) -> UniformEvaluator:
        loaded.append(network)
        return UniformEvaluator()

    monkeypatch.setattr("tengen.web.engine.load_evaluator", load)
    engines = Engines("tygem-b8c64")
    pages = [engines("zero-9x9"), engines("zero-9x9")]
    review = engines.queue("zero-9x9")
    assert loaded == ["zero-9x9"], "pages share their networks"
    del pages
    gc.collect()
    pages = [engines("zero-9x9")]
    assert loaded == ["zero-9x9"], "the review has it"
    del review, pages
    gc.collect()
    engines("zero-9x9")
    assert loaded == ["zero-9x9"] * 2
    for _ in range(2):  # the network of the command stays for the next page
        engines()
        gc.collect()
    assert loaded == ["zero-9x9"] * 2 + ["tygem-b8c64"]


def test_each_network_has_an_engine_and_another_player_starts_with_a_new_tree() -> None:
    """Players of one network would else use each other's searches, and be stronger than their visits."""
    engines = {"": Forgetful(), "other": Forgetful()}

    async def work() -> None:
        thread = EngineThread(engines.__getitem__)
        for network, owner in (("", "a"), ("other", "b"), ("", "a"), ("", "c"), ("other", "b"), ("", "a")):
            await thread.think(Game(9), Limits(visits=1), Style(), network, owner)
        thread.close()

    asyncio.run(work())
    assert [(engine.forgotten, len(engine.searches)) for engine in engines.values()] == [(3, 4), (1, 2)]
