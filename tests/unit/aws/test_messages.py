"""What queue, timers and mailer send, as AWS wants it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from sayso.aws.mailer import SesMailer
from sayso.aws.queue import SqsWorkQueue
from sayso.aws.timers import EventBridgeTimers
from sayso.domain.errors import (
    AppError,
    MailNotAcceptedError,
    MailRefusedError,
    ServiceUnavailableError,
    ThrottledError,
)
from sayso.domain.ids import FormId, RunId
from sayso.ports import OutgoingMail

if TYPE_CHECKING:
    from collections.abc import Callable

    from botocore.client import BaseClient
    from botocore.stub import Stubber

    from sayso.aws.clients import Clients

    MakeStub = Callable[[BaseClient], Stubber]

URL = "https://sqs.eu-west-1.amazonaws.com/123456789012/queue"
ROLE = "arn:aws:iam::123456789012:role/schedules"
TARGET = "arn:aws:lambda:eu-west-1:123456789012:function:sweep"
MAIL = OutgoingMail(to="cfo@example.org", raw=b"raw", tags={"form_id": "1"})


@pytest.fixture
def queue(clients: Clients) -> SqsWorkQueue:
    return SqsWorkQueue(clients.get("sqs"), lambda _: URL)


@pytest.fixture
def timers(clients: Clients) -> EventBridgeTimers:
    return EventBridgeTimers(
        clients.get("scheduler"), group="forms", role_arn=ROLE, target_arn=TARGET
    )


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [
        (timedelta(), 0),
        (timedelta(milliseconds=1), 1),
        (timedelta(seconds=5), 5),
        (timedelta(minutes=15), 900),
    ],
)
def test_delay_is_rounded_up_to_seconds(
    clients: Clients, stub: MakeStub, queue: SqsWorkQueue, delay: timedelta, seconds: int
) -> None:
    stub(clients.get("sqs")).add_response(
        "send_message",
        {},
        {
            "QueueUrl": URL,
            "MessageBody": '{"kind": "continue", "run_id": "1"}',
            "DelaySeconds": seconds,
        },
    )

    queue.continue_(RunId("1"), delay=delay)


def test_messages_that_were_not_taken_are_for_time_to_mend(
    clients: Clients, stub: MakeStub, queue: SqsWorkQueue
) -> None:
    failed = {"Id": "1", "Code": "InternalError", "SenderFault": False}
    stub(clients.get("sqs")).add_response(
        "send_message_batch", {"Successful": [], "Failed": [failed]}
    )

    with pytest.raises(ServiceUnavailableError, match="1 messages"):
        queue.mail([FormId("1"), FormId("2")])


@pytest.mark.parametrize(
    ("when", "expression"),
    [
        (datetime(2030, 6, 1, 12, 0, 0, tzinfo=UTC), "at(2030-06-01T12:00:00)"),
        (datetime(2030, 6, 1, 12, 0, 0, 1000, tzinfo=UTC), "at(2030-06-01T12:00:01)"),
        (datetime(2030, 12, 31, 23, 59, 59, 1, tzinfo=UTC), "at(2031-01-01T00:00:00)"),
        (
            datetime(2030, 6, 1, 12, 0, tzinfo=timezone(timedelta(hours=2))),
            "at(2030-06-01T10:00:00)",
        ),
    ],
)
def test_schedule_is_in_utc_and_never_early(
    clients: Clients, stub: MakeStub, timers: EventBridgeTimers, when: datetime, expression: str
) -> None:
    stub(clients.get("scheduler")).add_response(
        "create_schedule",
        {"ScheduleArn": "arn"},
        {
            "Name": "form-1",
            "GroupName": "forms",
            "ScheduleExpression": expression,
            "ScheduleExpressionTimezone": "UTC",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "ActionAfterCompletion": "DELETE",
            "Target": {
                "Arn": TARGET,
                "RoleArn": ROLE,
                "Input": '{"kind": "timeout", "form_id": "1"}',
                "RetryPolicy": {"MaximumEventAgeInSeconds": 3600, "MaximumRetryAttempts": 10},
            },
        },
    )

    timers.at("form-1", when, {"kind": "timeout", "form_id": "1"})


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("ServiceQuotaExceededException", ServiceUnavailableError),
        ("ThrottlingException", ThrottledError),
    ],
)
def test_refused_schedule_is_for_time_to_mend(
    clients: Clients, stub: MakeStub, timers: EventBridgeTimers, code: str, kind: type[AppError]
) -> None:
    stub(clients.get("scheduler")).add_client_error("create_schedule", code)

    with pytest.raises(kind):
        timers.at("form-1", datetime(2030, 6, 1, tzinfo=UTC), {})


def test_mail_goes_out_as_it_is(clients: Clients, stub: MakeStub) -> None:
    stub(clients.get("sesv2")).add_response(
        "send_email",
        {"MessageId": "m-1"},
        {
            "FromEmailAddress": "sayso@example.org",
            "ConfigurationSetName": "mails",
            "Destination": {"ToAddresses": ["cfo@example.org"]},
            "Content": {"Raw": {"Data": b"raw"}},
            "EmailTags": [{"Name": "form_id", "Value": "1"}],
        },
    )
    mailer = SesMailer(clients.get("sesv2"), sender="sayso@example.org", configuration_set="mails")

    assert mailer.send(MAIL) == "m-1"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("MessageRejected", MailRefusedError),
        ("MailFromDomainNotVerifiedException", MailRefusedError),
        ("AccountSuspendedException", MailRefusedError),
        ("BadRequestException", MailRefusedError),
        ("TooManyRequestsException", MailNotAcceptedError),
        ("LimitExceededException", MailNotAcceptedError),
        ("SendingPausedException", MailNotAcceptedError),
        ("AccessDeniedException", MailNotAcceptedError),
    ],
)
def test_refusal_of_a_mail_says_whether_to_try_again(
    clients: Clients, stub: MakeStub, code: str, kind: type[AppError]
) -> None:
    stub(clients.get("sesv2")).add_client_error("send_email", code, "cfo@example.org is bad")

    with pytest.raises(kind) as failure:
        SesMailer(clients.get("sesv2"), sender="sayso@example.org").send(MAIL)

    assert "cfo@example.org" not in str(failure.value)
