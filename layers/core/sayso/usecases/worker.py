"""One worker's hold on a run: the lease, its renewal, the journal writes under it.

All writes of the worker and the renewals go through one lock, so that they never conflict with
each other; each runs in a thread, so that agent code keeps the event loop.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sayso.domain.errors import RetryableError
from sayso.domain.segment import CancelSeen, JournalUnavailable, LeaseLost, SegmentStop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import timedelta

    from sayso.domain.run import EventDraft, Run
    from sayso.domain.segment import Operation, OperationRecord
    from sayso.usecases.context import Context

RENEWALS_PER_LEASE = 3


class LeasedRun:
    """A run while this worker owns its lease. Implements ``ports.SegmentJournal``."""

    def __init__(
        self, run: Run, records: Mapping[str, OperationRecord], context: Context, lease: timedelta
    ) -> None:
        """Take the run as it was claimed and what the journal holds of its segment."""
        self.run = run
        self.stop: SegmentStop | None = None
        """Why the work was interrupted from outside, if it was."""
        self._records = dict(records)
        self._context = context
        self._lease = lease
        self._lock = asyncio.Lock()

    @property
    def records(self) -> Mapping[str, OperationRecord]:
        """What earlier workers, and this one, recorded."""
        return self._records

    async def mark_started(self, operation: Operation) -> None:
        """Record the start of a tool call. Raises ``SegmentStop``."""
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
            self.run = replace(self.run, last_event=self.run.last_event + len(events), deaths=0)

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
            await asyncio.sleep(period.total_seconds())
            now = self._context.clock.now()
            try:
                held = await self._renew(now + self._lease)
            except LeaseLost as lost:
                self.interrupt(work, lost)
                return
            except RetryableError:
                if now - last > self._lease:
                    message = f"the lease of run {self.run.id!r} could not be renewed"
                    self.interrupt(work, LeaseLost(message))
                    return
                continue
            last = now
            if held.cancel is not None:
                self.interrupt(work, CancelSeen(f"run {self.run.id!r} is to be cancelled"))
                return

    async def _renew(self, until: Any) -> Run:
        async with self._lock:
            held = await asyncio.to_thread(
                lambda: self._context.stores.runs.renew(self.run, until=until)
            )
            self.run = replace(self.run, lease=held.lease, cancel=held.cancel)
            return held

    def interrupt(self, work: asyncio.Task[Any], stop: SegmentStop) -> None:
        """Stop the agent code at its next await."""
        self.stop = stop
        work.cancel()
