"""The main job through the real handlers: an agent asks, a person answers, the run goes on."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from email import message_from_bytes, policy
from typing import Any

from sayso.domain.ids import RunId
from support.functions import ASK, DOMAIN, QUESTION, WEBAPP_AND_MAIL, Functions, create_request

MANAGED = {"Sayso-Events": "managed"}


def events_of(functions: Functions, run_id: RunId, **headers: str) -> list[dict[str, Any]]:
    answer = functions.call("GET", f"/runs/{run_id}/events", headers=headers)
    events: list[dict[str, Any]] = answer.json["events"]
    return events


def mailed_token(functions: Functions) -> str:
    """Return the token of the one link in the newest mail, from its text part."""
    mail = message_from_bytes(functions.wiring.mailer.sent[-1].raw, policy=policy.default)
    body = mail.get_body(("plain",))
    assert body is not None
    (link,) = set(re.findall(r"https?://\S+", body.get_content()))
    assert link.startswith(f"https://{DOMAIN}/form/")
    return str(link).rpartition("/")[2]


def test_what_a_person_writes_reaches_the_model() -> None:
    functions = Functions()
    run_id = functions.paused_run()
    token = mailed_token(functions)
    page = functions.call("GET", f"/form/{token}", key=None)
    shown = re.search(r'name="form_nonce" value="([^"]+)"', page.body)
    assert shown is not None

    functions.post_form(
        token, form_nonce=shown[1], action="approve", comment="Only to her old card.", reason="bad"
    )
    functions.settle()

    assert functions.status(run_id) == "succeeded"
    output = events_of(functions, run_id)[-1]["data"]["output"]
    assert "Only to her old card." in output
    assert '"id": "approve"' in output.replace('":"', '": "')


def test_the_events_of_a_managed_run_hold_each_step_once_and_in_order() -> None:
    functions = Functions()
    run_id = functions.paused_run()
    functions.post_form(mailed_token(functions), action="approve", reason="late")
    functions.settle()

    events = events_of(functions, run_id, **MANAGED)

    kinds = [event["type"] for event in events if event["type"] != "pydantic_ai_event"]
    assert kinds == ["run_started", "human_input_required", "run_paused", "run_succeeded"]
    numbers = [int(event["id"].removesuffix("-0")) for event in events]
    assert numbers == sorted(set(numbers))


def test_several_questions_of_one_turn_are_answered_in_any_order() -> None:
    calls = [
        {
            "name": "ask_human",
            "args": {**QUESTION, "question": f"Number {number}?"},
            "id": f"c{number}",
        }
        for number in (1, 2)
    ]
    functions = Functions()
    run_id = functions.create(
        [{"calls": calls}, {"text": "{{results}}"}], human_input=WEBAPP_AND_MAIL
    )
    functions.settle()
    questions = [
        event["data"]
        for event in events_of(functions, run_id, **MANAGED)
        if event["type"] == "human_input_required"
    ]

    for question in reversed(questions):
        assert functions.status(run_id) == "paused"
        functions.post_form(
            question["form_token"], action="approve", comment=question["question"], reason="late"
        )
        functions.settle()

    output = events_of(functions, run_id)[-1]["data"]["output"]
    assert "Number 1?" in output
    assert "Number 2?" in output


def test_a_question_asked_again_is_another_form_with_another_mail() -> None:
    again = {"calls": [{"name": "ask_human", "args": QUESTION, "id": "call_1"}]}
    functions = Functions()
    run_id = functions.create([again, again, {"text": "Done."}], human_input=WEBAPP_AND_MAIL)
    functions.settle()
    first = mailed_token(functions)

    functions.post_form(first, action="approve", reason="late")
    functions.settle()
    second = mailed_token(functions)

    assert functions.status(run_id) == "paused"
    assert second != first
    assert len(functions.wiring.mailer.sent) == 2
    functions.post_form(second, action="deny", reason="late")
    functions.settle()
    assert functions.status(run_id) == "succeeded"


def test_a_protocol_run_goes_on_with_the_callers_own_answer() -> None:
    functions = Functions()
    asked = events_of(functions, _settled(functions, create_request(ASK)))[-1]["data"]
    call = asked["deferred_tool_call"]
    result = {"status": "submitted", "action": None, "values": {"comment": "From afar."}}

    run_id = _settled(
        functions,
        create_request(
            ASK,
            session_snapshot=asked["session_snapshot"],
            deferred_tool_results={"calls": {call["tool_call_id"]: result}},
        ),
    )

    assert functions.status(run_id) == "succeeded"
    assert "From afar." in events_of(functions, run_id)[-1]["data"]["output"]


def _settled(functions: Functions, request: dict[str, Any]) -> RunId:
    answer = functions.call("POST", "/runs", json_body=request)
    functions.settle()
    return RunId(answer.json["run_id"])


def test_a_run_that_nobody_answers_expires_with_its_form() -> None:
    functions = Functions()
    run_id = functions.paused_run(timeout=36, timeout_unit="hour", run_timeout_seconds=3600)

    functions.clock.advance(timedelta(hours=1, minutes=1))
    functions.invoke("timeout_sweep", {"source": "aws.scheduler"}, 55)
    functions.settle()

    assert functions.status(run_id) == "expired"
    terminal = events_of(functions, run_id)[-1]
    assert (terminal["type"], terminal["data"]["reason"]) == ("run_failed", "expired")
    late = functions.post_form(functions.token(run_id), action="approve", reason="late")
    assert late.status == 410


def test_nothing_that_a_person_or_a_program_keeps_secret_is_logged(
    caplog: Any, capsys: Any
) -> None:
    functions = Functions()
    run_id = functions.paused_run()
    token = mailed_token(functions)
    functions.post_form(token, action="approve", comment="my-own-words", reason="late")
    functions.settle()
    functions.call("GET", f"/form/{token}x", key=None)

    logged = json.dumps([vars(record) for record in caplog.records], default=str)
    logged += "".join(capsys.readouterr()) + json.dumps(functions.wiring.reports, default=str)
    for secret in (token, "my-own-words", "cfo@example.org", "admin-key", "ask_human"):
        assert secret not in logged
    assert run_id in logged
