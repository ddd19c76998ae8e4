"""The catalogue of errors over HTTP, and what each looks like on the contracts' routes."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain import errors
from sayso.http.errors import run_api_error
from sayso.http.form_errors import form_api_error
from sayso.http.problems import CATALOGUE, problem_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    yield kind
    for child in kind.__subclasses__():
        yield from subclasses(child)


DOMAIN_ERRORS = [
    kind for kind in subclasses(errors.AppError) if kind.__module__ == "sayso.domain.errors"
]
CALLER_ERRORS = [kind for kind in DOMAIN_ERRORS if issubclass(kind, errors.CallerError)]


@pytest.mark.parametrize("kind", CALLER_ERRORS)
def test_every_error_of_callers_has_an_entry_of_its_own(kind: type[errors.CallerError]) -> None:
    assert 400 <= CATALOGUE[kind].status < 500 or kind is errors.MovedOnError


@pytest.mark.parametrize("kind", DOMAIN_ERRORS)
def test_every_error_has_a_problem(kind: type[errors.AppError]) -> None:
    problem = problem_of(kind.__new__(kind))

    assert problem.type == f"urn:problem-type:sayso:{problem.slug}"
    assert problem.title


SAMPLES: list[tuple[errors.AppError, int, str, dict[str, str]]] = [
    (
        errors.AuthenticationError("invalid bearer token"),
        401,
        '{"detail":"invalid bearer token"}',
        {"WWW-Authenticate": "Bearer"},
    ),
    (errors.NotFoundError("run not found"), 404, '{"detail":"run not found"}', {}),
    (
        errors.RunFinishedError("succeeded"),
        409,
        '{"detail":"run already finished with status \'succeeded\'"}',
        {},
    ),
    (
        errors.ThrottledError("slow down"),
        503,
        '{"detail":"temporarily unavailable, try again"}',
        {"Retry-After": "2"},
    ),
    (
        errors.MovedOnError("moved"),
        503,
        '{"detail":"temporarily unavailable, try again"}',
        {"Retry-After": "2"},
    ),
    (errors.SnapshotCorruptError("bucket/key"), 500, "Internal Server Error", {}),
    (errors.ConditionFailedError([{"secret": 1}]), 500, "Internal Server Error", {}),
]


@pytest.mark.parametrize(("error", "status", "body", "headers"), SAMPLES)
def test_the_run_api_words_errors_as_its_contract_does(
    error: errors.AppError, status: int, body: str, headers: dict[str, str]
) -> None:
    answer = run_api_error(error)

    assert (answer.status, answer.body) == (status, body)
    assert headers.items() <= answer.headers.items()


def test_a_policy_that_reaches_nobody_is_a_422_at_its_member() -> None:
    issue = errors.FieldIssue("delivery_methods", "unreachable", "nobody to ask")

    answer = run_api_error(errors.ValidationError("nobody to ask", [issue]))

    assert answer.status == 422
    assert answer.body == (
        '{"detail":[{"type":"value_error","loc":["body","human_input","delivery_methods"],'
        '"msg":"nobody to ask","input":null}]}'
    )


MISSING = [errors.FieldIssue(name, "missing", f"Missing required inputs: {name}") for name in "ab"]
FORM_SAMPLES: list[tuple[errors.AppError, int, str, str]] = [
    (errors.UnknownLinkError("the link is not known"), 404, "not_found", "Form not found"),
    (
        errors.FormClosedError("f-1", "submitted"),
        412,
        "human_input_form_submitted",
        "This form has already been submitted by another user, form_id=f-1",
    ),
    *(
        (
            errors.FormClosedError("f-1", status),
            412,
            "human_input_form_expired",
            "This form has expired, form_id=f-1",
        )
        for status in ("timeout", "expired", "cancelled", "undeliverable")
    ),
    (
        errors.ValidationError(MISSING[0].message, MISSING),
        400,
        "invalid_form_data",
        "Missing required inputs: a, b",
    ),
    (
        errors.ValidationError(
            "Invalid action: x", [errors.FieldIssue("action", "invalid_action", ""), *MISSING]
        ),
        400,
        "invalid_form_data",
        "Invalid action: x",
    ),
    (
        errors.AuthenticationError("invalid bearer token"),
        401,
        "unauthorized",
        "invalid bearer token",
    ),
    (errors.NotAllowedError("not for this role"), 403, "forbidden", "not for this role"),
    (
        errors.ServiceUnavailableError("dynamodb"),
        503,
        "unavailable",
        "temporarily unavailable, try again",
    ),
    (
        errors.TooManyRequestsError(timedelta(seconds=7)),
        429,
        "web_form_rate_limit_exceeded",
        "Too many form requests. Please try again later.",
    ),
    (errors.DeliveryTestRefusedError("no"), 400, "bad_request", "no"),
]


@pytest.mark.parametrize(("error", "status", "code", "message"), FORM_SAMPLES)
def test_form_routes_word_errors_as_their_contract_does(
    error: errors.AppError, status: int, code: str, message: str
) -> None:
    answer = form_api_error(error)

    assert answer.status == status
    assert answer.body == f'{{"code":"{code}","message":"{message}","status":{status}}}'


def test_a_failure_of_ours_says_nothing_on_form_routes() -> None:
    assert form_api_error(errors.PermanentError("secret place")).body == "Internal Server Error"
