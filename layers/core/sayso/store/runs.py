"""The run record: making, claiming, renewing, ending it.

Leases: a run is worked on by whoever owns its lease; every write of a worker names the lease's
epoch, so a worker that was replaced can write nothing (DESIGN §5 Segment).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from sayso.domain.errors import ConditionFailedError, MovedOnError
from sayso.domain.run import NO_FAILURE, Failure
from sayso.domain.segment import LeaseLost
from sayso.domain.transitions import RunStatus, RunTrigger, advance_run, run_sources
from sayso.ports import Above, AtMost, Condition, Delete, Equals, Missing, OneOf, Put, Update, Write
from sayso.store.codec import audit_item, split_changes, to_json, to_ms
from sayso.store.keys import audit_key, credential_key, pause_key, run_key, run_pk
from sayso.store.leases import lease_attributes, still_held
from sayso.store.run_codec import pause_from_item, run_changes, run_from_item, run_item

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sayso.domain.ids import PauseId, RunId
    from sayso.domain.run import AuditEntry, CancelIntent, EventDraft, Pause, Run
    from sayso.ports import Item, Table
    from sayso.store.commit import Committer
    from sayso.store.events import EventLog

UNTOLD_AFTER = timedelta(seconds=60)
"""How long a message may take before the sweep tells again."""
NET = timedelta(days=7)
"""What ``ttl`` adds to deadline and retention; it is only a net (DESIGN §3)."""


class RunStore:
    """Run records in the table."""

    def __init__(self, committer: Committer, events: EventLog, *, retention: timedelta) -> None:
        """Take what writes and what numbers events; ended runs stay for ``retention``."""
        self._committer = committer
        self._events = events
        self._retention = retention

    @property
    def _table(self) -> Table:
        return self._committer.table

    def ttl(self, run: Run) -> int:
        """Return the epoch second after which the table may drop items of a run."""
        return int((run.deadline + self._retention + NET).timestamp())

    def create(
        self,
        run: Run,
        events: Sequence[EventDraft],
        more: Sequence[Item],
        also: Sequence[Write] = (),
    ) -> Run:
        """Write a new run, its first events and new items beside it, in one transaction.

        Raises:
            ConditionFailedError: ``also`` has writes with conditions of their own.
        """
        ttl = self.ttl(run)
        puts = self._events.puts(run, events, run.created_at, ttl)
        run = replace(run, last_event=run.last_event + len(events))
        items = [run_item(run), *more]
        writes = [Put(item=item | {"ttl": ttl}, when=(Missing("pk"),)) for item in items]
        self._committer.transact([*writes, *puts, *also])
        return run

    def get(self, run_id: RunId) -> Run | None:
        """Return a run, or None."""
        item = self._table.get(run_key(run_id))
        return None if item is None else run_from_item(item)

    def pause(self, run_id: RunId, pause_id: PauseId) -> Pause | None:
        """Return a pause of a run, or None."""
        item = self._table.get(pause_key(run_id, pause_id))
        return None if item is None else pause_from_item(item)

    def pauses(self, run_id: RunId) -> list[Pause]:
        """Return all pauses a run ever made."""
        items = self._table.query(run_pk(run_id), prefix="PAUSE#")
        return [pause_from_item(item) for item in items]

    def claim(self, run_id: RunId, *, owner: str, now: datetime, lease: timedelta) -> Run | None:
        """Take the lease of a running run.

        A lease that ran out counts as a death of its owner.

        Returns:
            The run with the new lease, or None: it is held, ended, paused or gone.
        """
        try:
            return self._claim(run_id, owner, now, lease, (Missing("lease_owner"),), deaths=0)
        except ConditionFailedError as error:
            held = error.first
        if held is None or held["status"] != RunStatus.RUNNING:
            return None
        if held.get("lease_until", 0) > to_ms(now):
            return None
        ran_out = (Equals("epoch", held["epoch"]), AtMost("lease_until", to_ms(now)))
        try:
            return self._claim(run_id, owner, now, lease, ran_out, deaths=1)
        except ConditionFailedError:
            return None

    def _claim(
        self,
        run_id: RunId,
        owner: str,
        now: datetime,
        lease: timedelta,
        when: tuple[Condition, ...],
        *,
        deaths: int,
    ) -> Run:
        item = self._committer.write(
            Update(
                key=run_key(run_id),
                set=lease_attributes(run_id, owner, now + lease) | {"tells": 0},
                add={"epoch": 1, "deaths": deaths},
                when=(Equals("status", RunStatus.RUNNING), *when),
            )
        )
        return run_from_item(item)

    def renew(self, run: Run, *, until: datetime) -> Run:
        """Hold the lease longer; the returned run shows a cancel intent.

        Raises:
            LeaseLost: The run ended or has another owner.
        """
        owner = run.lease.owner if run.lease else ""
        update = Update(
            key=run_key(run.id),
            set=lease_attributes(run.id, owner, until),
            when=still_held(run),
        )
        return run_from_item(self._under_lease(run, update))

    def release(self, run: Run, *, now: datetime) -> None:
        """Give the lease back between two slices, so that the next worker claims at once.

        Raises:
            LeaseLost: The run ended or has another owner.
        """
        update = Update(
            key=run_key(run.id),
            set={"active_ms": run.active_ms, "due_at": to_ms(now + UNTOLD_AFTER)},
            remove=("lease_owner", "lease_until"),
            when=still_held(run),
        )
        self._under_lease(run, update)

    def _under_lease(self, run: Run, update: Update) -> Item:
        try:
            return self._committer.write(update)
        except ConditionFailedError as error:
            raise LeaseLost(f"the lease of run {run.id!r} is gone") from error

    def end(
        self,
        run: Run,
        trigger: RunTrigger,
        *,
        now: datetime,
        events: Sequence[EventDraft],
        failure: Failure = NO_FAILURE,
        audit: AuditEntry | None = None,
        closing: Sequence[Write] = (),
        also: tuple[Condition, ...] = (),
    ) -> Run:
        """Write status and terminal event together, and close what hangs on the run (I11).

        A run with a lease is ended by its owner's epoch; without one by its last event, so that
        whoever comes second finds its condition broken.

        Args:
            run: The run as it was read or is held.
            trigger: What happened.
            now: The instant of the end.
            events: What is still to be said; the terminal event last.
            failure: Why it did not succeed.
            audit: What the history says.
            closing: Writes that close the forms.
            also: More conditions on the run.

        Raises:
            MovedOnError: The run or one of its forms has moved on; read again.
        """
        ended = replace(
            run,
            status=advance_run(run.status, trigger),
            updated_at=now,
            last_event=run.last_event + len(events),
            audits=audit.number if audit else run.audits,
            error=failure.error,
            reason=failure.reason,
            error_type=failure.error_type,
            cancel=None,
            due_at=now + self._retention,
            lease=None,
            tells=0,
        )
        when: tuple[Condition, ...] = (OneOf("status", tuple(sorted(run_sources(trigger)))),)
        when += (Equals("epoch", run.epoch), Equals("last_event", run.last_event), *also)
        writes: list[Write] = [self.update(ended, when), Delete(key=credential_key(run.id))]
        writes += self._events.puts(run, events, now, self.ttl(run))
        writes += self.audits(run, audit)
        self.commit([*writes, *closing], run)
        return ended

    def update(self, run: Run, when: tuple[Condition, ...]) -> Update:
        """Return the write that stores the changed parts of a run and gives its lease back."""
        changed, gone = split_changes(run_changes(run))
        gone = (*gone, "lease_owner", "lease_until")
        return Update(key=run_key(run.id), set=changed, remove=gone, when=when)

    def audits(self, run: Run, entry: AuditEntry | None) -> list[Write]:
        """Return the write of an audit entry of a run, if there is one."""
        if entry is None:
            return []
        item = audit_item(audit_key(run_pk(run.id), entry.number), entry, self.ttl(run))
        return [Put(item=item, when=(Missing("pk"),))]

    def commit(self, writes: Sequence[Write], run: Run) -> None:
        """Carry out a transaction whose first write is to the run.

        Raises:
            MovedOnError: Something it names has moved on.
        """
        try:
            self._committer.transact(writes)
        except ConditionFailedError as error:
            message = f"run {run.id!r} has moved on"
            raise MovedOnError(message) from error

    def ask_to_cancel(self, run: Run, intent: CancelIntent, *, now: datetime) -> Run:
        """Store a cancel intent for the worker that holds the run; the first one wins.

        Raises:
            MovedOnError: Nobody holds the run any more; read again.
        """
        update = Update(
            key=run_key(run.id),
            set={"cancel": to_json({"reason": intent.reason, "message": intent.message})},
            when=(
                Equals("status", RunStatus.RUNNING),
                Missing("cancel"),
                Above("lease_until", to_ms(now)),
            ),
        )
        try:
            return run_from_item(self._committer.write(update))
        except ConditionFailedError as error:
            old = error.first
            if old and "cancel" in old and old["status"] == RunStatus.RUNNING:
                return run_from_item(old)
            message = f"run {run.id!r} has moved on"
            raise MovedOnError(message) from error

    def refuse(self, run: Run, refusal: str, audit: AuditEntry) -> None:
        """Note why resuming was refused; the run stays paused and its answers stay.

        Raises:
            MovedOnError: The run has moved on.
        """
        update = Update(
            key=run_key(run.id),
            set={"refusal": refusal, "audits": audit.number},
            when=(Equals("status", RunStatus.PAUSED), Equals("audits", run.audits)),
        )
        self.commit([update, *self.audits(run, audit)], run)

    def retell(self, run: Run, *, due_at: datetime) -> bool:
        """Move the instant at which the sweep looks again; tell whether nobody was faster."""
        update = Update(
            key=run_key(run.id),
            set={"due_at": to_ms(due_at)},
            add={"tells": 1},
            when=(Equals("status", run.status), _as_due(run.due_at)),
        )
        try:
            self._committer.write(update)
        except ConditionFailedError:
            return False
        return True


def _as_due(due_at: datetime | None) -> Condition:
    return Missing("due_at") if due_at is None else Equals("due_at", to_ms(due_at))
