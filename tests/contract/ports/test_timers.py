"""What every timer promises."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from sayso.aws.timers import EventBridgeTimers
from sayso.domain.errors import PermanentError
from sayso.testing.timers import RecordingTimers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mypy_boto3_scheduler import EventBridgeSchedulerClient

    from crash.double.cloud import Cloud, DoubleClients
    from sayso.aws.clients import Clients
    from sayso.ports import Timers

NOON = datetime(2030, 6, 1, 12, 0, tzinfo=UTC)
GROUP = "sayso-forms"
ACCOUNT = "123456789012"


class Harness:
    """Timers and a look at the messages they keep, by name."""

    def __init__(
        self, timers: Timers, messages: Callable[[], Mapping[str, Mapping[str, Any]]]
    ) -> None:
        self.timers = timers
        self.messages = messages


@pytest.fixture(params=["memory", "moto", "double"])
def harness(request: pytest.FixtureRequest) -> Harness:
    if request.param == "memory":
        recording = RecordingTimers()
        return Harness(
            recording, lambda: {name: one.message for name, one in recording.schedules.items()}
        )
    if request.param == "double":
        return _over_double(request)
    clients: Clients = request.getfixturevalue("aws")
    client = clients.get("scheduler")
    client.create_schedule_group(Name=GROUP)
    timers = timers_of(client)

    def messages() -> dict[str, dict[str, Any]]:
        found = {}
        for one in client.list_schedules(GroupName=GROUP)["Schedules"]:
            schedule = client.get_schedule(GroupName=GROUP, Name=one["Name"])
            found[one["Name"]] = json.loads(schedule["Target"]["Input"])
        return found

    return Harness(timers, messages)


def timers_of(client: EventBridgeSchedulerClient) -> EventBridgeTimers:
    return EventBridgeTimers(
        client,
        group=GROUP,
        role_arn=f"arn:aws:iam::{ACCOUNT}:role/schedules",
        target_arn=f"arn:aws:lambda:eu-west-1:{ACCOUNT}:function:sweep",
    )


def _over_double(request: pytest.FixtureRequest) -> Harness:
    cloud: Cloud = request.getfixturevalue("double")
    clients: DoubleClients = request.getfixturevalue("double_clients")
    waiting = cloud.schedules.waiting
    return Harness(
        timers_of(clients.get("scheduler")),
        lambda: {one.name: json.loads(one.input) for one in waiting},
    )


def test_schedule_carries_its_message(harness: Harness) -> None:
    harness.timers.at("form-1", NOON, {"kind": "timeout", "form_id": "1"})

    assert harness.messages() == {"form-1": {"kind": "timeout", "form_id": "1"}}


def test_existing_name_is_success_and_stays_as_it_is(harness: Harness) -> None:
    harness.timers.at("form-1", NOON, {"form_id": "1"})

    harness.timers.at("form-1", NOON, {"form_id": "2"})

    assert harness.messages() == {"form-1": {"form_id": "1"}}


@pytest.mark.parametrize(
    "name", ["", "x" * 65, "a b", "a/b"], ids=["empty", "too long", "space", "slash"]
)
def test_name_that_is_none_is_refused(harness: Harness, name: str) -> None:
    with pytest.raises(PermanentError):
        harness.timers.at(name, NOON, {})
