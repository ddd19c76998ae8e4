"""Turns what went wrong in a run into the contract's terminal failure (dify-agent §13.2).

The texts go to the caller and are stored, so they must hold no secret: the layers that hold secrets
hide their input in validation errors, and a credential that a provider quotes is crossed out.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from pydantic_ai.exceptions import ModelHTTPError, UsageLimitExceeded

from sayso.domain.segment import Failed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LIMIT_EXCEEDED: Final = "agent_run_limit_exceeded"
RATE_LIMITED: Final = "InvokeRateLimitError"
_TOO_MANY_REQUESTS: Final = 429
_CROSSED_OUT: Final = "***"

_CONTRACT_TEXTS: Final = (
    (re.compile(r"(Tool '[^']*' exceeded max retries count of \d+)\b.*", re.DOTALL), r"\1"),
    (
        re.compile(r"Exceeded maximum output retries \((\d+)\).*", re.DOTALL),
        r"Exceeded maximum retries (\1) for output validation",
    ),
    (re.compile(r"(The next request would exceed the request_limit of \d+)\b.*"), r"\1"),
    (re.compile(r"(Cannot provide a new user prompt .* unprocessed tool calls\.).*"), r"\1"),
)
"""The library's text → the contract's; the library adds advice for programmers."""


def failure(error: Exception, *, secrets: Iterable[str] = ()) -> Failed:
    """Return the end of a run that an exception brought about.

    Args:
        error: What was raised.
        secrets: What the text must not quote.
    """
    failed = _failure(error)
    for secret in secrets:
        failed = replace(failed, error=failed.error.replace(secret, _CROSSED_OUT))
    return failed


def _failure(error: Exception) -> Failed:
    match error:
        case ModelHTTPError():
            return _model_failure(error)
        case UsageLimitExceeded():
            return Failed(error=_text(error), error_type=LIMIT_EXCEEDED)
        case _:
            return Failed(error=_text(error))


def _text(error: Exception) -> str:
    text = str(error) or type(error).__name__
    for library, contract in _CONTRACT_TEXTS:
        text = library.sub(contract, text)
    return text


def _model_failure(error: ModelHTTPError) -> Failed:
    """Pass on what the provider says, else what the library says of it."""
    body = _body(error.body)
    message = body.get("message") or body.get("Message")
    kind = body.get("error_type")
    reason = kind if isinstance(kind, str) and kind else None
    if reason is None and error.status_code == _TOO_MANY_REQUESTS:
        reason = RATE_LIMITED
    return Failed(
        error=message if isinstance(message, str) and message else _text(error), reason=reason
    )


def _body(body: object) -> Mapping[str, Any]:
    """Return the error document, which providers wrap in different ways."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return {}
    if not isinstance(body, dict):
        return {}
    inner = body.get("error") or body.get("Error")
    return inner if isinstance(inner, dict) else body
