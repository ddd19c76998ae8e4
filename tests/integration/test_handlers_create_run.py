"""``POST /runs`` and cancel through their handler, in the contract's words (dify-agent §1 to 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sayso.domain.access import ApiKey, Role
from sayso.domain.errors import ServiceUnavailableError
from sayso.domain.ids import AppId
from sayso.domain.requests import METADATA_POLICY
from sayso.settings import Settings
from support.functions import (
    ADMIN,
    APP,
    ASK,
    DISABLED,
    DOMAIN,
    OPENAPI,
    OTHER,
    SAY,
    SERVICE,
    TENANT,
    WEBAPP_AND_MAIL,
    Functions,
    MemoryWiring,
    create_request,
)

UNKNOWN = "00000000-0000-4000-8000-000000000000"


def test_a_run_is_accepted_as_running_and_queued() -> None:
    functions = Functions()

    answer = functions.call("POST", "/runs", json_body=create_request(SAY))

    assert answer.status == 202
    assert answer.headers["content-type"] == "application/json"
    run_id = answer.json["run_id"]
    assert answer.json == {"run_id": run_id, "status": "running"}
    (message,) = functions.wiring.queue.messages
    assert message.body == {"kind": "start", "run_id": run_id}


def test_a_run_is_accepted_when_the_queue_is_down() -> None:
    functions = Functions()
    functions.wiring.queue_faults.fail_next(ServiceUnavailableError("down"))

    answer = functions.call("POST", "/runs", json_body=create_request(SAY))

    assert answer.status == 202


@pytest.mark.parametrize(
    ("key", "status", "body"),
    [
        (None, 401, '{"detail":"missing authorization header"}'),
        ("nobody", 401, '{"detail":"invalid bearer token"}'),
        (DISABLED, 401, '{"detail":"invalid bearer token"}'),
        (
            OPENAPI,
            403,
            "{\"detail\":\"a key of role 'openapi' may not use 'POST /runs'\"}",
        ),
    ],
)
def test_the_key_is_checked_before_the_body(key: str | None, status: int, body: str) -> None:
    answer = Functions().call("POST", "/runs", key=key, body="{broken")

    assert (answer.status, answer.body) == (status, body)
    assert ("www-authenticate" in answer.headers) is (status == 401)


def test_a_body_over_4_mb_is_413_with_a_detail() -> None:
    answer = Functions().call("POST", "/runs", json_body={"foo": "x" * 4_194_304})

    assert answer.status == 413
    assert answer.json == {
        "detail": "request body is too large: 4194315 bytes, at most 4194304",
    }


def test_a_wrong_shape_is_422_and_changes_nothing() -> None:
    functions = Functions()

    answer = functions.call("POST", "/runs", json_body={"foo": 1})

    assert answer.status == 422
    assert [entry["loc"] for entry in answer.json["detail"]] == [
        ["body", "composition"],
        ["body", "foo"],
    ]
    assert functions.wiring.queue.messages == []


@pytest.mark.parametrize(
    "members",
    [
        {"human_input": WEBAPP_AND_MAIL},
        {"metadata": {METADATA_POLICY: WEBAPP_AND_MAIL}},
        {"human_input": {}},
    ],
)
def test_a_policy_makes_a_managed_run(members: dict[str, Any]) -> None:
    functions = Functions()

    run_id = functions.create(ASK, **members)
    functions.settle()

    assert functions.status(run_id) == "paused"


def test_the_default_policy_of_a_key_makes_a_managed_run() -> None:
    functions = Functions()
    functions.wiring.directory.keys["own"] = ApiKey(
        id="own",
        tenant=TENANT,
        app=AppId("own"),
        role=Role.SERVICE,
        default_policy={"delivery_methods": [{"type": "webapp"}]},
    )

    answer = functions.call("POST", "/runs", key="own", json_body=create_request(ASK))
    functions.settle()

    assert functions.status(answer.json["run_id"]) == "paused"


def test_without_a_policy_a_question_ends_the_run() -> None:
    functions = Functions()

    run_id = functions.create(ASK)
    functions.settle()

    assert functions.status(run_id) == "succeeded"
    event = functions.call("GET", f"/runs/{run_id}/events").json["events"][-1]
    assert event["data"].keys() == {"deferred_tool_call", "session_snapshot"}


def test_a_policy_that_reaches_nobody_is_refused_at_its_member() -> None:
    functions = Functions(MemoryWiring(settings=Settings(scripted_model=True)))

    answer = functions.call("POST", "/runs", json_body=create_request(ASK, human_input={}))

    assert answer.status == 422
    (entry,) = answer.json["detail"]
    assert entry["loc"] == ["body", "human_input", "delivery_methods"]
    assert "SenderAddress" in entry["msg"]


@pytest.mark.parametrize(
    ("public", "base"), [("", f"https://{DOMAIN}"), ("https://say.example.org", None)]
)
def test_links_start_with_the_public_address_or_that_of_the_request(
    public: str, base: str | None
) -> None:
    wiring = MemoryWiring()
    wiring.settings = replace(wiring.settings, public_base_url=public)
    functions = Functions(wiring)

    run_id = functions.paused_run()

    assert functions.form(run_id).content.base_url == (base or public)


def test_the_trace_id_of_the_request_is_kept_with_the_run() -> None:
    functions = Functions()
    headers = {"X-Amzn-Trace-Id": "Root=1-67891233-abcdef012345678912345678"}

    answer = functions.call("POST", "/runs", json_body=create_request(SAY), headers=headers)

    run = functions.wiring.context.stores.runs.get(answer.json["run_id"])
    assert run is not None
    assert run.trace_id == "Root=1-67891233-abcdef012345678912345678"


def test_a_cancel_is_answered_at_once_and_again() -> None:
    functions = Functions()
    run_id = functions.paused_run()

    for _ in range(2):
        answer = functions.call(
            "POST", f"/runs/{run_id}/cancel", json_body={"reason": "user", "message": None}
        )
        assert (answer.status, answer.json) == (200, {"run_id": run_id, "status": "cancelled"})

    event = functions.call("GET", f"/runs/{run_id}/events").json["events"][-1]
    assert (event["type"], event["data"]) == ("run_cancelled", {"reason": "user", "message": None})


def test_a_cancel_after_the_end_is_409_with_the_text_of_the_contract() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    functions.settle()

    answer = functions.call("POST", f"/runs/{run_id}/cancel", json_body={})

    assert answer.status == 409
    assert answer.json == {"detail": "run already finished with status 'succeeded'"}


@pytest.mark.parametrize(
    ("body", "loc"),
    [(None, ["body"]), ('{"extra": 1}', ["body", "extra"]), ("[]", ["body"])],
)
def test_a_cancel_needs_a_body_of_its_shape(body: str | None, loc: list[str]) -> None:
    functions = Functions()
    run_id = functions.create(SAY)

    answer = functions.call(
        "POST",
        f"/runs/{run_id}/cancel",
        body=body,
        headers={"content-type": "application/json"},
    )

    assert answer.status == 422
    assert answer.json["detail"][0]["loc"] == loc


@pytest.mark.parametrize("run_id", [UNKNOWN, "abc", "%22", "x" * 5000, "ünïcode", "🤖"])
@pytest.mark.parametrize("body", ["{}", "{broken"])
def test_an_unknown_run_is_404_before_its_body_is_looked_at(run_id: str, body: str) -> None:
    answer = Functions().call(
        "POST",
        f"/runs/{run_id}/cancel",
        body=body,
        headers={"content-type": "application/json"},
    )

    assert (answer.status, answer.json) == (404, {"detail": "run not found"})


def test_the_run_of_another_tenant_is_unknown() -> None:
    functions = Functions()
    run_id = functions.create(SAY)

    answer = functions.call("POST", f"/runs/{run_id}/cancel", key=OTHER, json_body={})

    assert (answer.status, answer.json) == (404, {"detail": "run not found"})
    assert functions.status(run_id) == "running"


def test_a_failing_table_is_503_with_the_time_to_come_back() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    functions.wiring.faults.fail_next(ServiceUnavailableError("down"), operation="get")

    answer = functions.call("POST", f"/runs/{run_id}/cancel", json_body={})

    assert answer.status == 503
    assert answer.headers["retry-after"] == "2"
    assert answer.json == {"detail": "temporarily unavailable, try again"}


@pytest.mark.parametrize("key", [ADMIN, SERVICE])
def test_a_failure_of_ours_is_500_and_says_nothing(
    key: str, caplog: pytest.LogCaptureFixture
) -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    functions.wiring.faults.fail_next(RuntimeError("a secret"), operation="get")

    answer = functions.call("POST", f"/runs/{run_id}/cancel", key=key, json_body={})

    assert (answer.status, answer.body) == (500, "Internal Server Error")
    assert "a secret" not in caplog.text
    assert "RuntimeError" in str([vars(record) for record in caplog.records])
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


def test_a_broken_default_policy_of_a_key_is_named() -> None:
    functions = Functions()
    functions.wiring.directory.keys["own"] = ApiKey(
        id="own", tenant=TENANT, app=APP, role=Role.SERVICE, default_policy={"timeout": 0}
    )

    answer = functions.call("POST", "/runs", key="own", json_body=create_request(ASK))

    assert answer.status == 422
    assert answer.json["detail"][0]["loc"] == ["body", "human_input", "timeout"]


def test_a_run_belongs_to_the_app_of_its_key() -> None:
    functions = Functions()

    run = functions.wiring.context.stores.runs.get(functions.create(SAY))

    assert run is not None
    assert (run.tenant, run.app) == (TENANT, APP)
