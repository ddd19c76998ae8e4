"""Runs each operation of a segment once: replays what is recorded, records what is new.

Knows nothing of the agent library; ``durability`` connects the two. Its rules answer mistakes
that were made before:

- Everything that must stop the worker is a ``SegmentStop``, also a failed write: as an ordinary
  exception it could end up as the result of a tool.
- Before stopping, wait for siblings in flight: an exception in one of several parallel tools
  would cancel the others and throw their results away.
- After a write that failed, write nothing more: it may have landed, and what comes after would
  be numbered as if it had not.
- Tool calls are keyed by call id, never by order: the second of two may finish first.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from sayso.domain.segment import (
    JOURNAL_VERSION,
    MAX_EVENTS_OF_END,
    MAX_EVENTS_OF_OPERATION,
    JournalMismatch,
    JournalUnavailable,
    Operation,
    SegmentStop,
    SliceEnded,
)
from sayso_agent.deltas import fitted
from sayso_agent.operations import GivenUpError, carry_out

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sayso.domain.run import EventDraft
    from sayso.ports import SegmentJournal
    from sayso_agent.operations import Request

MIN_RESERVE_SECONDS = 20.0
"""A slice ends at the latest when this little time is left."""
MIN_LIMIT_SECONDS = 1.0
"""A limited operation that is let through although time is short has at least this long."""
MAX_STARTS = 3
"""A tool call that was started so often without a result is given up."""

INTERRUPTED = "The call was interrupted; whether it took effect is unknown."


class Replay:
    """One worker's way through one segment.

    Single use, one event loop. ``run`` may be called concurrently for the tool calls of a turn.
    """

    def __init__(self, journal: SegmentJournal, *, remaining: Callable[[], float]) -> None:
        self._journal = journal
        self._remaining = remaining
        self._records = dict(journal.records)
        self._unused = {key for key, record in self._records.items() if record.is_finished}
        self._shown = {one for record in self._records.values() for one in record.shown}
        self._seen: Counter[str] = Counter()
        self._pending: list[EventDraft] = []
        self._in_flight = 0
        self._idle = asyncio.Condition()
        self._writing = asyncio.Lock()
        self._stopping: SegmentStop | None = None
        self._broken: SegmentStop | None = None
        """Why nothing more can be written."""
        self._performed = 0
        self._slowest_seconds = 0.0

    def check_versions(self) -> None:
        """Refuse records of another format before anything is replayed.

        Raises:
            JournalMismatch: A record was written by code with another format.
        """
        for key, record in self._records.items():
            if record.version != JOURNAL_VERSION:
                message = (
                    f"operation {key!r} is recorded in journal format {record.version}, expected"
                    f" {JOURNAL_VERSION}; finish the run with the code that began it"
                )
                raise JournalMismatch(message)

    async def run(self, request: Request, body: Callable[[], Awaitable[Any]]) -> tuple[Any, bool]:
        """Return the value of an operation, and whether its body was run for it.

        Args:
            request: What is asked for.
            body: Carries the operation out and returns a JSON value. An exception of it other
                than ``GivenUpError`` is recorded nowhere and passes.

        Raises:
            GivenUpError: The outcome is a failure that the model is to be told.
            SegmentStop: The worker has to stop.
        """
        operation = self._next(request)
        record = self._records.get(operation.key)
        self._unused.discard(operation.key)
        if record is not None and record.operation != operation:
            raise await self._stopped(_differs(operation))
        if record is not None and record.is_finished:
            return _value(record.outcome), False
        if mismatch := self._passed_over(operation):
            raise await self._stopped(mismatch)
        if self._stopping or self._time_is_short(request):
            raise await self._stopped(SliceEnded(f"stopped before operation {operation.key!r}"))
        starts = record.starts if record else 0
        return _value(await self._perform(operation, request, body, starts)), True

    def show(self, event: EventDraft) -> None:
        """Take an event that belongs to no operation; it goes along with the next record.

        The event needs an identity. One that an earlier worker stored is passed over.
        """
        assert event.identity is not None
        if event.identity not in self._shown:
            self._pending.append(event)

    def occurrence(self, name: str) -> int:
        """Count one more of ``name`` and return how many there were, from 1."""
        self._seen[name] += 1
        return self._seen[name]

    def finish(self) -> list[EventDraft]:
        """Return the events that no operation took along, when the agent has come to its end.

        Raises:
            JournalMismatch: Recorded operations were never asked for.
        """
        if self._unused:
            raise JournalMismatch(
                f"recorded but never asked for: {', '.join(sorted(self._unused))}; {_ADVICE}"
            )
        return self.take_pending()

    def take_pending(self) -> list[EventDraft]:
        """Return the events that are to be written with the end of the work, and forget them."""
        pending, self._pending = self._pending, []
        return fitted(pending, MAX_EVENTS_OF_END)

    def _next(self, request: Request) -> Operation:
        return Operation(
            kind=request.kind,
            name=request.name,
            tool_call_id=request.tool_call_id,
            occurrence=self.occurrence(f"{request.name}#{request.tool_call_id}"),
            digest=request.digest,
        )

    def _passed_over(self, operation: Operation) -> JournalMismatch | None:
        """Tell whether a new operation is asked for while recorded ones wait.

        Calls of one turn may be recorded in any order; otherwise this means that other code is
        replaying, which would quietly do everything again.
        """
        waiting = sorted(
            key
            for key in self._unused
            if operation.tool_call_id == "-" or self._records[key].operation.tool_call_id == "-"
        )
        if not waiting:
            return None
        return JournalMismatch(
            f"operation {operation.key!r} is asked for, recorded is {', '.join(waiting)}; {_ADVICE}"
        )

    def _time_is_short(self, request: Request) -> bool:
        """Whether another operation might not end in time. One is always let through."""
        if not self._performed:
            return False
        needed = max(MIN_RESERVE_SECONDS, self._slowest_seconds)
        if request.limit_seconds is not None:
            needed = max(needed, request.limit_seconds + MIN_RESERVE_SECONDS)
        return self._remaining() < needed

    def _limit(self, request: Request) -> float | None:
        """How long an operation may take: its own limit, as far as this worker lives so long."""
        if request.limit_seconds is None:
            return None
        left = self._remaining() - MIN_RESERVE_SECONDS
        return max(min(request.limit_seconds, left), MIN_LIMIT_SECONDS)

    async def _perform(
        self,
        operation: Operation,
        request: Request,
        body: Callable[[], Awaitable[Any]],
        starts: int,
    ) -> Any:
        self._in_flight += 1
        self._performed += 1
        began = time.monotonic()
        try:
            outcome = await self._carry_out(operation, request, body, starts)
        except SegmentStop as stop:
            reason = stop
        else:
            return outcome
        finally:
            await self._landed(began)
        raise await self._stopped(reason)

    async def _landed(self, began: float) -> None:
        self._slowest_seconds = max(self._slowest_seconds, time.monotonic() - began)
        self._in_flight -= 1
        async with self._idle:
            self._idle.notify_all()

    async def _carry_out(
        self,
        operation: Operation,
        request: Request,
        body: Callable[[], Awaitable[Any]],
        starts: int,
    ) -> Any:
        events: list[EventDraft] = []
        if request.max_starts and starts >= request.max_starts:
            outcome = {"failed": INTERRUPTED}
        else:
            if request.max_starts:
                await self._write(lambda: self._journal.mark_started(operation))
            outcome = await carry_out(body, events, limit_seconds=self._limit(request))
        await self._write(lambda: self._record(operation, outcome, events))
        return outcome

    async def _record(self, operation: Operation, outcome: Any, events: list[EventDraft]) -> None:
        """Write a result with its events, those first that waited for a write.

        Of many that wait, some go on waiting if they need not come before events of its own.
        """
        room = MAX_EVENTS_OF_OPERATION
        if events:
            room -= min(len(events), MAX_EVENTS_OF_OPERATION // 2)
            waited, self._pending = fitted(self._pending, room), []
        else:
            waited, self._pending = self._pending[:room], self._pending[room:]
        own = fitted(events, MAX_EVENTS_OF_OPERATION - len(waited))
        await self._journal.record(operation, outcome, [*waited, *own])

    async def _write(self, write: Callable[[], Awaitable[None]]) -> None:
        """Write, or find out why not: a failed write is no failure of the tool or of the run."""
        async with self._writing:
            if self._broken is not None:
                raise self._broken
            try:
                await write()
            except SegmentStop as stop:
                self._broken = stop
                raise
            except Exception as error:
                message = f"the journal cannot be written: {type(error).__name__}"
                self._broken = JournalUnavailable(message)
                raise self._broken from error

    async def _stopped(self, reason: SegmentStop) -> SegmentStop:
        """Return the first reason to stop, when no sibling is in flight any more."""
        self._stopping = self._stopping or reason
        async with self._idle:
            await self._idle.wait_for(lambda: not self._in_flight)
        return self._stopping


_ADVICE = "the run was recorded by other code, finish it with the code that began it"


def _differs(operation: Operation) -> JournalMismatch:
    return JournalMismatch(
        f"operation {operation.key!r} is asked for with other arguments than recorded; {_ADVICE}"
    )


def _value(outcome: Any) -> Any:
    if "failed" in outcome:
        raise GivenUpError(outcome["failed"])
    return outcome["value"]
