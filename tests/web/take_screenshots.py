"""Takes the pictures of the page in docs/images: `python tests/web/take_screenshots.py [NETWORK]`.

The pictures show the real engine on a game that it has just played against itself, so they change with the network.
With `icons` in the place of the network it draws the icons of the app instead.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from web_browser import ROOT, Tab, missing, open_browser, server

from tengen.engine import Limits, SearchResult, Style
from tengen.web.engine import Engines
from tengen.web.language import COOKIE, LANGUAGES
from tengen.web.players import PEOPLE
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings

if TYPE_CHECKING:
    from PIL import Image

    from tengen.game import Game

STATIC = ROOT / "src" / "tengen" / "web" / "static"
IMAGES = ROOT / "docs" / "images"
OTHERS = [code for code in LANGUAGES if code != "en"]  # they need fonts: apt-get install fonts-noto-cjk
LIMIT = 300_000
MOVES_19, BRANCH_AT = 110, 60
SECONDS = 4.0
PROGRAM = ("--program", "GNU Go=gnugo --mode gtp --level 5 --chinese-rules")


def main(network: str) -> None:
    """Write all pictures; a picture of more than 300 KB is an error."""
    if why := missing():
        raise SystemExit(why)
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "middle.sgf").write_bytes(middle_game(network))
        (folder / "end.sgf").write_bytes(finished_game(network))
        with server("-m", "tengen", "play", "--net", network, *PROGRAM, "--port", log=folder / "log.txt") as (_, url):
            with open_browser(folder / "wide") as tab:
                wide(tab, url, folder)
            with open_browser(folder / "narrow", 390, 844, scale=1.5, phone=True) as tab:
                narrow(tab, url, folder)
            for code in OTHERS:
                with open_browser(folder / code, 1024, 768) as tab:
                    translated(tab, url, folder, code)
    for picture in sorted(IMAGES.glob("*.png")):
        size = shrink(picture)
        print(f"{picture.relative_to(ROOT)}: {size // 1000} KB")
        if size > LIMIT:
            raise SystemExit(f"{picture} is larger than {LIMIT // 1000} KB")


def draw_icons() -> None:
    """Write the icons of the app from icon.svg; the maskable ones are whole squares, of which a system cuts corners."""
    source = (STATIC / "icon.svg").read_text(encoding="utf-8")
    page = "data:text/html;charset=utf-8,"
    look = "<style>body { margin: 0; background: none } svg { display: block; width: %dpx }</style>"
    with tempfile.TemporaryDirectory() as name, open_browser(Path(name), 600, 600) as tab:
        color = {"color": {"r": 0, "g": 0, "b": 0, "a": 0}}
        tab.driver.execute_cdp_cmd("Emulation.setDefaultBackgroundColorOverride", color)
        for kind, drawing in (("icon", source), ("maskable", source.replace(' rx="7"', ""))):
            for edge in (192, 512):
                tab.driver.get(page + quote(look % edge + drawing))
                clip = {"x": 0, "y": 0, "width": edge, "height": edge, "scale": 1}
                taken = tab.driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip})
                (STATIC / "icons" / f"{kind}-{edge}.png").write_bytes(b64decode(taken["data"]))


def middle_game(network: str) -> bytes:
    """A game of the engine's against itself up to the middle, with a variation, every position analyzed."""
    while True:
        session = GameSession(GameSettings(players=PEOPLE))
        play_on(session, network, MOVES_19, Limits(visits=8))
        found = think(Engines(network)(), session.game, Limits(visits=400))
        several = sum(move.visits >= 20 for move in found.candidates) >= 4
        if several and 0.2 < found.winrate < 0.8:  # a picture of a forced move or of a decided game shows little
            break
    session.seek(BRANCH_AT)
    first = session.game.moves[-1][1]
    session.step(-1)
    session.play(next(point for point in session.game.legal_points() if point != first))
    play_on(session, network, 4, Limits(visits=8))
    return session.to_sgf()


def finished_game(network: str) -> bytes:
    """A 13x13 game of the engine's against itself, to the two passes at its end."""
    session = GameSession(GameSettings(size=13, players=PEOPLE))
    play_on(session, network, 400, Limits(visits=8))
    return session.to_sgf()


def play_on(session: GameSession, network: str, moves: int, limits: Limits) -> None:
    """Let the engine play both colors for so many moves, or to the end."""
    engine = Engines(network)()
    engine.style = Style(resign=False)
    for _ in range(moves):
        if session.game.is_over:
            return
        session.play(think(engine, session.game, limits).move)


def think(engine: object, game: Game, limits: Limits) -> SearchResult:
    """What the engine finds in a position."""
    engine.set_position(game)  # type: ignore[attr-defined]
    return engine.think(limits)  # type: ignore[attr-defined,no-any-return]


