"""Who may use the page: the check of Host, Origin and token of every request and websocket."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Guard:
    """ASGI middleware in front of the page.

    The Host of a request must be an address, `localhost` or a name of this computer: a foreign name that resolves to
    this computer (DNS rebinding) is refused. Its Origin, if there is one, must be the page itself: other sites cannot
    open its websocket with the cookies of the user. With a `token` the first request gives `?token=...`, which becomes
    a cookie; all others are refused. Refusals have status 403.
    """

    def __init__(self, app: ASGIApp, token: str = "", port: int = 0) -> None:
        self.app = app
        self._token = token
        self._cookie = f"tengen-{port}"  # cookies do not distinguish ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1"))).get("token", "")
        if problem := self._problem(headers):
            await self._refuse(problem, scope, receive, send)
        elif not self._token or self._is_token(_cookie(headers, self._cookie)):
            await self.app(scope, receive, send)
        elif scope["type"] == "http" and self._is_token(given):
            await self._welcome(scope, receive, send)
        else:
            problem = "open the address with ?token=... that tengen play printed"
            await self._refuse(problem, scope, receive, send)

    def _problem(self, headers: Headers) -> str:
        host = headers.get("host", "")
        if not _is_here(host):
            return f"the host {host[:80]!r} is no address of this computer"
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return f"a page of {origin[:80]!r} may not use this one"
        return ""

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), self._token.encode())

    async def _welcome(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Give the browser the token as a cookie, and take it out of the address."""
        left = [pair for pair in parse_qsl(scope["query_string"].decode("latin-1")) if pair[0] != "token"]
        answer = RedirectResponse(scope["path"] + (f"?{urlencode(left)}" if left else ""), 303)
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="lax")
        await answer(scope, receive, send)

    async def _refuse(self, reason: str, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})  # before it is accepted: status 403
        else:
            await PlainTextResponse(f"refused: {reason}\n", 403)(scope, receive, send)


def new_token(host: str) -> str:
    """A secret for a server that listens on `host`; empty where only this computer reaches it."""
    return "" if host in LOOPBACK else secrets.token_urlsafe(24)


def own_address() -> str:
    """The address by which other computers of the network reach this one; 127.0.0.1 where there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: it asks which interface would
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return found.value if found else ""


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
