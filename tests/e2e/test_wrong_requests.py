"""Requests to the run API that are wrong: a clear answer, and no run, or one that says why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from e2e.scenes import Json, asking, scripted, to_api, to_mail
from e2e.web import Request
from sayso.domain.transitions import RunStatus
from support.segments import ask, calls, text

if TYPE_CHECKING:
    from e2e.stage import Stage

pytestmark = pytest.mark.stack

MAX_BODY_BYTES = 4 * 1024 * 1024
SECRET = "never-quoted-back"
"""What somebody typed into a field."""


# ---- Create requests whose shape is wrong


def with_policy(policy: Json) -> Json:
    return asking() | {"human_input": policy}


WRONG_REQUESTS: dict[str, tuple[object, list[object], str]] = {
    "unknown member": (asking() | {"surprise": 1}, ["body", "surprise"], "extra_forbidden"),
    "unknown member of the policy": (
        with_policy({"surprise": 1}),
        ["body", "human_input", "surprise"],
        "extra_forbidden",
    ),
    "no composition": ({}, ["body", "composition"], "missing"),
    "composition of another type": (
        {"composition": []},
        ["body", "composition"],
        "model_type",
    ),
    "layers of another type": (
        {"composition": {"layers": "prompt"}},
        ["body", "composition", "layers"],
        "list_type",
    ),
    "a key of another type": (
        asking() | {"idempotency_key": 5},
        ["body", "idempotency_key"],
        "string_type",
    ),
    "no time to answer": (
        asking(timeout=0),
        ["body", "human_input", "timeout"],
        "greater_than_equal",
    ),
    "a unit that is none": (
        asking(timeout_unit="week"),
        ["body", "human_input", "timeout_unit"],
        "literal_error",
    ),
    "nobody to ask": (
        with_policy({"delivery_methods": []}),
        ["body", "human_input"],
        "value_error",
    ),
    "an address that is none": (
        with_policy(to_mail("nobody")),
        ["body", "human_input", "delivery_methods", 0, "email", "config", "recipients", "items"],
        "value_error",
    ),
    "a list": ([], ["body"], "model_type"),
    "half of a document": (b'{"composition": ', ["body"], "json_invalid"),
    "no body": (b"", ["body"], "missing"),
    "a number that is none": (b'{"composition": NaN}', ["body"], "json_invalid"),
    "half of a character": (
        b'{"composition": {"layers": []}, "metadata": {"a": "\\ud800"}}',
        ["body"],
        "json_invalid",
    ),
    "deeper than anybody nests": (
        b'{"composition": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        ["body"],
        "too_deep",
    ),
}


@pytest.mark.parametrize("name", WRONG_REQUESTS)
def test_a_create_request_of_wrong_shape_is_refused_with_its_place(stage: Stage, name: str) -> None:
    body, place, kind = WRONG_REQUESTS[name]
    before = stage.records.run_ids()

    reply = stage.call("POST", "/runs", body)

    entry = reply.json["detail"][0]
    assert (reply.status, entry["type"]) == (422, kind)
    assert entry["loc"][: len(place)] == place
    assert stage.records.run_ids() == before


def test_a_body_over_four_megabytes_is_refused(stage: Stage) -> None:
    before = stage.records.run_ids()
    body = json.dumps(asking() | {"metadata": {"padding": "x" * MAX_BODY_BYTES}}).encode()

    reply = stage.call("POST", "/runs", body)

    assert reply.status == 413
    assert reply.json["detail"].startswith(f"request body is too large: {len(body)} bytes")
    assert stage.records.run_ids() == before


@pytest.mark.parametrize(
    ("header", "detail"),
    [
        (None, "missing authorization header"),
        ("Basic YTpi", "invalid authorization scheme"),
        ("Bearer nobody's", "invalid bearer token"),
    ],
)
def test_a_request_without_a_good_key_is_refused(
    stage: Stage, header: str | None, detail: str
) -> None:
    before = stage.records.run_ids()
    headers = {"Content-Type": "application/json"}
    if header is not None:
        headers["Authorization"] = header
    body = json.dumps(asking()).encode()

    reply = Request(method="POST", url=f"{stage.stack.url}/runs", body=body, headers=headers).send()

    assert (reply.status, reply.json) == (401, {"detail": detail})
    assert reply.headers["www-authenticate"] == "Bearer"
    assert stage.records.run_ids() == before


# ---- Create requests that are wrong in what they mean: the run says so


def changed_model(**config: Any) -> Json:
    request = scripted([text("never said")])
    request["composition"]["layers"][-1]["config"] |= config
    return request


def with_version(number: int) -> Json:
    request = scripted([text("never said")])
    request["composition"]["schema_version"] = number
    return request


def with_layer(layer: Json) -> Json:
    return scripted([text("never said")], layer)


MEANINGLESS: dict[str, tuple[Json, str]] = {
    "unknown layer type": (
        with_layer({"name": "other", "type": "no.such"}),
        "\"Layer type id 'no.such' is not registered.\"",
    ),
    "two layers of one name": (
        with_layer({"name": "prompt", "type": "plain.prompt"}),
        "Duplicate layer name 'prompt'.",
    ),
    "unknown version": (with_version(9), "Unsupported compositor config schema_version: 9."),
    "unknown provider": (changed_model(model_provider="nope"), "unknown model provider 'nope'"),
    "a script that is none": (
        changed_model(credentials={"script": SECRET}),
        "credentials.script of the scripted model must be a JSON list",
    ),
}


@pytest.mark.parametrize("name", MEANINGLESS)
def test_a_run_that_makes_no_sense_fails_and_says_why(stage: Stage, name: str) -> None:
    request, error = MEANINGLESS[name]

    run_id = stage.create(request)

    stage.records.wait_until(run_id, RunStatus.FAILED)
    last = stage.events(run_id)[-1]
    assert last["type"] == "run_failed"
    assert last["data"]["error"].startswith(error)
    assert SECRET not in json.dumps(last)
    assert stage.records.forms(run_id) == []


@pytest.mark.parametrize(
    ("wrong_turn", "told"),
    [
        (ask(question="  "), "question must not be blank"),
        (calls(("call_1", "ask_human", {})), "question: Field required"),
        (ask(fields=[{"type": "oracle", "name": "x"}]), "fields"),
        (calls(("call_1", "no_such_tool", {})), "Unknown tool name"),
    ],
    ids=["blank question", "no question", "unknown field", "unknown tool"],
)
def test_a_model_that_asks_wrongly_is_told_and_nobody_is_bothered(
    stage: Stage, wrong_turn: Json, told: str
) -> None:
    run_id = stage.create(scripted([wrong_turn, text("{{results}}")], human_input=to_api()))

    assert told in stage.output(run_id)
    assert stage.records.forms(run_id) == []


def test_a_huge_prompt_is_no_mistake(stage: Stage) -> None:
    request = asking()
    request["composition"]["layers"][0]["config"] = {"user": "u" * 1_000_000}

    run_id = stage.create(request)

    stage.records.wait_until(run_id, RunStatus.PAUSED)


# ---- Addresses


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("POST", "/", 404),
        ("PUT", "/runs", 405),
        ("DELETE", "/runs/00000000-0000-4000-8000-000000000000", 405),
        ("GET", "/runs/not-an-id", 404),
        ("GET", "/runs/00000000-0000-4000-8000-000000000000/events?after=soon", 404),
    ],
)
def test_an_address_that_nothing_serves_says_so(
    stage: Stage, method: str, path: str, status: int
) -> None:
    reply = stage.call(method, path)

    assert reply.status == status
    assert set(reply.json) == {"detail"}
