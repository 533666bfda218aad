"""A headless Chromium that looks at the page, and the server beside it."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

T = TypeVar("T")

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 60.0  # a busy machine may take as long
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
]
# Taps a point as a mouse would: its place on the glass is worked out from the drawing itself.
TAP = """
const svg = document.querySelector(".tg-board svg"), extent = svg.viewBox.baseVal.width, size = arguments[1];
const margin = (extent - (size - 1) * 100) / 2, box = svg.getBoundingClientRect();
const at = (k) => ((margin + k * 100) / extent) * box.width;
const mouse = { pointerId: 1, isPrimary: true };
const place = { clientX: box.left + at(arguments[0] % size), clientY: box.top + at(Math.floor(arguments[0] / size)) };
for (const kind of ["pointermove", "pointerdown", "pointerup"])
  svg.dispatchEvent(new PointerEvent(kind, { ...place, pointerType: "mouse", button: 0, bubbles: true, ...mouse }));
"""
# Whether an element is there and at rest: no dialog or part of the page around it moves in or out, and it lies where it
# lay when this was asked last. The browser presses and lets go where an element was, and a click that misses is lost.
AT_REST = """
const part = [...document.querySelectorAll(arguments[0])].at(arguments[1]), box = part?.getBoundingClientRect();
const place = box && [...arguments, box.x, box.y, box.width, box.height].join(), before = window.lastPlace;
window.lastPlace = place;
return !!part && place === before && !part.closest("[class*=-enter-active], [class*=-leave-active]")
  && !document.getAnimations().some((one) => one.playState === "running" && one.effect.target?.contains(part)
    && one.effect.getComputedTiming().endTime < 2000);
"""
# Whether the upper edge of an element and 120 pixels below it are on the screen.
IN_VIEW = """
const box = document.querySelector(`[data-testid=${arguments[0]}]`).getBoundingClientRect();
return box.height > 0 && box.top > -1 && Math.min(box.bottom, box.top + 120) < window.innerHeight + 1;
"""


def missing() -> str:
    """Why there can be no browser here; empty when there can."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed: pip install 'tengen[dev]'"
    if not (chromium() and shutil.which("chromedriver")):
        return "no Chromium here: apt-get install chromium chromium-driver"
    return ""


