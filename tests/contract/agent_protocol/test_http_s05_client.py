"""dify-agent §5: an unmodified client of either revision does all it can do."""

from __future__ import annotations

from typing import Any

import pytest

from sayso.domain.errors import ServiceUnavailableError
from support.conversations import asked_run, client_of, finished_run
from support.dify_client import ClientError, StreamBrokenError
from support.functions import ASK, SAY, Functions, create_request

REVISIONS = pytest.mark.parametrize("revision", ["r1", "r2"])


@REVISIONS
def test_s05_1_create_and_wait(revision: Any) -> None:
    functions = Functions()
    client = client_of(functions, revision)

    created = client.create_run(create_request(SAY))

    assert client.wait_run(created.run_id).status == "succeeded"


def test_s05_1_the_body_of_revision_1_as_it_is_serialised() -> None:
    functions = Functions()
    layers = create_request(SAY)["composition"]["layers"]
    every = [{"deps": {}, "metadata": {}, "config": None, **layer} for layer in layers]
    request = {
        "composition": {"schema_version": 1, "layers": every},
        "purpose": "workflow_node",
        "idempotency_key": None,
        "metadata": {},
        "session_snapshot": None,
        "deferred_tool_results": None,
        "on_exit": {"default": "suspend", "layers": {}},
    }
    client = client_of(functions, "r1")

    created = client.create_run(request)

    assert client.wait_run(created.run_id).status == "succeeded"


@REVISIONS
def test_s05_1_events_of_every_kind_are_read_strictly(revision: Any) -> None:
    functions = Functions()

    events = client_of(functions, revision).all_events(asked_run(functions))

    assert {event["type"] for event in events} == {
        "run_started",
        "pydantic_ai_event",
        "run_succeeded",
    }


def test_s05_1_a_wait_is_ended_by_the_first_error() -> None:
    functions = Functions()
    run_id = finished_run(functions)
    functions.wiring.faults.fail_next(ServiceUnavailableError("down"), operation="get")

    with pytest.raises(ClientError) as caught:
        client_of(functions).wait_run(run_id)

    assert (caught.value.status, caught.value.detail) == (
        503,
        "temporarily unavailable, try again",
    )


@REVISIONS
def test_s05_1_cancel_without_reason(revision: Any) -> None:
    functions = Functions()
    client = client_of(functions, revision)
    created = client.create_run(create_request(SAY))

    assert client.cancel_run(created.run_id).status == "cancelled"
    assert client.wait_run(created.run_id).status == "cancelled"


@REVISIONS
def test_s05_2_a_stream_ends_with_the_terminal_event(revision: Any) -> None:
    functions = Functions()
    client = client_of(functions, revision)
    created = client.create_run(create_request(SAY))
    functions.wiring.during_sleep = functions.settle

    events = list(client.stream_events(created.run_id))

    assert events[-1].type == "run_succeeded"
    assert client.connections == 1


def test_s05_2_a_stream_goes_on_at_its_cursor_after_a_server_error() -> None:
    functions = Functions()
    run_id = finished_run(functions)
    whole = [event.id for event in client_of(functions).stream_events(run_id)]
    functions.wiring.faults.fail_next(ServiceUnavailableError("down"), operation="query")
    client = client_of(functions)

    assert [event.id for event in client.stream_events(run_id)] == whole
    assert client.connections == 2


def test_s05_2_a_client_of_revision_2_follows_a_run_of_100_seconds() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    start = functions.clock.now()

    def later() -> None:
        if (functions.clock.now() - start).total_seconds() > 95:
            functions.settle()

    functions.wiring.during_sleep = later
    client = client_of(functions)
    client.wait = lambda _: None

    *_, last = client.stream_events(run_id)

    assert last.type == "run_succeeded"
    assert client.connections == 4


def test_s05_2_a_longer_run_uses_up_the_reconnects_of_revision_2_but_not_of_revision_1() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    patient = client_of(functions, "r1")
    patient.wait = lambda _: functions.settle() if patient.connections > 9 else None
    hasty = client_of(functions)
    hasty.wait = lambda _: None

    with pytest.raises(StreamBrokenError, match="SSE stream reconnect attempts exhausted"):
        list(hasty.stream_events(run_id))
    *_, last = patient.stream_events(run_id)

    assert last.type == "run_succeeded"
    assert patient.connections == 11


def test_s05_2_cancel_and_wait() -> None:
    functions = Functions()
    client = client_of(functions)
    created = client.create_run(create_request(SAY))

    assert client.cancel_and_wait(created.run_id).type == "run_cancelled"


def test_s05_2_cancel_and_wait_behind_the_end_starts_again() -> None:
    functions = Functions()
    client = client_of(functions)
    created = client.create_run(create_request(SAY))
    client.cancel_run(created.run_id)
    last = client.all_events(created.run_id)[-1]["id"]

    assert client.cancel_and_wait(created.run_id, after=last).type == "run_cancelled"


@REVISIONS
def test_s05_a_question_is_answered_by_a_second_run(revision: Any) -> None:
    functions = Functions()
    client = client_of(functions, revision)
    first = client.create_run(create_request(ASK))
    client.wait_run(first.run_id)
    *_, asked = client.stream_events(first.run_id)
    call = asked.data["deferred_tool_call"]
    answer = {
        "status": "submitted",
        "action": {"id": "approve", "label": "Approve"},
        "values": {"reason": "late"},
        "message": None,
        "rendered_content": None,
    }

    second = client.create_run(
        create_request(
            ASK,
            session_snapshot=asked.data["session_snapshot"],
            deferred_tool_results={"calls": {call["tool_call_id"]: answer}, "metadata": {}},
        )
    )
    client.wait_run(second.run_id)
    *_, done = client.stream_events(second.run_id)

    assert done.type == "run_succeeded"
    assert '"status":"submitted"' in done.data["output"].replace(" ", "")
