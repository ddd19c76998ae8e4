"""One worker's hold on a run: the lease, its renewal, the journal writes under it.

All writes of the worker and the renewals go through one lock, so that they never conflict with
each other; each runs in a thread, so that agent code keeps the event loop.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sayso.domain.errors import RetryableError
from sayso.domain.segment import (
    NOTHING_LEFT,
    ActiveTimeOver,
    CancelSeen,
    JournalUnavailable,
    LeaseLost,
    RunDeadlinePassed,
    SegmentStop,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sayso.domain.run import EventDraft, Run
    from sayso.domain.segment import Left, Operation, OperationRecord
    from sayso.usecases.context import Context

RENEWALS_PER_LEASE = 3


class LeasedRun:
    """A run while this worker owns its lease. Implements ``ports.SegmentJournal``."""

    def __init__(
        self,
        run: Run,
        records: Mapping[str, OperationRecord],
        context: Context,
        *,
        lease: timedelta,
        max_active: timedelta,
    ) -> None:
        """Take the run as it was claimed and what the journal holds of its segment."""
        self.stop: SegmentStop | None = None
        """Why the work was interrupted from outside, if it was."""
        self.left = NOTHING_LEFT
        """What the agent left behind when it was stopped."""
        self._run = run
        self._claimed_at = context.clock.now()
        # What was decided in time is still worked on: only a deadline that comes later stops it.
        self._deadline = run.deadline if run.deadline > self._claimed_at else None
        self._active_before = timedelta(milliseconds=run.active_ms)
        self._max_active = max_active
        self._records = dict(records)
        self._context = context
        self._lease = lease
        self._lock = asyncio.Lock()

    @property
    def run(self) -> Run:
        """The run as far as this worker knows it, with the time that was worked on it."""
        return replace(self._run, active_ms=self._active // timedelta(milliseconds=1))

    @property
    def _active(self) -> timedelta:
        return self._active_before + self._context.clock.now() - self._claimed_at

    @property
    def _time_left(self) -> timedelta:
        left = self._max_active - self._active
        if self._deadline is None:
            return left
        return min(left, self._deadline - self._context.clock.now())

    def leave(self, left: Left) -> None:
        """Keep what a stopped agent leaves behind, for the end that is written then."""
        self.left = left

    @property
    def records(self) -> Mapping[str, OperationRecord]:
        """What earlier workers, and this one, recorded."""
        return self._records

    async def mark_started(self, operation: Operation) -> None:
        """Record the start of a tool call. Raises ``SegmentStop``."""
        self._check_time()
        known = self._records.get(operation.key)
        starts = (known.starts if known else 0) + 1
        journal = self._context.stores.journal
        async with self._lock:
            self._records[operation.key] = await self._write(
                lambda: journal.mark_started(self.run, operation, starts)
            )

    async def record(
        self, operation: Operation, outcome: Any, events: Sequence[EventDraft]
    ) -> None:
        """Record a result with its events. Raises ``SegmentStop``."""
        known = self._records.get(operation.key)
        starts = known.starts if known else 0
        now = self._context.clock.now()
        journal = self._context.stores.journal
        async with self._lock:
            self._records[operation.key] = await self._write(
                lambda: journal.record(self.run, operation, starts, outcome, events, now)
            )
            self._run = replace(self._run, last_event=self._run.last_event + len(events), deaths=0)
        self._check_time()

    def _check_time(self) -> None:
        """Stop a run at its deadline, or when it was worked on for as long as may be.

        The latter: dify-agent §13 Limits.
        """
        if self._deadline is not None and self._deadline <= self._context.clock.now():
            message = f"the deadline of run {self.run.id!r} has passed"
            raise RunDeadlinePassed(message)
        if self._time_left <= timedelta():
            seconds = self._max_active.total_seconds()
            message = f"Agent run exceeded the configured limit of {seconds:g} seconds"
            raise ActiveTimeOver(message)

    async def _write(self, write: Callable[[], OperationRecord]) -> OperationRecord:
        if self.stop is not None:
            raise self.stop
        try:
            return await asyncio.to_thread(write)
        except RetryableError as error:
            # It may have landed: what we know of the run is no longer sure, so write nothing more.
            message = f"the journal of run {self.run.id!r} cannot be written now"
            self.stop = JournalUnavailable(message)
            raise self.stop from error

    async def keep(self, work: asyncio.Task[Any]) -> None:
        """Renew the lease until cancelled; interrupt the work when it is lost or to be cancelled.

        A renewal that fails for now is tried again while the lease lasts.
        """
        period = self._lease / RENEWALS_PER_LEASE
        last = self._context.clock.now()
        while True:
            await asyncio.sleep(max(timedelta(), min(period, self._time_left)).total_seconds())
            now = self._context.clock.now()
            try:
                self._check_time()
                held = await self._renew(now + self._lease)
            except (ActiveTimeOver, LeaseLost, RunDeadlinePassed) as stop:
                await self._interrupt(work, stop)
                return
            except RetryableError:
                if now - last > self._lease:
                    message = f"the lease of run {self.run.id!r} could not be renewed"
                    await self._interrupt(work, LeaseLost(message))
                    return
                continue
            last = now
            if held.cancel is not None:
                seen = CancelSeen(f"run {self.run.id!r} is to be cancelled")
                await self._interrupt(work, seen)
                return

    async def _renew(self, until: Any) -> Run:
        async with self._lock:
            held = await asyncio.to_thread(
                lambda: self._context.stores.runs.renew(self.run, until=until)
            )
            self._run = replace(self._run, lease=held.lease, cancel=held.cancel)
            return held

    async def _interrupt(self, work: asyncio.Task[Any], stop: SegmentStop) -> None:
        """Stop the agent code at its next await; a write that is under way is finished first."""
        async with self._lock:
            self.stop = stop
            work.cancel()
