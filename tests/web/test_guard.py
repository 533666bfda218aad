"""Who may use the page: foreign hosts and origins are refused, and so is who lacks the token."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import web_browser
from starlette.types import Message, Receive, Scope, Send

from tengen.web.guard import Guard, new_token
from tengen.web.server import address


async def page(scope: Scope, receive: Receive, send: Send) -> None:
    """Accepts everything."""
    kind = "websocket.accept" if scope["type"] == "websocket" else "http.response.start"
    await send({"type": kind, "status": 200, "headers": []})


def ask(guard: Guard, kind: str = "http", query: str = "", **headers: str) -> Message:
    """The first answer to a request."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    fields = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope: dict[str, Any] = {"type": kind, "method": "GET", "path": "/", "headers": fields}
    scope["query_string"] = query.encode()
    asyncio.run(guard(scope, receive, send))
    return sent[0]


def is_let_in(answer: Message) -> bool:
    return answer["type"] == "websocket.accept" or answer.get("status") == 200


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("host", "origin", "let_in"),
    [
        ("127.0.0.1:8765", None, True),
        ("localhost:8765", "http://localhost:8765", True),
        ("[::1]:8765", "http://[::1]:8765", True),
        ("192.168.1.7:8765", "http://192.168.1.7:8765", True),
        ("evil.example:8765", None, False),
        ("evil.example:8765", "http://evil.example:8765", False),
        ("127.0.0.1.evil.example", None, False),
        ("localhost@evil.example", None, False),
        ("", None, False),
        ("127.0.0.1:8765", "http://evil.example", False),
        ("127.0.0.1:8765", "http://127.0.0.1:80", False),
        ("127.0.0.1:8765", "null", False),
    ],
)
def test_foreign_hosts_and_origins_are_refused(kind: str, host: str, origin: str | None, let_in: bool) -> None:
    """With the cookie of the user too."""
    given = {"host": host, "cookie": "tengen-8765=secret", **({"origin": origin} if origin else {})}
    for token in ("", "secret"):
        answer = ask(Guard(page, token, 8765), kind, **given)
        assert is_let_in(answer) == let_in
        assert let_in or answer.get("status") == 403 or answer["type"] == "websocket.close"


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "cookie", ["", "tengen-8765=", "tengen-8765=secre", "tengen-1=secret", "\x00", "tengen-8765=a"]
)
def test_who_lacks_the_token_is_refused(kind: str, cookie: str) -> None:
    guard = Guard(page, "secret", 8765)
    for query in ("", "token=", "token=wrong", "token=%00"):
        assert not is_let_in(ask(guard, kind, query, host="192.168.1.7", cookie=cookie))


def test_the_token_becomes_a_cookie_and_leaves_the_address() -> None:
    answer = ask(Guard(page, "secret", 8765), query="a=1&token=secret", host="192.168.1.7:8765")
    headers = dict(answer["headers"])
    assert answer["status"] == 303 and headers[b"location"] == b"/?a=1"
    assert b"tengen-8765=secret" in headers[b"set-cookie"] and b"HttpOnly" in headers[b"set-cookie"]


def test_a_server_for_this_computer_alone_needs_no_token() -> None:
    assert new_token("127.0.0.1") == new_token("localhost") == new_token("::1") == ""
    assert len(new_token("0.0.0.0")) >= 32 and new_token("0.0.0.0") != new_token("0.0.0.0")
    assert address("127.0.0.1", 8765) == "http://127.0.0.1:8765"
    assert address("0.0.0.0", 8765, "x").endswith(":8765/?token=x") and "0.0.0.0" not in address("0.0.0.0", 8765, "x")


@pytest.mark.skipif(bool(web_browser.missing()), reason=web_browser.missing())
def test_the_page_works_through_the_address_with_the_token(tmp_path: Path) -> None:
    program = str(Path(__file__).with_name("web_server.py"))
    with (
        web_browser.server(program, "secret", log=tmp_path / "log") as (_, url),
        web_browser.open_browser(tmp_path) as tab,
    ):
        tab.driver.get(url)
        assert "open the address with ?token=" in tab.text()
        tab.open(f"{url}/?token=secret")
        tab.tap(40)
        tab.until(lambda: len(tab.stones()) >= 2)
        assert "token" not in tab.driver.current_url
