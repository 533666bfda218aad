"""The server of the browser board: one page a tab, one engine a page."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import signal
import socket
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection
from copy import copy
from pathlib import Path
from types import FrameType
from weakref import WeakSet

from nicegui import Client, app, background_tasks, ui
from nicegui.server import Server
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tengen.errors import TengenError, os_reason
from tengen.machine import bind_after_others
from tengen.web.controller import MIN_MOVE_SECONDS
from tengen.web.engine import PageEngines
from tengen.web.guard import Guard, own_address
from tengen.web.language import COOKIE, TAGS, Language, _, accepted, current_language, known, use
from tengen.web.library import GameLibrary, read_kept
from tengen.web.open_dialog import MAX_SGF_BYTES
from tengen.web.page import Page
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings

_logger = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"
RECONNECT_SECONDS = 60.0
"""How long the page of a lost connection waits for its browser."""
ANSWER_SECONDS = 15.0
"""NiceGUI asks a browser for a sign of life every 0.8 of this, and drops it after 0.4 more: a busy machine is late."""
CLOSING_SECONDS = 1
"""How long the end of the server waits for requests: that of a browser without WebSockets waits for a message."""
MAX_LEFT = 30
"""Sessions that no page shows any more, and that a reload finds as they were: a reviewed game has some megabytes."""
MAX_TABS = 1000
"""Tabs whose addresses are remembered."""
MAX_POST_BYTES = MAX_SGF_BYTES + 1_000_000
"""A record that is sent, and the form around it."""
ICON = (STATIC / "icon.svg").read_text(encoding="utf-8")
PAPER = {"light": "#f3efe7", "dark": "#15171a"}  # --tg-paper in style.css
# The scripts of the page, and the page as an app. With its cookies: a page with a token refuses others.
HEAD = f"<script>{(STATIC / 'page.js').read_text(encoding='utf-8')}</script>"
HEAD += '<link rel="manifest" href="/app.webmanifest" crossorigin="use-credentials">'
HEAD += '<link rel="apple-touch-icon" href="/icons/icon-192.png">'
HEAD += "".join(
    f'<meta name="theme-color" content="{color}" media="(prefers-color-scheme: {scheme})">'
    for scheme, color in PAPER.items()
)


class SessionCache:
    """The sessions of the last tabs by the id of the tab, so that a reload finds its game again. `shown` gives those
    that a page shows, which stay."""

    def __init__(self, shown: Callable[[], Collection[GameSession]]) -> None:
        self._sessions: OrderedDict[str, GameSession] = OrderedDict()
        self._shown = shown

    def keep(self, tab: str, session: GameSession) -> None:
        """Store the session of a tab. Of those that no page shows the last MAX_LEFT are kept."""
        self._sessions[tab] = session
        self._sessions.move_to_end(tab)
        shown = self._shown()
        left = [one for one, known in self._sessions.items() if known not in shown]
        for old in left[:-MAX_LEFT]:
            del self._sessions[old]

    def find(self, tab: str) -> GameSession | None:
        """The session of this tab, None where there is none."""
        return self._sessions.get(tab)


class LanguageMiddleware:
    """ASGI middleware that sets the language of each request, and of the events of each page.

    A page keeps the one that it was made in: what was chosen in the page, else `default`, else the best one of the
    browser's settings.
    """

    def __init__(self, app: ASGIApp, default: Language | None = None) -> None:
        self.app, self._default = app, default

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] in ("http", "websocket"):
            request = HTTPConnection(scope)
            client = Client.instances.get(request.query_params.get("client_id", ""))
            chosen = known(request.cookies.get(COOKIE, "")) if client is None else known(str(client.page.language))
            use(chosen or self._default or accepted(request.headers.get("accept-language", "")) or "en")
        await self.app(scope, receive, send)


class Site:
    """The pages of a server, one a tab, and their `sessions`; `serve` says what the arguments are."""

    def __init__(
        self,
        engines: PageEngines,
        settings: GameSettings,
        min_seconds: float = MIN_MOVE_SECONDS,
        library: GameLibrary | None = None,
        record: bytes = b"",
    ) -> None:
        self._engines, self._settings, self._min_seconds = engines, settings, min_seconds
        self._library, self._record = library, record
        self.sessions = SessionCache(self._shown)
        self._pages: WeakSet[Page] = WeakSet()
        self._looking: WeakSet[Page] = WeakSet()  # for the game that their tab left
        self._addresses: OrderedDict[str, str] = OrderedDict()  # of the browsers, by the id of the tab
        if library is not None:
            library.is_shown = lambda session: session in self._shown()
            library.may_go_on = self._may_be_one

    def open(self, client: Client) -> Page:
        """Build the page of a client, in its context. Nothing holds the page when the client is deleted."""
        ui.colors(primary="#0f766e")
        ui.add_css(STATIC / "style.css")
        ui.add_head_html(HEAD)
        client.page = copy(client.page)  # all tabs share one
        client.page.language = TAGS[current_language()]
        page = Page(
            self._engines,
            self._settings,
            lambda session: self.sessions.keep(page.tab, session) if page.tab else None,
            self._min_seconds,
            self._library,
        )
        self._pages.add(page)
        client.on_connect(lambda: self._connected(client, page))
        client.on_disconnect(lambda: self._disconnected(client, page))
        client.on_delete(page.close)
        return page

    def close(self) -> None:
        """Close all pages."""
        for page in list(self._pages):
            page.close()

    def _shown(self) -> list[GameSession]:
        """The sessions that a browser shows now."""
        return [page.session for page in self._pages if page.is_connected]

    def _disconnected(self, client: Client, page: Page) -> None:
        """Let the page rest, unless its browser is back: a connection that was lost is given up seconds later."""
        if not client.has_socket_connection:
            page.rest()
            if page.is_live and page.tab and page not in self._looking:
                self.sessions.keep(page.tab, page.session)  # as the last one that was left

    def _may_be_one(self, left: str, tab: str) -> bool:
        """Whether two tabs may be of one person: of one address, or one was shown by a server before this one."""
        known = {self._addresses[one] for one in (left, tab) if one in self._addresses}
        return len(known) < 2

    def _connected(self, client: Client, page: Page) -> None:
        """Show the game of the tab, also that of a server before this one; a new tab gets the record, or an offer."""
        tab = client.tab_id
        if tab is None:
            return
        is_back = page.tab == tab
        page.tab, page.is_live = tab, True
        self._addresses[tab] = client.ip
        self._addresses.move_to_end(tab)
        if len(self._addresses) > MAX_TABS:
            self._addresses.popitem(last=False)
        for other in list(self._pages):
            if other is not page and other.tab == tab:  # it was loaded again, and the old connection is not missed yet
                other.is_live = False
                other.rest()
        background_tasks.create(page.load_preferences(), name="tengen preferences")
        if page in self._looking:
            page.wake_up()
            return
        # Other tabs may have displaced the session of a page that stayed open.
        kept = self.sessions.find(tab) or (page.session if is_back else None)
        if kept is None:
            self._looking.add(page)
            background_tasks.create(self._find_game(client, page), name="tengen kept game")
            return
        if kept is not page.session:
            page.adopt(kept)
        self.sessions.keep(tab, page.session)
        page.wake_up()
        background_tasks.create(self._offer(page), name="tengen offer")

    async def _find_game(self, client: Client, page: Page) -> None:
        """Show a new tab the game that it left, or the record of the command line. Until it is read the tab has no
        game, so that a reload looks for it again."""
        try:
            await self._resume(page)
            if page.is_live and client.has_socket_connection:
                page.wake_up()  # not before: the engine might move, and the game would not be shown
            if self._record and page.is_live and page.session.untouched:
                await page.open_record(self._record)
        finally:
            self._looking.discard(page)
        if page.is_live:
            self.sessions.keep(page.tab, page.session)
            await self._offer(page)

    async def _resume(self, page: Page) -> None:
        """Show the game that the tab left on a server before this one, unless another one has begun meanwhile."""
        library, before = self._library, page.session
        if library is None:
            return
        try:
            left = await asyncio.to_thread(library.of_tab, page.tab)
            read = None if left is None else await asyncio.to_thread(read_kept, left)
            if read is not None and page.is_live and page.session is before and before.untouched:
                page.adopt(library.take(read, page.tab))
        except TengenError:
            return  # it is still in the list, which says why it cannot be opened
        except Exception:  # the page is there all the same
            _logger.exception("the game of a tab cannot be opened")

    async def _offer(self, page: Page) -> None:
        """Offer a page without a game the last unfinished one that no page shows and that may be of the same person."""
        library = self._library
        if library is None or self._record or not page.session.untouched:
            return
        games = await asyncio.to_thread(lambda: [game for game in library.games() if game.can_go_on])
        shown = library.shown(self._shown())
        waiting = (game for game in games if game.path not in shown and self._may_be_one(game.tab, page.tab))
        if page.is_live and page.session.untouched and (game := next(waiting, None)):
            page.offer(game)


def serve(
    engines: PageEngines,
    settings: GameSettings,
    host: str,
    port: int,
    open_browser: bool = False,
    min_seconds: float = MIN_MOVE_SECONDS,
    token: str = "",
    library: GameLibrary | None = None,
    record: bytes = b"",
    language: Language | None = None,
) -> None:
    """Serve the page at http://host:port until interrupted, to browsers that know the `token` if there is one.

    `engines` is called once a page, on a thread of its own. `settings` are those of the first game of each tab, unless
    it opens with a `record`; `min_seconds` is the minimum time of an engine move. Games are kept in the `library`.
    Without a choice in the page its language is `language`, or what the browser prefers.
    Nothing that a page sends is used as a path or as markup.
    """
    app.add_middleware(LanguageMiddleware, default=language)
    app.add_middleware(Guard, token=token, port=port, max_bytes=MAX_POST_BYTES)
    app.add_static_files("/icons", STATIC / "icons")
    app.get("/app.webmanifest")(manifest)
    site = Site(engines, settings, min_seconds, library, record)

    @ui.page("/", reconnect_timeout=RECONNECT_SECONDS)
    def root() -> None:
        site.open(ui.context.client)

    app.on_shutdown(site.close)  # a second Ctrl-C skips it

    # Started after the server. Not a daemon thread: OpenVINO aborts when its thread is cut off at exit.
    warming = threading.Thread(target=_warm_up, args=(engines, settings.size), name="tengen-warm-up")
    app.on_startup(warming.start)
    logging.getLogger("uvicorn.error").addFilter(_goes_on)
    # uvicorn closes on SIGTERM and then sends it again, which by default ends the process before its programs have.
    before = signal.signal(signal.SIGTERM, _terminated)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            ui.run(
                host=host,
                port=port,
                title="Tengen",
                favicon=ICON,
                dark=None,
                reload=False,
                workers=1,  # else the variable WEB_CONCURRENCY says it, and uvicorn refuses more
                reconnect_timeout=ANSWER_SECONDS,
                timeout_graceful_shutdown=CLOSING_SECONDS,
                show=(f"/?token={token}" if token else "/") if open_browser else False,
                show_welcome_message=False,
            )
    finally:
        site.close()
        signal.signal(signal.SIGTERM, before)


def manifest() -> JSONResponse:
    """What a browser needs to install the page as an app."""
    icons = [
        {"src": f"/icons/{name}-{edge}.png", "sizes": f"{edge}x{edge}", "type": "image/png", "purpose": purpose}
        for name, purpose in (("icon", "any"), ("maskable", "maskable"))
        for edge in (192, 512)
    ]
    about = {
        "id": "/",
        "name": "Tengen",
        "short_name": "Tengen",
        "description": _("Play Go, analyze and review games"),
        "lang": TAGS[current_language()],
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": PAPER["light"],
        "theme_color": PAPER["light"],
        "icons": icons,
    }
    return JSONResponse(about, media_type="application/manifest+json")


def _goes_on(_record: logging.LogRecord) -> bool:
    """Whether the server does not end yet: uvicorn writes tracebacks of what it cuts off then."""
    return not (hasattr(Server, "instance") and Server.instance.should_exit)


def _terminated(number: int, _frame: FrameType | None) -> None:
    """End with the status that other commands have after SIGTERM."""
    sys.exit(128 + number)


def _warm_up(engines: PageEngines, size: int) -> None:
    try:
        engines.warm_up(size)
    except TengenError as error:
        _logger.warning("%s", error)  # each page reports it when it asks for a move


def free_port(host: str, port: int, tries: int) -> int:
    """The first free port of the `tries` ports from `port` on. Raises TengenError when all are in use."""
    for candidate in range(port, min(port + tries, 65_536)):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            bind_after_others(probe)
            try:
                probe.bind((host, candidate))
            except OSError as error:
                reserved = error.errno == errno.EACCES and tries > 1  # of Windows, for Hyper-V and WSL
                if error.errno == errno.EADDRINUSE or reserved:
                    continue
                reason = os_reason(error).lower()
                raise TengenError(f"cannot listen on {host}, port {candidate}: {reason}") from error
            return candidate
    if tries == 1:
        raise TengenError(f"port {port} is in use: stop the other program or choose another with --port")
    raise TengenError(f"ports {port} to {port + tries - 1} are all in use: choose another with --port")


def address(host: str, port: int, token: str = "") -> str:
    """The address to type into a browser, of another computer too where the server listens on all addresses."""
    shown = own_address() if host in ("0.0.0.0", "::", "") else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}" + (f"/?token={token}" if token else "")
