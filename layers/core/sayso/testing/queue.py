"""A work queue that keeps its messages until a test takes them, in any order, any number of times."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Literal

from sayso.domain.errors import PermanentError
from sayso.testing.faults import around, no_faults

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from sayso.domain.ids import FormId, RunId
    from sayso.ports import Clock
    from sayso.testing.faults import FaultHook

QueueName = Literal["starts", "wakes", "deliveries"]

_MAX_DELAY = timedelta(minutes=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedMessage:
    """One message as a worker gets it, and from when on."""

    queue: QueueName
    body: Mapping[str, str]
    """``{"kind": …, "run_id" | "form_id": …}``"""
    due_at: datetime
    number: int = field(compare=False)
    """Order of arrival; a duplicate has a number of its own."""


class RecordingQueue:
    """A ``WorkQueue`` over virtual time. Nothing is delivered until a test pops it."""

    def __init__(self, clock: Clock, *, faults: FaultHook = no_faults) -> None:
        """Start empty; the clock says when a message becomes due."""
        self.messages: list[QueuedMessage] = []
        """All that has not been popped or dropped, in order of arrival."""
        self._clock = clock
        self._faults = faults
        self._numbers = count(1)

    def start(self, run_id: RunId) -> None:
        """Keep a message for the first segment."""
        with around(self._faults, "start"):
            self._keep("starts", {"kind": "start", "run_id": run_id})

    def resume(self, run_id: RunId) -> None:
        """Keep a message that asks to resume."""
        with around(self._faults, "resume"):
            self._keep("wakes", {"kind": "resume", "run_id": run_id})

    def continue_(self, run_id: RunId, *, delay: timedelta | None = None) -> None:
        """Keep a message that asks for another worker."""
        with around(self._faults, "continue_"):
            self._keep("wakes", {"kind": "continue", "run_id": run_id}, delay or timedelta())

    def time_out(self, form_ids: Sequence[FormId], *, delay: timedelta) -> None:
        """Keep one message a form."""
        with around(self._faults, "time_out"):
            for form_id in form_ids:
                self._keep("wakes", {"kind": "timeout", "form_id": form_id}, delay)

    def mail(self, form_ids: Sequence[FormId]) -> None:
        """Keep one message a form."""
        with around(self._faults, "mail"):
            for form_id in form_ids:
                self._keep("deliveries", {"kind": "mail", "form_id": form_id})

    def pop_due(self, now: datetime | None = None) -> list[QueuedMessage]:
        """Take and return what is due at an instant (default: now), earliest first."""
        instant = now or self._clock.now()
        due = [message for message in self.messages if message.due_at <= instant]
        self.messages = [message for message in self.messages if message.due_at > instant]
        return sorted(due, key=lambda message: (message.due_at, message.number))

    def drop(self, wanted: Callable[[QueuedMessage], bool] = lambda _: True) -> int:
        """Lose messages, by default all; return how many."""
        before = len(self.messages)
        self.messages = [message for message in self.messages if not wanted(message)]
        return before - len(self.messages)

    def put_back(self, *messages: QueuedMessage) -> None:
        """Bring messages in (again), behind the others: a redelivery, a duplicate, another order."""
        for message in messages:
            self._keep(message.queue, message.body, message.due_at - self._clock.now())

    def _keep(
        self, queue: QueueName, body: Mapping[str, str], delay: timedelta = timedelta()
    ) -> None:
        if delay > _MAX_DELAY:
            message = f"a message can be delayed by at most 15 minutes, got {delay}"
            raise PermanentError(message)
        due_at = self._clock.now() + max(delay, timedelta())
        number = next(self._numbers)
        self.messages.append(
            QueuedMessage(queue=queue, body=dict(body), due_at=due_at, number=number)
        )
