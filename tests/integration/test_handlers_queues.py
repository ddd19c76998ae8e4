"""Functions behind queues and schedules: what they do, what they raise, what they leave alone."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from sayso.domain.errors import MailNotAcceptedError, MailRefusedError, ServiceUnavailableError
from sayso.domain.form import DeliveryState
from sayso.domain.transitions import FormStatus
from sayso.testing.faults import Faults
from sayso.testing.mailer import RecordingMailer
from support.functions import ASK, SAY, SWEEP_ARN, Functions, MemoryWiring, sqs_event

MANAGED = {"delivery_methods": [{"type": "webapp"}]}


@pytest.fixture(autouse=True)
def metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Sayso")


def test_a_start_runs_the_first_segment() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    (message,) = functions.wiring.queue.pop_due()

    answer = functions.deliver(message)

    assert answer == {"batchItemFailures": []}
    assert functions.status(run_id) == "succeeded"


def test_a_message_that_comes_twice_does_nothing_the_second_time() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    (message,) = functions.wiring.queue.pop_due()

    functions.deliver(message)
    events = functions.call("GET", f"/runs/{run_id}/events").json
    functions.deliver(message)

    assert functions.call("GET", f"/runs/{run_id}/events").json == events


@pytest.mark.parametrize("kind", ["start", "resume", "continue"])
def test_a_message_about_a_run_that_is_gone_is_acknowledged(kind: str) -> None:
    body = json.dumps({"kind": kind, "run_id": "00000000-0000-4000-8000-000000000000"})

    assert Functions().invoke("resume", sqs_event("wakes", body)) == {"batchItemFailures": []}


@pytest.mark.parametrize(
    "body", ["no json", "[]", "{}", '{"kind": "other", "run_id": "1"}', '{"kind": "start"}']
)
@pytest.mark.parametrize("function", ["resume", "deliver"])
def test_what_is_no_message_of_ours_goes_to_the_dead_letters(function: str, body: str) -> None:
    functions, event = Functions(), sqs_event("wakes", body)

    if function == "resume":
        with pytest.raises(Exception, match="the message is to come again"):
            functions.invoke(function, event)
    else:
        assert functions.invoke(function, event)["batchItemFailures"]


def test_a_failure_that_time_mends_lets_the_message_come_again_and_leaks_nothing() -> None:
    functions = Functions()
    functions.create(SAY)
    (message,) = functions.wiring.queue.pop_due()
    functions.wiring.faults.fail_next(ServiceUnavailableError("a secret"), operation="get_many")

    with pytest.raises(Exception, match="the message is to come again") as failure:
        functions.deliver(message)

    assert failure.value.__cause__ is None
    assert failure.value.__context__ is None
    assert "secret" not in str(failure.value)


def test_an_early_timeout_message_waits_for_the_deadline() -> None:
    functions = Functions()
    run_id = functions.create(ASK, human_input={**MANAGED, "timeout": 5, "timeout_unit": "second"})
    functions.settle()
    form_id = functions.form(run_id).form.id
    body = json.dumps({"kind": "timeout", "form_id": form_id})

    functions.invoke("resume", sqs_event("wakes", body))
    assert functions.status(run_id) == "paused"

    functions.clock.advance(timedelta(seconds=5))
    functions.settle()
    assert functions.form(run_id).form.status is FormStatus.TIMEOUT
    assert functions.status(run_id) == "succeeded"


def test_the_model_reads_that_nobody_answered() -> None:
    functions = Functions()
    run_id = functions.create(ASK, human_input={**MANAGED, "timeout": 5, "timeout_unit": "second"})
    functions.settle()
    functions.clock.advance(timedelta(seconds=5))
    functions.settle()

    event = functions.call("GET", f"/runs/{run_id}/events").json["events"][-1]

    assert '"status": "timeout"' in event["data"]["output"].replace('":"', '": "')


# --- mails ---


def mail_event(form_id: str, detail: dict[str, Any], recipient: str = "2") -> str:
    """Return an event of SES as EventBridge brings it to the queue."""
    tags = {
        "ses:configuration-set": ["sayso"],
        "form_id": [form_id],
        "recipient": [recipient],
        "attempt": ["1"],
    }
    return json.dumps(
        {
            "version": "0",
            "detail-type": "Email Bounced",
            "source": "aws.ses",
            "detail": {**detail, "mail": {"messageId": "0100018f", "tags": tags}},
        }
    )


PERMANENT = {"eventType": "Bounce", "bounce": {"bounceType": "Permanent"}}
TRANSIENT = {"eventType": "Bounce", "bounce": {"bounceType": "Transient"}}


def mailed(**members: Any) -> tuple[Functions, Any]:
    functions = Functions()
    run_id = functions.paused_run(**members)
    return functions, run_id


def state_of(functions: Functions, run_id: Any) -> DeliveryState:
    recipient = functions.form(run_id).recipient(2)
    assert recipient is not None
    return recipient.state


@pytest.mark.parametrize(
    ("detail", "state"),
    [
        (PERMANENT, DeliveryState.BOUNCED),
        (TRANSIENT, DeliveryState.SENT),
        ({"eventType": "Complaint", "complaint": {}}, DeliveryState.COMPLAINED),
        ({"eventType": "Reject", "reject": {}}, DeliveryState.FAILED),
        ({"eventType": "Delivery", "delivery": {}}, DeliveryState.SENT),
        ({"eventType": "Open"}, DeliveryState.SENT),
    ],
)
def test_what_ses_reports_is_stored_with_the_recipient(
    detail: dict[str, Any], state: DeliveryState
) -> None:
    functions, run_id = mailed()
    body = mail_event(functions.form(run_id).form.id, detail)

    assert functions.invoke("deliver", sqs_event("deliveries", body)) == {"batchItemFailures": []}
    assert state_of(functions, run_id) is state


def test_a_form_that_nobody_can_get_any_more_resumes_its_run() -> None:
    functions, run_id = mailed(
        delivery_methods=[
            {
                "type": "email",
                "config": {"recipients": {"items": [{"type": "external", "email": "a@b.example"}]}},
            }
        ]
    )
    body = mail_event(functions.form(run_id).form.id, PERMANENT, recipient="1")

    functions.invoke("deliver", sqs_event("deliveries", body))
    functions.settle()

    assert functions.form(run_id).form.status is FormStatus.UNDELIVERABLE
    assert functions.status(run_id) == "succeeded"


@pytest.mark.parametrize("tags", [{}, {"form_id": ["x"], "recipient": ["x"]}, {"form_id": []}])
def test_an_event_about_a_mail_that_is_not_ours_is_acknowledged(tags: dict[str, Any]) -> None:
    event = {"source": "aws.ses", "detail": {**PERMANENT, "mail": {"tags": tags}}}

    answer = Functions().invoke("deliver", sqs_event("deliveries", json.dumps(event)))

    assert answer == {"batchItemFailures": []}


def test_one_bad_message_of_a_batch_stops_no_other() -> None:
    functions = Functions()
    functions.create(ASK, human_input={})
    functions.deliver(functions.wiring.queue.pop_due()[0])
    (mail,) = [one for one in functions.wiring.queue.pop_due() if one.queue == "deliveries"]

    answer = functions.invoke("deliver", sqs_event("deliveries", "broken", json.dumps(mail.body)))

    assert answer == {
        "batchItemFailures": [{"itemIdentifier": "059f36b4-87a3-44ab-83d2-000000000000"}]
    }
    assert len(functions.wiring.mailer.sent) == 1


@pytest.mark.parametrize(
    ("error", "failures", "state"),
    [
        (MailNotAcceptedError("later"), 1, DeliveryState.QUEUED),
        (MailRefusedError("never"), 0, DeliveryState.FAILED),
    ],
)
def test_a_mail_that_is_not_taken_comes_again_and_a_refused_one_does_not(
    error: Exception, failures: int, state: DeliveryState
) -> None:
    wiring, faults = MemoryWiring(), Faults()
    wiring.mailer = RecordingMailer(faults=faults)
    functions = Functions(wiring)
    faults.fail_next(error)
    policy = {"delivery_methods": [{"type": "webapp"}, MAIL_METHOD]}
    run_id = functions.create(ASK, human_input=policy)
    functions.deliver(wiring.queue.pop_due()[0])
    (mail,) = [one for one in wiring.queue.pop_due() if one.queue == "deliveries"]

    answer = functions.deliver(mail)

    assert len(answer["batchItemFailures"]) == failures
    assert state_of(functions, run_id) is state


MAIL_METHOD = {
    "type": "email",
    "config": {"recipients": {"items": [{"type": "external", "email": "a@b.example"}]}},
}


# --- the sweep ---

TICK = {"version": "0", "source": "aws.scheduler", "detail-type": "Scheduled Event", "detail": "{}"}


def test_the_tick_mends_a_lost_message() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    functions.wiring.queue.drop()

    functions.clock.advance(timedelta(seconds=61))
    assert functions.invoke("timeout_sweep", TICK, 55) is None
    functions.settle()

    assert functions.status(run_id) == "succeeded"


def test_a_schedule_ends_a_form_at_its_deadline() -> None:
    functions = Functions()
    run_id = functions.create(ASK, human_input={**MANAGED, "timeout": 1, "timeout_unit": "hour"})
    functions.settle()
    (schedule,) = functions.wiring.recorded.schedules.values()

    functions.clock.set(schedule.when)
    functions.settle()

    assert functions.form(run_id).form.status is FormStatus.TIMEOUT
    assert functions.status(run_id) == "succeeded"


def test_a_schedule_wakes_a_run_that_waits_for_its_time() -> None:
    functions = Functions()
    policy = {**MANAGED, "not_before": "2026-01-05T12:00:00Z"}
    run_id = functions.create(SAY, human_input=policy)
    functions.settle()
    assert functions.status(run_id) == "paused"

    functions.clock.advance(timedelta(hours=3))
    functions.settle()

    assert functions.status(run_id) == "succeeded"


def test_the_sweep_lets_schedules_call_the_function_that_it_is() -> None:
    functions = Functions()

    functions.invoke("timeout_sweep", TICK, 55)

    assert functions.wiring.sweep_arns == {SWEEP_ARN}


def test_the_sweep_takes_up_nothing_in_the_last_part_of_its_time() -> None:
    functions = Functions()
    for _ in range(3):
        functions.create(SAY)
    functions.wiring.queue.drop()
    functions.clock.advance(timedelta(seconds=61))
    resume = functions.wiring.queue.start

    def slow(run_id: Any) -> None:
        functions.clock.advance(timedelta(seconds=50))
        resume(run_id)

    functions.wiring.queue.start = slow  # type: ignore[method-assign]

    functions.invoke("timeout_sweep", TICK, 55)

    assert ("swept", {"count": 1, "status": "cut"}) in functions.wiring.reports


def test_a_failing_pass_is_reported_and_says_nothing_of_the_reason() -> None:
    functions = Functions()
    functions.wiring.faults.fail_next(RuntimeError("a secret"), operation="due")

    with pytest.raises(Exception, match=r"^RuntimeError$") as failure:
        functions.invoke("timeout_sweep", TICK, 55)

    assert failure.value.__context__ is None
