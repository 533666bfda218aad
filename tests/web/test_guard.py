"""Who may use the page: foreign hosts and origins are refused, and so is who lacks the token."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import web_browser
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from tengen.errors import NoHomeFolder
from tengen.web.guard import EVENTS, OPENED, REQUESTS, Guard, Limit, access_token
from tengen.web.server import address


async def page(scope: Scope, receive: Receive, send: Send) -> None:
    """Accepts everything."""
    kind = "websocket.accept" if scope["type"] == "websocket" else "http.response.start"
    await send({"type": kind, "status": 200, "headers": []})


def ask(
    guard: Guard, kind: str = "http", query: str = "", path: str = "/", client: str = "127.0.0.1", **headers: str
) -> Message:
    """The first answer to a request."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    fields = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope: dict[str, Any] = {"type": kind, "method": "GET", "path": path, "headers": fields}
    scope["client"] = (client, 50_000)
    scope["query_string"] = query.encode()
    asyncio.run(guard(scope, receive, send))
    return sent[0]


def is_let_in(answer: Message) -> bool:
    return answer["type"] == "websocket.accept" or answer.get("status") == 200


def test_no_other_site_may_show_the_page_in_a_frame() -> None:
    answer = ask(Guard(page), host="localhost:8765")
    assert dict(answer["headers"])[b"content-security-policy"] == b"frame-ancestors 'self'"


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("host", "origin", "let_in"),
    [
        ("127.0.0.1:8765", None, True),
        ("localhost:8765", "http://localhost:8765", True),
        ("[::1]:8765", "http://[::1]:8765", True),
        ("192.168.1.7:8765", "http://192.168.1.7:8765", True),
        ("evil.example:8765", "http://other.example:8765", False),
        ("127.0.0.1:8765", "http://evil.example", False),
        ("127.0.0.1:8765", "http://127.0.0.1:80", False),
        ("127.0.0.1:8765", "null", False),
        ("127.0.0.1:8765", "http://[", False),
    ],
)
def test_foreign_origins_are_refused(kind: str, host: str, origin: str | None, let_in: bool) -> None:
    """With the cookie of the user too."""
    given = {"host": host, "cookie": "tengen-8765=secret", **({"origin": origin} if origin else {})}
    for token in ("", "secret"):
        answer = ask(Guard(page, token, 8765), kind, **given)
        assert is_let_in(answer) == let_in
        assert let_in or answer.get("status") == 403 or answer["type"] == "websocket.close"


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize("host", ["box.example:8765", "127.0.0.1.box.example", "localhost@box.example", ""])
def test_a_name_that_is_not_this_computer_needs_the_token(kind: str, host: str) -> None:
    """It may be a site's that has the address of this computer (DNS rebinding), or the one that a proxy or the local
    network gives this computer."""
    assert not is_let_in(ask(Guard(page), kind, host=host))
    assert not is_let_in(ask(Guard(page, "secret", 8765), kind, host=host))
    assert is_let_in(ask(Guard(page, "secret", 8765), kind, host=host, cookie="tengen-8765=secret"))


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "cookie", ["", "tengen-8765=", "tengen-8765=secre", "tengen-1=secret", "\x00", "tengen-8765=a"]
)
def test_who_lacks_the_token_is_refused(kind: str, cookie: str) -> None:
    guard = Guard(page, "secret", 8765)
    for query in ("", "token=", "token=wrong", "token=%00"):
        assert not is_let_in(ask(guard, kind, query, host="192.168.1.7", cookie=cookie))


@pytest.mark.parametrize("other", ['grid={"w": 1}', "a=x y", "名=1", "x", "a[]=1", "tengen-8766=secre"])
def test_cookies_of_other_programs_do_not_hide_the_token(other: str) -> None:
    for cookie in (f"{other}; tengen-8765=secret", f"tengen-8765=secret; {other}"):
        assert is_let_in(ask(Guard(page, "secret", 8765), host="192.168.1.7", cookie=cookie))


