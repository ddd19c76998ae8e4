"""One-time schedules that fire when a test lets them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sayso.domain.errors import PermanentError
from sayso.testing.faults import around, no_faults

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sayso.testing.faults import FaultHook

_NAME = re.compile(r"[0-9a-zA-Z\-_.]{1,64}")


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a message reaches the sweep."""

    when: datetime
    message: Mapping[str, str]


class RecordingTimers:
    """A ``Timers`` that keeps schedules until they are popped."""

    def __init__(self, *, faults: FaultHook = no_faults) -> None:
        """Start without schedules."""
        self.schedules: dict[str, Schedule] = {}
        """What has not fired, by name."""
        self._faults = faults

    def at(self, name: str, when: datetime, message: Mapping[str, str]) -> None:
        """Keep a schedule, unless there is one of that name."""
        if not _NAME.fullmatch(name):
            text = f"schedule name {name!r}: expected 1 to 64 of letters, digits, - _ ."
            raise PermanentError(text)
        with around(self._faults, "at"):
            self.schedules.setdefault(name, Schedule(when, dict(message)))

    def pop_due(self, now: datetime) -> list[Mapping[str, str]]:
        """Take and return the messages that are due at an instant, earliest first."""
        due = sorted((one.when, name) for name, one in self.schedules.items() if one.when <= now)
        return [self.schedules.pop(name).message for _, name in due]
