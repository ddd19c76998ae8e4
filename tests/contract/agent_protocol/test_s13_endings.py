"""dify-agent §13: how runs fail, with deferred results and else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelHTTPError, UsageLimitExceeded

from sayso.domain.run import Face
from sayso.domain.segment import Asked, Failed, Finished
from sayso_agent.failures import failure
from sayso_agent.runner import REQUEST_LIMIT
from support.segments import (
    CONTEXT,
    HISTORY,
    MemoryJournal,
    ask,
    ask_human,
    calls,
    failed_text,
    llm,
    prompt,
    request,
    run_protocol,
    runner_of_tests,
    text,
    tools,
    usual,
    work_on,
)

ANSWERED = {"deferred_tool_results": {"calls": {"call_1": "yes"}}}


def snapshot_of(result: Any) -> Any:
    assert isinstance(result, Asked | Finished)
    return result.session_snapshot


def test_s13_1_results_without_history_layer() -> None:
    error = failed_text(request(prompt(), CONTEXT, ask_human(), llm([text("x")]), **ANSWERED))

    assert error == ("Deferred tool results require a 'history' layer with prior message history.")


def test_s13_1_empty_history() -> None:
    assert failed_text(usual([text("x")], **ANSWERED)) == (
        "Tool call results were provided, but the message history does not contain a"
        " `ModelResponse`."
    )


def test_s13_1_empty_history_without_any_system_prompt() -> None:
    error = failed_text(request(prompt(), HISTORY, CONTEXT, llm([text("x")]), **ANSWERED))

    assert error == "Tool call results were provided, but the message history is empty."


def test_s13_1_nothing_pending() -> None:
    snapshot = snapshot_of(run_protocol(usual([text("Done.")])))

    error = failed_text(usual([text("x")], session_snapshot=snapshot, **ANSWERED), run_id="run-2")

    assert error == (
        "Tool call results were provided, but the message history does not contain any unprocessed"
        " tool calls."
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"nope": 1}, "got: {'nope'}"),
        ({}, "got: set()"),
        ({"call_1": 1, "nope": 2}, "got: {"),
    ],
    ids=["wrong", "none", "additional"],
)
def test_s13_1_other_ids_than_pending(given: dict[str, Any], said: str) -> None:
    snapshot = snapshot_of(run_protocol(usual([ask()])))
    create = usual([text("x")], session_snapshot=snapshot, deferred_tool_results={"calls": given})

    error = failed_text(create, run_id="run-2")

    assert error.startswith(
        "Tool call results need to be provided for all deferred tool calls. Expected: {'call_1'}, "
    )
    assert said in error


def test_s13_1_pending_call_no_results_and_a_new_prompt() -> None:
    snapshot = snapshot_of(run_protocol(usual([ask()])))

    error = failed_text(usual([text("x")], session_snapshot=snapshot), run_id="run-2")

    assert error == (
        "Cannot provide a new user prompt when the message history contains unprocessed tool calls."
    )


def test_s13_limit_of_model_requests() -> None:
    runner = runner_of_tests(request_limit=3)
    create = request(prompt(), CONTEXT, tools(), llm([calls(("c", "change", {"what": "x"}))]))

    result = asyncio.run(runner.run(work_on(create, face=Face.PROTOCOL), MemoryJournal()))

    assert REQUEST_LIMIT == 500
    assert isinstance(result, Failed)
    assert result.error == "The next request would exceed the request_limit of 3"
    assert result.error_type == "agent_run_limit_exceeded"
    assert result.usage is not None
    assert result.usage.requests == 3


@pytest.mark.parametrize(
    ("status", "body", "error", "reason"),
    [
        (400, {"message": "Bad key", "error_type": "AuthError"}, "Bad key", "AuthError"),
        (429, {"message": "Slow down"}, "Slow down", "InvokeRateLimitError"),
        (429, {"message": "m", "error_type": "Own"}, "m", "Own"),
        (500, {"error": {"message": "Broken", "error_type": "E"}}, "Broken", "E"),
        (500, '{"message": "In text"}', "In text", None),
    ],
    ids=["type", "429", "429 typed", "wrapped", "text"],
)
def test_s13_2_model_http_errors(status: int, body: Any, error: str, reason: str | None) -> None:
    failed = failure(ModelHTTPError(status_code=status, model_name="m", body=body))

    assert (failed.error, failed.reason) == (error, reason)


@pytest.mark.parametrize("body", [None, "gateway timeout", {"detail": "x"}], ids=repr)
def test_s13_2_model_http_error_without_a_message(body: object) -> None:
    failed = failure(ModelHTTPError(status_code=504, model_name="m", body=body))

    assert failed.error.startswith("status_code: 504, model_name: m")
    assert failed.reason is None


def test_s13_2_empty_exception_text_becomes_the_class_name() -> None:
    assert failure(TimeoutError()).error == "TimeoutError"


def test_s13_2_other_failures_have_no_reason() -> None:
    assert failure(ValueError("x")) == Failed(error="x")
    assert failure(UsageLimitExceeded("too much")).reason is None
