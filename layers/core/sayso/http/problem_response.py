"""Errors of our own routes as problem documents (RFC 9457)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sayso.domain.errors import AuthenticationError, CallerError
from sayso.http.errors import WWW_AUTHENTICATE, is_retryable, retry_headers
from sayso.http.invalid import InvalidRequestError
from sayso.http.json_body import BodyTooLargeError
from sayso.http.problems import problem_of
from sayso.http.response import HttpResponse, to_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.errors import AppError

PROBLEM_TYPE = "application/problem+json"
_TOO_LARGE = 413


def problem_response(error: AppError) -> HttpResponse:
    """Return the problem document of an error; of what the caller can't mend its kind only."""
    problem = problem_of(error)
    status = _TOO_LARGE if isinstance(error, BodyTooLargeError) else problem.status
    body: dict[str, Any] = {"type": problem.type, "title": problem.title, "status": status}
    if isinstance(error, CallerError):
        body["detail"] = str(error)
    if isinstance(error, InvalidRequestError):
        body["errors"] = [
            {"place": ".".join(map(str, entry["loc"])), "message": entry["msg"]}
            for entry in error.entries
        ]
    headers = {"Content-Type": PROBLEM_TYPE, **_headers(error)}
    return HttpResponse(status=status, body=to_json(body), headers=headers)


def _headers(error: AppError) -> Mapping[str, str]:
    if isinstance(error, AuthenticationError):
        return WWW_AUTHENTICATE
    return retry_headers() if is_retryable(error) else {}
