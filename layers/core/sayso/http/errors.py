"""Bodies of errors on the routes of the run API (dify-agent §2, §3), and the last resort."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from sayso.domain.errors import (
    AppError,
    AuthenticationError,
    CallerError,
    IdempotencyMismatchError,
    PermanentError,
    RetryableError,
    TooManyRequestsError,
    ValidationError,
)
from sayso.http.invalid import InvalidRequestError, entry_of
from sayso.http.json_body import BodyTooLargeError
from sayso.http.problems import problem_of
from sayso.http.response import HttpResponse, json_response
from sayso.observability import log_event, log_failure

if TYPE_CHECKING:
    from collections.abc import Mapping

RETRY_AFTER_SECONDS: Final = 2
_UNAVAILABLE: Final = 503
WWW_AUTHENTICATE: Final = {"WWW-Authenticate": "Bearer"}
"""Goes with every 401 (dify-agent §3)."""


def run_api_error(error: AppError) -> HttpResponse:
    """Return the answer for an error of a use case, as the run API words it."""
    match error:
        case ValidationError() | IdempotencyMismatchError():
            return _detail(422, _entries(error))
        case BodyTooLargeError():
            return _detail(413, str(error))
        case AuthenticationError():
            return _detail(401, error.detail, WWW_AUTHENTICATE)
        case TooManyRequestsError():
            return _overloaded(error)
        case PermanentError():
            return internal_error()
        case _:
            return _expected(error)


def _expected(error: AppError) -> HttpResponse:
    status = problem_of(error).status
    if status == _UNAVAILABLE:
        return _detail(status, "temporarily unavailable, try again", retry_headers())
    if isinstance(error, CallerError):
        return _detail(status, str(error))
    return internal_error()


def _overloaded(error: TooManyRequestsError) -> HttpResponse:
    """Return 503 where 429 would be meant: clients of the run API give up on 429 (§5.2, §18.6)."""
    seconds = math.ceil(error.retry_after.total_seconds())
    return _detail(_UNAVAILABLE, str(error), {"Retry-After": str(seconds)})


def retry_headers() -> Mapping[str, str]:
    """Return the header that says when to come back (RFC 9110 §10.2.3)."""
    return {"Retry-After": str(RETRY_AFTER_SECONDS)}


def is_retryable(error: AppError) -> bool:
    """Tell whether the same request may succeed a little later."""
    return isinstance(error, RetryableError) or problem_of(error).status == _UNAVAILABLE


def _detail(status: int, detail: object, headers: Mapping[str, str] | None = None) -> HttpResponse:
    return json_response(status, {"detail": detail}, headers)


def _entries(error: ValidationError | IdempotencyMismatchError) -> list[dict[str, Any]]:
    """Return the entries of a 422, also for what only the use case could see."""
    match error:
        case InvalidRequestError():
            return error.entries
        case IdempotencyMismatchError():
            return [entry_of("value_error", ["body", "idempotency_key"], str(error), None)]
        case _:
            return [
                entry_of("value_error", ["body", "human_input", issue.field], issue.message, None)
                for issue in error.issues
            ] or [entry_of("value_error", ["body"], str(error), None)]


def log_refusal(error: AppError, route: str) -> None:
    """Log that a request was refused; of a caller's mistake the class only.

    Its text may quote what a person entered (human-input §9).
    """
    if isinstance(error, CallerError):
        log_event("refused", code=type(error).__name__, route=route)
    else:
        log_failure("refused", error, route=route)


def not_found() -> HttpResponse:
    """Return the answer for a path that nothing serves."""
    return _detail(404, "Not Found")


def method_not_allowed(allowed: tuple[str, ...]) -> HttpResponse:
    """Return the answer for a known path with another method; ``Allow`` as RFC 9110 §15.5.6."""
    return _detail(405, "Method Not Allowed", {"Allow": ", ".join(allowed)})


def internal_error() -> HttpResponse:
    """Return the answer for a failure of ours: it says nothing else."""
    return HttpResponse(
        status=500,
        body="Internal Server Error",
        headers={"Content-Type": "text/plain; charset=utf-8"},
    )
