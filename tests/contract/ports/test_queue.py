"""What every work queue promises about its messages."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from sayso.aws.queue import SqsWorkQueue
from sayso.domain.errors import PermanentError
from sayso.domain.ids import FormId, RunId
from sayso.testing.queue import RecordingQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crash.double.cloud import Cloud, DoubleClients
    from sayso.aws.clients import Clients
    from sayso.ports import WorkQueue
    from sayso.settings import QueueName
    from sayso.testing.clock import FixedClock

    Received = list[tuple[str, Mapping[str, str]]]

RUN = RunId("7a0d9c3e-0000-4000-8000-000000000001")
QUEUES: tuple[QueueName, ...] = ("starts", "wakes", "deliveries")


class Harness:
    """A queue and a look at what workers would get from it now."""

    def __init__(self, queue: WorkQueue, receive: Callable[[], Received]) -> None:
        self.queue = queue
        self.receive = receive


@pytest.fixture(params=["memory", "moto", "double"])
def harness(request: pytest.FixtureRequest, clock: FixedClock) -> Harness:
    if request.param == "memory":
        recording = RecordingQueue(clock)
        return Harness(recording, lambda: [(one.queue, one.body) for one in recording.pop_due()])
    if request.param == "double":
        return _over_double(request)
    clients: Clients = request.getfixturevalue("aws")
    client = clients.get("sqs")
    urls = {name: client.create_queue(QueueName=name)["QueueUrl"] for name in QUEUES}

    def receive() -> Received:
        found: Received = []
        for name in QUEUES:
            while messages := client.receive_message(
                QueueUrl=urls[name], MaxNumberOfMessages=10, WaitTimeSeconds=0
            ).get("Messages"):
                found += [(name, json.loads(message["Body"])) for message in messages]
        return found

    return Harness(SqsWorkQueue(client, urls.__getitem__), receive)


def _over_double(request: pytest.FixtureRequest) -> Harness:
    cloud: Cloud = request.getfixturevalue("double")
    clients: DoubleClients = request.getfixturevalue("double_clients")

    def receive() -> Received:
        found: Received = []
        while (one := cloud.queues.receive()) is not None:
            found.append((one.queue, json.loads(one.body)))
        return sorted(found, key=lambda one: QUEUES.index(one[0]))

    return Harness(SqsWorkQueue(clients.get("sqs"), lambda name: f"https://sqs/1/{name}"), receive)


def forms(number: int) -> list[FormId]:
    return [FormId(f"7a0d9c3e-0000-4000-8000-{n:012}") for n in range(number)]


def test_each_kind_of_message_reaches_its_worker(harness: Harness) -> None:
    (form,) = forms(1)

    harness.queue.start(RUN)
    harness.queue.resume(RUN)
    harness.queue.continue_(RUN)
    harness.queue.time_out([form], delay=timedelta())
    harness.queue.mail([form])

    assert harness.receive() == [
        ("starts", {"kind": "start", "run_id": RUN}),
        ("wakes", {"kind": "resume", "run_id": RUN}),
        ("wakes", {"kind": "continue", "run_id": RUN}),
        ("wakes", {"kind": "timeout", "form_id": form}),
        ("deliveries", {"kind": "mail", "form_id": form}),
    ]


@pytest.mark.parametrize("number", [0, 1, 10, 11, 25])
def test_each_form_gets_a_message_of_its_own(harness: Harness, number: int) -> None:
    harness.queue.mail(forms(number))

    received = harness.receive()

    expected = [("deliveries", {"kind": "mail", "form_id": form}) for form in forms(number)]
    assert sorted(received, key=repr) == expected


def test_delayed_message_is_not_there_yet(harness: Harness) -> None:
    harness.queue.time_out(forms(1), delay=timedelta(minutes=15))
    harness.queue.continue_(RUN, delay=timedelta(seconds=30))

    assert harness.receive() == []


def test_negative_delay_means_now(harness: Harness) -> None:
    harness.queue.time_out(forms(1), delay=timedelta(seconds=-5))

    assert len(harness.receive()) == 1


def test_delay_of_more_than_15_minutes_is_refused(harness: Harness) -> None:
    with pytest.raises(PermanentError, match="15 minutes"):
        harness.queue.time_out(forms(1), delay=timedelta(minutes=15, microseconds=1))

    assert harness.receive() == []
