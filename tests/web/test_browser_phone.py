"""The page in a real browser, on a phone and at any width."""

from __future__ import annotations

from pathlib import Path

import pytest
from web_browser import IN_VIEW, finger, open_browser, paste


@pytest.mark.slow
def test_on_a_phone_a_tap_plays_and_a_swipe_does_not(site: tuple[str, Path], tmp_path: Path) -> None:
    bottom = "return document.querySelector('[data-testid=pass]').getBoundingClientRect().bottom"
    with open_browser(tmp_path, 390, 844, phone=True) as tab:
        tab.open(site[0])
        assert tab.script("return document.querySelector('.tg-board').clientWidth") == 390
        assert tab.script("return document.documentElement.scrollWidth") == 390
        assert tab.script(bottom) < 844
        mine = lambda: "Black to play" in tab.status()  # noqa: E731
        tab.until(mine)
        tab.script("window.addEventListener('scrollend', () => (window.scrolledTo ??= window.scrollY))")
        finger(tab, [(200, 420), (200, 360), (200, 300)])  # scrolls
        tab.until(lambda: tab.script("return window.scrolledTo"))  # a page that still moves lies elsewhere at each tap
        tab.script("window.scrollTo(0, 0)")
        finger(tab, [(100, 300), (160, 300), (260, 300)])  # to the side
        finger(tab, [(100, 250)], second=(300, 400))
        assert not tab.stones()
        finger(tab, [(195, 330)])
        tab.until(lambda: len(tab.stones()) == 2 and mine())
        assert tab.stones()[40] == "B"
        aims = lambda: tab.driver.find_elements("css selector", ".tg-cross")  # noqa: E731
        finger(tab, [(60, 300), (60, 300), (160, 250)], until=aims)  # rests, then slides to the crossing
        tab.until(lambda: len(tab.stones()) == 4 and mine())
        tab.click("analysis")
        tab.until(lambda: tab.script("return document.querySelectorAll('.tg-candidate').length") == 5)
        place = """
        const graph = document.querySelector(".tg-graph svg");
        graph.scrollIntoView({ block: "center" });
        const box = graph.getBoundingClientRect();
        return [box.left + 20, box.top + 60].map(Math.round);
        """
        left, height = tab.script(place)  # type: ignore[misc]
        tab.script("window.scrolledTo = undefined")
        finger(tab, [(left, height), (left, height + 60), (left, height + 120)])  # scrolls up: the page may end here
        tab.until(lambda: tab.script("return window.scrolledTo !== undefined"))
        tab.click("back")
        tab.until(lambda: "move 4 / 4" not in tab.text())
        assert "move 3 / 4" in tab.text()
        left, height = tab.script(place)  # type: ignore[misc]
        finger(tab, [(left, height)])
        seen = "const box = document.querySelector('.tg-board').getBoundingClientRect(); return box.top > -1"
        tab.until(lambda: "move 0 / 4" in tab.text() and tab.script(seen))  # the board came back into view
        left, height = tab.script(place)  # type: ignore[misc]
        finger(tab, [(left, height), (left + 150, height), (left + 300, height)])
        tab.until(lambda: "move 4 / 4" in tab.text() and tab.script(seen))
        tab.script("document.querySelector('[data-testid=tree]').scrollIntoView({ block: 'start' })")
        tab.until(lambda: not tab.script(seen))
        tab.script("document.querySelector('.tg-tree-node').dispatchEvent(new MouseEvent('click'))")
        tab.until(lambda: "move 0 / 4" in tab.text() and tab.script(seen))
    with open_browser(tmp_path / "landscape", 844, 390, phone=True) as tab:
        tab.open(site[0])
        edges = "return ['board', 'pass', 'new-game'].map((name) => document.querySelector(`[data-testid=${name}]`)"
        board, passing, new = tab.script(edges + ".getBoundingClientRect()).map((box) => box.bottom)")  # type: ignore[misc]
        assert board <= 390 and passing < 390 and new < 60
        assert tab.script("return document.documentElement.scrollWidth") == 844


@pytest.mark.slow
def test_on_a_phone_what_comes_up_is_scrolled_into_view_and_variations_can_be_seen(
    site: tuple[str, Path], tmp_path: Path
) -> None:
    middle = """
    const box = document.querySelectorAll(arguments[0])[arguments[1]].getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2].map(Math.round);
    """
    height = """
    const card = document.querySelector("[data-testid=player-white]");
    card.querySelector(".tg-activity").textContent = arguments[0];
    return card.offsetHeight;
    """
    lines = lambda: len(tab.driver.find_elements("css selector", ".tg-line"))  # noqa: E731
    ghosts = lambda: tab.driver.find_elements("css selector", ".tg-ghost")  # noqa: E731
    with open_browser(tmp_path, 390, 664, phone=True) as tab:
        tab.open(site[0])
        assert tab.script(height, "thinking") == tab.script(height, ""), "the board below stays where it is"
        tab.click("teach")
        tab.script("window.scrollTo(0, 0)")
        finger(tab, [(195, 330)])
        tab.until(lambda: "was better" in tab.text())
        tab.until(lambda: tab.script(IN_VIEW, "warning"))
        tab.click("keep")
        tab.until(lambda: len(tab.stones()) == 2)
        tab.click("teach")
        paste(tab, "(;SZ[9]KM[7];B[ee];W[ec];B[gg];W[ce])")
        tab.click("ask-leave-leave")
        tab.until(lambda: "move 0 / 4" in tab.text())
        tab.click("last")
        tab.click("analysis")
        tab.until(lambda: len(tab.driver.find_elements("css selector", ".tg-candidate")) == 5)
        tab.script("window.scrollTo(0, 0)")
        left, top = tab.script(middle, ".tg-candidate circle", 2)  # type: ignore[misc]
        finger(tab, [(left, top), (left, 600)], until=lambda: lines() > 1 and not ghosts())
        tab.until(lambda: lines() == 0)
        assert len(tab.stones()) == 4, "the finger left the board"
        for taps, (shown, stones) in enumerate(((2, 4), (0, 5))):
            tab.script("document.querySelectorAll('button.tg-move')[1].scrollIntoView({ block: 'center' })")
            tab.until(lambda: tab.script(middle, "button.tg-move", 1) == tab.script(middle, "button.tg-move", 1))
            finger(tab, [tuple(tab.script(middle, "button.tg-move", 1))])  # type: ignore[list-item,arg-type]
            tab.until(lambda shown=shown, stones=stones: lines() >= shown and len(tab.stones()) == stones, 10)
            if not taps:
                tab.until(lambda: tab.script(IN_VIEW, "board"))
        assert lines() == 0
        tab.click("analysis")
        tab.click("review")
        tab.until(lambda: "in the top five" in tab.text())
        tab.until(lambda: tab.script(IN_VIEW, "review-result"))


