"""The page for people who do not see it or who use no mouse: axe-core's findings, and the keyboard."""

from __future__ import annotations

import time
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest
from web_browser import Tab, finger, open_browser, paste

from tengen.web.shortcuts import KEYS

needs_axe = pytest.mark.skipif(
    find_spec("axe_core_python") is None, reason="axe-core is not installed: pip install 'tengen[dev]'"
)
# In a dialog, what is behind it is out of reach.
FINDINGS = """
const done = arguments[0], context = [...document.querySelectorAll(".q-dialog")].at(-1) ?? { exclude: [["#popup"]] };
axe.run(context, { resultTypes: ["violations"] }).then(({ violations }) => done(violations.flatMap(
  (rule) => rule.nodes.filter((node) => ["serious", "critical"].includes(node.impact))
    .map((node) => `${rule.id}: ${node.target.join(" ")}: ${node.html.slice(0, 120)}: ${node.failureSummary}`))));
"""
# axe-core overlooks the background of Quasar's buttons in dialogs because their content is a stacking context.
PLAIN = "addStyle('.q-btn__content { z-index: auto !important }')"
# Colors in the middle of a transition have no contrast; the notice over the board fades for seconds.
MOVING = """
return !!document.querySelector("[class*=-enter-active], [class*=-leave-active]") || document.getAnimations()
  .some((one) => one.playState === "running" && one.effect.getComputedTiming().endTime < 2000)
"""
# The height of a letter of the board in CSS pixels.
HEIGHT = """
const svg = document.querySelector(".tg-board svg"), scale = svg.clientWidth / svg.viewBox.baseVal.width;
return scale * parseFloat(getComputedStyle(document.querySelector(arguments[0])).fontSize);
"""
RECORD = "(;SZ[9]KM[7]PB[Ann]PW[Bo];B[ee];W[ec]C[a comment];B[aa](;W[ce])(;W[gg]))"


