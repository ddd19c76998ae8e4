"""One-time schedules of EventBridge Scheduler that wake the sweep at a deadline."""

from __future__ import annotations

import json
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from sayso.aws.errors import code_of, to_domain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from mypy_boto3_scheduler import EventBridgeSchedulerClient

_MAX_AGE_SECONDS = 3600
"""How long Scheduler keeps trying; by then the sweep, which runs every minute, has seen it."""

_MAX_TRIES = 10


class EventBridgeTimers:
    """A ``Timers`` in one schedule group. A schedule deletes itself when it has fired."""

    def __init__(
        self, client: EventBridgeSchedulerClient, *, group: str, role_arn: str, target_arn: str
    ) -> None:
        """Take the client, the group, the role that calls, and the function that is called."""
        self._client = client
        self._group = group
        self._role_arn = role_arn
        self._target_arn = target_arn

    def at(self, name: str, when: datetime, message: Mapping[str, str]) -> None:
        """Let ``message`` reach the sweep at an instant, rounded up to the second."""
        try:
            self._client.create_schedule(
                Name=name,
                GroupName=self._group,
                ScheduleExpression=f"at({_rounded_up(when):%Y-%m-%dT%H:%M:%S})",
                ScheduleExpressionTimezone="UTC",
                FlexibleTimeWindow={"Mode": "OFF"},
                ActionAfterCompletion="DELETE",
                Target={
                    "Arn": self._target_arn,
                    "RoleArn": self._role_arn,
                    "Input": json.dumps(dict(message)),
                    "RetryPolicy": {
                        "MaximumEventAgeInSeconds": _MAX_AGE_SECONDS,
                        "MaximumRetryAttempts": _MAX_TRIES,
                    },
                },
            )
        except (ClientError, BotoCoreError) as error:
            if isinstance(error, ClientError) and code_of(error) == "ConflictException":
                return  # The same name is the same schedule.
            raise to_domain(error) from error


def _rounded_up(when: datetime) -> datetime:
    # at() knows no fractions: rounded down it would fire before the deadline and find nothing.
    utc = when.astimezone(UTC)
    return utc.replace(microsecond=0) + timedelta(seconds=bool(utc.microsecond))