def chromium() -> str | None:
    """The browser's program."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextmanager
def open_browser(
    folder: Path, width: int = 1400, height: int = 900, scale: float = 1, phone: bool = False
) -> Iterator[Tab]:
    """A browser with an empty profile in `folder`, where its downloads go too. Without one the test is skipped."""
    if why := missing():
        pytest.skip(why)
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService

    options = ChromeOptions()
    options.binary_location = str(chromium())
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}", f"--window-size={width},{height}"):
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=ChromeService(shutil.which("chromedriver")))
    try:
        driver.set_script_timeout(PATIENCE)
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": phone}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        yield Tab(driver)
    finally:
        driver.quit()


class Tab:
    """What a test does with the page, in words of the page. Everything waits until it is so."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver

    def open(self, url: str) -> None:
        """Open the page and wait until it answers."""
        self.driver.get(url)
        self._until_it_answers()

    def reload(self) -> None:
        """Load the page again and wait until it answers."""
        self.driver.refresh()
        self._until_it_answers()

    def _until_it_answers(self) -> None:
        """A click on a page that is drawn and has no connection yet is lost."""
        self.until(lambda: self.status())
        self.until(lambda: self.script("return window.socket?.connected"))

    def script(self, code: str, *args: object) -> object:
        """What a script in the page returns."""
        return self.driver.execute_script(code, *args)

    def find(self, name: str) -> WebElement:
        """The element with this test id."""
        return self.css(f"[data-testid={name}]")

    def css(self, selector: str) -> WebElement:
        """The first element that a selector finds."""
        return self.until(lambda: next(iter(self.driver.find_elements("css selector", selector)), None))

    def click(self, name: str) -> None:
        """Click what has this test id."""
        self.click_css(f"[data-testid={name}]")

    def click_css(self, selector: str, index: int = 0) -> None:
        """Click the element of this index, -1 the last, of those that a selector finds, once it is at rest."""
        from selenium.common.exceptions import WebDriverException

        def clicked() -> bool:
            if not self.script(AT_REST, selector, index):
                return False
            try:
                self.driver.find_elements("css selector", selector)[index].click()
            except (WebDriverException, IndexError):  # something lies in front of it, or the page was drawn anew
                return False
            return True

        self.until(clicked)

    def choose(self, name: str, text: str) -> None:
        """Choose the option of a selection that contains a text."""
        code = """
        const options = [...document.querySelectorAll(".q-menu .q-item")];
        const field = document.querySelector(`[data-testid=${arguments[0]}]`)?.closest(".q-field");
        if (!options.length) field?.querySelector(".q-field__control").click();
        const found = options.find((one) => one.innerText.includes(arguments[1]));
        found?.click();
        return !!found;
        """
        self.until(lambda: self.script(code, name, text))
        self.until(lambda: not self.driver.find_elements("css selector", ".q-menu"))

    def press(self, dialog: str, text: str) -> None:
        """Press a button of a dialog, by script: a dialog moves in, and a mouse that misses it closes it."""
        button = "[...document.querySelectorAll(`[data-testid=${arguments[0]}] button`)]"
        code = f"const found = {button}.find((one) => one.innerText === arguments[1]); found?.click(); return !!found"
        self.until(lambda: self.script(code, dialog, text))

    def tap(self, point: int, size: int = 9) -> None:
        """Play or mark a point of the board."""
        self.script(TAP, point, size)

    def stones(self) -> dict[int, str]:
        """Point to color, B or W, of every stone drawn."""
        drawn = "[...document.querySelectorAll('.tg-stone')].map(s => [+s.dataset.point, +s.dataset.color ? 'W' : 'B'])"
        code = f"return {drawn}"
        return dict(self.script(code))  # type: ignore[attr-defined]

    def status(self) -> str:
        """The status line."""
        return str(self.script("return document.querySelector('[data-testid=status]')?.textContent ?? ''"))

    def text(self) -> str:
        """All text that the page shows."""
        return str(self.script("return document.body.innerText"))

    def until(self, happens: Callable[[], T], seconds: float = PATIENCE) -> T:
        """Wait for something true and return it."""
        end = time.monotonic() + seconds
        while not (found := happens()):
            if time.monotonic() > end:
                raise AssertionError(f"did not happen in {seconds:g} s; the page shows:\n{self.text()}")
            time.sleep(0.05)
        return found

    def errors(self) -> list[str]:
        """What the browser's console complained about."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


def finger(
    tab: Tab,
    way: Sequence[tuple[int, int]],
    until: Callable[[], object] = lambda: True,
    second: tuple[int, int] | None = None,
) -> None:
    """Put a finger on the glass, let it rest until something is true, move it along its way, and lift it.

    A `second` finger is put beside the first before it rests, and lifted with it.
    """

    def touch(kind: str, *points: tuple[int, int]) -> None:
        event = {"type": kind, "touchPoints": [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]}
        tab.driver.execute_cdp_cmd("Input.dispatchTouchEvent", event)

    touch("touchStart", way[0])
    if second:
        touch("touchStart", way[0], second)
    tab.until(until)
    for place in way[1:]:
        touch("touchMove", place)
    touch("touchEnd")


def paste(tab: Tab, record: str) -> None:
    """Open a record by its text."""
    tab.script(
        "const data = new DataTransfer(); data.items.add(new File([arguments[0]], 'game.sgf'));"
        "window.dispatchEvent(new DragEvent('drop', { dataTransfer: data }));",
        record,
    )


def upload(tab: Tab, path: Path) -> None:
    """Open a file as a person would: by the dialog."""
    tab.click("open")
    tab.css("input[type=file]").send_keys(str(path))


def analyze(tab: Tab, leaving: bool = False) -> None:
    """Start a 9x9 game in which both colors are a person's, perhaps `leaving` one with the engine."""
    # By script: the dialog still moves in, and a mouse that misses it closes it.
    press = """
    const dialog = document.querySelector("[data-testid=new-game-dialog]");
    const button = [...(dialog?.querySelectorAll("button") ?? [])].find((b) => b.innerText === arguments[0]);
    button?.click();
    return button?.ariaPressed === "true";
    """
    tab.click("new-game")
    tab.until(lambda: tab.script(press, "Analyze"))
    tab.script(press, "Start")
    tab.until(lambda: not tab.driver.find_elements("css selector", "[data-testid=new-game-dialog]"))
    if leaving:
        tab.click("ask-leave-leave")


def free_port() -> int:
    """A port that nobody listens on, and that no system hands out by itself before the server of the test binds it."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 100):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no free port from 20000 to 31999")


@contextmanager
def server(*command: str, log: Path, port: int = 0) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Run a Python program with a port, 0 for a free one, as its last argument; yields it and its address."""
    port = port or free_port()
    # NiceGUI serves otherwise where it sees pytest's variables.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = str(ROOT / "src")
    environment["XDG_DATA_HOME"] = str(log.parent / "data")  # where games are kept
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, *command, str(port)], stdout=out, stderr=subprocess.STDOUT, env=environment
        )
    try:
        wait_for(port, process, log)
        yield process, f"http://127.0.0.1:{port}"
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(60)


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when somebody listens on the port."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"no server on port {port}:\n{log.read_text(encoding='utf-8')}")
