"""The table in DynamoDB.

Reads are strongly consistent, except of the indexes, which cannot be. Every write returns what
stood in its way, so that nobody reads again to learn who was first.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, assert_never

from botocore.exceptions import BotoCoreError, ClientError

from sayso.aws.attributes import from_attributes, to_attributes, to_key
from sayso.aws.batches import BatchReader, BatchWriter
from sayso.aws.errors import code_of, to_domain, translated
from sayso.aws.expressions import request_of
from sayso.domain.errors import ConditionFailedError, PermanentError, ThrottledError
from sayso.ports import Check, Delete, Key, Put, Update, stamped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

    from sayso.domain.errors import AppError
    from sayso.ports import Item, Write

_TOKEN_CHARS = 36
"""Longest ClientRequestToken (API reference, TransactWriteItems)."""


class DynamoTable:
    """A ``Table`` in DynamoDB, with the indexes ``due`` and ``listing`` of the template."""

    def __init__(self, client: DynamoDBClient, table_name: str) -> None:
        """Take the client and the name of the table."""
        self._client = client
        self._table_name = table_name
        self._batches = BatchWriter(client, table_name)
        self._reader = BatchReader(client, table_name)

    def get(self, key: Key) -> Item | None:
        """Return the item, or None."""
        with translated():
            answer = self._client.get_item(
                TableName=self._table_name, Key=to_key(key), ConsistentRead=True
            )
        found = answer.get("Item")
        return None if found is None else from_attributes(found)

    def get_many(self, keys: Sequence[Key]) -> list[Item | None]:
        """Return items, or None, in the order of the keys; one call for up to 16 MB."""
        found = {Key(item["pk"], item["sk"]): item for item in self._reader.read(keys)}
        return [found.get(key) for key in keys]

    def query(
        self,
        pk: str,
        *,
        prefix: str = "",
        after: str | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[Item]:
        """Return items of one partition in the order of ``sk``; one call a page of 1 MB."""
        if after is not None and (newest_first or not after.startswith(prefix)):
            message = "after must start with the prefix and goes with ascending order only"
            raise PermanentError(message)
        request: dict[str, Any] = {
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": {"S": pk}},
            "ConsistentRead": True,
            "ScanIndexForward": not newest_first,
        }
        if prefix:
            request["KeyConditionExpression"] += " AND begins_with(sk, :prefix)"
            request["ExpressionAttributeValues"][":prefix"] = {"S": prefix}
        if after is not None:
            # A start key need not exist; so one condition on sk is left for the prefix.
            request["ExclusiveStartKey"] = to_key(Key(pk, after))
        return self._pages(request, limit)

    def write(self, write: Put | Update | Delete, *, attempt: str) -> Item | None:
        """Carry out one write and return the item after it (None after a delete)."""
        taken = stamped(write, attempt)
        request = {"TableName": self._table_name, **request_of(taken)}
        try:
            match taken:
                case Put():
                    self._client.put_item(**request)
                    return from_attributes(request["Item"])
                case Update():
                    answer = self._client.update_item(**request, ReturnValues="ALL_NEW")
                    return from_attributes(answer["Attributes"])
                case Delete() | Check():
                    self._client.delete_item(**request)
                    return None
                case _:
                    assert_never(taken)
        except (ClientError, BotoCoreError) as error:
            raise _write_error(error) from error

    def transact(self, writes: Sequence[Write], *, attempt: str) -> None:
        """Carry out writes to different items, all or none.

        The same attempt again within ten minutes succeeds without effect.
        """
        items = [_transact_item(stamped(write, attempt), self._table_name) for write in writes]
        token = hashlib.sha256(attempt.encode()).hexdigest()[:_TOKEN_CHARS]
        try:
            self._client.transact_write_items(TransactItems=items, ClientRequestToken=token)
        except (ClientError, BotoCoreError) as error:
            raise _write_error(error) from error

    def put_many(self, items: Sequence[Item]) -> None:
        """Write items without conditions and without atomicity; of one key, the last wins."""
        unique = {Key(item["pk"], item["sk"]): item for item in items}
        self._batches.write(
            [{"PutRequest": {"Item": to_attributes(item)}} for item in unique.values()]
        )

    def delete_many(self, keys: Sequence[Key]) -> None:
        """Delete items without conditions and without atomicity."""
        self._batches.write(
            [{"DeleteRequest": {"Key": to_key(key)}} for key in dict.fromkeys(keys)]
        )

    def due(self, shard: int, *, until: int, limit: int) -> list[Key]:
        """Return keys of a shard's items with ``due_at`` ≤ ``until``, oldest first. A hint."""
        return self._keys(
            {
                "IndexName": "due",
                "KeyConditionExpression": "due_shard = :shard AND due_at <= :until",
                "ExpressionAttributeValues": to_attributes({":shard": shard, ":until": until}),
            },
            limit,
        )

    def listing(self, listing_key: str, *, after: int = -1, limit: int = 100) -> list[Key]:
        """Return keys with that ``listing_key`` made after an instant, oldest first. A hint."""
        return self._keys(
            {
                "IndexName": "listing",
                "KeyConditionExpression": "listing_key = :key AND created_at > :after",
                "ExpressionAttributeValues": to_attributes({":key": listing_key, ":after": after}),
            },
            limit,
        )

    def _keys(self, request: dict[str, Any], limit: int) -> list[Key]:
        return [Key(item["pk"], item["sk"]) for item in self._pages(request, limit)]

    def _pages(self, request: dict[str, Any], limit: int | None) -> list[Item]:
        items: list[Item] = []
        while limit is None or len(items) < limit:
            if limit is not None:
                request["Limit"] = limit - len(items)
            with translated():
                answer = self._client.query(TableName=self._table_name, **request)
            items += map(from_attributes, answer["Items"])
            if not answer.get("LastEvaluatedKey"):
                break
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        return items


def _transact_item(write: Write, table_name: str) -> TransactWriteItemTypeDef:
    members: Any = {"TableName": table_name, **request_of(write)}
    match write:
        case Put():
            return {"Put": members}
        case Update():
            return {"Update": members}
        case Delete():
            return {"Delete": members}
        case Check():
            return {"ConditionCheck": members}
        case _:
            assert_never(write)


def _write_error(error: ClientError | BotoCoreError) -> AppError:
    """Return the domain's error for a failed write, with the items that stood in the way."""
    if not isinstance(error, ClientError):
        return to_domain(error)
    # Members that the stub of ClientError does not know; documented at both API operations.
    answer: dict[str, Any] = {**error.response}
    match code_of(error):
        case "ConditionalCheckFailedException":
            return ConditionFailedError([_old_item(answer)])
        case "TransactionCanceledException":
            return _cancellation(answer.get("CancellationReasons", []))
        case _:
            return to_domain(error)


def _cancellation(reasons: Sequence[dict[str, Any]]) -> AppError:
    codes = {reason.get("Code") for reason in reasons}
    if "ConditionalCheckFailed" in codes:
        return ConditionFailedError([_old_item(reason) for reason in reasons])
    message = f"the transaction was cancelled: {sorted(map(str, codes - {'None'}))}"
    if codes & {"ValidationError", "ItemCollectionSizeLimitExceeded"}:
        return PermanentError(message)
    return ThrottledError(message)


def _old_item(answer: dict[str, Any]) -> Item | None:
    found = answer.get("Item")
    return from_attributes(found) if found else None
