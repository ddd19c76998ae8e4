"""§14: the events of a workflow, on every surface and at every end (B8 to B10, B19, D14, D15)."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sayso.domain.ids import RunId
from sayso.domain.run import Audience
from support.functions import ADMIN, ASK, OPENAPI, OTHER, SERVICE, Functions, create_request
from support.human_input import BACKSTAGE, NOTE, WEBAPP, Forms, Json, error, node
from support.workflow_client import WorkflowClient, read_frames

GOLDENS = Path(__file__).parent / "goldens"
CONSOLE_PATH = "/console/api/workflow/{run_id}/events"
ALL = "0-0"
FIELD = NOTE | {"default": {"type": "variable", "selector": ["order", "draft"], "value": ""}}
CONTENT = "Pay **{{#order.amount#}}**?\n\n{{#$output.note#}}"
POLICY: Json = {
    "form": node(FIELD, form_content=CONTENT, title="Refund check"),
    "variables": {"order": {"amount": "3200", "draft": "As agreed"}},
    "timeout": 10,
    "timeout_unit": "minute",
}
SURFACES = {
    "service_api": ("service-api", SERVICE, "/v1/workflow/{run_id}/events"),
    "openapi": ("openapi", SERVICE, "/v1/workflow/{run_id}/events"),
    "web": ("web-app", SERVICE, "/v1/workflow/{run_id}/events"),
    "console": ("service-api", ADMIN, CONSOLE_PATH),
    "no_surface": ("debugger", ADMIN, CONSOLE_PATH),
}


def client(forms: Forms, *, last_id: str = ALL, **options: Any) -> WorkflowClient:
    options.setdefault("key", SERVICE)
    return WorkflowClient(
        functions=forms.functions, run_id=forms.run_id, last_id=last_id, **options
    )


def seen(forms: Forms, **options: Any) -> WorkflowClient:
    """Return a client that has read everything there is."""
    reader = client(forms, **options)
    reader.connect()
    return reader


def answered(forms: Forms, **values: Any) -> Forms:
    forms.post(values or {"note": "fine"})
    forms.functions.settle()
    return forms


def end_by(forms: Forms, end: str) -> None:
    """Let a paused run go on or end, in one of the ways there are."""
    match end:
        case "answer":
            forms.post({"note": "fine"})
        case "timeout":
            forms.functions.clock.advance(timedelta(minutes=10))
        case "withdraw":
            forms.manage("withdraw", {})
        case "cancel":
            path = f"/runs/{forms.run_id}/cancel"
            forms.functions.call("POST", path, json_body={"reason": "user"})
    forms.functions.settle()


# --- frames and envelope


def test_s14_a_frame_is_event_data_and_id() -> None:
    body = client(Forms(POLICY)).body()

    ping, first, *_ = body.removeprefix("retry: 15000\n\n").split("\n\n")
    assert ping == "event: ping"
    assert [line.partition(": ")[0] for line in first.split("\n")] == ["event", "data", "id"]
    assert first.startswith('event: workflow_started\ndata: {"event":"workflow_started",')
    assert first.endswith("\nid: 1-0")
    assert body.endswith("\n\n")


def test_s14_envelope_has_four_members() -> None:
    forms = Forms(POLICY)

    for frame in seen(forms).frames:
        assert list(frame.wire) == ["event", "task_id", "workflow_run_id", "data"]
        assert frame.wire["workflow_run_id"] == forms.run_id


@pytest.mark.parametrize(("named", "task_id"), [({"task_id": "t-1"}, "t-1"), ({}, None)])
def test_s14_task_id_is_the_requests_or_the_runs_and_stays(
    named: Json, task_id: str | None
) -> None:
    functions = Functions()
    run_id = functions.create(ASK, human_input={"delivery_methods": [WEBAPP]}, metadata=named)
    functions.settle()
    reader = WorkflowClient(functions=functions, run_id=run_id, key=SERVICE, last_id=ALL)
    reader.connect()
    functions.post_form(functions.token(run_id, 1), action="approve", reason="late")
    functions.settle()

    reader.connect()
    reader.query["include_state_snapshot"] = "true"
    reader.connect()

    assert reader.state.task_ids == {task_id or run_id}


def chat(functions: Functions, **context: Any) -> RunId:
    policy = {"delivery_methods": [WEBAPP]}
    script: list[Json] = [{"text": "Let me ask. ", **ASK[0]}, {"text": "They agreed."}]
    request = create_request(script, human_input=policy)
    for layer in request["composition"]["layers"]:
        if layer["type"] == "dify.execution_context":
            layer["config"] |= {"agent_mode": "agent_app", "conversation_id": "c-1", **context}
    answer = functions.call("POST", "/runs", json_body=request)
    assert answer.status == 202, answer.body
    functions.settle()
    return RunId(answer.json["run_id"])


def test_s14_chatflow_adds_three_members() -> None:
    functions = Functions()
    run_id = chat(functions)
    reader = WorkflowClient(functions=functions, run_id=run_id, key=SERVICE, last_id=ALL)

    reader.connect()

    for frame in reader.frames:
        shown = [frame.wire[name] for name in ("conversation_id", "message_id", "created_at")]
        assert shown == ["c-1", run_id, 1767603600]


def test_B8_text_before_and_after_the_pause_appears_once_in_order() -> None:
    functions = Functions()
    run_id = chat(functions)
    live = WorkflowClient(functions=functions, run_id=run_id, key=SERVICE, last_id=ALL)
    live.connect()
    before = live.state.answer
    functions.post_form(functions.token(run_id, 1), action="approve", reason="late")
    functions.settle()
    live.connect()
    snapshot = {"include_state_snapshot": "true"}
    rebuilt = WorkflowClient(functions=functions, run_id=run_id, key=SERVICE, query=snapshot)

    rebuilt.connect()

    said = before + "They agreed."
    assert live.state.answer == rebuilt.state.answer == said
    assert [frame.event for frame in live.frames][-2:] == ["message_end", "workflow_finished"]
    assert [frame.event for frame in rebuilt.frames][-2:] == ["message_end", "workflow_finished"]


def test_s14_a_conversation_makes_a_chatflow_only_with_its_mode() -> None:
    functions = Functions()
    run_id = chat(functions, agent_mode="workflow_run")
    reader = WorkflowClient(functions=functions, run_id=run_id, key=SERVICE, last_id=ALL)

    assert "message_replace" not in reader.connect()
    assert "conversation_id" not in reader.frames[0].wire


# --- §14.1, §14.2: golden payloads (B10)


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("event", ["human_input_required", "workflow_paused"])
def test_B10_golden_payload_of_each_surface(surface: str, event: str) -> None:
    """Read a difference before you keep it: write the shown text into the file."""
    invoke_from, key, path = SURFACES[surface]
    reader = seen(Forms(POLICY, invoke_from=invoke_from), key=key, path=path)
    (wire,) = [frame.wire for frame in reader.frames if frame.event == event]

    text = json.dumps(wire, indent=1, ensure_ascii=False) + "\n"

    assert text == (GOLDENS / f"{event}.{surface}.json").read_text(encoding="utf-8")


def test_s14_1_token_of_the_event_answers_the_form() -> None:
    forms = Forms(POLICY)
    (asked,) = seen(forms).of("human_input_required")

    path = f"/v1/form/human_input/{asked['form_token']}"
    body = {"inputs": {"note": "x"}, "action": "approve", "user": "u"}

    assert forms.functions.call("POST", path, key=SERVICE, json_body=body).status == 200


def test_s14_1_service_key_never_sees_a_token_of_the_console() -> None:
    forms = Forms(POLICY, invoke_from="debugger")
    console = forms.token(BACKSTAGE)

    (asked,) = seen(forms).of("human_input_required")
    (of_console,) = seen(forms, key=ADMIN, path=CONSOLE_PATH).of("human_input_required")

    assert asked["form_token"] != console
    assert of_console["form_token"] == console


def test_s14_1_links_and_answers_are_not_in_the_log() -> None:
    forms = Forms(POLICY)
    token = forms.token()
    answered(forms, note="the secret word")

    stored = forms.functions.wiring.context.stores.events.read(forms.run_id, after=0, limit=999)

    own = [str(event.data) for event in stored if event.audience is not Audience.ALL]
    assert own
    assert not [text for text in own if token in text or "secret word" in text]


def test_s14_1_run_api_shows_nothing_of_what_only_workflows_need() -> None:
    forms = answered(Forms(POLICY))
    path = f"/runs/{forms.run_id}/events"

    shown = forms.functions.call("GET", path, headers={"Sayso-Events": "managed"}).json["events"]

    assert not {event["type"] for event in shown} & {"segment_started", "segment_finished"}


def test_s14_2_every_form_is_announced_before_the_pause() -> None:
    calls = [{**ASK[0]["calls"][0], "id": f"call_{n}"} for n in range(3)]
    functions = Functions()
    policy = {"delivery_methods": [WEBAPP]}
    run_id = functions.create([{"calls": calls}], human_input=policy)
    functions.settle()
    reader = WorkflowClient(functions=functions, run_id=run_id, key=SERVICE, last_id=ALL)

    events = reader.connect()

    forms = ["node_started", "human_input_required"] * 3
    assert events[2:] == ["node_finished", *forms, "workflow_paused"]
    (paused,) = reader.of("workflow_paused")
    nodes = ["ask_human-1", "ask_human-2", "ask_human-3"]
    assert paused["paused_nodes"] == nodes
    asked = reader.of("human_input_required")
    assert paused["reasons"] == [{"TYPE": "human_input_required", **one} for one in asked]


def test_s14_2_other_reasons_are_shown_as_they_are() -> None:
    functions = Functions()
    later = functions.clock.now() + timedelta(hours=1)
    policy = {"delivery_methods": [WEBAPP], "not_before": later.isoformat()}
    run_id = functions.create(ASK, human_input=policy)
    functions.settle()
    reader = WorkflowClient(functions=functions, run_id=run_id, key=SERVICE, last_id=ALL)

    assert reader.connect() == ["workflow_started", "workflow_paused"]
    (paused,) = reader.of("workflow_paused")
    assert paused["paused_nodes"] == []
    assert [set(one) for one in paused["reasons"]] == [{"TYPE", "message"}]


# --- §14.3 to §14.5: how forms close


RESUMED = ["node_started", "{closed}", "node_finished", "node_started", "node_finished"]


@pytest.mark.parametrize(
    ("end", "closed"),
    [
        ("answer", "human_input_form_filled"),
        ("timeout", "human_input_form_timeout"),
        ("withdraw", "human_input_form_timeout"),
    ],
)
def test_B9_exactly_one_closing_event_before_node_finished(end: str, closed: str) -> None:
    forms = Forms(POLICY)
    reader = seen(forms)
    end_by(forms, end)

    events = reader.connect()

    middle = [closed if one == "{closed}" else one for one in RESUMED]
    assert events == ["workflow_started", *middle, "workflow_finished"]
    assert [one["reason"] for one in reader.of("workflow_started")] == ["initial", "resumption"]
    statuses = [one["status"] for one in reader.of("node_finished")]
    assert statuses == ["succeeded"] * 3


def test_s14_3_filled_names_form_actor_and_values() -> None:
    forms = answered(Forms(POLICY))

    (filled,) = seen(forms).of("human_input_form_filled")

    assert filled == {
        "form_id": forms.form.id,
        "node_id": "ask_human-1",
        "node_title": "Refund check",
        "rendered_content": "Pay **3200**?\n\nfine",
        "action_id": "approve",
        "action_text": "Approve",
        "submitted_data": {"note": "fine"},
        "actor": {"name": "", "user": "u-1", "proven_by": "api_key"},
    }


def test_s14_3_actor_is_hidden_where_others_may_not_know() -> None:
    forms = answered(Forms(POLICY | {"policy": {"show_decider": False}}))

    assert seen(forms).of("human_input_form_filled")[0]["actor"] is None


def test_B9_button_only_form_is_filled_with_no_values() -> None:
    forms = Forms({"form": node()})
    forms.post({})
    forms.functions.settle()

    (filled,) = seen(forms).of("human_input_form_filled")

    assert (filled["action_id"], filled["submitted_data"]) == ("approve", {})


def test_s14_4_timeout_names_the_deadline_that_was_announced() -> None:
    forms = Forms(POLICY)
    end_by(forms, "timeout")
    reader = seen(forms)

    (asked,), (late,) = reader.of("human_input_required"), reader.of("human_input_form_timeout")

    assert late == {
        "form_id": forms.form.id,
        "node_id": "ask_human-1",
        "node_title": "Refund check",
        "expiration_time": asked["expiration_time"],
        "status": "timeout",
    }


def test_B19_no_event_is_built_from_the_form_of_another_run() -> None:
    forms = Forms(POLICY)
    stores = forms.functions.wiring.context.stores
    other = forms.functions.form(forms.functions.paused_run())
    object.__setattr__(stores.forms, "whole", lambda _: other)
    path = f"/v1/workflow/{forms.run_id}/events"

    answer = forms.functions.call("GET", path, key=SERVICE)

    assert answer.status == 500
    assert other.form.id not in answer.body


def test_s15_form_whose_row_is_missing_is_skipped() -> None:
    forms = Forms(POLICY)
    object.__setattr__(forms.functions.wiring.context.stores.forms, "whole", lambda _: None)

    reader = seen(forms)

    assert "human_input_required" not in [frame.event for frame in reader.frames]
    assert reader.of("workflow_paused")[0]["reasons"] == []


# --- ends (DESIGN §4, §12)


def test_s14_5_success_says_outputs_and_totals() -> None:
    forms = answered(Forms(POLICY))

    (end,) = seen(forms).of("workflow_finished")

    assert (end["status"], end["error"], set(end["outputs"])) == ("succeeded", None, {"output"})
    assert end["total_steps"] == 2
    assert end["total_tokens"] > 0


def test_s12_global_timeout_is_told_with_the_contracts_words() -> None:
    forms = Forms(POLICY | {"timeout_unit": "hour", "run_timeout_seconds": 600})
    forms.functions.clock.advance(timedelta(minutes=11))
    forms.functions.invoke("timeout_sweep", {}, 55)

    (end,) = seen(forms).of("workflow_finished")

    said = "Human input global timeout at node ask_human-1"
    assert (end["status"], end["error"], end["outputs"]) == ("stopped", said, {})


def test_s14_5_cancelled_run_is_stopped() -> None:
    forms = Forms(POLICY)
    end_by(forms, "cancel")

    (end,) = seen(forms).of("workflow_finished")

    assert (end["status"], end["error"]) == ("stopped", "user")


def test_s14_5_failed_run_is_failed_and_so_is_its_node() -> None:
    functions = Functions()
    policy = {"delivery_methods": [WEBAPP]}
    request = create_request(ASK, human_input=policy)
    request["composition"]["layers"][-1]["config"]["credentials"] = {"script": "no script"}
    run_id = functions.call("POST", "/runs", json_body=request).json["run_id"]
    functions.settle()
    reader = WorkflowClient(functions=functions, run_id=run_id, key=SERVICE, last_id=ALL)

    reader.connect()

    (end,) = reader.of("workflow_finished")
    assert end["status"] == "failed"
    assert end["error"]
    assert [one["status"] for one in reader.of("node_finished")] == ["failed"]


# --- who may read


@pytest.mark.parametrize(
    ("path", "key", "status"),
    [
        ("/v1/workflow/{run_id}/events", None, 401),
        ("/v1/workflow/{run_id}/events", OPENAPI, 403),
        ("/v1/workflow/{run_id}/events", OTHER, 404),
        (CONSOLE_PATH, SERVICE, 403),
        (CONSOLE_PATH, OTHER, 404),
    ],
)
def test_s07_1_refusals_have_the_contracts_shape(path: str, key: str | None, status: int) -> None:
    forms = Forms(POLICY)

    answer = forms.functions.call("GET", path.format(run_id=forms.run_id), key=key)

    assert answer.status == status
    assert set(answer.json) == {"code", "message", "status"}


@pytest.mark.parametrize("run_id", ["00000000-0000-4000-8000-000000000000", "abc", "a%2Fb"])
def test_s07_3_unknown_run_is_404(run_id: str) -> None:
    answer = Functions().call("GET", f"/v1/workflow/{run_id}/events", key=SERVICE)

    assert answer.json == error("not_found", "Workflow run not found", 404)


def test_s07_3_protocol_run_is_no_workflow() -> None:
    functions = Functions()
    run_id = functions.create(ASK)

    assert functions.call("GET", f"/v1/workflow/{run_id}/events").status == 404


def test_s07_3_malformed_cursor_is_400() -> None:
    forms = Forms(POLICY)
    path = f"/v1/workflow/{forms.run_id}/events"

    answer = forms.functions.call("GET", path, headers={"Last-Event-ID": "abc"})

    assert (answer.status, answer.json["code"]) == (400, "invalid_param")


def test_s14_head_is_the_same_without_events() -> None:
    forms = Forms(POLICY)

    answer = forms.functions.call("HEAD", f"/v1/workflow/{forms.run_id}/events", key=SERVICE)

    assert (answer.status, list(read_frames(answer.body))) == (200, [])
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
