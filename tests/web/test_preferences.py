"""What a browser remembers: read with care, since anything may stand in its storage."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from nicegui.elements.mixins.value_element import ValueElement
from web_alone import answering, element, key, perform, press, tap
from web_browser import Tab

from tengen.web.new_game_dialog import Form
from tengen.web.opponents import Opponents
from tengen.web.page import Page
from tengen.web.player_field import Side
from tengen.web.players import PEOPLE
from tengen.web.preferences import Preferences
from tengen.web.records import open_record
from tengen.web.settings import GameSettings, Mode, PageAnalysis

KNOWN = Opponents(lambda size: "zero-9x9").choices(9)


def form() -> Form:
    return Form(Mode.PLAY, 19, 19, 0, (Side(), Side(), Side()), "chinese", 7.5, 0)


def test_what_is_stored_is_read_again() -> None:
    known = Preferences()
    known.dark, known.sound, known.coordinates, known.confirm = True, False, False, True
    known.variations, known.numbers = False, "last"
    known.game, known.teach = {"size": 9}, (True, 5.0)
    known.analysis, known.language = PageAnalysis("zero-9x9", 400, 50), "ja"
    known.levels = {"9": {"number": 4, "step": 1, "won": True}}
    assert Preferences.parse(known.script().removeprefix("tengen.keep(").removesuffix(")")) == known
    assert known.reload_script() == 'tengen.keep({}); tengen.reloadWith("tengen-language=ja")'


def test_a_review_of_one_visit_of_an_earlier_version_takes_two() -> None:
    stored = json.dumps({"analysis": {"network": "zero-9x9", "visits": 400, "review_visits": 1}})
    assert Preferences.parse(stored).analysis == PageAnalysis("zero-9x9", 400, 2)


@pytest.mark.parametrize(
    "before", ["{}", "{", "null", '{"levels": {"19": {"number": 2}}, "dark": true, "sound": false}']
)
def test_tabs_keep_what_others_have_changed(tab: Tab, before: str) -> None:
    tab.script(f"localStorage.setItem('tengen', {json.dumps(before)})")
    first, second, expected = (Preferences.parse(before) for _ in range(3))
    nine, thirteen = {"number": 6, "step": 1, "won": True}, {"number": 3, "step": 2, "won": False}
    first.levels = expected.levels = {**first.levels, "9": nine}
    tab.script(first.script())
    second.sound, second.levels = True, {**second.levels, "13": thirteen}
    expected.sound, expected.levels = True, {**expected.levels, "13": thirteen}
    tab.script(second.script())
    first.dark = expected.dark = False
    tab.script(first.script())
    stored = tab.script("const stored = localStorage.getItem('tengen'); localStorage.clear(); return stored")
    assert Preferences.parse(stored) == expected


NONSENSE = """{"dark": "yes", "sound": 1, "game": [], "levels": 3, "teach": [1, 2], "confirm": 0, "language": "xx",
"variations": 0, "numbers": ["all"], "analysis": {"visits": 0}}"""


@pytest.mark.parametrize("text", [None, 3, "", "{", "[]", NONSENSE, '"x"'])
def test_what_makes_no_sense_is_as_for_a_new_browser(text: object) -> None:
    assert Preferences.parse(text) == Preferences()


def test_the_last_settings_fill_the_dialog() -> None:
    sides = (Side("level-3"), Side("own", "zero-9x9", 2.5, "seconds"), Side("auto"))
    last = asdict(Form(Mode.WATCH, 0, 7, 2, sides, "japanese", 0.5, 2, "quick"))
    assert asdict(form().restored(json.loads(json.dumps(last)), KNOWN)) == last
    text = json.dumps(last | {"komi": 7, "other": 9.0})  # a browser writes 7.0 as 7
    assert asdict(form().restored(json.loads(text), KNOWN)) == last | {"komi": 7, "other": 9}


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "chess"},
        {"size": 52},
        {"size": "9"},
        {"other": 99, "size": 0},
        {"color": 7},
        {"sides": []},
        {"sides": [{"key": "program-gone", "network": "", "amount": 1, "unit": "visits"}, 3, None]},
        {"sides": [asdict(Side(key="own", unit="days"))] * 3},
        {"sides": [asdict(Side()) | {"network": 3}] * 3},
        {"rules": "<b>"},
        {"komi": 1e9},
        {"komi": 10**400},
        {"komi": True},
        {"other": float("inf"), "size": 0},
        {"handicap": True},
        {"clock": "never"},
        {"size": []},
    ],
)
def test_settings_that_the_dialog_cannot_have_are_left_out(wrong: dict[str, object]) -> None:
    assert asdict(form().restored(asdict(form()) | wrong, KNOWN)) == asdict(form())


def test_another_language_replaces_no_position_that_was_set_up() -> None:
    async def scene(page: Page) -> None:
        before = page.session
        element("language").set_value("ja")  # type: ignore[attr-defined]
        assert (empty := page.session) is not before, "its record names the players"
        press("edit")
        tap(page, 40)
        press("edit")
        element("language").set_value("en")  # type: ignore[attr-defined]
        assert page.session is empty and empty.live and empty.view().stones[40] == "X"

    perform(scene, GameSettings(size=9, players=PEOPLE))


def test_what_the_board_shows_of_the_moves_is_chosen_and_remembered(
    monkeypatch: pytest.MonkeyPatch, told: list[str]
) -> None:
    """A problem is shown without its answers."""
    stored: list[str] = []

    def run(script: str, **_: object) -> object:
        stored.append(script)
        return answering(json.dumps({"variations": True, "numbers": "last"}))(script)

    async def scene(page: Page) -> None:
        page.adopt(open_record(b"(;SZ[9](;B[aa];W[bb])(;B[cc]))")[0])
        board, switch, numbers = (element(name, page) for name in ("board", "show-variations", "numbers"))
        assert isinstance(switch, ValueElement) and isinstance(numbers, ValueElement)

        def shown() -> bool:
            hidden = any("tg-no-variations" in above.classes for above in element("tree", page).ancestors())
            assert board.props["variations"] is switch.value is not hidden
            return not hidden

        assert shown()
        key(page, "v")
        assert not shown() and stored == ['tengen.keep({"variations": false})']
        switch.set_value(True)
        assert shown() and told == ["Variations are hidden."], "the switch shows itself what it has done"
        for _ in range(2):
            key(page, "v")
        assert shown() and told[1:] == ["Variations are hidden.", "Variations are shown."]
        key(page, "ArrowRight")
        assert board.props["numbers"] == []
        numbers.set_value("all")
        assert board.props["numbers"] == [(0, 1)] and stored[-1] == 'tengen.keep({"numbers": "all"})'
        key(page, "ArrowRight")
        assert board.props["numbers"] == [(0, 1), (10, 2)]
        switch.set_value(False)
        await page.load_preferences()
        assert shown() and numbers.value == "last"

    monkeypatch.setattr("tengen.web.page.ui.run_javascript", run)
    perform(scene, GameSettings(size=9, players=PEOPLE))