def wide(tab: Tab, url: str, folder: Path) -> None:
    """The pictures of a desktop: a game, its analysis light and dark, the count, the dialogs, a GTP program."""
    tab.open(url)
    upload(tab, folder / "middle.sgf", MOVES_19)
    snap(tab, "board")
    review(tab)
    for _ in range(2):  # the review has turned it on: a person who does searches its positions too
        tab.click("analysis")
    pause(SECONDS)
    snap(tab, "analysis")
    tab.click("dark")
    tab.until(lambda: "body--dark" in str(tab.css("body").get_attribute("class")))
    snap(tab, "dark")
    tab.click("dark")
    tab.until(lambda: "body--dark" not in str(tab.css("body").get_attribute("class")))
    tab.click("analysis")
    pause(SECONDS)
    edit(tab)
    upload(tab, folder / "end.sgf", None)
    tab.until(lambda: "as counted" in tab.status() and "Tap a group" in tab.text())
    snap(tab, "count", wait=7.0)  # the note of the last pass has gone
    tab.click("new-game")
    tab.press("new-game-dialog", "9")
    snap(tab, "new-game")
    program(tab)
    players(tab)
    tab.reload()
    tab.css("body").send_keys("?")
    snap(tab, "shortcuts")


def program(tab: Tab) -> None:
    """The picture of a game on the clock with a GTP program."""
    tab.choose("level", "GNU Go")
    tab.choose("time", "5 min")
    tab.press("new-game-dialog", "Start")
    tab.until(lambda: "GNU Go" in tab.find("player-white").text)
    for point in (20, 60, 56, 24, 40, 38, 48):
        if point not in tab.stones():
            tab.tap(point)
            tab.until(lambda: tab.status() == "White to play")
            tab.until(lambda: tab.status() == "Black to play", 120)
    snap(tab, "program")


def players(tab: Tab) -> None:
    """The picture of the dialog for two engines."""
    tab.click("new-game")
    tab.press("new-game-dialog", "Watch")
    tab.choose("black", "Level 6")
    tab.choose("white", "Other network")
    tab.choose("white-network", "zero-9x9")
    snap(tab, "players")


def edit(tab: Tab) -> None:
    """The picture of the editor, with some marks."""
    tab.click("edit")
    for tool, points in (("letter", (72, 74, 110)), ("triangle", (288,)), ("square", (300,)), ("circle", (180,))):
        tab.click(f"tool-{tool}")
        for point in points:
            tab.tap(point, 19)
    snap(tab, "edit")
    tab.click("edit")


def narrow(tab: Tab, url: str, folder: Path) -> None:
    """The picture of a phone."""
    tab.open(url)
    upload(tab, folder / "middle.sgf", MOVES_19)
    tab.click("analysis")
    snap(tab, "phone", SECONDS)


def translated(tab: Tab, url: str, folder: Path, code: str) -> None:
    """The picture of a language, on a tablet: the analysis of a game."""
    tab.open(url)
    tab.driver.add_cookie({"name": COOKIE, "value": code})
    tab.reload()
    upload(tab, folder / "middle.sgf", MOVES_19)
    tab.click("analysis")
    snap(tab, code.partition("_")[0], SECONDS)


def review(tab: Tab) -> None:
    """Review the whole game."""
    tab.click("review")
    tab.until(lambda: "Stop review" in tab.text() or "in the top five" in tab.text())
    tab.until(lambda: "in the top five" in tab.text(), 600)


def upload(tab: Tab, path: Path, moves: int | None) -> None:
    """Open a record, and go to a move of it or to its end."""
    tab.click("open")
    tab.css("input[type=file]").send_keys(str(path))
    tab.until(lambda: re.search(r"\b0 /", tab.find("where").text))
    tab.click("last")
    tab.until(lambda: not re.search(r"\b0 /", tab.find("where").text))
    if moves is not None:
        tab.until(lambda: f"{moves} /" in tab.find("where").text)


def snap(tab: Tab, name: str, wait: float = 1.2) -> None:
    """Keep what the tab shows, when all has settled."""
    tab.script("document.activeElement?.blur(); window.scrollTo(0, 0)")
    tab.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": 2, "y": 400})
    pause(wait)
    tab.driver.save_screenshot(str(IMAGES / f"{name}.png"))


def pause(seconds: float) -> None:
    """Give the page time to move."""
    time.sleep(seconds)


def shrink(picture: Path) -> int:
    """As few colors as it takes for the picture to fit; its size in bytes."""
    from PIL import Image

    original = Image.open(picture).convert("RGB")
    for colors in (256, 192, 128, 96):
        if picture.stat().st_size <= LIMIT:
            break
        original.quantize(palette=palette_of(original, colors), dither=Image.Dither.NONE).save(picture, optimize=True)
    return picture.stat().st_size


def palette_of(image: Image.Image, colors: int) -> Image.Image:
    """A fair palette: half of it by the pixels, most of which are wood, half with every shade counted once."""
    from PIL import Image

    seen = image.getcolors(image.width * image.height) or []
    shades = sorted({(r & 0xF8, g & 0xF8, b & 0xF8) for _, (r, g, b) in seen})
    every = Image.new("RGB", (len(shades), 1))
    every.putdata(shades)
    palette = Image.new("P", (1, 1))
    halves = [part.quantize(colors // 2).getpalette()[: 3 * (colors // 2)] for part in (image, every)]
    palette.putpalette(halves[0] + halves[1])
    return palette


if __name__ == "__main__":
    if sys.argv[1:] == ["icons"]:
        draw_icons()
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else "default")