def test_the_token_becomes_a_cookie_and_leaves_the_address() -> None:
    answer = ask(Guard(page, "secret", 8765), query="a=1&token=secret", host="192.168.1.7:8765")
    headers = dict(answer["headers"])
    assert answer["status"] == 303 and headers[b"location"] == b"/?a=1"
    assert b"tengen-8765=secret" in headers[b"set-cookie"] and b"HttpOnly" in headers[b"set-cookie"]


def statuses(guard: Guard, count: int, **more: str) -> Counter[int]:
    return Counter(ask(guard, host="127.0.0.1:1", **more)["status"] for _ in range(count))


@pytest.mark.parametrize(("path", "limit"), [("/", OPENED), ("/_nicegui/vue.js", REQUESTS)])
def test_a_client_that_asks_too_often_is_refused_and_the_others_are_not(path: str, limit: Limit) -> None:
    now = [0.0]
    guard, burst = Guard(page, now=lambda: now[0]), int(limit.burst)
    assert statuses(guard, burst + 50, path=path) == {200: burst, 429: 50}
    answer = ask(guard, host="127.0.0.1:1", path=path)
    assert (b"retry-after", b"1") in answer["headers"]
    assert is_let_in(ask(guard, "websocket", host="127.0.0.1:1")) == (path != "/")
    assert statuses(guard, burst, path=path, client="192.168.1.7") == {200: burst}
    now[0] = 10
    assert statuses(guard, burst, path=path)[200] == 10 * limit.rate
    now[0] = 1e6
    assert statuses(guard, burst + 1, path=path) == {200: burst, 429: 1}


def test_events_beyond_the_limit_wait_and_none_is_lost() -> None:
    """They wait in the connection of that client alone."""
    now, slept, got = [0.0], [], []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        while (message := await receive())["type"] != "websocket.disconnect":
            got.append(message["text"])

    burst = int(EVENTS.burst)
    waiting = [{"type": "websocket.receive", "text": str(i)} for i in range(burst + 120)]

    async def receive() -> Message:
        return waiting.pop(0) if waiting else {"type": "websocket.disconnect"}

    async def send(message: Message) -> None:
        pass

    guard = Guard(app, now=lambda: now[0], sleep=sleep)
    scope = {"type": "websocket", "path": "/", "query_string": b"", "headers": [(b"host", b"localhost")]}
    asyncio.run(guard({**scope, "client": ("10.0.0.1", 1)}, receive, send))
    assert got == [str(i) for i in range(burst + 120)]
    assert len(slept) == 120 and now[0] == pytest.approx(120 / EVENTS.rate)
    got.clear()
    waiting.extend({"type": "websocket.receive", "text": "other"} for _ in range(burst))
    asyncio.run(guard({**scope, "client": ("10.0.0.2", 1)}, receive, send))
    assert len(got) == burst and len(slept) == 120


