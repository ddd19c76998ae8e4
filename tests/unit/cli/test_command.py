"""``sayso``: dead letters are shown without their bodies, redriven once, and misuse is said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from sayso_cli.main import FINE, FOUND, USAGE, main
from sayso_cli.stack import Stack, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_sqs import SQSClient

ENDS = ("Queue", "DeadLetters")
NAMES = [f"{queue}{end}" for queue in ("Starts", "Wakes", "Deliveries") for end in ENDS]
LETTER = {"kind": "resume", "run_id": "r-1"}
BOUNCE = {"detail-type": "Email Bounced", "id": "e-1", "detail": {"to": "secret@example.org"}}


@pytest.fixture
def sqs(monkeypatch: pytest.MonkeyPatch) -> Iterator[SQSClient]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with mock_aws():
        client = boto3.client("sqs", region_name="eu-central-1")
        for name in NAMES:
            client.create_queue(QueueName=name)
        yield client


def url(sqs: SQSClient, name: str) -> str:
    return sqs.get_queue_url(QueueName=name)["QueueUrl"]


def sayso(sqs: SQSClient, *arguments: str) -> int:
    """Run the command on a stack of these queues."""
    outputs = {f"{name}Url": url(sqs, name) for name in NAMES}
    stack = Stack(name="sayso", outputs=outputs, region="eu-central-1")
    return main(arguments, lambda *_, **__: stack)


def send(sqs: SQSClient, queue: str, body: dict[str, Any]) -> None:
    sqs.send_message(QueueUrl=url(sqs, queue), MessageBody=json.dumps(body))


def test_an_empty_dead_letter_queue_is_fine(
    sqs: SQSClient, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sayso(sqs, "dlq", "list") == FINE
    assert capsys.readouterr().out == "no dead letters\n"


def test_dead_letters_are_listed_without_what_they_hold(
    sqs: SQSClient, capsys: pytest.CaptureFixture[str]
) -> None:
    send(sqs, "WakesDeadLetters", LETTER)
    send(sqs, "DeliveriesDeadLetters", BOUNCE)

    assert sayso(sqs, "dlq", "list", "--json") == FOUND

    text = capsys.readouterr().out
    shown = {(one["queue"], one["kind"], one["subject"]) for one in json.loads(text)}
    assert shown == {("wakes", "resume", "r-1"), ("deliveries", "mail event", "e-1")}
    assert "secret@example.org" not in text


def test_listing_leaves_them_there(sqs: SQSClient) -> None:
    send(sqs, "WakesDeadLetters", LETTER)

    assert sayso(sqs, "dlq", "list") == FOUND
    assert sayso(sqs, "dlq", "list") == FOUND


def test_redriven_letters_go_to_their_own_queue(sqs: SQSClient) -> None:
    send(sqs, "WakesDeadLetters", LETTER)

    assert sayso(sqs, "dlq", "redrive") == FINE

    (message,) = sqs.receive_message(QueueUrl=url(sqs, "WakesQueue"))["Messages"]
    assert json.loads(message["Body"]) == LETTER
    assert sayso(sqs, "dlq", "list") == FINE


def test_redriving_stops_at_its_limit(sqs: SQSClient, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        send(sqs, "WakesDeadLetters", LETTER)

    sayso(sqs, "dlq", "redrive", "--limit", "2", "--queue", "wakes")

    assert capsys.readouterr().out == "2 sent again\n"
    assert sayso(sqs, "dlq", "list") == FOUND


def test_an_unknown_stack_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    def find(*_: object, **__: object) -> Stack:
        raise UsageError("cannot look at stack 'nowhere'")

    assert main(["dlq", "list", "--stack", "nowhere"], find) == USAGE
    assert capsys.readouterr().err == "sayso: cannot look at stack 'nowhere'\n"


def test_something_that_is_no_sayso_stack_is_wrong_usage() -> None:
    stack = Stack(name="other", outputs={})

    assert main(["dlq", "list"], lambda *_, **__: stack) == USAGE


def test_wrong_arguments_exit_with_two() -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["dlq"])

    assert exit_.value.code == 2
