"""dify-agent §18: quirks that a compatible server must honour, one by one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sayso.domain.errors import ServiceUnavailableError, ThrottledError
from support.conversations import (
    RUN_ROUTES,
    UNKNOWN,
    asked_run,
    cancel,
    client_of,
    events_of,
    finished_run,
)
from support.functions import ASK, SAY, Answer, Functions, create_request


def test_s18_01_create_stores_and_queues_and_calls_no_model() -> None:
    functions = Functions()
    before = len(functions.wiring.faults.calls)

    functions.create(SAY)

    assert functions.wiring.faults.calls[before:] == ["transact"]
    assert len(functions.wiring.queue.messages) == 1


def test_s18_01_a_slash_at_the_end_is_no_redirect() -> None:
    assert Functions().call("POST", "/runs/", json_body=create_request(SAY)).status == 404


@pytest.mark.parametrize(
    "purpose", ["workflow_node", "single_step", "agent_app", "babysit", "fasten_preview"]
)
def test_s18_02_purpose_is_taken_and_ignored(purpose: str) -> None:
    functions = Functions()

    assert functions.create(SAY, purpose=purpose)


@pytest.mark.parametrize("config", [None, {}, "{}", '{"user": "x"}'])
def test_s18_02_config_as_null_object_or_string(config: Any) -> None:
    request = create_request(SAY)
    request["composition"]["layers"][0]["config"] = config

    assert Functions().call("POST", "/runs", json_body=request).status == 202


def test_s18_03_no_status_of_ours_shows_in_a_protocol_run() -> None:
    functions = Functions()
    run_id = functions.create(ASK)
    seen = {functions.status(run_id)}
    functions.settle()
    seen.add(functions.status(run_id))

    assert seen == {"running", "succeeded"}


def test_s18_05_a_buffered_stream_replays_everything_and_ends_each_frame() -> None:
    functions = Functions()
    run_id = finished_run(functions)

    body = functions.call("GET", f"/runs/{run_id}/events/sse").body

    assert body.count("\n\n") == body.count("data: ") == len(events_of(functions, run_id))
    assert body.endswith("\n\n")


@pytest.mark.parametrize("error", [ServiceUnavailableError("down"), ThrottledError("slow down")])
@pytest.mark.parametrize("operation", ["get", "query"])
def test_s18_06_transient_trouble_of_a_stream_is_5xx(error: Exception, operation: str) -> None:
    functions = Functions()
    run_id = finished_run(functions)
    functions.wiring.faults.fail_next(error, operation=operation)

    answer = functions.call("GET", f"/runs/{run_id}/events/sse")

    assert answer.status == 503
    assert answer.headers["retry-after"] == "2"


def test_s18_07_event_and_id_of_a_frame_are_those_of_its_payload() -> None:
    functions = Functions()
    body = functions.call("GET", f"/runs/{finished_run(functions)}/events/sse").body

    for frame in body.removesuffix("\n\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in frame.split("\n"))
        payload = json.loads(fields["data"])
        assert (fields["id"], fields["event"]) == (payload["id"], payload["type"])


def test_s18_08_ids_are_unique_and_increase() -> None:
    functions = Functions()
    ids = [event["id"] for event in events_of(functions, finished_run(functions))]

    numbers = [int(one.removesuffix("-0")) for one in ids]

    assert numbers == sorted(set(numbers))
    assert numbers[0] > 0


def test_s18_08_an_unknown_cursor_returns_later_events_only() -> None:
    functions = Functions()
    run_id = finished_run(functions)

    assert events_of(functions, run_id, query={"after": "123456-7"}) == []
    assert events_of(functions, run_id, query={"after": "1-0"})[0]["id"] == "2-0"


def test_s18_09_line_ends_inside_text_do_not_break_a_client_of_revision_1() -> None:
    functions = Functions()
    text = "a\x0bb\x0cc\x1cd\x1de\x1ef\x85g\u2028h\u2029i\r\nj"
    run_id = finished_run(functions, [{"text": text}])

    *_, last = client_of(functions, "r1").stream_events(run_id)

    assert last.data["output"] == text


def test_s18_10_a_snapshot_is_always_there_and_never_active() -> None:
    functions = Functions()

    for run_id in (finished_run(functions), asked_run(functions)):
        snapshot = events_of(functions, run_id)[-1]["data"]["session_snapshot"]
        states = {layer["lifecycle_state"] for layer in snapshot["layers"]}
        assert states == {"suspended"}


def test_s18_11_cancel_answers_cancelled_while_the_run_is_still_stopping() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    answers: list[Answer] = []
    original = functions.wiring.table.transact

    def cancel_first(*args: Any, **options: Any) -> None:
        if not answers:
            answers.append(cancel(functions, run_id, reason="user"))
        original(*args, **options)

    functions.wiring.table.transact = cancel_first  # type: ignore[method-assign]  # in between
    functions.settle()

    assert answers[0].json["status"] == "cancelled"
    assert functions.status(run_id) == "cancelled"
    last = events_of(functions, run_id)[-1]
    assert (last["type"], last["data"]) == ("run_cancelled", {"reason": "user", "message": None})


def test_s18_13_a_question_is_a_success() -> None:
    functions = Functions()
    run_id = asked_run(functions)

    assert functions.call("GET", f"/runs/{run_id}").json["status"] == "succeeded"
    assert functions.wiring.mailer.sent == []


def test_s18_14_the_user_prompt_of_a_resume_is_ignored() -> None:
    functions = Functions()
    snapshot = events_of(functions, asked_run(functions))[-1]["data"]["session_snapshot"]
    request = create_request(
        ASK, session_snapshot=snapshot, deferred_tool_results={"calls": {"call_1": "yes"}}
    )
    request["composition"]["layers"][0]["config"] = {"user": " "}

    run_id = functions.call("POST", "/runs", json_body=request).json["run_id"]
    functions.settle()

    assert functions.status(run_id) == "succeeded"


@pytest.mark.parametrize(("method", "path"), RUN_ROUTES)
def test_s18_16_an_unknown_run_is_404_before_anything_else(method: str, path: str) -> None:
    answer = Functions().call(
        method, path.format(UNKNOWN), body="{broken", query={"limit": "0", "after": "x"}
    )

    assert (answer.status, answer.json) == (404, {"detail": "run not found"})


def test_s18_17_status_reads_are_never_limited() -> None:
    functions = Functions()
    run_id = functions.create(SAY)

    assert {functions.call("GET", f"/runs/{run_id}").status for _ in range(200)} == {200}


def test_s18_18_the_key_is_checked_before_the_body() -> None:
    answer = Functions().call("POST", "/runs", key=None, body="{broken")

    assert answer.status == 401


def test_s18_19_a_stream_is_not_compressed() -> None:
    functions = Functions()
    path = f"/runs/{finished_run(functions)}/events/sse"

    answer = functions.call("GET", path, headers={"Accept-Encoding": "gzip, deflate"})

    assert "content-encoding" not in answer.headers


def test_s18_20_a_body_over_the_limit_is_413_with_a_detail() -> None:
    snapshot = {
        "schema_version": 1,
        "layers": [
            {
                "name": "history",
                "lifecycle_state": "suspended",
                "runtime_state": {"messages": ["x" * 4_200_000]},
            }
        ],
    }

    answer = Functions().call(
        "POST", "/runs", json_body=create_request(SAY, session_snapshot=snapshot)
    )

    assert answer.status == 413
    assert answer.json["detail"].endswith("bytes, at most 4194304")
