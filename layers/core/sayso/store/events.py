"""Numbers, stores and reads the events of runs. Large data goes to the bucket."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sayso.domain.run import Audience, ObjectRef, RunEvent
from sayso.ports import Put
from sayso.store.codec import from_ms, pack, to_ms, unpack
from sayso.store.keys import EVENT, event_sk, run_pk
from sayso.store.run_codec import audience_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sayso.domain.ids import RunId
    from sayso.domain.run import EventDraft, Run
    from sayso.ports import Item, Table
    from sayso.store.objects import Documents

MAX_INLINE_BYTES = 100_000
"""Packed event data above this goes to the bucket: an item holds 400 KB (DynamoDB limit)."""
MAX_INLINE_TOTAL_BYTES = 2_000_000
"""What does not fit into this together goes there too: one transaction holds 4 MB."""


class EventLog:
    """The events of runs."""

    def __init__(self, table: Table, documents: Documents) -> None:
        """Take the table to read from and the documents for what is too large for it."""
        self._table = table
        self._documents = documents

    def puts(self, run: Run, drafts: Sequence[EventDraft], now: datetime, ttl: int) -> list[Put]:
        """Return the writes that append events behind ``run.last_event``.

        Large data is stored at once; without the commit nothing refers to it.
        """
        puts, room = [], MAX_INLINE_TOTAL_BYTES
        for number, draft in enumerate(drafts, start=run.last_event + 1):
            packed = pack(draft.data)
            data: Item = {"data": packed}
            if len(packed) > min(MAX_INLINE_BYTES, room):
                data = self._stored_apart(run, number, draft)
            else:
                room -= len(packed)
            puts.append(Put(item=_head(run, number, draft, now, ttl) | data))
        return puts

    def read(self, run_id: RunId, *, after: int, limit: int) -> list[RunEvent]:
        """Return the events behind a number, oldest first, at most ``limit``."""
        items = self._table.query(run_pk(run_id), prefix=EVENT, after=event_sk(after), limit=limit)
        return [self._event(item) for item in items]

    def _stored_apart(self, run: Run, number: int, draft: EventDraft) -> Item:
        plain = json.dumps(draft.data, ensure_ascii=False).encode()
        ref = self._documents.put(run.tenant, run.id, f"events/{number}", plain)
        return {"data_key": ref.key, "data_digest": ref.digest}

    def _event(self, item: Item) -> RunEvent:
        return RunEvent(
            number=int(str(item["sk"]).removeprefix(EVENT)),
            created_at=from_ms(item["at"]),
            type=item["type"],
            data=self._data(item),
            audience=audience_of(item),
        )

    def _data(self, item: Item) -> Any:
        if "data" in item:
            return unpack(item["data"])
        ref = ObjectRef(key=item["data_key"], digest=item["data_digest"])
        return json.loads(self._documents.get(ref))


def _head(run: Run, number: int, draft: EventDraft, now: datetime, ttl: int) -> Item:
    item: Item = {
        "pk": run_pk(run.id),
        "sk": event_sk(number),
        "at": to_ms(draft.created_at or now),
        "type": draft.type,
        "ttl": ttl,
    }
    if draft.audience is not Audience.ALL:
        item["audience"] = draft.audience
    return item
