"""The API over HTTP: views, plans, statements, rows, and events as they happen."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from freshview.errors import FreshviewError, UnknownName
from freshview.server.auth import Guard
from freshview.server.live import LiveDatabase, first_rows, problem
from freshview.server.map_graph import map_graph
from freshview.server.openapi import openapi
from freshview.server.values import rows_to_json

PAGE = Path(__file__).parent / "page"

MOST_BYTES = 16 << 20
"""Of a request: larger ones are refused before they are read."""

KEEP_ALIVE = 15.0
"""Seconds after which a reader of events gets a sign of life."""

Handler = Callable[[LiveDatabase, Request], Awaitable[Response]]


def application(live: LiveDatabase, token: str = "", hosts: Collection[str] = ()) -> Starlette:
    """The page and the API over a database; without a token everybody may use it."""

    def endpoint(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                return await handler(live, request)
            except FreshviewError as e:
                is_elsewhere = isinstance(e, UnknownName) and "name" in request.path_params
                return JSONResponse(problem(e), 404 if is_elsewhere else 400)

        return answer

    routes = [
        Route("/api", endpoint(_describe)),
        Route("/api/openapi.json", endpoint(_openapi)),
        Route("/api/views/{name}", endpoint(_view)),
        Route("/api/views/{name}/plan", endpoint(_plan_of)),
        Route("/api/views/{name}/graph.svg", endpoint(_graph)),
        Route("/api/plan", endpoint(_plan), methods=["POST"]),
        Route("/api/statements", endpoint(_statements), methods=["POST"]),
        Route("/api/relations/{name}/rows", endpoint(_rows), methods=["POST", "DELETE"]),
        Route("/api/events", endpoint(_events)),
        Mount("/", StaticFiles(directory=PAGE, html=True)),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, token=token, hosts=hosts)],
        exception_handlers={HTTPException: _http_problem},
    )


async def _http_problem(request: Request, e: Exception) -> Response:
    assert isinstance(e, HTTPException)
    path = request.url.path
    words = {404: f"there is nothing at {path}", 405: f"{path} knows no {request.method}"}
    error = words.get(e.status_code, e.detail)
    instead = "see /api/openapi.json"
    body = {"error": error, "instead": instead, "message": f"{error}; {instead}"}
    return JSONResponse(body, e.status_code)


async def _describe(live: LiveDatabase, request: Request) -> Response:
    return JSONResponse(await run_in_threadpool(live.describe))


async def _openapi(live: LiveDatabase, request: Request) -> Response:
    return JSONResponse(openapi())


async def _view(live: LiveDatabase, request: Request) -> Response:
    view = live.view(request.path_params["name"])
    limit = _number(request, "limit", 1000)
    rows, count = await run_in_threadpool(first_rows, view, limit)
    body = {"name": view.name, "columns": view.columns, "count": count, "rows": rows}
    return JSONResponse({**body, "version": live.db.version})


async def _plan_of(live: LiveDatabase, request: Request) -> Response:
    view = live.view(request.path_params["name"])
    return PlainTextResponse(await run_in_threadpool(view.explain, verbose=True))


async def _graph(live: LiveDatabase, request: Request) -> Response:
    view = live.view(request.path_params["name"])
    svg = await run_in_threadpool(map_graph, live.db.program(view.name))
    return Response(svg, media_type="image/svg+xml")


async def _plan(live: LiveDatabase, request: Request) -> Response:
    sql = await _sql(request)
    return JSONResponse({"plans": await run_in_threadpool(live.plan, sql)})


async def _statements(live: LiveDatabase, request: Request) -> Response:
    answer = await run_in_threadpool(live.db.sql, await _sql(request))
    columns = [{"name": c.name, "type": str(c.type)} for c in answer.schema]
    rows = rows_to_json(answer.rows()) if columns else []
    return JSONResponse({"columns": columns, "rows": rows, "version": live.db.version})


async def _rows(live: LiveDatabase, request: Request) -> Response:
    rows = (await _body(request)).get("rows")
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise FreshviewError("'rows' is not a list of rows", instead='send {"rows": [[1, "a"]]}')
    sign = -1 if request.method == "DELETE" else 1
    count = await run_in_threadpool(live.insert, request.path_params["name"], rows, sign)
    return JSONResponse({"rows": count, "version": live.db.version})


async def _events(live: LiveDatabase, request: Request) -> Response:
    async def stream() -> AsyncIterator[str]:
        yield "retry: 1000\n\n"
        async for event in live.broadcast.read(KEEP_ALIVE):
            yield f"data: {json.dumps(event)}\n\n" if event else ": still here\n\n"

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)


async def _sql(request: Request) -> str:
    sql = (await _body(request)).get("sql")
    if not isinstance(sql, str) or not sql.strip():
        raise FreshviewError("there is no SQL in the request", instead='send {"sql": "SELECT ..."}')
    return sql


async def _body(request: Request) -> dict[str, object]:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        instead = "send it with Content-Type: application/json"
        raise FreshviewError("the request is not JSON", instead=instead)
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BYTES:
            instead = "send the rows in several requests"
            raise FreshviewError(f"a request has at most {MOST_BYTES >> 20} MiB", instead=instead)
        parts.append(part)
    try:
        body = json.loads(b"".join(parts))
    except ValueError as e:
        raise FreshviewError(f"the request is not JSON: {e}", instead="correct it") from e
    if not isinstance(body, dict):
        raise FreshviewError("the request is not a JSON object", instead='send {"sql": "..."}')
    return body


def _number(request: Request, name: str, usual: int) -> int:
    text = request.query_params.get(name, str(usual))
    if not text.isdecimal() or int(text) > 1_000_000:
        raise FreshviewError(f"'{name}' is not {text}", instead="give a number up to 1000000")
    return int(text)
