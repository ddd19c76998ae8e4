"""One HTTP answer, and its form for an HTTP API (payload format 2.0)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON_TYPE = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """Status, headers, text."""

    status: int
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def without_body(self) -> HttpResponse:
        """Return the answer to a HEAD request: the same, but for the content (RFC 9110 §9.3.2)."""
        return HttpResponse(status=self.status, headers=self.headers)

    def to_event(self) -> dict[str, Any]:
        """Return what API Gateway wants of a function."""
        return {
            "statusCode": self.status,
            "headers": dict(self.headers),
            "body": self.body,
            "isBase64Encoded": False,
        }


def json_response(
    status: int, value: object, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """Return an answer whose content is JSON."""
    return HttpResponse(
        status=status,
        body=to_json(value),
        headers={"Content-Type": JSON_TYPE, **(headers or {})},
    )


def to_json(value: object) -> str:
    """Return compact JSON on one line; what no UTF-8 can say is replaced."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