def check(tab: Tab, state: str) -> None:
    """No serious or critical finding of axe-core in what the page shows now."""
    time.sleep(0.2)
    tab.until(lambda: not tab.script(MOVING))
    if not tab.script("return !!window.axe"):
        tab.script((files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8") + PLAIN)
    findings = tab.driver.execute_async_script(FINDINGS)
    assert not findings, state + ":\n" + "\n".join(findings)


def press(tab: Tab, *keys: str) -> None:
    """Type on the element that has the keyboard."""
    for key in keys:
        tab.driver.switch_to.active_element.send_keys(key)


def dialog(tab: Tab, name: str, opener: str) -> None:
    """Check a dialog, and leave it by the keyboard."""
    from selenium.webdriver import Keys

    tab.click(opener)
    tab.until(lambda: tab.find(name).is_displayed())
    check(tab, name)
    press(tab, Keys.ESCAPE)
    tab.until(lambda: not tab.driver.find_elements("css selector", f"[data-testid={name}]"))


@pytest.mark.slow
@needs_axe
def test_axe_has_no_serious_findings_while_a_game_is_played(tab: Tab) -> None:
    from selenium.webdriver import Keys

    tab.script("localStorage.clear(); location.reload()")
    tab.until(lambda: "New here?" in tab.text())
    check(tab, "start")
    dialog(tab, "preferences-dialog", "preferences")
    tab.click("new-game")
    tab.until(lambda: tab.find("new-game-dialog").is_displayed())
    tab.script("document.querySelectorAll('[data-testid=new-game-dialog] .q-btn-toggle button')[1].click()")
    tab.until(lambda: tab.find("black").is_displayed())
    check(tab, "two engines")
    press(tab, Keys.ESCAPE)
    tab.until(lambda: not tab.driver.find_elements("css selector", "[data-testid=new-game-dialog]"))
    dialog(tab, "analysis-dialog", "analysis-settings")
    tab.click("preferences")
    dialog(tab, "shortcuts-dialog", "shortcuts")
    press(tab, Keys.ESCAPE)
    tab.until(lambda: not tab.driver.find_elements("css selector", "[data-testid=preferences-dialog]"))
    tab.click("teach")
    tab.tap(40)
    tab.until(lambda: "was better" in tab.text())
    check(tab, "warning of the teacher")
    tab.click("keep")
    tab.until(lambda: len(tab.stones()) == 2)
    tab.click("teach")
    for name in ("ask-hint", "estimate", "analysis"):
        tab.click(name)
    tab.until(lambda: len(tab.driver.find_elements("css selector", ".tg-candidate")) == 5)
    check(tab, "analysis of a game in progress")
    tab.click("analysis")
    dialog(tab, "open-dialog", "open")
    paste(tab, RECORD)
    tab.until(lambda: tab.find("ask-leave").is_displayed())
    check(tab, "question")
    tab.click("ask-leave-stay")
    tab.click("resign")
    tab.click("ask-resign-resign")
    tab.until(lambda: "Rematch" in tab.text())
    check(tab, "end of a game")
    tab.click("back")
    dialog(tab, "play-on-dialog", "play-on")
    dialog(tab, "ask-save", "save")


@pytest.mark.slow
@needs_axe
def test_axe_has_no_serious_findings_in_reviews_and_in_the_dark(tab: Tab) -> None:
    paste(tab, RECORD + "(;SZ[9];B[aa])")
    tab.until(lambda: len(tab.driver.find_elements("css selector", "[data-testid=game]")) == 2)
    check(tab, "choice of a game")
    tab.click("game")
    tab.until(lambda: "move 0 / 4" in tab.text())
    tab.click("review")
    tab.until(lambda: "in the top five" in tab.text())
    tab.click("last")
    tab.click("edit")
    check(tab, "review and editor")
    tab.click("edit")
    tab.click("dark")
    tab.until(lambda: "body--dark" in str(tab.css("body").get_attribute("class")))
    check(tab, "review in the dark")
    dialog(tab, "analysis-dialog", "analysis-settings")
    for opener in ("new-game", "open", "preferences"):
        dialog(tab, f"{opener}-dialog", opener)
    tab.click("dark")


@pytest.mark.slow
def test_marks_hint_and_policy_of_a_point_are_read(tab: Tab) -> None:
    from selenium.webdriver import Keys

    def reads(text: str) -> None:
        tab.until(lambda: tab.find("said").get_property("textContent") == text)

    paste(tab, "(;SZ[9]TR[ee]SL[ed]LB[fd:$&])")
    tab.until(lambda: tab.driver.find_elements("css selector", ".tg-markup text"))
    for button, drawn in (("ask-hint", ".tg-hint"), ("policy", ".tg-policy")):
        tab.click(button)
        tab.until(lambda drawn=drawn: tab.driver.find_elements("css selector", drawn))
    assert tab.find("said-hint").get_property("textContent") == "The best move is A9"
    press(tab, "b")
    reads("E5, empty, Triangle, policy 1%")
    press(tab, Keys.ARROW_UP)
    reads("E6, empty, selected, policy 1%")
    press(tab, Keys.ARROW_RIGHT)
    reads("F6, empty, label $&, policy 1%")
    press(tab, *[Keys.ARROW_UP] * 3, *[Keys.ARROW_LEFT] * 5)
    reads("A9, empty, best move, policy 1%")


@pytest.mark.slow
def test_a_game_is_played_by_the_keyboard_alone(tab: Tab) -> None:
    from selenium.webdriver import Keys

    press(tab, "b")
    tab.until(lambda: tab.find("said").get_property("textContent") == "E5, empty")
    press(tab, Keys.ARROW_LEFT, Keys.ARROW_UP)
    tab.until(lambda: tab.find("said").get_property("textContent") == "D6, empty")
    assert tab.stones() == {}, "the keys of the cursor are not those of the game"
    press(tab, Keys.ENTER)
    tab.until(lambda: tab.stones() == {30: "B", 0: "W"})
    tab.until(lambda: tab.find("said").get_property("textContent") == "White A9")
    press(tab, Keys.ESCAPE)
    tab.until(lambda: not tab.driver.find_elements("css selector", ".tg-cursor"))
    press(tab, Keys.ARROW_LEFT)
    tab.until(lambda: tab.stones() == {30: "B"})


@pytest.mark.slow
def test_the_question_mark_lists_the_keys_and_a_dialog_has_the_keyboard_alone(tab: Tab) -> None:
    from selenium.webdriver import Keys

    tab.tap(40)
    tab.until(lambda: len(tab.stones()) == 2)
    press(tab, "?")
    expected = [shown for row in KEYS.values() for shown in (row.shown, *row.others.values())]
    # The dialog moves in, and its parts have no text before they show.
    tab.until(lambda: [key.text for key in tab.driver.find_elements("css selector", ".tg-keys kbd")] == expected)
    press(tab, Keys.HOME)
    press(tab, Keys.ESCAPE)
    tab.until(lambda: not tab.driver.find_elements("css selector", ".tg-keys"))
    assert len(tab.stones()) == 2
    press(tab, Keys.HOME)
    tab.until(lambda: not tab.stones())


@pytest.mark.slow
def test_tab_reaches_every_part_of_the_page(tab: Tab) -> None:
    from selenium.webdriver import Keys

    tab.click("analysis")
    tab.until(lambda: len(tab.driver.find_elements("css selector", ".tg-candidate")) == 5)
    tab.click("analysis")
    place = (
        "const part = document.activeElement; return part.closest('[data-testid]')?.dataset.testid ?? part.className"
    )
    ring = """
    const part = document.activeElement, field = part.closest(".tg-row .q-select") ?? part;
    const round = field.matches(".q-btn, .q-toggle, .q-checkbox, .q-select");
    return !round || getComputedStyle(field).boxShadow.includes("4px");
    """
    reached = set()
    tab.script("document.activeElement.blur()")
    for _ in range(60):
        press(tab, Keys.TAB)
        reached.add(str(tab.script(place)))
        tab.until(lambda: tab.script(ring), 2)
    wanted = {"new-game", "open", "save", "sound", "dark", "preferences", "board", "first", "last", "pass", "resign"}
    wanted |= {"analysis", "threshold", "teach", "ask-hint", "policy", "estimate", "tree", "comment", "edit"}
    assert wanted <= reached


@pytest.mark.slow
@needs_axe
def test_on_a_phone_large_boards_ask_to_confirm_a_move(site: tuple[str, Path], tmp_path: Path) -> None:
    ghosts = "return document.querySelectorAll('.tg-pending').length"
    with open_browser(tmp_path, 390, 844, phone=True) as tab:
        tab.open(site[0])
        finger(tab, [(195, 330)])
        tab.until(lambda: len(tab.stones()) == 2)  # small boards do not ask
        check(tab, "phone")
        paste(tab, "(;SZ[13])")
        tab.click("ask-leave-leave")
        tab.until(lambda: "move 0 / 0" in tab.text())
        tab.click("policy")
        tab.until(lambda: tab.driver.find_elements("css selector", ".tg-policy"))
        assert tab.script(HEIGHT, ".tg-policy text") > 10  # type: ignore[operator]
        paste(tab, "(;SZ[19])")
        tab.until(lambda: len(tab.driver.find_elements("css selector", ".tg-coordinates text")) == 76)
        assert tab.script(HEIGHT, ".tg-coordinates text") > 8  # type: ignore[operator]
        tab.script("window.scrollTo(0, 0)")
        finger(tab, [(195, 330)])
        tab.until(lambda: tab.script(ghosts) == 1)
        finger(tab, [(100, 200)])  # another point
        tab.until(lambda: tab.script(ghosts) == 1)
        assert not tab.stones()
        finger(tab, [(100, 200)])
        tab.until(lambda: len(tab.stones()) == 1)
        finger(tab, [(195, 330)])
        tab.until(lambda: tab.script(ghosts) == 1)
        edges = "return [document.querySelector('.tg-board svg').getBoundingClientRect().bottom, "
        edges += "document.querySelector('.tg-confirm').getBoundingClientRect().top, "
        edges += "document.querySelector('.tg-confirm').getBoundingClientRect().bottom, innerHeight]"
        board, top, bottom, window = tab.script(edges)  # type: ignore[misc]
        assert board <= top and bottom <= window, "the button hides no point and is in view"
        seen = "return document.elementFromPoint(innerWidth / 2, arguments[0]).className"
        assert "tg-confirm" in str(tab.script(seen, (top + bottom) / 2)), "and nothing hides it"
        tab.click("confirm-move")
        tab.until(lambda: len(tab.stones()) == 2)
        tab.click("preferences")
        tab.until(lambda: tab.find("confirm").is_displayed())
        tab.script("document.querySelectorAll('[data-testid=confirm] button')[2].click()")
        tab.until(lambda: tab.script("return JSON.parse(localStorage.getItem('tengen'))?.confirm") is False)
        tab.reload()
        tab.until(lambda: len(tab.stones()) == 2)
        told = "return getElement(document.querySelector('.tg-board').closest('[id^=c]').id.slice(1)).confirm === false"
        tab.until(lambda: tab.script(told))  # what the browser remembers comes after the game
        finger(tab, [(250, 400)])
        tab.until(lambda: len(tab.stones()) == 3)
