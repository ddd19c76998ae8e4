"""dify-agent §1: routes, their answers and what is refused synchronously."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest

from support.conversations import (
    RUN_ROUTES,
    UNKNOWN,
    asked_run,
    cancel,
    client_of,
    events_of,
    failed_run,
    finished_run,
)
from support.functions import SAY, Functions, create_request


def test_s01_create_is_202_with_two_members() -> None:
    answer = Functions().call("POST", "/runs", json_body=create_request(SAY))

    assert answer.status == 202
    assert answer.json == {"run_id": answer.json["run_id"], "status": "running"}


def test_s01_a_run_id_is_a_uuid4() -> None:
    run_id = Functions().call("POST", "/runs", json_body=create_request(SAY)).json["run_id"]

    assert str(uuid.UUID(run_id)) == run_id


def test_s01_a_wrong_shape_is_422() -> None:
    assert Functions().call("POST", "/runs", json_body={}).status == 422


@pytest.mark.parametrize("revision", ["r1", "r2"])
def test_s01_status_is_what_clients_of_each_revision_read(revision: Any) -> None:
    functions = Functions()
    headers = {"sayso-events": "r2"} if revision == "r2" else {}

    run = client_of(functions, revision, headers).get_run(failed_run(functions))

    assert (run.status, run.error) == ("failed", "run.user_prompts must not be empty")


def test_s01_instants_are_utc_with_microseconds() -> None:
    functions = Functions()

    run = functions.call("GET", f"/runs/{finished_run(functions)}").json

    for name in ("created_at", "updated_at"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", run[name])


def test_s01_error_type_only_on_demand() -> None:
    functions = Functions()
    path = f"/runs/{failed_run(functions)}"

    assert "error_type" not in functions.call("GET", path).json
    wide = functions.call("GET", path, headers={"Sayso-Events": "r2"}).json
    assert wide["error_type"] is None


@pytest.mark.parametrize(("method", "path"), RUN_ROUTES)
def test_s01_unknown_run_is_404_on_all_four_routes(method: str, path: str) -> None:
    body: dict[str, Any] | None = {} if method == "POST" else None

    answer = Functions().call(method, path.format(UNKNOWN), json_body=body)

    assert (answer.status, answer.json) == (404, {"detail": "run not found"})


def test_s01_cancel_is_200_with_the_literal_cancelled() -> None:
    functions = Functions()
    run_id = functions.create(SAY)

    answer = cancel(functions, run_id)

    assert (answer.status, answer.json) == (200, {"run_id": run_id, "status": "cancelled"})


@pytest.mark.parametrize(
    ("ended", "status"),
    [(finished_run, "succeeded"), (asked_run, "succeeded"), (failed_run, "failed")],
)
def test_s01_cancel_after_the_end_is_409(ended: Any, status: str) -> None:
    functions = Functions()

    answer = cancel(functions, ended(functions))

    assert answer.status == 409
    assert answer.json == {"detail": f"run already finished with status '{status}'"}


def test_s01_cancel_of_an_expired_protocol_run_says_failed() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    functions.wiring.queue.drop()
    functions.clock.advance(functions.wiring.settings.run_timeout * 2)
    functions.invoke("timeout_sweep", {"source": "aws.scheduler"}, 55)
    assert functions.status(run_id) == "failed"

    answer = cancel(functions, run_id)

    assert answer.json == {"detail": "run already finished with status 'failed'"}


def test_s01_cancel_needs_a_body() -> None:
    functions = Functions()

    answer = functions.call("POST", f"/runs/{functions.create(SAY)}/cancel")

    assert answer.json["detail"][0]["loc"] == ["body"]


def test_s01_cancel_forbids_extras() -> None:
    functions = Functions()

    answer = cancel(functions, functions.create(SAY), why="x")

    assert answer.json["detail"][0]["type"] == "extra_forbidden"


def test_s01_events_start_at_0_0_with_100_at_most() -> None:
    functions = Functions()
    run_id = finished_run(functions)

    given = {"after": "0-0", "limit": "100"}

    assert events_of(functions, run_id) == events_of(functions, run_id, query=given)


@pytest.mark.parametrize("limit", ["1", "500"])
def test_s01_limits_of_1_and_500_are_taken(limit: str) -> None:
    functions = Functions()

    assert events_of(functions, finished_run(functions), query={"limit": limit})


@pytest.mark.parametrize("limit", ["0", "501", "-1", "many", "1.5"])
def test_s01_other_limits_are_422(limit: str) -> None:
    functions = Functions()
    path = f"/runs/{finished_run(functions)}/events"

    answer = functions.call("GET", path, query={"limit": limit})

    assert answer.status == 422
    assert answer.json["detail"][0]["loc"] == ["query", "limit"]


def test_s01_sse_is_an_event_stream_in_utf_8() -> None:
    functions = Functions()

    answer = functions.call("GET", f"/runs/{finished_run(functions)}/events/sse")

    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"


@pytest.mark.parametrize(
    "path",
    [
        "/sandbox/files/list",
        "/sandbox/files/read",
        "/sandbox/files/upload",
        "/execution-bindings",
        "/execution-bindings/destroy",
        "/execution-bindings/files/list",
        "/home-snapshots/from-binding",
        "/home-snapshots/delete",
    ],
)
def test_s01_other_routes_of_the_client_are_404(path: str) -> None:
    answer = Functions().call("POST", path, json_body={})

    assert (answer.status, answer.json) == (404, {"detail": "Not Found"})


def test_s01_there_is_no_list_of_runs() -> None:
    answer = Functions().call("GET", "/runs")

    assert (answer.status, answer.json) == (405, {"detail": "Method Not Allowed"})


def test_s01_a_percent_encoded_id_is_the_run() -> None:
    functions = Functions()
    run_id = finished_run(functions)

    assert functions.call("GET", "/runs/" + run_id.replace("-", "%2D")).status == 200


@pytest.mark.parametrize(
    "change",
    [
        {"type": "no.such.layer"},
        {"name": ""},
        {"config": {"user": " "}},
        {"config": "no json"},
        {"deps": {"x": "y"}},
    ],
)
def test_s01_1_a_bad_composition_is_accepted_and_fails(change: dict[str, Any]) -> None:
    functions = Functions()
    request = create_request(SAY)
    request["composition"]["layers"][0] |= change

    answer = functions.call("POST", "/runs", json_body=request)
    functions.settle()

    assert answer.status == 202
    assert functions.status(answer.json["run_id"]) == "failed"


@pytest.mark.parametrize(
    "members",
    [
        {"on_exit": {"layers": {"nobody": "delete"}}},
        {"session_snapshot": {"schema_version": 1, "layers": []}},
        {"deferred_tool_results": {"calls": {"nobody": 1}}},
    ],
)
def test_s01_1_names_that_do_not_fit_are_accepted_and_fail(members: dict[str, Any]) -> None:
    functions = Functions()

    run_id = functions.create(SAY, **members)
    functions.settle()

    assert functions.status(run_id) == "failed"


def test_s01_1_an_active_layer_in_a_snapshot_is_422() -> None:
    layer = {"name": "llm", "lifecycle_state": "active", "runtime_state": {}}
    request = create_request(SAY, session_snapshot={"schema_version": 1, "layers": [layer]})

    answer = Functions().call("POST", "/runs", json_body=request)

    assert answer.status == 422
    (entry,) = answer.json["detail"]
    assert entry["msg"] == (
        "Value error, LifecycleState.ACTIVE is internal-only and cannot appear in session"
        " snapshots."
    )
