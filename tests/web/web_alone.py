"""A page without a browser, for tests of what it shows and does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from nicegui import Client, core, ui
from nicegui.page import page as nicegui_page
from starlette.requests import Request
from web_engine import FakeEngine, FakeEngines

from tengen.web.library import GameLibrary
from tengen.web.page import Page
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


async def visit(site: Site, tab: str, route: nicegui_page | None = None) -> tuple[Client, Page]:
    """Open a page of a site in a browser's tab, which answers nothing. The socket has the name of the tab."""
    address = {"type": "http", "method": "GET", "scheme": "http", "server": ("127.0.0.1", 80), "path": "/"}
    request = Request({**address, "query_string": b"", "headers": []})
    client = Client(route or nicegui_page(""), request=request)
    with client:
        page = site.open(client)
    await client.handle_handshake(tab, tab, None, "document", 0)
    return client, page


def element(name: str) -> ui.element:
    """The part of the page that tests know by this name."""
    client = Client.instances[list(Client.instances)[-1]]
    (found,) = [part for part in client.elements.values() if part.props.get("data-testid") == name]
    return found


def any_element(name: str) -> bool:
    """Whether a page has a part that tests know by this name."""
    return any(
        part.props.get("data-testid") == name for one in Client.instances.values() for part in one.elements.values()
    )


def is_shown(name: str) -> bool:
    part = element(name)
    return part.visible and all(above.visible for above in part.ancestors())


def press(name: str) -> None:
    """Press a button of the page."""
    send(element(name), "click")


def send(part: ui.element, event: str, args: object = None) -> None:
    """Let a part of the page hear an event of the browser."""
    (listener,) = [heard for heard in part._event_listeners.values() if heard.type == event]
    part._handle_event({"listener_id": listener.id, "args": args or {}})
