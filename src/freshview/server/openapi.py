"""The API as an OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_ERROR = {
    "type": "object",
    "required": ["error", "message"],
    "properties": {
        "error": {"type": "string", "description": "what is wrong"},
        "instead": {"type": "string", "description": "what to do about it"},
        "message": {"type": "string", "description": "place, problem and remedy in one line"},
        "line": {"type": "integer", "description": "of the SQL, counted from 1"},
        "column": {"type": "integer", "description": "of the SQL, counted from 1"},
    },
}
_SQL = {"type": "object", "required": ["sql"], "properties": {"sql": {"type": "string"}}}
_ROW = {"type": "array", "items": {"description": "exact decimals and large integers are text"}}
_ROWS = {
    "type": "object",
    "required": ["rows"],
    "properties": {"rows": {"type": "array", "items": _ROW}},
}
_NAME = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
_LIMIT = {"name": "limit", "in": "query", "schema": {"type": "integer", "default": 1000}}


def openapi() -> dict[str, object]:
    """What can be asked for, and what comes back."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Freshview", "version": "1", "description": "views that are kept fresh"},
        "security": [{"token": []}],
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _ERROR},
        },
        "paths": {
            "/api": {"get": _answers("the relations and views, with their columns")},
            "/api/views/{name}": {
                "get": _answers("rows of a view as it stands", parameters=[_NAME, _LIMIT])
            },
            "/api/views/{name}/plan": {
                "get": _answers("how a view is kept", parameters=[_NAME], kind="text/plain")
            },
            "/api/views/{name}/graph.svg": {
                "get": _answers("the maps of a view", parameters=[_NAME], kind="image/svg+xml")
            },
            "/api/plan": {
                "post": _answers("how the views of a script would be kept; declares nothing", _SQL)
            },
            "/api/statements": {"post": _answers("run SQL: declare views, change rows, ask", _SQL)},
            "/api/relations/{name}/rows": {
                "post": _answers("insert rows, as one change", _ROWS, [_NAME]),
                "delete": _answers("delete rows, as one change", _ROWS, [_NAME]),
            },
            "/api/events": {
                "get": _answers(
                    "views that have changed, figures once a second: server-sent events",
                    kind="text/event-stream",
                )
            },
        },
    }


def _answers(
    summary: str,
    body: Mapping[str, object] | None = None,
    parameters: Sequence[Mapping[str, object]] | None = None,
    kind: str = "application/json",
) -> dict[str, object]:
    schema = {"type": "object"} if kind == "application/json" else {"type": "string"}
    refused = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    operation: dict[str, object] = {
        "summary": summary,
        "responses": {
            "200": {"description": summary, "content": {kind: {"schema": schema}}},
            "400": {"description": "what is wrong, where, what to do", "content": refused},
            "401": {"description": "the token is missing or wrong", "content": refused},
            "404": {"description": "there is nothing of this name", "content": refused},
        },
    }
    if body is not None:
        content = {"application/json": {"schema": body}}
        operation["requestBody"] = {"required": True, "content": content}
    if parameters:
        operation["parameters"] = parameters
    return operation
