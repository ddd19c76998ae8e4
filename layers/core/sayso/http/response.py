"""One HTTP answer, and its form for an HTTP API (payload format 2.0)."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON_TYPE: Final = "application/json"

MAX_RESPONSE_BYTES: Final = 4 * 1024 * 1024
"""Below the 6 MB that a function may return, its JSON escaped once more (Lambda quotas)."""


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
    """Return compact JSON on one line.

    What a model or a tool left in stored data and JSON cannot say is replaced: halves of surrogate
    pairs, and numbers that are none.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return to_json(_with_finite_numbers(value))
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _with_finite_numbers(value: Any) -> Any:
    match value:
        case dict():
            return {name: _with_finite_numbers(member) for name, member in value.items()}
        case list():
            return [_with_finite_numbers(member) for member in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def size_of(text: str) -> int:
    """Return the bytes of a text inside the JSON that a function returns: quotes count twice."""
    return len(text.encode()) + text.count('"') + text.count("\\")
