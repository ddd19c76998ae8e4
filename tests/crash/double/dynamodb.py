"""DynamoDB: its JSON protocol over the table in memory, whose meaning the contract suite proves."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from crash.double.expressions import read_key, read_write
from crash.double.wire import answer, failure, from_wire, item_from_wire, item_to_wire
from sayso.domain.errors import ConditionFailedError, PermanentError
from sayso.ports import Key, Put
from sayso.testing.conditions import holds
from sayso.testing.limits import MAX_TRANSACTION_WRITES, check_key
from sayso.testing.table import MemoryTable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crash.double.wire import Call, Reply
    from sayso.ports import Clock, Item, Write

_INDEXES = {"due": ("due_shard", "due_at"), "listing": ("listing_key", "created_at")}
_VERSIONS = 12
"""So many changes back an index can be read."""

Rows = dict[Key, "Item"]


class Dynamo(MemoryTable):
    """One table that also understands the wire."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock=clock)
        self.behind = False
        """Whether index queries are answered from some changes ago."""
        self._versions: deque[Rows] = deque([{}], maxlen=_VERSIONS)

    def answer(self, call: Call) -> Reply:
        """Carry out a call."""
        try:
            return self._answer(call.operation, call.document)
        except PermanentError as error:
            return failure("ValidationException", Message=str(error))

    def _answer(self, operation: str, document: Mapping[str, Any]) -> Reply:
        match operation:
            case "GetItem":
                item = self.get(read_key(document["Key"]))
                return answer({"Item": item_to_wire(item)} if item is not None else {})
            case "BatchGetItem":
                return self._batch_get(document)
            case "Query":
                return self._query(document)
            case "BatchWriteItem":
                return self._batch_write(document)
            case "TransactWriteItems":
                return self._transact(document)
            case _:
                return self._write(operation.removesuffix("Item"), document)

    # --- writes ---

    def _write(self, kind: str, document: Mapping[str, Any]) -> Reply:
        write = read_write(kind, document)
        try:
            after = self._carry_out([write])[0]
        except ConditionFailedError as error:
            old = error.items[0]
            members: dict[str, Any] = {} if old is None else {"Item": item_to_wire(old)}
            return failure("ConditionalCheckFailedException", **members)
        if document.get("ReturnValues") == "ALL_NEW":
            return answer({"Attributes": item_to_wire(after or {})})
        return answer()

    def _transact(self, document: Mapping[str, Any]) -> Reply:
        writes = [read_write(*next(iter(one.items()))) for one in document["TransactItems"]]
        token = document["ClientRequestToken"]
        with self._lock:
            try:
                if self._is_done(token, writes):
                    return answer()
            except PermanentError:
                return failure("IdempotentParameterMismatchException")
            keys = {_key(write) for write in writes}
            if not 1 <= len(writes) <= MAX_TRANSACTION_WRITES or len(keys) != len(writes):
                return failure("ValidationException")
            failed = [not self._allows(write) for write in writes]
            if any(failed):
                return self._cancelled(writes, failed)
            self._carry_out(writes)
            self._done[token] = (self._clock.now(), writes)
        return answer()

    def _allows(self, write: Write) -> bool:
        item = self._items.get(_key(write)) or {}
        return all(holds(condition, item) for condition in write.when)

    def _cancelled(self, writes: Sequence[Write], failed: Sequence[bool]) -> Reply:
        reasons: list[dict[str, Any]] = []
        for write, fails in zip(writes, failed, strict=True):
            old = self._items.get(_key(write))
            reason: dict[str, Any] = {"Code": "ConditionalCheckFailed" if fails else "None"}
            if fails and old is not None:
                reason["Item"] = item_to_wire(old)
            reasons.append(reason)
        return failure("TransactionCanceledException", CancellationReasons=reasons)

    def _batch_write(self, document: Mapping[str, Any]) -> Reply:
        for requests in document["RequestItems"].values():
            for request in requests:
                if "PutRequest" in request:
                    self._carry_out([Put(item=item_from_wire(request["PutRequest"]["Item"]))])
                else:
                    key = read_key(request["DeleteRequest"]["Key"])
                    self.delete_many([key])
                    self._note_version()
        return answer({"UnprocessedItems": {}})

    def _carry_out(self, writes: Sequence[Write]) -> list[Item | None]:
        for write in writes:
            check_key(_key(write))
        with self._lock:
            after = self._commit(writes)
            self._note_version()
            return after

    # --- reads ---

    def _batch_get(self, document: Mapping[str, Any]) -> Reply:
        ((table, wanted),) = document["RequestItems"].items()
        items = self.get_many([read_key(key) for key in wanted["Keys"]])
        # In no order that anybody may rely on.
        found = [item_to_wire(item) for item in reversed(items) if item is not None]
        return answer({"Responses": {table: found}, "UnprocessedKeys": {}})

    def _query(self, document: Mapping[str, Any]) -> Reply:
        values = [from_wire(one) for one in document["ExpressionAttributeValues"].values()]
        index = document.get("IndexName")
        rows = self._partition(document, values) if index is None else self._index(index, values)
        if start := document.get("ExclusiveStartKey"):
            rows = self._behind_start(rows, read_key(start), in_order=index is None)
        limit = document.get("Limit", len(rows) + 1)
        page = rows[:limit]
        last = {}
        if len(page) == limit:
            last = {"LastEvaluatedKey": item_to_wire({n: page[-1][n] for n in ("pk", "sk")})}
        return answer({"Items": [item_to_wire(row) for row in page], **last})

    def _partition(self, document: Mapping[str, Any], values: Sequence[Any]) -> list[Item]:
        assert document["ConsistentRead"], "reads that decide are strongly consistent"
        prefix = values[1] if "begins_with" in document["KeyConditionExpression"] else ""
        newest_first = not document["ScanIndexForward"]
        return self.query(values[0], prefix=prefix, newest_first=newest_first)

    def _index(self, index: str, values: Sequence[Any]) -> list[Item]:
        hash_name, range_name = _INDEXES[index]
        with self._lock:
            rows = list(self._versions[0 if self.behind else -1].values())
        found = [row for row in rows if row.get(hash_name) == values[0] and range_name in row]
        if index == "due":
            found = [row for row in found if row[range_name] <= values[1]]
        else:
            found = [row for row in found if row[range_name] > values[1]]
        return sorted(found, key=lambda row: (row[range_name], row["pk"], row["sk"]))

    @staticmethod
    def _behind_start(rows: list[Item], start: Key, *, in_order: bool) -> list[Item]:
        if in_order:
            return [row for row in rows if row["sk"] > start.sk]
        keys = [Key(row["pk"], row["sk"]) for row in rows]
        return rows[keys.index(start) + 1 :] if start in keys else rows

    def _note_version(self) -> None:
        names = ("pk", "sk", "due_shard", "due_at", "listing_key", "created_at")
        rows = {
            key: {name: item[name] for name in names if name in item}
            for key, item in self._items.items()
            if "due_shard" in item or "listing_key" in item
        }
        if rows != self._versions[-1]:
            self._versions.append(rows)

    def next_due_at(self) -> int | None:
        """Return the earliest ``due_at`` of all shards, epoch milliseconds."""
        return min(
            (row["due_at"] for row in self._versions[-1].values() if "due_at" in row), default=None
        )


def _key(write: Write) -> Key:
    return Key(write.item["pk"], write.item["sk"]) if isinstance(write, Put) else write.key


def changes(call: Call) -> bool:
    """Tell whether a call of DynamoDB writes."""
    return call.operation not in {"GetItem", "BatchGetItem", "Query"}
