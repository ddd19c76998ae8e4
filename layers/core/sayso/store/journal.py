"""The journal of a segment: operations with their results and events, one transaction each.

Sort key: ``JOURNAL#<segment>#<operation name>#<tool_call_id>#<occurrence>``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sayso.domain.errors import ConditionFailedError
from sayso.domain.run import ObjectRef
from sayso.domain.segment import JOURNAL_VERSION, MAX_EVENTS_OF_OPERATION, OperationRecord
from sayso.ports import Check, Equals, Put, Update, Write
from sayso.store.codec import digest_of, pack, to_json, unpack
from sayso.store.keys import journal_prefix, run_key, run_pk
from sayso.store.leases import NO_CANCEL, still_held, stop_reason
from sayso.store.run_codec import record_from_item

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sayso.domain.run import EventDraft, Run
    from sayso.domain.segment import Operation
    from sayso.ports import Item
    from sayso.store.commit import Committer
    from sayso.store.events import EventLog
    from sayso.store.objects import Documents
    from sayso.store.runs import RunStore

MAX_INLINE_BYTES = 250_000
"""Packed results above this go to the bucket: an item holds 400 KB (DynamoDB limit)."""


class JournalStore:
    """Operations in the table; every write is conditional on the lease's epoch."""

    def __init__(
        self, committer: Committer, events: EventLog, documents: Documents, runs: RunStore
    ) -> None:
        """Take what writes, numbers events, and keeps what is too large for an item."""
        self._committer = committer
        self._events = events
        self._documents = documents
        self._runs = runs

    def load(self, run: Run) -> dict[str, OperationRecord]:
        """Return what is recorded of the run's current segment, by operation key."""
        prefix = journal_prefix(run.segment)
        items = self._committer.table.query(run_pk(run.id), prefix=prefix)
        records = [record_from_item(item, self._outcome(item)) for item in items]
        return {record.operation.key: record for record in records}

    def mark_started(self, run: Run, operation: Operation, starts: int) -> OperationRecord:
        """Record that the body of a tool call is about to run for the ``starts``-th time.

        Raises:
            CancelSeen: A cancel was asked for.
            LeaseLost: The run ended or has another owner.
        """
        check = Check(key=run_key(run.id), when=(*still_held(run), NO_CANCEL))
        item = self._item(run, operation, starts)
        self._commit(run, [check, Put(item=item)])
        return OperationRecord(operation=operation, starts=starts, outcome=None)

    def record(
        self,
        run: Run,
        operation: Operation,
        starts: int,
        outcome: Any,
        events: Sequence[EventDraft],
        now: datetime,
    ) -> OperationRecord:
        """Record a result together with its events; the caller advances ``run.last_event``.

        Args:
            run: The run, its lease ours.
            operation: What has a result.
            starts: How often its body was started.
            outcome: The result, JSON.
            events: At most ``MAX_EVENTS_OF_OPERATION``.
            now: When it happened.

        Raises:
            LeaseLost: The run ended or has another owner.
        """
        assert len(events) <= MAX_EVENTS_OF_OPERATION
        shown = tuple(draft.identity for draft in events if draft.identity)
        item = self._item(run, operation, starts) | self._result(run, operation, outcome)
        if shown:
            item["shown"] = json.dumps(shown)
        ttl = self._runs.ttl(run)
        update = Update(
            key=run_key(run.id),
            set={
                "last_event": run.last_event + len(events),
                "deaths": 0,
                "active_ms": run.active_ms,
            },
            when=(*still_held(run), Equals("last_event", run.last_event)),
        )
        puts = self._events.puts(run, events, now, ttl)
        self._commit(run, [update, Put(item=item), *puts])
        return OperationRecord(operation=operation, starts=starts, outcome=outcome, shown=shown)

    def _commit(self, run: Run, writes: list[Write]) -> None:
        try:
            self._committer.transact(writes)
        except ConditionFailedError as error:
            raise stop_reason(run, error.items[0] if error.items else None) from error

    def _item(self, run: Run, operation: Operation, starts: int) -> Item:
        return {
            "pk": run_pk(run.id),
            "sk": journal_prefix(run.segment) + operation.key,
            "kind": operation.kind,
            "name": operation.name,
            "tool_call_id": operation.tool_call_id,
            "occurrence": operation.occurrence,
            "digest": operation.digest,
            "starts": starts,
            "version": JOURNAL_VERSION,
            "ttl": self._runs.ttl(run),
        }

    def _result(self, run: Run, operation: Operation, outcome: Any) -> Item:
        packed = pack(outcome)
        if len(packed) <= MAX_INLINE_BYTES:
            return {"outcome": packed}
        name = f"journal/{run.segment}-{digest_of(operation.key.encode())[:16]}"
        ref = self._documents.put(run.tenant, run.id, name, to_json(outcome).encode())
        return {"outcome_key": ref.key, "outcome_digest": ref.digest}

    def _outcome(self, item: Item) -> Any | None:
        if "outcome" in item:
            return unpack(item["outcome"])
        if "outcome_key" in item:
            ref = ObjectRef(key=item["outcome_key"], digest=item["outcome_digest"])
            return json.loads(self._documents.get(ref))
        return None
