"""The functions in memory as a WSGI application, for tools that send HTTP requests.

Plays the gateway: raw path, query members of one name joined by a comma, bodies that are no text in
base64 (API Gateway developer guide, "payload format version 2.0").
"""

from __future__ import annotations

import base64
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from support.functions import DOMAIN, Functions, http_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PAUSE = timedelta(seconds=3)
"""Between two requests, so that an address stays below the limit of form routes."""


class FunctionsApp:
    """A WSGI application over functions in memory."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self.requests = 0

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., object]
    ) -> Iterable[bytes]:
        """Serve one request."""
        self.requests += 1
        self.functions.clock.advance(PAUSE)
        function, event = event_of(environ)
        returned = self.functions.invoke(function, event)
        status = returned["statusCode"]
        body = returned["body"].encode()
        if returned["isBase64Encoded"]:
            body = base64.b64decode(body)
        reason = HTTPStatus(status).phrase
        start_response(f"{status} {reason}", [*map(_latin, returned["headers"].items())])
        return [body]


def _latin(header: tuple[str, Any]) -> tuple[str, str]:
    return header[0], str(header[1])


def event_of(environ: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the function that serves a request and its event."""
    raw = environ.get("REQUEST_URI") or environ["PATH_INFO"]
    path, _, query = raw.partition("?")
    joined: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    headers = {
        name[5:].replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    headers["host"] = DOMAIN
    if content_type := environ.get("CONTENT_TYPE"):
        headers["content-type"] = content_type
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    function, event = http_event(
        environ["REQUEST_METHOD"], unquote(path) or "/", headers=headers, body=None, query=joined
    )
    if body:
        event["body"] = base64.b64encode(body).decode()
        event["isBase64Encoded"] = True
    return function, event