def test_events_that_come_by_requests_count_one_by_one() -> None:
    slept = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()

    async def receive() -> Message:
        return {"type": "http.request", "body": b"\x1e".join([b"event"] * 10)}

    async def send(message: Message) -> None:
        pass

    guard = Guard(app, now=lambda: 0.0, sleep=sleep)
    scope = {"type": "http", "method": "POST", "query_string": b"", "headers": [(b"host", b"localhost")]}
    for path, waits in (("/_nicegui/upload", 0), ("/_nicegui_ws/socket.io/", 1)):
        for _ in range(int(EVENTS.burst) // 10 + 1):
            asyncio.run(guard({**scope, "path": path, "client": ("10.0.0.1", 1)}, receive, send))
        assert slept == [pytest.approx(10 / EVENTS.rate)] * waits


@pytest.mark.parametrize(("length", "status"), [("1000", 200), ("1001", 413), ("9" * 5000, 413), ("many", 200)])
def test_a_request_with_a_long_body_is_refused_before_it_is_read(length: str, status: int) -> None:
    """One of 300 MB filled the disk for temporary files."""
    guard = Guard(page, max_bytes=1000)
    answer = ask(guard, host="localhost", path="/_nicegui/upload", **{"content-length": length})
    assert answer["status"] == status


def test_a_body_that_does_not_tell_its_length_ends_at_the_limit() -> None:
    got = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        while True:
            got.append(len((await receive())["body"]))

    async def receive() -> Message:
        return {"type": "http.request", "body": b"x" * 400, "more_body": True}

    async def send(message: Message) -> None:
        pass

    scope = {"type": "http", "method": "POST", "path": "/upload", "query_string": b"", "client": ("10.0.0.1", 1)}
    with pytest.raises(HTTPException) as refused:
        asyncio.run(Guard(app, max_bytes=1000)({**scope, "headers": [(b"host", b"localhost")]}, receive, send))
    assert refused.value.status_code == 413 and got == [400, 400]


def test_the_guard_remembers_a_bounded_number_of_clients() -> None:
    guard = Guard(page, now=lambda: 0.0)
    for number in range(5000):
        ask(guard, host="127.0.0.1:1", client=f"10.0.{number // 256}.{number % 256}")
    assert len(guard._uses) == 3000


@pytest.fixture
def token_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the token of the user is kept; its folder is missing."""
    monkeypatch.setattr("tengen.web.guard.data_folder", lambda name: tmp_path / "data" / name)
    return tmp_path / "data" / "browser-token"


def test_a_browser_that_has_the_token_is_let_in_after_a_restart(token_file: Path) -> None:
    """It comes back by the address that was printed, and by a bookmark, also after its own end."""
    first, second = (Guard(page, access_token("0.0.0.0"), 8765) for _start in range(2))
    token = token_file.read_text()
    answer = ask(first, query=f"token={token}", host="192.168.1.7:8765")
    cookie = dict(answer["headers"])[b"set-cookie"].decode()
    assert len(token) >= 32 and "Max-Age=" in cookie
    assert is_let_in(ask(second, host="192.168.1.7:8765", cookie=cookie.partition(";")[0]))
    token_file.unlink()
    third = Guard(page, access_token("0.0.0.0"), 8765)
    assert not is_let_in(ask(third, host="192.168.1.7:8765", cookie=cookie.partition(";")[0]))


@pytest.mark.posix
def test_nobody_else_can_read_the_token(token_file: Path) -> None:
    access_token("0.0.0.0")
    assert token_file.stat().st_mode & 0o777 == 0o600
    assert list(token_file.parent.iterdir()) == [token_file]


@pytest.mark.parametrize("damaged", [b"", b"\n", b"\xff" * 40, b"short", b"a b " * 10, b"\0" * 32])
def test_a_damaged_token_is_replaced(token_file: Path, damaged: bytes) -> None:
    token_file.parent.mkdir()
    token_file.write_bytes(damaged)
    token = access_token("0.0.0.0")
    assert len(token) >= 32 and token_file.read_text() == token == access_token("0.0.0.0")


def test_where_no_token_can_be_kept_each_start_has_its_own(token_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    token_file.mkdir(parents=True)  # a folder in its place
    tokens = [access_token("0.0.0.0") for _start in range(2)]

    def no_home(name: str) -> Path:
        raise NoHomeFolder("this user has no home folder")

    monkeypatch.setattr("tengen.web.guard.data_folder", no_home)
    tokens += [access_token("0.0.0.0") for _start in range(2)]
    assert len(set(tokens)) == 4 and all(len(token) >= 32 for token in tokens)


def test_a_server_for_this_computer_alone_needs_no_token(token_file: Path) -> None:
    assert access_token("127.0.0.1") == access_token("localhost") == access_token("::1") == ""
    assert not token_file.exists()
    assert address("127.0.0.1", 8765) == "http://127.0.0.1:8765"
    assert address("0.0.0.0", 8765, "x").endswith(":8765/?token=x") and "0.0.0.0" not in address("0.0.0.0", 8765, "x")


@pytest.mark.slow
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
