"""Serves the board's page: one page a tab, one engine a page, until Ctrl-C."""

from __future__ import annotations

import contextlib
import errno
import logging
import socket
import threading
from collections import OrderedDict
from pathlib import Path
from weakref import WeakSet

from nicegui import Client, app, ui

from tengen.errors import TengenError
from tengen.web.conductor import PACE
from tengen.web.page import Page
from tengen.web.session import Session
from tengen.web.settings import GameSettings
from tengen.web.thinker import PageEngines

logger = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"
RECONNECT_SECONDS = 60.0
KEPT_SESSIONS = 100
# A file that misses the place where it may be dropped must not replace the page.
KEEP_DROPPED_FILES = (
    'for (const kind of ["dragover", "drop"]) window.addEventListener(kind, (e) => e.preventDefault());'
)
ICON = (STATIC / "icon.svg").read_text(encoding="utf-8")


class Shelf:
    """The games of the last tabs, by the id that a browser gives a tab, so that a reload does not lose its game."""

    def __init__(self, most: int = KEPT_SESSIONS) -> None:
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._most = most

    def keep(self, tab: str, session: Session) -> None:
        """Remember the game of a tab; the oldest is forgotten when there are too many."""
        self._sessions[tab] = session
        self._sessions.move_to_end(tab)
        while len(self._sessions) > self._most:
            self._sessions.popitem(last=False)

    def find(self, tab: str) -> Session | None:
        """The game that this tab has shown."""
        return self._sessions.get(tab)


def serve(
    engines: PageEngines, settings: GameSettings, host: str, port: int, open_browser: bool = False, pace: float = PACE
) -> None:
    """Serve the page at http://host:port until interrupted.

    `engines` is called once a page, on a thread of its own. `settings` are those of the first game of each tab, `pace`
    the least seconds that the engine takes for a move. Nothing that a page sends is used as a path or as markup.
    """
    shelf = Shelf()
    pages: WeakSet[Page] = WeakSet()

    @ui.page("/", reconnect_timeout=RECONNECT_SECONDS)
    def root() -> None:
        ui.colors(primary="#0f766e")
        ui.add_css(STATIC / "style.css")
        ui.add_body_html(f"<script>{KEEP_DROPPED_FILES}</script>")
        client = ui.context.client
        page = Page(
            engines, settings, lambda session: shelf.keep(client.tab_id, session) if client.tab_id else None, pace
        )
        pages.add(page)
        client.on_connect(lambda: _connected(client, page, shelf))
        client.on_disconnect(page.rest)
        client.on_delete(page.close)

    @app.on_shutdown
    def close_pages() -> None:
        for page in list(pages):
            page.close()

    # Begun when the page is served already; not a daemon, since OpenVINO aborts when its thread is cut off at the end.
    warming = threading.Thread(target=_warm_up, args=(engines, settings.size), name="tengen-warm-up")
    app.on_startup(warming.start)
    with contextlib.suppress(KeyboardInterrupt):
        ui.run(
            host=host,
            port=port,
            title="Tengen",
            favicon=ICON,
            dark=None,
            reload=False,
            show=open_browser,
            show_welcome_message=False,
        )


def _warm_up(engines: PageEngines, size: int) -> None:
    try:
        engines.warm_up(size)
    except TengenError as error:
        logger.warning("%s", error)  # and each page tells it where it asks for a move


def free_port(host: str, port: int, tries: int) -> int:
    """The first of `tries` ports from `port` on that nobody listens on; raises TengenError when there is none."""
    for candidate in range(port, min(port + tries, 65_536)):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, candidate))
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    continue
                reason = (error.strerror or str(error)).lower()
                raise TengenError(f"cannot listen on {host}, port {candidate}: {reason}") from error
            return candidate
    if tries == 1:
        raise TengenError(f"port {port} is in use: stop the other program or choose another with --port")
    raise TengenError(f"ports {port} to {port + tries - 1} are all in use: choose another with --port")


def _connected(client: Client, page: Page, shelf: Shelf) -> None:
    tab = client.tab_id
    if tab is None:
        return
    kept = shelf.find(tab)
    if kept is not None and kept is not page.session:
        page.adopt(kept)
    shelf.keep(tab, page.session)
    page.wake_up()


def address(host: str, port: int) -> str:
    """The address to type into a browser."""
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"
