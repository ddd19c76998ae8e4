"""The table in memory: same meaning, limits and refusals as DynamoDB's."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from threading import RLock
from typing import TYPE_CHECKING

from sayso.domain.errors import ConditionFailedError, PermanentError
from sayso.ports import Key, Put, Update, stamped
from sayso.testing.clock import FixedClock
from sayso.testing.conditions import holds, item_after
from sayso.testing.faults import around, no_faults
from sayso.testing.limits import (
    MAX_GET_KEYS,
    MAX_TRANSACTION_BYTES,
    MAX_TRANSACTION_WRITES,
    check_item,
    check_key,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sayso.ports import Clock, Delete, Item, Write
    from sayso.testing.faults import FaultHook

_IDEMPOTENT_FOR = timedelta(minutes=10)
"""How long DynamoDB remembers the token of a transaction (API reference, TransactWriteItems)."""


class MemoryTable:
    """A ``Table`` in a dict, behind one lock."""

    def __init__(self, *, clock: Clock | None = None, faults: FaultHook = no_faults) -> None:
        """Start empty.

        Args:
            clock: Tells when a transaction's attempt id may be used again.
            faults: Called around each operation, by the name of the method.
        """
        self._clock: Clock = clock or FixedClock()
        self._faults = faults
        self._items: dict[Key, Item] = {}
        self._done: dict[str, tuple[datetime, list[Write]]] = {}
        self._lock = RLock()

    def get(self, key: Key) -> Item | None:
        """Return a copy of the item, or None."""
        check_key(key)
        with around(self._faults, "get"), self._lock:
            return _copy(self._items.get(key))

    def get_many(self, keys: Sequence[Key]) -> list[Item | None]:
        """Return copies of items, or None, in the order of the keys."""
        for key in keys:
            check_key(key)
        if not 1 <= len(keys) <= MAX_GET_KEYS or len(set(keys)) != len(keys):
            message = f"expected 1 to {MAX_GET_KEYS} different keys, got {len(keys)}"
            raise PermanentError(message)
        with around(self._faults, "get_many"), self._lock:
            return [_copy(self._items.get(key)) for key in keys]

    def query(
        self,
        pk: str,
        *,
        prefix: str = "",
        after: str | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[Item]:
        """Return copies of items of one partition in the order of ``sk``."""
        if after is not None and (newest_first or not after.startswith(prefix)):
            message = "after must start with the prefix and goes with ascending order only"
            raise PermanentError(message)
        with around(self._faults, "query"), self._lock:
            found = sorted(
                (
                    key
                    for key in self._items
                    if key.pk == pk and key.sk.startswith(prefix) and key.sk > (after or "")
                ),
                reverse=newest_first,
            )
            return [plain(self._items[key]) for key in found[:limit]]

    def write(self, write: Put | Update | Delete, *, attempt: str) -> Item | None:
        """Carry out one write and return a copy of the item after it."""
        with around(self._faults, "write"), self._lock:
            return self._commit([_taken_over(write, attempt)])[0]

    def transact(self, writes: Sequence[Write], *, attempt: str) -> None:
        """Carry out writes to different items, all or none.

        The same attempt again within ten minutes succeeds without effect, as with DynamoDB's
        ``ClientRequestToken``; with other writes it is refused.
        """
        with around(self._faults, "transact"), self._lock:
            taken = [_taken_over(write, attempt) for write in writes]
            if self._is_done(attempt, taken):
                return
            keys = {_key_of(write) for write in taken}
            if not 1 <= len(taken) <= MAX_TRANSACTION_WRITES or len(keys) != len(taken):
                message = f"expected 1 to 100 writes to different items, got {len(taken)}"
                raise PermanentError(message)
            self._commit(taken)
            self._done[attempt] = (self._clock.now(), taken)

    def put_many(self, items: Sequence[Item]) -> None:
        """Write items without conditions."""
        with around(self._faults, "put_many"), self._lock:
            for item in items:
                self._commit([Put(item=plain(item))])

    def delete_many(self, keys: Sequence[Key]) -> None:
        """Delete items without conditions."""
        with around(self._faults, "delete_many"), self._lock:
            for key in keys:
                check_key(key)
                self._items.pop(key, None)

    def due(self, shard: int, *, until: int, limit: int) -> list[Key]:
        """Return keys of a shard's items with ``due_at`` ≤ ``until``, oldest first."""
        with around(self._faults, "due"), self._lock:
            found = sorted(
                (item["due_at"], key)
                for key, item in self._items.items()
                if item.get("due_shard") == shard and item.get("due_at", until + 1) <= until
            )
        return [key for _, key in found[:limit]]

    def listing(self, listing_key: str, *, after: int = -1, limit: int = 100) -> list[Key]:
        """Return keys with that ``listing_key`` made after an instant, oldest first."""
        with around(self._faults, "listing"), self._lock:
            found = sorted(
                (item["created_at"], key)
                for key, item in self._items.items()
                if item.get("listing_key") == listing_key and item.get("created_at", after) > after
            )
        return [key for _, key in found[:limit]]

    def snapshot(self) -> dict[Key, Item]:
        """Return a copy of everything, for assertions and history checks."""
        with self._lock:
            return {key: plain(item) for key, item in self._items.items()}

    def _is_done(self, attempt: str, writes: list[Write]) -> bool:
        if attempt not in self._done:
            return False
        done_at, done = self._done[attempt]
        if self._clock.now() - done_at >= _IDEMPOTENT_FOR:
            return False
        if done != writes:
            message = "the attempt id was used for another transaction, expected a fresh one"
            raise PermanentError(message)
        return True

    def _commit(self, writes: Sequence[Write]) -> list[Item | None]:
        before = [self._items.get(_key_of(write)) for write in writes]
        failed = [
            not all(holds(condition, item or {}) for condition in write.when)
            for write, item in zip(writes, before, strict=True)
        ]
        if any(failed):
            raise ConditionFailedError(
                [_copy(item) if fails else None for item, fails in zip(before, failed, strict=True)]
            )
        after = [item_after(write, item) for write, item in zip(writes, before, strict=True)]
        if sum(check_item(item) for item in after if item) > MAX_TRANSACTION_BYTES:
            message = f"the transaction is larger than {MAX_TRANSACTION_BYTES} bytes"
            raise PermanentError(message)
        for write, item in zip(writes, after, strict=True):
            if item is None:
                self._items.pop(_key_of(write), None)
            else:
                self._items[_key_of(write)] = item
        return [_copy(item) for item in after]


def _taken_over(write: Write, attempt: str) -> Write:
    """Return the write as the table keeps it: stamped, copied, its key checked."""
    check_key(_key_of(write))
    match stamped(write, attempt):
        case Put() as put:
            return replace(put, item=plain(put.item))
        case Update() as update:
            return replace(update, set=plain(update.set))
        case other:
            return other


def _copy(item: Item | None) -> Item | None:
    return None if item is None else dict(plain(item))


def _key_of(write: Write) -> Key:
    return Key(write.item["pk"], write.item["sk"]) if isinstance(write, Put) else write.key