@pytest.mark.slow
def test_on_a_phone_the_count_leaves_the_buttons_in_view_and_a_turned_glass_cuts_no_comment(
    site: tuple[str, Path], tmp_path: Path
) -> None:
    def bottom(name: str) -> float:
        return float(tab.find(name).rect["y"] + tab.find(name).rect["height"])

    def resize(width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": True}
        tab.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    box = "const field = document.querySelector('.tg-comment textarea');"
    with open_browser(tmp_path, 820, 1180, phone=True) as tab:
        tab.open(site[0])
        comment = "The lines of this comment get shorter where the glass is turned." * 5
        paste(tab, f"(;SZ[9]KM[7]PB[Ann];B[ee]C[{comment}];W[ec]C[{comment}];B[];W[])")
        tab.until(lambda: "Ann" in tab.text())
        tab.click("forward")
        tab.until(lambda: tab.find("comment").get_property("value") == comment)
        resize(1180, 820)
        scrolled = f"{box} field.scrollTop = 1e4; return field.scrollTop && getComputedStyle(field).overflowY"
        tab.until(lambda: tab.script(scrolled) == "auto")
        tab.click("forward")
        tab.until(lambda: "move 2 / 4" in tab.text() and tab.script(f"{box} return field.scrollTop") == 0)
        for width, height in ((390, 664), (393, 660), (360, 640), (667, 375)):
            resize(width, height)
            if width == 390:
                tab.click("last")
                tab.until(lambda: "as counted" in tab.status() and "territory" in tab.find("count").text)
            tab.script("window.scrollTo(0, 0)")
            tab.until(lambda height=height: bottom("accept") < height and bottom("accept") < bottom("count"))


@pytest.mark.slow
def test_nothing_overflows_at_any_width(site: tuple[str, Path], tmp_path: Path) -> None:
    overflow = """
    const box = (one) => one.getBoundingClientRect();
    const wide = (one) => one.checkVisibility() && (box(one).left < -1 || box(one).right > window.innerWidth + 1);
    const found = [...document.querySelectorAll("[data-testid], .q-dialog .q-card *")].filter(wide);
    const apart = (one, other) => box(one).right < box(other).left + 1 || box(one).bottom < box(other).top + 1;
    for (const heading of document.querySelectorAll(".tg-row > .tg-heading, .tg-nav-where")) {
      const [text, next] = [document.createRange(), heading.nextElementSibling];
      text.selectNodeContents(heading);
      if (heading.checkVisibility() && !apart(text, next)) found.push(heading);
    }
    found.push(...[...document.querySelectorAll(".tg-nav-where")].filter((one) => one.offsetHeight > 30));
    const [top, stage] = ["[data-testid=new-game]", ".tg-stage"].map((name) => document.querySelector(name));
    if (!apart(top, stage) && !apart(stage, top)) found.push(top);
    const cut = (one) => one.scrollWidth > one.clientWidth;
    found.push(...[...document.querySelectorAll(".tg-pair, .tg-pair .ellipsis")].filter(cut));
    for (const line of document.querySelectorAll(".tg-parts > *")) {
      for (const word of line.textContent.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(line.firstChild, word.index);
        range.setEnd(line.firstChild, word.index + word[0].length);
        if (range.getClientRects().length > 1) found.push(line);
      }
    }
    const below = (one) => box(one).bottom > box(one.closest(".tg-dialog")).bottom;
    found.push(...[...document.querySelectorAll(".tg-dialog > :last-child .q-btn")].filter(below));
    return [document.documentElement.scrollWidth, ...found.map((one) => one.outerHTML.slice(0, 80))];
    """
    with open_browser(tmp_path) as tab:
        tab.open(site[0])
        tab.click("analysis")
        for dialog in ("", "new-game", "open", "preferences"):
            if dialog:
                tab.click(dialog)
            if dialog == "new-game":
                tab.press("new-game-dialog", "Watch")
                tab.choose("white", "Other network")
                tab.choose("time", "60 min")
            sizes = (1400, 900), (1024, 768), (360, 740), (320, 568), (667, 375), (568, 320), (700, 450), (740, 520)
            for width, height in sizes:
                size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700}
                tab.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
                tab.until(lambda width=width: tab.script(overflow) == [width])
            if dialog:
                tab.driver.switch_to.active_element.send_keys("\ue00c")  # Escape
                tab.until(lambda: not tab.driver.find_elements("css selector", ".q-dialog__inner"))
