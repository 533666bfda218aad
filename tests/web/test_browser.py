"""The page in a real browser: played, taken back, analyzed, counted, saved and loaded, with a fake engine behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
from web_browser import IN_VIEW, Tab, analyze, open_browser, paste, server, upload

HERE = Path(__file__).parent

HOSTILE = b"""(;GM[1]SZ[9]KM[7.5]PB[<script>window.hacked=1</script>]PW["><img src=x onerror="window.hacked=2">]
C[<script>window.hacked=3</script><b>bold</b> {{7*191}}]
;B[dd]C[<img src=x onerror=window.hacked=4>](;W[ff])(;W[gg]C[javascript:window.hacked=5]))"""


@pytest.mark.slow
def test_a_refused_tap_is_crossed_out_once(tab: Tab) -> None:
    """Later moves, which send all properties again, do not show the cross again."""
    tab.tap(40)
    tab.until(lambda: len(tab.stones()) == 2)
    count = """
    window.crosses = 0;
    new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach((node) => {
      if (node.classList?.contains("tg-refused")) window.crosses++;
    }))).observe(document.body, { childList: true, subtree: true });
    """
    tab.script(count)
    tab.tap(40)
    tab.until(lambda: tab.script("return window.crosses") == 1)
    tab.until(lambda: not tab.driver.find_elements("css selector", ".tg-refused"))
    for point, stones in ((41, 4), (42, 6)):
        tab.tap(point)
        tab.until(lambda stones=stones: len(tab.stones()) == stones)
    assert tab.script("return window.crosses") == 1


@pytest.mark.slow
def test_a_browser_that_is_busy_gets_no_more_drawings_of_a_search_than_it_can_draw(tab: Tab) -> None:
    """The answer to its next tap comes after them."""
    count = "window.asked = 0; window.socket.onAny((_, sent) => { if (sent.code?.includes('tellDrawn')) asked++; })"
    tab.script(count)
    tab.click("analysis")
    tab.until(lambda: tab.script("return window.asked") >= 5)  # type: ignore[operator]
    block = """
    const before = window.asked;
    for (const end = performance.now() + 3000; performance.now() < end; ) {}
    return new Promise((done) => setTimeout(() => done(window.asked - before), 300));
    """
    assert tab.script(block) <= 4, "of the 15 in this time"  # type: ignore[operator]
    tab.click("analysis")


@pytest.mark.slow
def test_a_loaded_record_is_reviewed_by_one_button(tab: Tab, tmp_path: Path) -> None:
    record = tmp_path / "game.sgf"
    record.write_text("(;SZ[9]KM[7]PB[Ann]PW[Bo]DT[2024-05-06];B[ee];W[ec];B[aa];W[ce])")
    upload(tab, record)
    tab.until(lambda: "move 0 / 4" in tab.text())
    tab.click("review")
    tab.until(lambda: "in the top five" in tab.text(), 60)
    assert "Ann" in tab.text() and "Stop review" not in tab.text()
    tab.until(lambda: tab.script(IN_VIEW, "review-result"))
    place = lambda: tab.script("return document.querySelector('.tg-board').getBoundingClientRect().top")  # noqa: E731
    tab.script("document.querySelector('[data-testid=tree]').scrollIntoView({ block: 'end' })")
    tab.until(lambda: tab.script("return window.scrollY") > 100 and place() > 0)  # type: ignore[operator]
    tab.script("[...document.querySelectorAll('.tg-tree-node')].at(-1).dispatchEvent(new MouseEvent('click'))")
    tab.until(lambda: "move 4 / 4" in tab.text())
    assert place() > 0, "the board stays in view"  # type: ignore[operator]


@pytest.mark.slow
def test_a_new_player_is_offered_a_gentle_game_whose_level_follows_the_results(tab: Tab) -> None:
    tab.script("localStorage.clear(); location.reload()")
    tab.until(lambda: "New here? Begin on 9x9" in tab.text())
    tab.click("welcome-play")
    tab.until(lambda: "Level 2" in tab.find("player-white").text)
    assert not tab.find("welcome").is_displayed()
    tab.tap(40)
    tab.until(lambda: len(tab.stones()) == 2)
    tab.click("resign")
    tab.click("ask-resign-resign")
    tab.until(lambda: "Next opponent: Level 1" in tab.text())
    tab.click("rematch")
    tab.until(lambda: "Level 1" in tab.find("player-white").text)
    kept = tab.until(lambda: tab.script("return JSON.parse(localStorage.getItem('tengen'))?.levels['9']"))
    assert kept == {"number": 1, "step": 2, "won": False}


@pytest.mark.slow
def test_the_teacher_warns_shows_the_refutation_and_takes_the_move_back(tab: Tab) -> None:
    """The fake engine holds that every move loses 5 points and that A9 is best, or what is left near it."""
    assert tab.script("return localStorage.getItem('tengen')?.includes('[true')") is not True
    tab.click("teach")
    tab.tap(40)
    tab.until(lambda: "E5 loses about 5.0 points. A9 was better." in tab.text())
    assert len(tab.stones()) == 1
    tab.click("refutation")
    tab.until(lambda: len(tab.driver.find_elements("css selector", ".tg-line")) > 1)
    tab.click("warning-take-back")
    tab.until(lambda: not tab.stones() and not tab.find("warning").is_displayed())
    assert not tab.driver.find_elements("css selector", ".tg-line")
    tab.tap(40)
    tab.click("keep")
    tab.until(lambda: tab.stones() == {40: "B", 0: "W"})
    tab.click("teach")
    tab.tap(41)
    tab.until(lambda: len(tab.stones()) == 4)


@pytest.mark.slow
def test_hint_policy_and_estimate_are_shown_on_demand(tab: Tab) -> None:
    tab.click("ask-hint")
    tab.until(lambda: len(tab.driver.find_elements("css selector", ".tg-hint")) == 1)
    tab.click("policy")
    tab.until(lambda: len(tab.driver.find_elements("css selector", ".tg-policy")) == 81)
    tab.click("analysis")
    tab.until(lambda: "visits" in tab.find("searched").text)
    found = lambda: tab.driver.find_elements("css selector", ".tg-candidate, .tg-owned")  # noqa: E731
    assert not found(), "the policy is shown by itself"
    tab.click("policy")
    tab.until(found)
    tab.click("analysis")
    tab.until(lambda: not tab.driver.find_elements("css selector", ".tg-policy"))
    tab.click("estimate")
    tab.until(lambda: "White: stones 0 + territory 0 + komi 7.5 = 7.5" in tab.text())
    tab.tap(40)
    tab.until(lambda: len(tab.stones()) == 2)
    assert not tab.driver.find_elements("css selector", ".tg-hint") and "territory" not in tab.text()


@pytest.mark.slow
def test_the_estimate_draws_who_has_each_point_and_the_dead_stones(tab: Tab) -> None:
    drawn = "return ['.tg-owned', '.tg-stone.tg-dead'].map((one) => document.querySelectorAll(one).length)"
    paste(tab, "(;SZ[5]KM[7]PB[Ann]AB[ab][bb][cb][db][eb][ad][bd][cd][dd][ed]AW[aa];B[cc])")  # all is Black's
    tab.until(lambda: "Ann" in tab.text())
    for squares, dead in ((15, 1), (0, 0)):
        tab.click("estimate")
        tab.until(lambda expected=[squares, dead]: tab.script(drawn) == expected)


def test_a_game_is_played_taken_back_analyzed_saved_and_loaded(tab: Tab, folder: Path) -> None:
    tab.tap(40)
    tab.until(lambda: tab.stones() == {40: "B", 0: "W"})
    tab.tap(41)
    tab.until(lambda: tab.stones() == {40: "B", 0: "W", 41: "B", 1: "W"})

    tab.click("take-back")
    tab.until(lambda: tab.stones() == {40: "B", 0: "W"})
    assert tab.status() == "Black to play"

    tab.click("analysis")
    tab.until(lambda: len(tab.driver.find_elements("css selector", ".tg-candidate")) == 5)
    tab.until(lambda: "60.0%" in tab.text() and "+2.5" in tab.text() and "1,000 visits" in tab.text())
    tab.until(lambda: len(tab.driver.find_elements("css selector", ".tg-owned")) > 60)
    tab.click("analysis")
    tab.until(lambda: not tab.driver.find_elements("css selector", ".tg-candidate"))

    tab.click("save")
    tab.click("ask-save-game")  # it says that the analysis is not in the record
    saved = tab.until(lambda: next(folder.glob("20??-??-?? * - *.sgf"), None))
    text = saved.read_text(encoding="utf-8")
    assert "B[ee]" in text and "W[aa]" in text and "SZ[9]" in text

    analyze(tab, leaving=True)
    tab.until(lambda: tab.stones() == {})
    upload(tab, saved)
    tab.until(lambda: "move 0 / 2" in tab.text())
    tab.click("last")
    tab.until(lambda: tab.stones() == {40: "B", 0: "W"})
    saved.unlink()


@pytest.mark.slow
def test_the_graph_stays_where_it_is_while_the_search_of_another_move_begins(tab: Tab) -> None:
    """A finger on the graph would otherwise seek on what has moved there."""
    analyze(tab)
    for point, count in ((10, 1), (20, 2), (30, 3)):
        tab.tap(point)
        tab.until(lambda count=count: len(tab.stones()) == count)
    tab.click("analysis")
    found = lambda: len(tab.driver.find_elements("css selector", ".tg-candidate")) == 5  # noqa: E731
    tab.until(found)
    tab.script(
        """
        const frame = document.querySelector(".tg-graph");
        window.places = [];
        const watch = () => {
          window.places.push(frame.getBoundingClientRect().top + window.scrollY);
          requestAnimationFrame(watch);
        };
        watch();
        """
    )
    for move in (2, 1):
        tab.click("back")
        tab.until(lambda move=move: f"move {move} / 3" in tab.text() and found())
    places = set(tab.script("return window.places"))  # type: ignore[arg-type]
    assert len(places) == 1, places


@pytest.mark.slow
def test_keys_and_graph_go_through_the_game_and_another_move_makes_a_branch(tab: Tab) -> None:
    from selenium.webdriver import ActionChains, Keys

    analyze(tab)
    for point, count in ((10, 1), (20, 2), (30, 3)):
        tab.tap(point)
        tab.until(lambda count=count: len(tab.stones()) == count)
    body = tab.css("body")
    kept = "window.scrolls = 0; window.addEventListener('keydown', (e) => (window.scrolls += !e.defaultPrevented))"
    tab.script(kept)
    for keys, count in (
        (Keys.ARROW_LEFT, 2),
        (Keys.HOME, 0),
        (Keys.ARROW_RIGHT, 1),
        (Keys.END, 3),
        (Keys.ARROW_LEFT, 2),
    ):
        body.send_keys(keys)
        tab.until(lambda count=count: len(tab.stones()) == count)
    assert tab.script("return window.scrolls") == 0, "the page scrolls by no key of the game"
    tab.tap(50)
    tab.until(lambda: tab.stones() == {10: "B", 20: "W", 50: "B"})
    assert len(tab.driver.find_elements("css selector", ".tg-tree-node")) == 5
    tab.css("body").send_keys(Keys.ARROW_DOWN)
    tab.until(lambda: tab.stones() == {10: "B", 20: "W", 30: "B"})
    body.send_keys("a")
    graph = tab.until(lambda: next((one for one in [tab.css(".tg-graph svg")] if one.is_displayed()), None))
    tab.script("arguments[0].scrollIntoView({ block: 'center' })", graph)
    right = graph.size["width"] // 2 - 10
    mouse = ActionChains(tab.driver, duration=0)
    mouse.move_to_element_with_offset(graph, right // 3, 0).click_and_hold()
    mouse.move_to_element_with_offset(graph, -right, 0).move_by_offset(-60, 0).release()  # beside the graph
    mouse.move_to_element_with_offset(graph, right // 3, 0)  # without a button
    mouse.move_to_element_with_offset(graph, right, 0).context_click().perform()
    tab.until(lambda: "move 0 / 3" in tab.text())
    body.send_keys(Keys.ARROW_RIGHT)
    tab.until(lambda: "move 0 / 3" not in tab.text())
    assert "move 1 / 3" in tab.text()


@pytest.mark.slow
def test_an_illegal_tap_is_explained_and_changes_nothing(tab: Tab) -> None:
    analyze(tab)
    for point in (1, 80, 9, 79):
        tab.tap(point)
        tab.until(lambda point=point: point in tab.stones())
    tab.tap(40)
    tab.until(lambda: 40 in tab.stones())
    tab.tap(0)
    tab.until(lambda: "no liberty" in tab.text())
    assert 0 not in tab.stones()


@pytest.mark.slow
def test_after_two_passes_the_dead_stones_can_be_corrected(tab: Tab) -> None:
    from selenium.webdriver import ActionChains, Keys

    def keys(key: str) -> None:
        ActionChains(tab.driver).send_keys(key).perform()

    analyze(tab)
    tab.tap(40)
    tab.until(lambda: tab.stones() == {40: "B"})
    tab.click("pass")
    tab.until(lambda: "Black to play" in tab.status())
    tab.click("pass")
    tab.until(lambda: "as counted" in tab.status() and "Tap a group" in tab.text())
    before = tab.status()
    tab.tap(40)
    tab.until(lambda: tab.status() != before)
    tab.tap(40)
    tab.until(lambda: tab.status() == before)
    keys("b")  # the same by the keyboard, and what is heard
    tab.until(lambda: tab.find("said").get_property("textContent").startswith("E5"))  # the key goes by the server
    said = tab.find("said").get_property("textContent")
    assert said in ("E5, Black", "E5, Black, dead")
    keys(Keys.ENTER)
    other = "E5, Black" if said.endswith("dead") else "E5, Black, dead"
    tab.until(lambda: tab.find("said").get_property("textContent") == other and tab.status() != before)
    keys(Keys.ENTER)
    tab.until(lambda: tab.find("said").get_property("textContent") == said and tab.status() == before)
    assert tab.find("status").get_attribute("role") == "status"
    tab.click("accept")
    tab.until(lambda: tab.status() == "Black wins by 73.5")


@pytest.mark.slow
def test_two_tabs_are_two_games_and_a_reload_keeps_the_game(tab: Tab, site: tuple[str, Path]) -> None:
    driver = tab.driver
    first = driver.current_window_handle
    tab.tap(40)
    tab.until(lambda: tab.stones() == {40: "B", 0: "W"})
    driver.switch_to.new_window("tab")
    tab.open(site[0])
    assert tab.stones() == {}
    tab.tap(60)
    tab.until(lambda: tab.stones() == {60: "B", 0: "W"})
    driver.close()
    driver.switch_to.window(first)
    assert tab.stones() == {40: "B", 0: "W"}
    for event in ("beforeunload", "pagehide"):  # browsers of iOS know the second one alone
        if event == "pagehide":
            tab.script("window.onbeforeunload = null")
        tab.reload()
        tab.until(lambda: tab.stones() == {40: "B", 0: "W"})


@pytest.mark.slow
def test_closing_a_tab_ends_its_search(tab: Tab, site: tuple[str, Path]) -> None:
    url, log = site
    driver = tab.driver
    first = driver.current_window_handle
    driver.switch_to.new_window("tab")
    tab.open(url)

    def running() -> int:
        text = log.read_text(encoding="utf-8")
        return text.count("search begins") - text.count("search ends")

    assert running() == 0
    tab.click("analysis")
    tab.until(lambda: running() == 1)
    driver.close()
    driver.switch_to.window(first)
    tab.until(lambda: running() == 0)


@pytest.mark.slow
def test_a_hostile_record_stays_text(tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "hostile.sgf"
    path.write_bytes(HOSTILE)
    upload(tab, path)
    tab.until(lambda: "<script>window.hacked=1</script>" in tab.text())
    tab.click("forward")
    tab.until(lambda: tab.stones() == {30: "B"})
    tab.until(lambda: tab.find("comment").get_property("value") == "<img src=x onerror=window.hacked=4>")
    assert tab.script("return window.hacked ?? null") is None
    assert tab.driver.find_elements("css selector", "img[src=x]") == []


@pytest.mark.slow
@pytest.mark.parametrize("glass", [(1400, 900), (1280, 860)])
def test_the_comment_of_a_move_is_seen_without_scrolling(tab: Tab, glass: tuple[int, int]) -> None:
    from selenium.webdriver import Keys

    size = {"width": glass[0], "height": glass[1], "deviceScaleFactor": 1, "mobile": False}
    tab.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    comment = "\n".join(["a comment of some lines"] * 5)
    paste(tab, f"(;SZ[9]KM[7]SL[aa]PB[Ann];B[ee]N[Failure]BM[2]C[{comment}];W[ec])")
    tab.until(lambda: "Ann" in tab.text())
    tab.click("analysis")
    tab.css("body").send_keys(Keys.ARROW_RIGHT)
    tab.until(lambda: tab.find("comment").get_property("value") == comment)
    assert tab.find("remarks").text == "Failure \u00b7 Very bad move"
    bottom = "return document.querySelector('[data-testid=comment]').getBoundingClientRect().bottom"
    tab.until(lambda: float(str(tab.script(bottom))) < glass[1] and tab.script("return window.scrollY") == 0)
    assert len(tab.driver.find_elements("css selector", ".tg-tree-remark")) == 1
    assert len(tab.driver.find_elements("css selector", ".tg-tree-grade.tg-grade-4")) == 1


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"(;GM[1]SZ[52];B[aa])", bytes(range(256)) * 40])
def test_a_file_that_is_no_record_gives_a_message_and_keeps_the_game(tab: Tab, tmp_path: Path, content: bytes) -> None:
    tab.tap(40)
    tab.until(lambda: tab.stones() == {40: "B", 0: "W"})
    path = tmp_path / "bad.sgf"
    path.write_bytes(content)
    upload(tab, path)
    tab.until(lambda: "cannot be opened" in tab.text())
    assert tab.stones() == {40: "B", 0: "W"}


@pytest.mark.slow
def test_a_file_that_is_too_large_is_refused(tab: Tab, tmp_path: Path) -> None:
    path = tmp_path / "large.sgf"
    path.write_bytes(b"(;GM[1]SZ[9]C[" + b"x" * 2_100_000 + b"])")
    upload(tab, path)
    tab.until(lambda: "up to 2 MB" in tab.text())


@pytest.mark.slow
def test_a_finished_game_is_tried_on_edited_and_played_on(tab: Tab) -> None:
    tab.tap(40)
    tab.until(lambda: tab.stones() == {40: "B", 0: "W"})
    tab.click("resign")
    tab.click("ask-resign-resign")
    tab.until(lambda: tab.find("notice").text == "Black resigns" and "Rematch" in tab.text())
    for point, count in ((41, 3), (42, 4)):
        tab.tap(point)
        tab.until(lambda count=count: len(tab.stones()) == count)
    tab.click("edit")
    look = """
    const look = (name) => getComputedStyle(document.querySelector(`[data-testid=${name}] .tg-chip`)).background;
    return look("tool-" + arguments[0]) === look("player-" + arguments[0]);
    """
    assert tab.script(look, "black") and tab.script(look, "white"), "the tools show the stones, in the dark too"
    for name in ("tool-triangle", "tool-letter", "tool-white"):
        tab.click(name)
        tab.tap(60)
    tab.until(lambda: tab.stones().get(60) == "W")
    tab.click("edit-undo")
    tab.until(lambda: 60 not in tab.stones() and "A" in tab.css(".tg-markup").text)
    tab.click("edit")
    tab.click("play-on")
    tab.click("start-play-on")
    tab.until(lambda: "Analyze this game" in tab.text() and tab.status() == "Black to play")
    tab.tap(50)
    tab.until(lambda: len(tab.stones()) == 6)


@pytest.mark.slow
def test_a_record_comes_as_text_by_drop_and_from_a_collection(tab: Tab, tmp_path: Path) -> None:
    """Also under another ending, and the look of the page is remembered."""
    tab.click("dark")
    tab.until(lambda: "body--dark" in tab.css("body").get_attribute("class"))
    tab.reload()
    tab.until(lambda: "body--dark" in tab.css("body").get_attribute("class"))
    tab.click("dark")
    tab.click("open")
    tab.until(lambda: tab.find("paste").is_displayed())
    tab.find("paste").send_keys("(;SZ[9]PB[Pasted];B[ee])")
    tab.click("open-text")
    tab.until(lambda: "Pasted" in tab.text() and "move 0 / 1" in tab.text())
    drop = """
    const files = new DataTransfer();
    for (const name of ["game.sgf.txt", "another.sgf"]) files.items.add(new File([arguments[0]], name));
    window.dispatchEvent(new DragEvent("drop", { dataTransfer: files }));
    """
    tab.script(drop, "(;SZ[9]PB[Ann];B[aa])(;SZ[9]PB[Bea]HA[3];W[bb];B[cc])")
    tab.until(lambda: "Of several files only the first one is opened" in tab.text())
    tab.until(lambda: len(tab.driver.find_elements("css selector", "[data-testid=game]")) == 2)
    tab.click_css("[data-testid=game]", 1)
    tab.click("ask-handicap-fixed")
    tab.until(lambda: "Bea" in tab.text() and "Game 2 of 2" in tab.text() and len(tab.stones()) == 3)


@pytest.mark.slow
def test_a_long_record_is_opened_as_it_is_pasted_into_the_field(tab: Tab, site: tuple[str, Path]) -> None:
    """A message to the server may have a megabyte, a record two. It is in UTF-8 whatever it declares."""
    paste = """
    const data = new DataTransfer();
    const text = `(;CA[GB2312]SZ[9]PB[Long]PW[柯洁]C[${"x".repeat(1_200_000)}];B[ee])`;
    data.setData("text/plain", text);
    document.querySelector("[data-testid=paste]").dispatchEvent(
      new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    """
    tab.click("open")
    tab.find("paste")
    tab.script(paste)
    tab.until(lambda: "Long" in tab.text() and "move 0 / 1" in tab.text())
    kept = site[1].parent / "data" / "tengen" / "games"
    (data,) = tab.until(lambda: [path.read_bytes() for path in kept.glob("*Long*.sgf") if path.stat().st_size])
    assert b"CA[UTF-8]" in data and b"GB2312" not in data and "PW[柯洁]".encode() in data


@pytest.mark.slow
def test_the_graph_names_a_move_of_the_line_under_the_pointer(tab: Tab) -> None:
    from selenium.webdriver import Keys

    point = """
    const svg = document.querySelector("[data-testid=graph] svg"), box = svg?.getBoundingClientRect();
    svg?.dispatchEvent(new PointerEvent("pointermove", { clientX: box.right - 5, clientY: box.top + 5 }));
    return document.querySelector(".tg-graph-label")?.textContent ?? "";
    """

    def names(move: int) -> None:
        tab.until(lambda: str(tab.script(point)).startswith(f"move {move}"), 10)

    tab.css("body").send_keys("a")
    names(0)
    paste(tab, "(;SZ[9];B[aa];W[bb];B[cc](;W[dd];B[ee])(;W[ff]))")
    names(5)
    for key in (Keys.END, Keys.LEFT, Keys.DOWN):
        tab.css("body").send_keys(key)
    tab.until(lambda: "move 4 / 4" in tab.text())
    tab.until(lambda: tab.css(".tg-graph-label").text.startswith("move 4"), 10)


@pytest.mark.slow
def test_a_record_is_drawn_for_its_own_size(tab: Tab) -> None:
    """The page begins with a board of another size."""
    rows = "return document.querySelectorAll('.tg-candidate text').length / 5"
    tab.css("body").send_keys("a")  # a pointer on the list of moves would show a variation
    paste(tab, "(;SZ[19];B[aa])")
    tab.until(lambda: tab.script(rows) == 2)
    over = "return document.querySelector('.tg-next')?.nextElementSibling?.textContent"
    assert tab.script(over) == "60.0", "the ring of the move that follows is below the text"
    board = "getElement(document.querySelector('.tg-board').closest('[id^=c]').id.slice(1))"
    score = f"return {board}.rowsOf({{ winrate: 0.5, visits: 3, score: arguments[0] }})[1][0]"
    assert [tab.script(score, points) for points in (-9.94, -14.34)] == ["\u22129.9", "\u221214"], "a disc is small"
    rates = f"return [0.9994, 0.9995, 1].map((winrate) => {board}.rowsOf({{ winrate, visits: 3, score: null }})[0][0])"
    assert tab.script(rates) == ["99.9", "100", "100"]
    tab.css("body").send_keys("b")
    tab.until(lambda: tab.find("said").get_property("textContent") == "K10, empty")
    paste(tab, "(;SZ[9])")
    tab.until(lambda: tab.script(rows) == 3)
    assert tab.script(rates) == ["99.9", "100", "100"], "a large disc has no room for 100.0 either"
    tab.until(lambda: tab.find("said").get_property("textContent") == "E5, empty")


@pytest.mark.slow
def test_a_record_is_drawn_with_its_labels_and_numbers_and_sounds_at_each_move(tab: Tab) -> None:
    """Its first move takes a stone, so that there are as many stones as before, and follows stones that were set up."""
    tab.click("coordinates")  # browsers make no sound before a click
    tab.click("coordinates")
    sounds = """
    const start = AudioBufferSourceNode.prototype.start;
    window.sounds = 0;
    AudioBufferSourceNode.prototype.start = function () { window.sounds++; start.call(this); };
    """
    tab.script(sounds)
    paste(tab, "(;SZ[9];AB[ba][ab][cb]AW[bb]LB[ee:ABCDEFGH][gg:12][gc:WW]TW[ia][ib];B[bc];W[ii])")
    tab.until(lambda: "move 0 / 2" in tab.text() and len(tab.stones()) == 4)
    tab.css("body").send_keys("b")
    tab.until(lambda: tab.find("said").get_property("textContent") == "E5, empty, label ABCDEFGH")
    tab.css("body").send_keys("a")
    widths = "return [...document.querySelectorAll('.tg-markup text')].map((text) => text.getBBox().width)"
    assert all(width < 95 for width in tab.script(widths)), "one cell has 100"  # type: ignore[attr-defined]
    whole = "return [...document.querySelectorAll('.tg-markup title')].map((title) => title.parentNode.textContent)"
    assert tab.script(whole) == ["AB\u2026ABCDEFGH"]
    assert len(tab.driver.find_elements("css selector", ".tg-owned.tg-fill-white")) == 2, "marked territory"
    tab.click("forward")
    tab.until(lambda: tab.stones() == {1: "B", 9: "B", 11: "B", 19: "B"})
    tab.until(lambda: tab.script("return window.sounds") == 1)
    tab.until(lambda: tab.css(".tg-graph-label").text.startswith("move 1"))
    tab.until(lambda: "Black 40%" in tab.css(".tg-graph-label").text)
    shown = tab.css(".tg-graph svg").get_attribute("aria-valuetext")
    assert shown.startswith("move 1") and "Black 40%" in shown, "the point of the search, and no other, was sent"


def choose_numbers(tab: Tab, index: int) -> None:
    """Choose in the preferences which moves show their numbers."""
    tab.click("preferences")
    tab.until(lambda: tab.find("numbers").is_displayed())
    tab.script("document.querySelectorAll('[data-testid=numbers] button')[arguments[0]].click()", index)
    tab.press("preferences-dialog", "Close")
    tab.until(lambda: not tab.driver.find_elements("css selector", "[data-testid=preferences-dialog]"))


# Remembers whether any frame since the page was opened has shown what a problem hides.
SEES_VARIATIONS = """
window.seen = false;
const look = () => {
  const answers = [...document.querySelectorAll(".tg-tree, .tg-branch, .tg-next")];
  window.seen ||= answers.some((one) => one.checkVisibility({ visibilityProperty: true }));
  requestAnimationFrame(look);
};
look();
"""


@pytest.mark.slow
def test_variations_are_hidden_by_a_key_and_numbers_leave_room_for_those_of_a_variation(tab: Tab) -> None:
    def drawn(**counts: int) -> bool:
        return all(len(tab.driver.find_elements("css selector", f".tg-{name}")) == n for name, n in counts.items())

    def stored(name: str) -> object:
        return tab.script("return JSON.parse(localStorage.getItem('tengen'))[arguments[0]]", name)

    paste(tab, "(;SZ[9];B[ee];W[cc](;B[gg])(;B[gc]))")
    tab.until(lambda: "move 0 / 3" in tab.text())
    for _ in range(2):
        tab.click("forward")
    tab.until(lambda: drawn(branch=2, last=1) and tab.find("tree").is_displayed())
    for key in "va":
        tab.css("body").send_keys(key)
    tab.until(lambda: drawn(candidate=5, next=0, branch=0) and not tab.find("tree").is_displayed())
    assert stored("variations") is False
    tab.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": SEES_VARIATIONS})
    tab.reload()
    tab.until(lambda: drawn(last=1, next=0, branch=0))
    assert tab.script("return [window.seen, document.querySelectorAll('.tg-tree-node').length]") == [False, 5]
    for key in "av":
        tab.css("body").send_keys(key)
    tab.until(lambda: drawn(candidate=5, next=1, branch=2) and tab.find("tree").is_displayed())
    assert tab.css(".tg-legend-score").text.split() == ["Score", "lead", "\u00b15"]
    choose_numbers(tab, 3)
    tab.until(lambda: drawn(number=1, last=1))
    assert tab.css(".tg-number").text == "1", "a square of the ownership is on the other stone"
    assert stored("numbers") == "all"
    tab.script("document.querySelectorAll('.tg-move')[1].focus()")
    tab.until(lambda: drawn(line=4, number=0, last=1))
    choose_numbers(tab, 0)
    tab.script("document.activeElement?.blur()")
    tab.until(lambda: drawn(line=0, number=0, last=1))


# How many points of what is drawn on stones lie in the mark of the last move or on its edge.
COVERED = """
const last = document.querySelector(".tg-last"), svg = document.querySelector(".tg-board svg");
const covered = ([x, y]) => {
  const at = Object.assign(svg.createSVGPoint(), { x, y });
  return last.isPointInFill(at) || last.isPointInStroke(at);
};
const ends = (box) => [0, 1].flatMap((i) => [1, 2, 3].map((j) => [box.x + i * box.width, box.y + j * box.height / 4]));
const along = (path) => [...Array(200).keys()].map((k) => path.getPointAtLength(k * path.getTotalLength() / 200));
const points = (one) => one.tagName === "text" ? ends(one.getBBox()) : along(one).map(({ x, y }) => [x, y]);
const drawn = [...document.querySelectorAll(".tg-markup path, .tg-markup text, .tg-number")];
return [drawn.length, drawn.flatMap(points).filter(covered).length];
"""


@pytest.mark.slow
def test_the_last_move_is_marked_beside_what_is_drawn_on_its_stone(site: tuple[str, Path], tmp_path: Path) -> None:
    """On a phone, where its mark is larger."""
    from selenium.webdriver import Keys

    marks = ("TR[jj]", "SQ[jj]", "CR[jj]", "MA[jj]", "LB[jj:A]", "LB[jj:12]", "")
    with open_browser(tmp_path, 390, 844, phone=True) as tab:
        tab.open(site[0])
        choose_numbers(tab, 3)
        paste(tab, "(;SZ[19]" + "".join(f"(;B[jj]C[{n}]{mark})" for n, mark in enumerate(marks)) + ")")
        tab.until(lambda: "move 0 / 1" in tab.text())
        tab.css("body").send_keys(Keys.RIGHT)
        for n, mark in enumerate(marks):
            tab.until(lambda n=n: tab.find("comment").get_property("value") == str(n))  # type: ignore[misc]
            elements = 2 if mark and "LB" not in mark else 1
            tab.until(lambda e=elements: tab.script(COVERED) == [e, 0])  # type: ignore[misc]
            tab.css("body").send_keys(Keys.DOWN)


@pytest.mark.slow
def test_a_game_outlives_its_tab_and_its_server(tmp_path: Path) -> None:
    program, port = str(HERE / "web_server.py"), 0
    with open_browser(tmp_path / "browser") as tab:
        with server(program, log=tmp_path / "log.txt") as (process, url):
            tab.open(url)
            tab.tap(40)
            tab.until(lambda: tab.stones() == {40: "B", 0: "W"})
            process.kill()
            port = int(url.rpartition(":")[2])
            box = "return document.querySelector('{}').getBoundingClientRect().{}"
            lost = "return document.querySelector('#popup').ariaHidden === 'false'"
            tab.until(lambda: tab.script(lost))
            assert tab.script(box.format("#popup", "left")) > tab.script(box.format(".tg-board", "right"))  # type: ignore[operator]
        with server(program, log=tmp_path / "log.txt", port=port) as (_, url):
            tab.until(lambda: tab.script("return window.socket?.connected") and tab.stones() == {40: "B", 0: "W"}, 60)
            tab.tap(41)
            tab.until(lambda: tab.stones() == {40: "B", 0: "W", 41: "B", 1: "W"})
            first = tab.driver.current_window_handle
            tab.driver.switch_to.new_window("tab")
            other = tab.driver.current_window_handle
            tab.driver.switch_to.window(first)
            tab.driver.close()
            tab.driver.switch_to.window(other)
            tab.open(url)
            tab.until(lambda: "Unfinished game" in tab.text() or tab.driver.refresh(), 30)
            tab.click("offer-continue")
            tab.until(lambda: tab.stones() == {40: "B", 0: "W", 41: "B", 1: "W"})


@pytest.mark.slow
def test_the_real_engine_answers_analyzes_and_takes_a_resignation(tmp_path: Path) -> None:
    command = ("-m", "tengen", "play", "--net", "none", "--size", "5", "--visits", "16", "--port")
    with server(*command, log=tmp_path / "log.txt") as (_, url), open_browser(tmp_path) as tab:
        tab.open(url)
        tab.tap(12, 5)
        tab.until(lambda: len(tab.stones()) == 2 and tab.status() == "Black to play", 30)
        assert tab.stones()[12] == "B"
        tab.click("analysis")
        tab.until(lambda: tab.driver.find_elements("css selector", ".tg-candidate"))
        tab.click("analysis")
        tab.click("resign")
        tab.click("ask-resign-resign")
        tab.until(lambda: tab.status() == "White wins by resignation")
        assert tab.errors() == []
