"""Who may use the page: those who have the token, through a name of this server."""

from __future__ import annotations

import hmac
from collections.abc import Collection

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "freshview_token"

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

PROTECTION = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
}


class Guard:
    """Refuses requests without the token, and those that another site has sent.

    The token comes as `Authorization: Bearer`, as `?token=` of the page's first address, or in the
    cookie that this first visit gets. A request names this server as its host, so that a name of
    another site that leads here is refused.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Collection[str]) -> None:
        self.app = app
        self._token = token
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        answer: Response | None = self._refusal(request, str(scope["method"]))
        if answer is None and self._token and "token" in request.query_params:
            answer = RedirectResponse(request.url.path, 303)
            answer.set_cookie(COOKIE, self._token, httponly=True, samesite="strict")

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in PROTECTION.items():
                    headers.setdefault(name, value)
            await send(message)

        await (answer or self.app)(scope, receive, protected)

    def _refusal(self, request: HTTPConnection, method: str) -> JSONResponse | None:
        host = request.headers.get("host", "").rsplit(":", 1)[0].strip("[]")
        if self._hosts and host not in self._hosts:
            return _refuse(421, f"this server is not '{host}'", "use the address that it printed")
        origin = request.headers.get("origin")
        if method not in SAFE_METHODS and origin and _host_of(origin) not in {host, *self._hosts}:
            return _refuse(403, f"a page of {origin} may not change data here", "use this page")
        if self._token and not self._knows_token(request):
            instead = "open the address with ?token= that the server printed when it started"
            return _refuse(401, "the token is missing or wrong", instead)
        return None

    def _knows_token(self, request: HTTPConnection) -> bool:
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        tokens = (
            bearer.strip() if scheme.lower() == "bearer" else "",
            request.query_params.get("token", ""),
            request.cookies.get(COOKIE, ""),
        )
        return any(hmac.compare_digest(t.encode(), self._token.encode()) for t in tokens)


def _host_of(origin: str) -> str:
    return origin.partition("://")[2].rsplit(":", 1)[0].strip("[]")


def _refuse(status: int, error: str, instead: str) -> JSONResponse:
    body = {"error": error, "instead": instead, "message": f"{error}; {instead}"}
    return JSONResponse(body, status)
