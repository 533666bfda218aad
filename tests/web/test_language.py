"""The languages of the page: complete catalogues, the choice of one, and no English left in the page."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from string import Formatter

import pytest
from nicegui import ui
from web_alone import element, perform, texts
from web_browser import Tab

from tengen.web import language
from tengen.web.language import COOKIE, DOMAIN, LANGUAGES, LOCALE, TAGS, Language, accepted, known, use
from tengen.web.page import Page
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings
from tengen.web.status_text import last_move, status

babel = pytest.importorskip("babel.messages", reason="Babel is not installed: pip install 'tengen[dev]'")
from babel.messages import Catalog, Message  # noqa: E402
from babel.messages.extract import extract_from_dir  # noqa: E402
from babel.messages.mofile import read_mo, write_mo  # noqa: E402
from babel.messages.pofile import read_po  # noqa: E402

SOURCE = Path(language.__file__).parent
OTHERS = [code for code in LANGUAGES if code != "en"]
# Names, keys, units and commands that are the same everywhere.
ENGLISH = {"Tengen", "SGF", "GTP", "GNU", "Go", "Elo", "MB", "GM", "FF", "SZ", "Tromp", "Taylor", "AGA", "English"}
ENGLISH |= {"Enter", "Esc", "Shift", "Ctrl", "PgUp", "PgDn", "Home", "End"}
ENGLISH |= {"tengen", "play", "program", "Draw", "Void", "fake"}


def catalogue(code: str) -> Catalog:
    with (LOCALE / code / "LC_MESSAGES" / f"{DOMAIN}.po").open("rb") as file:
        return read_po(file, locale=code)


def messages(of: Catalog) -> dict[object, Message]:
    return {message.id if isinstance(message.id, str) else tuple(message.id): message for message in of if message.id}


def template() -> Catalog:
    with (LOCALE / f"{DOMAIN}.pot").open("rb") as file:
        return read_po(file)


def test_the_template_has_the_messages_of_the_source() -> None:
    """After a change of a text: `make messages`, then translate what is new."""
    found = {text if isinstance(text, str) else tuple(text) for _, _, text, _, _ in extract_from_dir(SOURCE)}
    assert found == set(messages(template()))


@pytest.mark.parametrize("code", OTHERS)
def test_every_message_is_translated_with_its_placeholders(code: str) -> None:
    def fields(text: str) -> set[tuple[str | None, ...]]:
        return {field[1:] for field in Formatter().parse(text) if field[1] is not None}

    translated = messages(catalogue(code))
    assert set(translated) == set(messages(template()))
    for source, message in translated.items():
        one = source if isinstance(source, str) else source[-1]  # type: ignore[index]
        texts = [message.string] if isinstance(message.string, str) else message.string
        assert all(texts) and not message.fuzzy, source
        assert all(fields(text) == fields(one) for text in texts), source
        words = re.findall("[A-Za-z]{2,}", re.sub("{.*?}", "", " ".join(texts)))
        assert set(words) <= ENGLISH, source


@pytest.mark.parametrize("code", OTHERS)
def test_the_compiled_catalogue_is_that_of_the_texts(code: str) -> None:
    compiled = BytesIO()
    write_mo(compiled, catalogue(code))
    compiled.seek(0)
    with (LOCALE / code / "LC_MESSAGES" / f"{DOMAIN}.mo").open("rb") as file:
        there = {key: message.string for key, message in messages(read_mo(file)).items()}
    assert there == {key: message.string for key, message in messages(read_mo(compiled)).items()}


@pytest.mark.parametrize("code", OTHERS)
def test_the_list_of_moves_and_the_graph_have_one_word_for_the_score_lead(code: str) -> None:
    translated = messages(catalogue(code))
    assert str(translated["Score lead"].string) in str(translated["{color} lead"].string)


def unmarked(path: Path) -> Iterator[str]:
    """Texts that the code shows to people as they are; those of the server are for the command line."""
    shows = {"label", "button", "checkbox", "notify", "tooltip", "set_text", "ask", "_failed", "_notify", "_give_up"}
    shows |= {"TengenError", "IllegalMove", "SgfError"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        shown = [*node.args[:1], *node.args[4:5]] if name in shows else []
        shown += [key.value for key in node.keywords if key.arg in ("label", "placeholder")]
        for value in shown:
            parts = value.values if isinstance(value, ast.JoinedStr) else [value]
            for part in parts:
                if isinstance(part, ast.Constant) and re.search("[A-Za-z]{3}", str(part.value)):
                    yield f"{path.name}:{node.lineno}: {part.value!r}"


def test_every_text_that_is_shown_is_marked() -> None:
    found = [text for path in sorted(SOURCE.glob("*.py")) for text in unmarked(path)]
    assert [text for text in found if "'Tengen'" not in text and not text.startswith("server.py")] == []


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("ja", "ja"),
        ("ko-KR,ko;q=0.9,en-US;q=0.8", "ko"),
        ("fr;q=1.0, zh-Hans-CN;q=0.9, en;q=0.8", "zh_CN"),
        ("zh-TW", "zh_CN"),
        ("en;q=0.4,ja;q=0.7", "ja"),
        ("ja;q=0", None),
        ("fr,de", None),
        ("", None),
        ("*;q=x,;;;," * 500, None),
    ],
)
def test_the_language_that_a_browser_prefers(header: str, code: Language | None) -> None:
    assert accepted(header) == code


def test_codes_and_tags_name_their_languages() -> None:
    assert [known(code) for code in LANGUAGES] == list(LANGUAGES) == [known(tag) for tag in TAGS.values()]
    assert known("") is None and known("../ja") is None and known("C.UTF-8") is None
    for tag in ("zh", "zh-CN", "zh_CN", "ZH-cn", "zh-Hans", "zh-Hans-CN", "zh_CN.UTF-8", "zh_CN@pinyin"):
        assert known(tag) == "zh_CN"
    assert known("en_GB.UTF-8") == "en"


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_caption_of_a_tool_is_a_part_of_its_name(code: Language) -> None:
    """It can be spoken to choose the tool."""

    async def scene(page: Page) -> None:
        tools = [part for part in element("editor", page).descendants() if isinstance(part, ui.button)]
        captions = {str(tool.props["aria-label"]).casefold(): texts(tool) for tool in tools}
        assert len(captions) == 13
        assert [name for name, (caption,) in captions.items() if caption.casefold() not in name] == []

    use(code)
    try:
        perform(scene, GameSettings(size=9))
    finally:
        use("en")


def test_a_record_keeps_the_names_of_its_players_in_their_language() -> None:
    use("ja")
    try:
        session = GameSession(GameSettings(size=9))
        session.play(40)
        assert last_move(session) == "黒がE5に着手" and status(session) == "白の番"
        assert "PB[あなた]" in session.to_sgf().decode()
    finally:
        use("en")


# Neither code nor icons, nor the names in games that were kept in another language.
SKIPPED = "script, style, .q-icon, #popup, [data-testid=offer] .tg-note, .tg-list-title"
VISIBLE = """
const texts = new Set();
for (const part of document.querySelectorAll("body *")) {
  if (!part.checkVisibility({ visibilityProperty: true }) || part.closest(arguments[0])) continue;
  for (const name of ["aria-label", "placeholder", "title", "aria-valuetext"]) texts.add(part.getAttribute(name) ?? "");
  for (const node of part.childNodes) if (node.nodeType === 3) texts.add(node.textContent);
}
return [...texts].filter((text) => /[A-Za-z]{2}/.test(text));
"""


def check(tab: Tab, state: str) -> None:
    """No English word in what the page shows."""
    words = {word for text in tab.script(VISIBLE, SKIPPED) for word in re.findall("[A-Za-z]{2,}", str(text))}  # type: ignore[attr-defined]
    assert words <= ENGLISH, f"{state}: {sorted(words - ENGLISH)}"


# A text that is in no catalogue is English in all languages, so that one of them shows it.
@pytest.mark.slow
def test_no_english_is_left_in_the_page(tab: Tab, tmp_path: Path) -> None:
    from selenium.webdriver import Keys

    tab.driver.execute_cdp_cmd("Network.enable", {})
    tab.driver.execute_cdp_cmd("Network.setExtraHTTPHeaders", {"headers": {"Accept-Language": TAGS["ko"]}})
    tab.script("localStorage.clear(); sessionStorage.clear(); location.reload()")
    tab.until(lambda: tab.css("html").get_attribute("lang") == TAGS["ko"])
    tab.until(lambda: tab.find("welcome").is_displayed())
    check(tab, "start")
    for name in ("new-game", "open", "preferences"):
        tab.click(name)
        tab.until(lambda name=name: tab.find(f"{name}-dialog").is_displayed())
        check(tab, name)
        if name == "new-game":
            tab.click("level")
            tab.until(lambda: len(tab.driver.find_elements("css selector", "[role=option]")) > 5)
            check(tab, "levels")
            tab.click_css("[role=option]", -1)
            tab.until(lambda: tab.find("level-network").is_displayed())
            check(tab, "engine with settings of its own")
            tab.script("document.querySelectorAll('[data-testid=new-game-dialog] .q-btn-toggle button')[1].click()")
            tab.until(lambda: tab.find("black").is_displayed())
            check(tab, "two engines")
        tab.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
        tab.until(lambda name=name: not tab.driver.find_elements("css selector", f"[data-testid={name}-dialog]"))
    tab.css("body").send_keys("?")
    tab.until(lambda: tab.find("shortcuts-dialog").is_displayed())
    check(tab, "shortcuts")
    tab.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    tab.until(lambda: not tab.driver.find_elements("css selector", "[data-testid=shortcuts-dialog]"))
    tab.click("teach")
    tab.tap(40)
    tab.until(lambda: tab.find("warning").is_displayed())
    check(tab, "warning")
    tab.click("keep")
    tab.click("teach")
    tab.until(lambda: len(tab.stones()) == 2)
    tab.tap(40)
    tab.until(lambda: tab.driver.find_elements("css selector", ".q-notification"))
    tab.click("estimate")
    tab.click("analysis")
    tab.until(lambda: len(tab.driver.find_elements("css selector", ".tg-candidate")) == 5)
    check(tab, "analysis")
    tab.click("analysis")
    tab.click("analysis-settings")
    tab.until(lambda: tab.find("analysis-dialog").is_displayed())
    check(tab, "settings of the analysis")
    tab.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    tab.until(lambda: not tab.driver.find_elements("css selector", "[data-testid=analysis-dialog]"))
    tab.click("new-game")
    tab.click("start-game")
    tab.until(lambda: tab.find("ask-leave").is_displayed())
    check(tab, "question")
    tab.click("ask-leave-stay")
    tab.click("resign")
    tab.until(lambda: tab.find("ask-resign").is_displayed())
    check(tab, "question before a resignation")
    tab.click("ask-resign-resign")
    tab.until(lambda: tab.find("rematch").is_displayed())
    tab.click("review-end")
    tab.until(lambda: tab.driver.find_elements("css selector", ".tg-review-name"))
    tab.click("edit")
    check(tab, "review and editor")
    tab.click("edit")
    tab.click("save")
    tab.until(lambda: tab.find("ask-save").is_displayed())
    check(tab, "save")


def fonts(tab: Tab, selector: str) -> set[str]:
    """The fonts that the browser draws a text with."""
    run = tab.driver.execute_cdp_cmd
    for domain in ("DOM", "CSS"):
        run(f"{domain}.enable", {})
    root = run("DOM.getDocument", {})["root"]["nodeId"]
    node = run("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]
    return {font["familyName"] for font in run("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]}


def has_noto() -> bool:
    lists = shutil.which("fc-list")
    return bool(lists) and "Noto Sans CJK" in subprocess.run([str(lists)], capture_output=True, text=True).stdout


@pytest.mark.slow
@pytest.mark.skipif(not has_noto(), reason="no fonts of these languages here: apt-get install fonts-noto-cjk")
@pytest.mark.parametrize(("code", "font"), [("zh_CN", "SC"), ("ja", "JP"), ("ko", "KR")])
def test_characters_have_the_forms_of_their_language(tab: Tab, code: str, font: str) -> None:
    tab.driver.add_cookie({"name": COOKIE, "value": code})
    tab.reload()
    tab.until(lambda: tab.status() and not tab.status().isascii())
    for selector in ("[data-testid=status]", "[data-testid=pass] .block"):
        assert f"Noto Sans CJK {font}" in fonts(tab, selector)
    tab.driver.delete_all_cookies()


@pytest.mark.slow
def test_the_language_is_chosen_in_the_page_and_remembered(tab: Tab) -> None:
    tab.tap(40)
    tab.until(lambda: len(tab.stones()) == 2)
    tab.click("preferences")
    tab.choose("language", "한국어")
    tab.until(lambda: tab.status() == "흑 차례" and len(tab.stones()) == 2)
    assert "따낸 돌" in tab.text() and "Level" not in tab.text()
    tab.driver.delete_all_cookies()
    tab.reload()
    tab.until(lambda: tab.status() == "흑 차례")  # the page tells the server again
    tab.script("localStorage.clear()")
    tab.driver.delete_all_cookies()
    tab.reload()
    tab.until(lambda: tab.status() == "Black to play")
