"""Who may use the page and how often: the check of Host, Origin, token and rate of every request and websocket."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import math
import re
import secrets
import socket
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tengen.disk import data_folder, write_whole

LOOPBACK = ("127.0.0.1", "::1", "localhost")
TOKEN_FILE = "browser-token"
"""In the user's data folder."""
_TOKEN = re.compile(r"[\w-]{32,256}", re.ASCII)
_COOKIE_SECONDS = 365 * 86_400  # a bookmark has no token, and the browser may end in between
_MAX_CLIENTS = 1000  # whose use is remembered


class Limit(NamedTuple):
    """So many a second on average, `burst` at once."""

    rate: float
    burst: float


OPENED = Limit(2, 60)
"""Pages and websockets that a client opens. Each page has an engine, which lives a minute without its websocket."""
REQUESTS = Limit(100, 1000)
"""Further requests of a client; a page loads some 40 files."""
EVENTS = Limit(60, 300)
"""Events (clicks, keys) of a client, through all its websockets and requests in their place."""
_POLLED = b"\x1e"  # between the events that one request carries
_MAX_POLLED = 16  # of which Engine.IO takes no more


class _Use:
    """What a client, an address, has left of a limit."""

    def __init__(self, limit: Limit, now: float) -> None:
        self._limit, self._left, self._when = limit, limit.burst, now

    def wait(self, now: float, take: bool) -> float:
        """Seconds until one more is within the limit; it is taken where that is 0, with `take` in any case."""
        self._left = min(self._limit.burst, self._left + (now - self._when) * self._limit.rate)
        self._when = now
        wait = max(0.0, (1 - self._left) / self._limit.rate)
        if take or not wait:
            self._left -= 1
        return wait


