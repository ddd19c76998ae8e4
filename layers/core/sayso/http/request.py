"""One HTTP request, read from the event of an HTTP API (payload format 2.0)."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """What the functions look at. Source: API Gateway developer guide, "payload format version"."""

    method: str
    route: str
    """Route key of the API, such as ``GET /runs/{run_id}``, or ``$default``."""
    path: str
    path_parameters: Mapping[str, str] = field(default_factory=dict)
    """Percent-decoded."""
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """By lower-case name."""
    body: str | None = field(default=None, repr=False)
    """As it stands in the event."""
    body_is_base64: bool = False
    domain: str = ""
    address: str = ""
    """Client address as the gateway saw it, never from a header that a client can write."""

    @property
    def encoded_body_bytes(self) -> int:
        """Size of the body as the event carries it, which is what Lambda's limit counts."""
        return len((self.body or "").encode("utf-8", "surrogatepass"))

    def body_bytes(self) -> bytes:
        """Return the body as it was sent; empty when there is none or its encoding is broken."""
        if self.body is None:
            return b""
        if not self.body_is_base64:
            return self.body.encode("utf-8", "surrogatepass")
        try:
            return base64.b64decode(self.body, validate=True)
        except binascii.Error:
            return b""

    def listed(self, header: str) -> frozenset[str]:
        """Return the items of a header that is a comma-separated list, lower-case."""
        items = self.headers.get(header, "").split(",")
        return frozenset(item.strip().lower() for item in items if item.strip())


def read_request(event: Mapping[str, Any]) -> HttpRequest:
    """Return the request of an event."""
    context = event.get("requestContext") or {}
    http = context.get("http") or {}
    method = str(http.get("method", "")).upper()
    path = str(event.get("rawPath") or "/")
    parameters = event.get("pathParameters") or {}
    return HttpRequest(
        method=method,
        route=str(event.get("routeKey") or context.get("routeKey") or f"{method} {path}"),
        path=path,
        path_parameters={name: unquote(value) for name, value in parameters.items()},
        query=event.get("queryStringParameters") or {},
        headers={name.lower(): value for name, value in (event.get("headers") or {}).items()},
        body=event.get("body"),
        body_is_base64=bool(event.get("isBase64Encoded")),
        domain=str(context.get("domainName", "")),
        address=str(http.get("sourceIp", "")),
    )
