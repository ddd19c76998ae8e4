"""Every sample event of ``events/`` does what its name says, through its real handler.

Ids and links in the files are those of ``support.seeds``, the same in every run of the tests.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.form import DeliveryState
from sayso.domain.transitions import FormStatus
from support.seeds import Seeds, seeded
from support.template import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from sayso.domain.ids import RunId

EVENTS = {path.stem: path for path in (ROOT / "events").glob("*.json")}


@dataclass(frozen=True, slots=True)
class Says:
    """What an HTTP function answers."""

    status: int
    text: str = ""
    """Part of the body."""


HTTP = {
    "create_run.protocol": Says(202, '"status":"running"'),
    "create_run.managed": Says(202, '"status":"running"'),
    "create_run.unmodified_client": Says(202, '"status":"running"'),
    "create_run.unknown_member": Says(422, "Extra inputs are not permitted"),
    "create_run.broken_json": Says(422, '"loc":["body",16]'),
    "create_run.without_key": Says(401, "missing authorization header"),
    "create_run.wrong_role": Says(403, "may not use"),
    "create_run.cancel": Says(200, '"status":"cancelled"'),
    "create_run.cancel_unknown": Says(404, "run not found"),
    "read_run.status": Says(200, '"status":"paused"'),
    "read_run.head": Says(200),
    "read_run.unknown": Says(404, "run not found"),
    "read_run.other_tenant": Says(404, "run not found"),
    "read_run.events": Says(200, '"type":"run_started"'),
    "read_run.events_managed": Says(200, '"type":"human_input_required"'),
    "read_run.bad_cursor": Says(422, '"loc":["query","after"]'),
    "read_run.stream": Says(200, "event: run_started\n"),
    "read_run.workflow": Says(200, "event: workflow_started\n"),
    "submit_form.open": Says(200, "Refund order 17?"),
    "submit_form.head": Says(200),
    "submit_form.forged": Says(404),
    "submit_form.answer": Says(303),
    "submit_form.answer_base64": Says(303),
    "submit_form.missing_field": Says(422, "Choose an answer to “Reason”"),
    "submit_form.cross_site": Says(403),
    "submit_form.second_answer": Says(409, "No!"),
    "submit_form.receipt": Says(200, "Approve"),
    "submit_form.late_answer": Says(410, "Too late?"),
    "console.form": Says(200, '"user_actions":'),
    "console.answer": Says(200, "{}"),
    "console.bad_answer": Says(400, "Missing required inputs: reason"),
    "console.mailed_link": Says(404, "Form not found"),
    "console.decided": Says(412, "human_input_form_submitted"),
    "console.unknown_path": Says(404, "Not Found"),
    "console.unknown_method": Says(405, "Method Not Allowed"),
}


def run_is(status: str, which: Callable[[Seeds], RunId]) -> Callable[[Seeds], bool]:
    return lambda seeds: seeds.functions.status(which(seeds)) == status


def form_is(status: FormStatus, which: Callable[[Seeds], RunId]) -> Callable[[Seeds], bool]:
    return lambda seeds: seeds.functions.form(which(seeds)).form.status is status


def mail_is(state: DeliveryState, which: Callable[[Seeds], RunId]) -> Callable[[Seeds], bool]:
    def check(seeds: Seeds) -> bool:
        recipient = seeds.functions.form(which(seeds)).recipient(2)
        return recipient is not None and recipient.state is state

    return check


def told(kind: str) -> Callable[[Seeds], bool]:
    return lambda seeds: any(
        message.body["kind"] == kind for message in seeds.functions.wiring.queue.messages
    )


EFFECTS = {
    "resume.start": run_is("succeeded", lambda seeds: seeds.new),
    "resume.continue": run_is("succeeded", lambda seeds: seeds.new),
    "resume.resume": run_is("succeeded", lambda seeds: seeds.answered),
    "resume.not_yet_decided": run_is("paused", lambda seeds: seeds.asked),
    "resume.timeout": form_is(FormStatus.TIMEOUT, lambda seeds: seeds.late),
    "deliver.mail": mail_is(DeliveryState.SENT, lambda seeds: seeds.unmailed),
    "deliver.bounce": mail_is(DeliveryState.BOUNCED, lambda seeds: seeds.asked),
    "deliver.out_of_office": mail_is(DeliveryState.SENT, lambda seeds: seeds.asked),
    "deliver.complaint": mail_is(DeliveryState.COMPLAINED, lambda seeds: seeds.asked),
    "deliver.reject": mail_is(DeliveryState.FAILED, lambda seeds: seeds.asked),
    "deliver.delivery": mail_is(DeliveryState.SENT, lambda seeds: seeds.asked),
    "timeout_sweep.tick": form_is(FormStatus.TIMEOUT, lambda seeds: seeds.late),
    "timeout_sweep.form_deadline": form_is(FormStatus.TIMEOUT, lambda seeds: seeds.late),
    "timeout_sweep.wait_over": told("resume"),
}


def invoke(name: str, seeds: Seeds) -> Any:
    event = json.loads(EVENTS[name].read_text(encoding="utf-8"))
    return seeds.functions.invoke(name.partition(".")[0], event)


def test_every_event_is_expected_to_do_something() -> None:
    assert EVENTS.keys() == HTTP.keys() | EFFECTS.keys()


@pytest.mark.parametrize("name", sorted(HTTP))
def test_an_http_event_is_answered(name: str) -> None:
    seeds = seeded()

    answer = seeds.functions.answer(invoke(name, seeds))

    assert answer.status == HTTP[name].status, answer.body
    assert HTTP[name].text in answer.body


@pytest.mark.parametrize("name", sorted(EFFECTS))
def test_a_message_has_its_effect(name: str) -> None:
    seeds = seeded()

    answer = invoke(name, seeds)

    assert answer in ({"batchItemFailures": []}, None)
    assert EFFECTS[name](seeds)
