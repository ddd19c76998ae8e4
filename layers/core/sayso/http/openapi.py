"""Makes ``openapi.json`` of the routes and the wire models (OpenAPI 3.1).

``python -m sayso.http.openapi FILE`` writes it; a test says when that is due. No function loads
this module.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic.json_schema import models_json_schema

import sayso
from sayso.domain.access import ROUTE_ROLES
from sayso.http.cursors import DEFAULT_LIMIT, MAX_LIMIT
from sayso.http.openapi_routes import EVENTS, MULTIPART, NO_CONTENT, PROBLEM, ROUTES, URLENCODED
from sayso.http.routes import DEFAULT, FUNCTION_ROUTES, as_get

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

    from sayso.http.openapi_routes import Route

_REF: Final = "#/components/schemas/{model}"
_JSON: Final = "application/json"

_QUERY: Final[Mapping[str, tuple[str, dict[str, Any]]]] = {
    "after": (
        "Id of the last event that is known; only later ones follow.",
        {"type": "string", "pattern": "^[0-9]{1,20}(-[0-9]{1,20})?$", "default": "0-0"},
    ),
    "limit": (
        "Most events of the page.",
        {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
    ),
    "user": ("Who reads, in the caller's words; decides nothing.", {"type": "string"}),
    "include_state_snapshot": (
        "Begin with where the run stands.",
        {"type": "string", "enum": ["true", "false"], "default": "false"},
    ),
    "continue_on_pause": (
        "Be held although the run is paused.",
        {"type": "string", "enum": ["true", "false"], "default": "false"},
    ),
}
_HEADERS: Final = {
    "Idempotency-Key": "The same request under the same key is carried out once in 24 hours.",
    "Last-Event-ID": "Id of the last event that is known; ``after`` goes before it.",
    "Sayso-Events": "What a reader wants to see besides: ``r2``, ``managed``; comma-separated.",
}
_STATUS: Final = {
    200: "Done.",
    201: "Stored.",
    202: "Accepted.",
    303: "Taken; the receipt is elsewhere.",
    400: "The request does not fit the form.",
    401: "No valid API key came along.",
    403: "This key or link may not do that.",
    404: "Not found.",
    405: "The token is not followed by :submit.",
    409: "Its state does not allow that any more.",
    410: "The time is over.",
    412: "The form takes no answer any more.",
    413: "The body is too large.",
    415: "A file of this type is not taken.",
    422: "The request does not have the right shape.",
    429: "Too many requests.",
    500: "A failure of ours.",
    502: "The server of a file does not answer as it should.",
    503: "Not now; try again after Retry-After.",
}


def openapi_document() -> dict[str, Any]:
    """Return the whole document."""
    paths: dict[str, dict[str, Any]] = {}
    for key in (key for keys in FUNCTION_ROUTES.values() for key in keys if key != DEFAULT):
        method, _, path = key.partition(" ")
        paths.setdefault(path, {})[method.lower()] = _operation(key)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sayso",
            "version": sayso.__version__,
            "description": "Agent runs that stop for a person's say-so.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {
                name: {"type": "http", "scheme": "bearer"} for name in ("api_key", "upload_token")
            },
        },
    }


def _operation(key: str) -> dict[str, Any]:
    route = ROUTES[as_get(key)]
    is_head = key.startswith("HEAD ")
    operation: dict[str, Any] = {
        "operationId": re.sub(r"\W+", "_", key.lower()).strip("_"),
        "summary": f"{route.summary}, without content" if is_head else route.summary,
        "parameters": [*_path_parameters(key), *_parameters(route)],
        "responses": _responses(route, is_head=is_head),
    }
    if as_get(key) in ROUTE_ROLES:
        operation["security"] = [{"api_key": []}]
    if route.by_upload_token:
        operation["security"] = [{"upload_token": []}]
    if body := _request_body(key, route):
        operation["requestBody"] = body
    return operation


def _path_parameters(key: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in re.findall(r"{(\w+)}", key)
    ]


def _parameters(route: Route) -> list[dict[str, Any]]:
    query = [
        {"name": name, "in": "query", "description": _QUERY[name][0], "schema": _QUERY[name][1]}
        for name in route.query
    ]
    return query + [
        {
            "name": name,
            "in": "header",
            "description": _HEADERS[name],
            "schema": {"type": "string"},
        }
        for name in route.headers
    ]


def _request_body(key: str, route: Route) -> dict[str, Any] | None:
    if route.body is not None:
        return {"required": route.body_is_needed, "content": {_JSON: {"schema": _ref(route.body)}}}
    if route.takes_file:
        part = {"type": "string", "contentMediaType": "application/octet-stream"}
        schema = {"type": "object", "properties": {"file": part}, "required": ["file"]}
        return {"required": True, "content": {MULTIPART: {"schema": schema}}}
    if (
        key.startswith("POST ") and not route.takes_nothing
    ):  # the fields of a page are those of its form
        schema = {"type": "object", "additionalProperties": {"type": "string"}}
        return {"required": True, "content": {URLENCODED: {"schema": schema}}}
    return None


def _responses(route: Route, *, is_head: bool) -> dict[str, Any]:
    responses = {status: _response(status, said) for status, said in route.answers.items()}
    for status, model in route.problems.items():
        responses[status] = _response(status, model, PROBLEM)
    responses[500] = _response(500, "text/plain; charset=utf-8")
    if is_head:
        for response in responses.values():
            response.pop("content", None)
    return {str(status): responses[status] for status in sorted(responses)}


def _response(status: int, said: type[BaseModel] | str, media: str = _JSON) -> dict[str, Any]:
    response: dict[str, Any] = {"description": _STATUS[status]}
    if said == NO_CONTENT:
        return response
    if said == EVENTS:  # a schema would be that of one event, not of the text
        response["content"] = {"text/event-stream": {}}
    elif isinstance(said, str):
        response["content"] = {said.partition(";")[0]: {"schema": {"type": "string"}}}
    else:
        response["content"] = {media: {"schema": _ref(said)}}
    if status == 401:  # noqa: PLR2004 - the status itself
        response["headers"] = {"WWW-Authenticate": {"schema": {"const": "Bearer"}}}
    if status == 503:  # noqa: PLR2004
        response["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    return response


def _models() -> list[type[BaseModel]]:
    found: dict[type[BaseModel], None] = {}
    for route in ROUTES.values():
        said = [route.body, *route.answers.values(), *route.problems.values()]
        found |= {model: None for model in said if isinstance(model, type)}
    return list(found)


def _schemas() -> dict[str, Any]:
    """Return the schemas of all models; what we send is described as strictly as what we take."""
    models = [(model, "validation") for model in _models()]
    _, schema = models_json_schema(models, ref_template=_REF)  # type: ignore[arg-type]  # a literal
    definitions: dict[str, Any] = schema["$defs"]
    return definitions


def _ref(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REF.format(model=model.__name__)}


def openapi_text() -> str:
    """Return the file: indented, so that changes of it can be read."""
    return json.dumps(openapi_document(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(openapi_text(), encoding="utf-8")
