"""A page without a browser, for tests of what it shows and does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from nicegui import Client, core, ui
from nicegui.page import page as nicegui_page
from starlette.requests import Request
from web_engine import FakeEngine, FakeEngines, until

from tengen.web.library import GameLibrary
from tengen.web.page import Page
from tengen.web.preferences import STORED_SCRIPT
from tengen.web.server import Site
from tengen.web.settings import GameSettings

Scene = Callable[[Page], Awaitable[None]]


def perform(
    scene: Scene,
    settings: GameSettings,
    engine: FakeEngine | None = None,
    library: GameLibrary | None = None,
    engines: FakeEngines | None = None,
) -> None:
    """Play a scene with a page that no browser shows."""
    played_by = engine or FakeEngine()

    async def run() -> None:
        core.loop = asyncio.get_running_loop()
        client = Client(nicegui_page(""), request=None)
        with client:
            page = Page(engines or FakeEngines(lambda: played_by, ""), settings, lambda session: None, 0, library)
        try:
            await asyncio.wait_for(scene(page), 60)
        finally:
            page.close()
            if not client.is_deleted:
                client.delete()

    asyncio.run(run())


async def visit(
    site: Site, tab: str, route: nicegui_page | None = None, address: str = "127.0.0.1"
) -> tuple[Client, Page]:
    """Open a page of a site in a browser's tab, which answers nothing. The socket has the name of the tab. It shows the
    game that the tab left."""
    asked = {"type": "http", "method": "GET", "scheme": "http", "server": ("127.0.0.1", 80), "path": "/"}
    request = Request({**asked, "client": (address, 50_000), "query_string": b"", "headers": []})
    client = Client(route or nicegui_page(""), request=request)
    with client:
        page = site.open(client)
    await client.handle_handshake(tab, tab, None, "document", 0)
    await until(lambda: page.is_connected)
    return client, page


def client_of(page: Page) -> Client:
    """The client that shows a page."""
    return page._board.client


def element(name: str, page: Page | None = None) -> ui.element:
    """The part of a page, of the newest one by default, that tests know by this name."""
    return _part("data-testid", name, page)


def labelled(label: str, page: Page | None = None) -> ui.element:
    """The part of a page, of the newest one by default, that a screen reader calls by this label."""
    return _part("aria-label", label, page)


def _part(prop: str, value: str, page: Page | None) -> ui.element:
    client = Client.instances[list(Client.instances)[-1]] if page is None else client_of(page)
    (found,) = [part for part in client.elements.values() if part.props.get(prop) == value]
    return found


def dialog(name: str) -> ui.dialog:
    """The dialog with the card that tests know by this name."""
    (found,) = [above for above in element(name).ancestors() if isinstance(above, ui.dialog)]
    return found


def texts(part: ui.element) -> list[str]:
    """The texts of all labels in a part of a page."""
    return [label.text for label in part.descendants() if isinstance(label, ui.label)]


def any_element(name: str) -> bool:
    """Whether a page has a part that tests know by this name."""
    return any(
        part.props.get("data-testid") == name for one in Client.instances.values() for part in one.elements.values()
    )


def is_shown(name: str) -> bool:
    part = element(name)
    return part.visible and all(above.visible for above in part.ancestors())


def press(name: str, page: Page | None = None) -> None:
    """Press a button of a page, of the newest one by default."""
    send(element(name, page), "click")


def tap(page: Page, point: int) -> None:
    """Tap a point of the board."""
    send(element("board", page), "point", {"point": point})


def key(page: Page, name: str, *modifiers: str) -> None:
    """Press a key, by the name that browsers give it, with others held, such as `ctrlKey`."""
    (keyboard,) = [part for part in client_of(page).elements.values() if isinstance(part, ui.keyboard)]
    held = {each: each in modifiers for each in ("altKey", "ctrlKey", "metaKey", "shiftKey")}
    send(keyboard, "key", {**held, "action": "keydown", "key": name, "code": name, "location": 0, "repeat": False})


def send(part: ui.element, event: str, args: object = None) -> None:
    """Let a part of the page hear an event of the browser."""
    (listener,) = [heard for heard in part._event_listeners.values() if heard.type == event and heard.handler]
    part._handle_event({"listener_id": listener.id, "args": args or {}})


def answering(stored: object = None, otherwise: object = 1000) -> Callable[..., asyncio.Future[object]]:
    """A browser that remembers this, and answers everything else, such as its width, with the same value."""

    def answer(script: str, **_: object) -> asyncio.Future[object]:
        future = asyncio.get_running_loop().create_future()
        future.set_result(stored if script == STORED_SCRIPT else otherwise)
        return future

    return answer
