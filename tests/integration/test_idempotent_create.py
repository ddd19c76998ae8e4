"""The same create request twice: one run (contract §6 knows the member, upstream does not use it)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from sayso.domain.errors import ServiceUnavailableError, ThrottledError
from support.functions import ADMIN, KEYS, OTHER, SAY, Answer, Functions, create_request

HEADER = "Idempotency-Key"


def create(functions: Functions, under: str | None = "order-17", **options: Any) -> Answer:
    """Create a run under an idempotency key in the body."""
    members = {"idempotency_key": under, **options.pop("members", {})}
    body = create_request(options.pop("script", SAY), **members)
    return functions.call("POST", "/runs", json_body=body, **options)


def starts(functions: Functions) -> int:
    return len(functions.wiring.queue.messages)


def test_the_same_request_again_is_the_first_run() -> None:
    functions = Functions()

    first, second = create(functions), create(functions)

    assert (first.status, second.status) == (202, 202)
    assert second.json == first.json
    assert starts(functions) == 1


def test_body_and_header_mean_the_same() -> None:
    functions = Functions()

    in_body = create(functions)
    in_header = create(functions, None, headers={HEADER: "order-17"})
    in_both = create(functions, headers={HEADER: "order-17"})

    assert in_body.json == in_header.json == in_both.json


def test_two_keys_in_one_request_are_refused() -> None:
    answer = create(Functions(), headers={HEADER: "order-18"})

    assert answer.status == 422
    (entry,) = answer.json["detail"]
    assert entry["loc"] == ["body", "idempotency_key"]
    assert "Idempotency-Key should be the same" in entry["msg"]


def test_another_request_under_the_key_is_422_and_makes_no_run() -> None:
    functions = Functions()
    create(functions)

    answer = create(functions, members={"metadata": {"order": 18}})

    assert answer.status == 422
    assert answer.json["detail"] == [
        {
            "type": "value_error",
            "loc": ["body", "idempotency_key"],
            "msg": "the idempotency key was used for another request in the last 24 hours",
            "input": None,
        }
    ]
    assert starts(functions) == 1


def test_renewed_credentials_make_no_other_request() -> None:
    functions = Functions()

    first = create(functions, script=SAY)
    second = create(functions, script=[{"text": "Other."}])  # the script stands in credentials

    assert second.json == first.json


@pytest.mark.parametrize("key", [None, ""])
def test_without_a_key_each_request_is_a_run(key: str | None) -> None:
    functions = Functions()

    assert create(functions, key).json != create(functions, key).json


def test_the_key_of_another_tenant_is_another_key() -> None:
    functions = Functions()

    assert create(functions, key=ADMIN).json != create(functions, key=OTHER).json


def test_a_key_may_be_any_text() -> None:
    functions = Functions()
    key = "ü\u2028 " * 10_000

    assert create(functions, key).json == create(functions, key).json


def test_a_key_is_free_again_after_24_hours_also_when_its_item_still_lies_there() -> None:
    functions = Functions()
    first = create(functions)

    functions.clock.advance(timedelta(hours=24) - timedelta(milliseconds=1))
    same = create(functions)
    functions.clock.advance(timedelta(milliseconds=1))
    other = create(functions)

    assert same.json == first.json
    assert other.json != first.json


@pytest.mark.parametrize("error", [ServiceUnavailableError("lost"), ThrottledError("slow")])
def test_a_lost_answer_is_recognised_and_makes_one_run(error: Exception) -> None:
    functions = Functions()
    functions.wiring.faults.fail_next(error, operation="transact", moment="after")

    first, second = create(functions), create(functions)

    assert first.status == 202
    assert second.json == first.json
    assert starts(functions) == 1


def limited(runs_per_minute: int) -> Functions:
    functions = Functions()
    key = replace(KEYS[ADMIN], limits={"runs_per_minute": runs_per_minute})
    functions.wiring.directory.keys[ADMIN] = key
    return functions


def test_a_key_over_its_runs_per_minute_is_503_and_told_when_to_come_back() -> None:
    functions = limited(2)
    accepted = [create(functions, None).status for _ in range(2)]

    refused = create(functions, None)
    functions.clock.advance(timedelta(seconds=int(refused.headers["retry-after"])))
    again = create(functions, None)

    assert accepted == [202, 202]
    assert refused.status == 503
    assert refused.json["detail"].startswith("too many requests, try again in ")
    assert again.status == 202


def test_the_limit_of_one_key_is_not_that_of_another() -> None:
    functions = limited(1)
    create(functions, None)

    assert create(functions, None, key=OTHER).status == 202
