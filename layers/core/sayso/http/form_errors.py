"""Error bodies of the JSON form routes: ``code``, ``message``, ``status`` (human-input §7.1)."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple

from sayso.domain.access import Surface
from sayso.domain.errors import (
    AppError,
    AuthenticationError,
    CallerError,
    DeliveryTestRefusedError,
    FormClosedError,
    NotAllowedError,
    NotFoundError,
    SurfaceMismatchError,
    TooManyRequestsError,
    UnknownLinkError,
    ValidationError,
)
from sayso.domain.transitions import FormStatus
from sayso.domain.uploads import UploadRefusedError, UploadTokenError
from sayso.http.errors import WWW_AUTHENTICATE, internal_error, is_retryable, retry_headers
from sayso.http.invalid import InvalidRequestError
from sayso.http.json_body import BodyTooLargeError
from sayso.http.problems import problem_of
from sayso.http.response import HttpResponse, json_response
from sayso.http.upload_errors import token_error, upload_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def form_api_error(error: AppError, surface: Surface = Surface.SERVICE_API) -> HttpResponse:
    """Return the answer for an error on a JSON form route; some surfaces have words of their own."""
    match error:
        case FormClosedError():
            return _closed(error)
        case UploadTokenError():
            return _token_refused(error)
        case UploadRefusedError():
            return _body(*upload_error(error))
        case _:
            return _from_rows(error, surface)


def _from_rows(error: AppError, surface: Surface) -> HttpResponse:
    for row in (*_OWN_ROWS.get(surface, ()), *_ROWS):
        if isinstance(error, row.kind):
            headers = _wait(error) if isinstance(error, TooManyRequestsError) else row.headers
            return _body(row.status, row.code, row.message_of(error), headers, row.hint)
    if is_retryable(error):
        message = "temporarily unavailable, try again"
        return _body(HTTPStatus.SERVICE_UNAVAILABLE, "unavailable", message, retry_headers())
    if isinstance(error, CallerError):
        problem = problem_of(error)
        return _body(problem.status, problem.slug.replace("-", "_"), str(error))
    return internal_error()


def _token_refused(error: UploadTokenError) -> HttpResponse:
    status, code, message = token_error(error)
    headers = WWW_AUTHENTICATE if status == HTTPStatus.UNAUTHORIZED else None
    return _body(status, code, message, headers)


def _wait(error: TooManyRequestsError) -> Mapping[str, str]:
    return {"Retry-After": str(math.ceil(error.retry_after.total_seconds()))}


def _closed(error: FormClosedError) -> HttpResponse:
    """Word how a form ended; everything but an answer counts as expired (DESIGN §4)."""
    code = "human_input_form_expired"
    message = f"This form has expired, form_id={error.form_id}"
    if error.status == FormStatus.SUBMITTED:
        code = "human_input_form_submitted"
        message = f"This form has already been submitted by another user, form_id={error.form_id}"
    return _body(HTTPStatus.PRECONDITION_FAILED, code, message)


def _values_message(error: ValidationError) -> str:
    """Return the first problem in the contract's order: action, presence, fields (§9)."""
    missing = [issue.field for issue in error.issues if issue.code == "missing"]
    first = error.issues[0].code if error.issues else ""
    if missing and first != "invalid_action":
        return f"Missing required inputs: {', '.join(missing)}"
    return str(error)


def _shape_message(error: InvalidRequestError) -> str:
    entry = error.entries[0]
    place = ".".join(str(step) for step in entry["loc"])
    return f"{place}: {entry['msg']}"


class _Row(NamedTuple):
    kind: type[AppError]
    status: int
    code: str
    message_of: Callable[[Any], str] = str
    headers: Mapping[str, str] | None = None
    hint: str = ""


_ROWS = (
    _Row(NotFoundError, 404, "not_found", lambda _: "Form not found"),
    _Row(InvalidRequestError, 400, "invalid_param", _shape_message),
    _Row(BodyTooLargeError, 413, "invalid_param"),
    _Row(ValidationError, 400, "invalid_form_data", _values_message),
    _Row(DeliveryTestRefusedError, 400, "bad_request"),
    _Row(
        TooManyRequestsError,
        429,
        "web_form_rate_limit_exceeded",
        lambda _: "Too many form requests. Please try again later.",
    ),
    _Row(AuthenticationError, 401, "unauthorized", headers=WWW_AUTHENTICATE),
    _Row(NotAllowedError, 403, "forbidden"),
)
"""Class → status, code, message; the first row that fits counts."""


_NOT_OF_OPENAPI = (
    "No human-input form matches this token. It may be wrong, expired, or already submitted."
)
_OWN_ROWS: Mapping[Surface, tuple[_Row, ...]] = {
    Surface.OPENAPI: (
        _Row(NotFoundError, 404, "human_input_form_not_found", lambda _: _NOT_OF_OPENAPI),
        _Row(
            SurfaceMismatchError,
            403,
            "recipient_surface_mismatch",
            lambda _: "This form's recipient can't be submitted via the OpenAPI surface.",
            hint="Action it through its channel (web app or console).",
        ),
    ),
    Surface.CONSOLE: (
        # The reference repeats the token, which is a credential.
        _Row(UnknownLinkError, 404, "not_found", lambda _: "form not found"),
        _Row(NotFoundError, 404, "not_found"),
    ),
}
"""Rows that come before ``_ROWS`` on one surface."""


def _body(
    status: int,
    code: str,
    message: str,
    headers: Mapping[str, str] | None = None,
    hint: str = "",
) -> HttpResponse:
    body = {"code": code, "message": message, "status": int(status)}
    return json_response(int(status), body | ({"hint": hint} if hint else {}), headers)
