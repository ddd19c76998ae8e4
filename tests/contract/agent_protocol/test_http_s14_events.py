"""dify-agent §14: events as readers over HTTP see them, safe by default, wide on demand."""

from __future__ import annotations

import base64
import json
import random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from support.conversations import (
    R2,
    asked_run,
    cancel,
    client_of,
    events_of,
    failed_run,
    finished_run,
)
from support.dify_models import SucceededR2
from support.functions import SAY, Functions

if TYPE_CHECKING:
    from collections.abc import Mapping


def cancelled_run(functions: Functions) -> str:
    run_id = functions.create(SAY)
    cancel(functions, run_id, reason="user", message="enough")
    return run_id


def last(
    functions: Functions, run_id: str, headers: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Any]:
    """Return the data of the terminal event."""
    data: dict[str, Any] = events_of(functions, run_id, headers=headers)[-1]["data"]
    return data


ENDINGS = pytest.mark.parametrize("ended", [finished_run, asked_run, failed_run, cancelled_run])


@ENDINGS
@pytest.mark.parametrize("revision", ["r1", "r2"])
def test_s14_clients_of_both_revisions_read_every_safe_event(revision: Any, ended: Any) -> None:
    functions = Functions()

    assert client_of(functions, revision).all_events(ended(functions))


@ENDINGS
def test_s14_clients_of_revision_2_read_every_wide_event(ended: Any) -> None:
    functions = Functions()

    assert client_of(functions, "r2", {"sayso-events": "r2"}).all_events(ended(functions))


def test_s14_the_envelope_has_five_members() -> None:
    functions = Functions()
    run_id = finished_run(functions)

    for event in events_of(functions, run_id):
        assert event.keys() == {"id", "run_id", "created_at", "type", "data"}
        assert event["run_id"] == run_id


def test_s14_run_started_is_empty() -> None:
    functions = Functions()

    assert events_of(functions, finished_run(functions))[0]["data"] == {}


def test_s14_a_success_has_output_and_no_deferred_call() -> None:
    functions = Functions()

    data = last(functions, finished_run(functions))

    assert data.keys() == {"output", "session_snapshot"}
    assert data["output"] == "Done."


def test_s14_a_question_has_a_deferred_call_and_no_output() -> None:
    functions = Functions()

    data = last(functions, asked_run(functions))

    assert data.keys() == {"deferred_tool_call", "session_snapshot"}
    assert data["deferred_tool_call"].keys() == {"tool_call_id", "tool_name", "args", "metadata"}


@pytest.mark.parametrize("members", [{"output": 1, "deferred_tool_call": None}, {}])
def test_s14_the_client_wants_exactly_one_outcome(members: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Exactly one of output or deferred_tool_call"):
        SucceededR2.model_validate({**members, "session_snapshot": {"layers": []}})


def test_s14_a_failure_has_error_and_reason() -> None:
    functions = Functions()

    assert last(functions, failed_run(functions)) == {
        "error": "run.user_prompts must not be empty",
        "reason": None,
    }


def test_s14_a_cancel_has_reason_and_message() -> None:
    functions = Functions()

    assert last(functions, cancelled_run(functions)) == {"reason": "user", "message": "enough"}


def test_s14_r2_usage_of_a_success() -> None:
    functions = Functions()

    usage = last(functions, finished_run(functions), R2)["usage"]

    assert usage.keys() == {
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
        "currency",
        "latency",
    }
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0
    assert usage["currency"] == "USD"


def test_s14_r2_extras_of_a_failure() -> None:
    functions = Functions()

    data = last(functions, failed_run(functions), R2)

    assert data.keys() == {"error", "reason", "error_type", "session_snapshot", "usage"}
    assert [layer["name"] for layer in data["session_snapshot"]["layers"]] == [
        "prompt",
        "context",
        "history",
        "ask_human",
        "llm",
    ]


def test_s14_r2_extras_of_a_cancel_before_any_work_are_null() -> None:
    functions = Functions()

    data = last(functions, cancelled_run(functions), R2)

    assert data == {
        "reason": "user",
        "message": "enough",
        "session_snapshot": None,
        "usage": None,
    }


def test_s14_r2_agent_message_delta_is_the_text_of_start_or_delta_and_else_null() -> None:
    functions = Functions()
    events = events_of(functions, finished_run(functions), headers=R2)

    deltas = [
        (event["data"]["event_kind"], event["agent_message_delta"])
        for event in events
        if event["type"] == "pydantic_ai_event"
    ]

    assert "".join(text or "" for _, text in deltas) == "Done."
    assert all(text is None for kind, text in deltas if kind in {"part_end", "final_result"})
    assert all("agent_message_delta" not in e for e in events if e["type"] != "pydantic_ai_event")


@pytest.mark.parametrize("header", ["", "R3", "managed", "r2x", "r 2"])
def test_s14_3_extras_need_the_very_word_in_the_header(header: str) -> None:
    functions = Functions()

    data = last(functions, finished_run(functions), {"Sayso-Events": header})

    assert "usage" not in data


@pytest.mark.parametrize("header", ["r2", "R2", " managed , r2"])
def test_s14_3_the_header_is_a_list_of_any_case(header: str) -> None:
    functions = Functions()

    assert "usage" in last(functions, finished_run(functions), {"Sayso-Events": header})


def test_s14_3_a_stream_offers_the_same_extras() -> None:
    functions = Functions()
    run_id = finished_run(functions)

    body = functions.call("GET", f"/runs/{run_id}/events/sse", headers=R2).body

    data = body.rstrip().rpartition("data: ")[2]
    assert json.loads(data)["data"] == last(functions, run_id, R2)


def test_s14_text_of_a_long_answer_is_stored_coalesced() -> None:
    functions = Functions()
    text = "word " * 20_000

    events = events_of(functions, finished_run(functions, [{"text": text}]), query={"limit": "500"})

    assert len(events) < 100
    assert events[-1]["data"]["output"] == text


def test_s14_large_event_data_lies_in_the_bucket_and_reads_like_any_other() -> None:
    functions = Functions()
    noise = base64.b64encode(random.Random(1).randbytes(150_000)).decode()  # noqa: S311 - repeats

    run_id = finished_run(functions, [{"text": noise}])

    stored = [key for key in functions.wiring.objects.objects if "/events/" in key]
    assert stored
    assert last(functions, run_id)["output"] == noise