class Guard:
    """ASGI middleware in front of the page.

    The Host of a request must be an address, `localhost` or a name of this computer: a foreign name that resolves to
    this computer (DNS rebinding) is refused. Its Origin, if there is one, must be the page itself: other sites cannot
    open its websocket with the cookies of the user. With a `token` the first request gives `?token=...`, which becomes
    a cookie; all others are refused. Refusals have status 403.

    No other site may show the page in a frame, where a visitor would click in it unknowingly.

    A client that opens too many pages or sends too many requests gets status 429, and one that sends too many events
    is read more slowly, so that it cannot keep the others waiting. The limits are far above what people do. `now` and
    `sleep` are seconds. A request may have `max_bytes` in its body, a file that is sent; more get status 413.
    """

    def __init__(
        self,
        app: ASGIApp,
        token: str = "",
        port: int = 0,
        *,
        max_bytes: int = 3_000_000,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.app, self._max_bytes = app, max_bytes
        self._now, self._sleep = now, sleep
        self._uses: OrderedDict[tuple[str, Limit], _Use] = OrderedDict()
        self._token = token
        self._cookie = f"tengen-{port}"  # cookies do not distinguish ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1"))).get("token", "")
        # Programs on other ports set cookies too; http.cookies drops all that follow one that it does not understand.
        cookies = cookie_parser(headers.get("cookie", ""))
        client = str((scope.get("client") or [""])[0])
        opens = scope["type"] == "websocket" or scope["path"] == "/"
        if problem := self._problem(headers):
            await self._refuse(problem, scope, receive, send)
        elif wait := self._wait(client, OPENED if opens else REQUESTS):
            await self._refuse("too many requests of one computer", scope, receive, send, 429, math.ceil(wait))
        elif _length(headers) > self._max_bytes:
            await self._refuse(self._too_long, scope, receive, send, 413)
        elif not self._token or self._is_token(cookies.get(self._cookie, "")):
            await self.app(scope, self._slowed(scope, client, self._bounded(receive)), _unframed(scope, send))
        elif scope["type"] == "http" and self._is_token(given):
            await self._welcome(scope, receive, send)
        else:
            problem = "open the address with ?token=... that tengen play printed"
            await self._refuse(problem, scope, receive, send)

    def _problem(self, headers: Headers) -> str:
        host = headers.get("host", "")
        # A site that gives its name the address of this computer (DNS rebinding) has neither the token nor its cookie.
        if not self._token and not _is_here(host):
            return f"the host {host[:80]!r} is no address of this computer"
        origin = headers.get("origin")
        if origin is not None and _host_of(origin) != host:
            return f"a page of {origin[:80]!r} may not use this one"
        return ""

    @property
    def _too_long(self) -> str:
        return f"a request may have {self._max_bytes:,} bytes"

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self._token.encode())

    async def _welcome(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Give the browser the token as a cookie, and take it out of the address."""
        left = [pair for pair in parse_qsl(scope["query_string"].decode("latin-1")) if pair[0] != "token"]
        answer = RedirectResponse(scope["path"] + (f"?{urlencode(left)}" if left else ""), 303)
        answer.set_cookie(self._cookie, self._token, max_age=_COOKIE_SECONDS, httponly=True, samesite="lax")
        await answer(scope, receive, send)

    def _wait(self, client: str, limit: Limit, take: bool = False) -> float:
        now, key = self._now(), (client, limit)
        use = self._uses.setdefault(key, _Use(limit, now))
        self._uses.move_to_end(key)
        if len(self._uses) > 3 * _MAX_CLIENTS:
            self._uses.popitem(last=False)
        return use.wait(now, take)

    def _slowed(self, scope: Scope, client: str, receive: Receive) -> Receive:
        """`receive` with the events of a websocket, or of a browser without one, as they are within the limit."""
        polls = scope["type"] == "http" and scope["method"] == "POST" and "/socket.io" in scope["path"]

        async def slowed() -> Message:
            message = await receive()
            events = int(message["type"] == "websocket.receive")
            if polls and message["type"] == "http.request":
                events = min(1 + message.get("body", b"").count(_POLLED), _MAX_POLLED)
            if wait := max((self._wait(client, EVENTS, take=True) for _event in range(events)), default=0.0):
                await self._sleep(wait)
            return message

        return slowed

    def _bounded(self, receive: Receive) -> Receive:
        """`receive` that ends a request with a longer body than it may have; it need not have told its length."""
        left = self._max_bytes

        async def bounded() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413, self._too_long)  # where the app reads it, which answers
            return message

        return bounded

    async def _refuse(
        self, reason: str, scope: Scope, receive: Receive, send: Send, status: int = 403, again: int | None = None
    ) -> None:
        """With a status; the client may try again in `again` seconds."""
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})  # before it is accepted: status 403
        else:
            headers = None if again is None else {"Retry-After": str(again)}
            await PlainTextResponse(f"refused: {reason}\n", status, headers)(scope, receive, send)


def access_token(host: str) -> str:
    """The secret of a server that listens on `host`; empty where only this computer reaches it.

    It is kept in the user's data folder, so that the address stays; without such a folder each server has its own.
    """
    if host in LOOPBACK:
        return ""
    token = secrets.token_urlsafe(24)
    with suppress(OSError):
        path = data_folder(TOKEN_FILE)
        kept = path.read_text(encoding="ascii", errors="replace").strip() if path.exists() else ""
        if _TOKEN.fullmatch(kept):
            return kept
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_whole(path, shared=True) as temporary:
            temporary.touch(mode=0o600)
            temporary.write_text(token, encoding="ascii")
    return token


def own_address() -> str:
    """The address by which other computers of the network reach this one; 127.0.0.1 where there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: it asks which interface would
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def _length(headers: Headers) -> int:
    """The bytes of a body, 0 where the request does not say it."""
    length = headers.get("content-length", "")
    return int(length[:20]) if length.isdecimal() else 0  # Python reads no number of thousands of digits


def _host_of(origin: str) -> str | None:
    """The host and port of an Origin, empty for `null`; None where it is no address."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _is_here(host: str) -> bool:
    """Whether a Host is an address, `localhost` or a name of this computer."""
    name = (urlsplit(f"//{host}").hostname or "").rstrip(".") if _is_plain(host) else ""
    own = socket.gethostname().lower()
    if name in ("localhost", own, f"{own.partition('.')[0]}.local"):
        return True
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def _is_plain(host: str) -> bool:
    try:
        urlsplit(f"//{host}")
    except ValueError:
        return False
    return not set(host) & set("/?#@\\ ")


def _unframed(scope: Scope, send: Send) -> Send:
    """`send` with the header that keeps the page out of the frames of other sites."""
    if scope["type"] != "http":
        return send

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).append("content-security-policy", "frame-ancestors 'self'")
        await send(message)

    return sent
