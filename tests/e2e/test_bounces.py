"""Mails that come back: the others are asked, and the model learns when nobody is left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from e2e.scenes import ANSWER_SHOWN, filled, questions, scripted, somebody, to_mail
from e2e.waiting import eventually
from e2e.web import get, submit
from sayso.domain.form import DeliveryState
from sayso.domain.transitions import FormStatus
from support.mail_events import BOUNCE, ses_event

if TYPE_CHECKING:
    from e2e.stage import Stage
    from sayso.domain.form import Form, WholeForm
    from sayso.domain.ids import RunId

pytestmark = pytest.mark.stack

WITHIN_SECONDS = 60


def asked(stage: Stage, *people: str) -> tuple[RunId, Form]:
    """Return a run that waits, once everybody has their mail."""
    request = scripted([questions("call_1"), ANSWER_SHOWN], human_input=to_mail(*people))
    run_id = stage.create(request)
    for one in people:
        stage.mail_to(one)
    (form,) = stage.records.forms(run_id)
    return run_id, form


def whole(stage: Stage, form: Form) -> WholeForm:
    found = stage.records.stores.forms.whole(form.id)
    assert found is not None
    return found


def bounce(stage: Stage, form: Form, recipient: int) -> None:
    """Let SES report a bounce, which the emulator does not do, and wait until it is noted."""
    sqs = stage.clients._session.client("sqs", endpoint_url=stage.stack.endpoint_url)
    sqs.send_message(
        QueueUrl=stage.stack.deployment.outputs["DeliveriesQueueUrl"],
        MessageBody=json.dumps(ses_event(BOUNCE, form, recipient)),
    )

    def is_noted() -> bool:
        one = whole(stage, form).recipient(recipient)
        return one is not None and one.state is DeliveryState.BOUNCED

    eventually("the bounce to be noted", is_noted)


def test_one_of_three_bounces_and_the_others_are_asked(stage: Stage) -> None:
    people = [somebody() for _ in range(3)]
    run_id, form = asked(stage, *people)

    bounce(stage, form, 1)

    assert whole(stage, form).form.status is FormStatus.WAITING
    link = stage.mailed_link(people[2])
    page = get(link)
    assert submit(link, filled(page.text, "approve", "fine")).status == 303
    assert '"status": "submitted"' in stage.output(run_id).replace("\\", "")


def test_all_three_bounce_and_the_model_reads_unavailable_within_a_minute(stage: Stage) -> None:
    run_id, form = asked(stage, *[somebody() for _ in range(3)])

    for number in (1, 2, 3):
        bounce(stage, form, number)

    output = stage.output(run_id)
    ended = whole(stage, form).form
    assert '"status": "unavailable"' in output.replace("\\", "")
    assert ended.status is FormStatus.UNDELIVERABLE
    assert ended.ended_at is not None
    took = stage.records.run(run_id).updated_at - ended.ended_at
    assert took.total_seconds() < WITHIN_SECONDS
