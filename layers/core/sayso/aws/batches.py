"""Reads, writes and deletes many items, without conditions, in DynamoDB's batches."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any, cast

from sayso.aws.attributes import from_attributes, to_key
from sayso.aws.errors import translated
from sayso.domain.errors import ThrottledError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import WriteRequestTypeDef

    from sayso.ports import Item, Key

BATCH_ITEMS = 25
"""Limit of BatchWriteItem (API reference)."""

_TRIES = 8
_FIRST_WAIT_SECONDS = 0.05


class _Batches:
    """What reading and writing share: the table, and waiting before the rest is tried again."""

    def __init__(
        self,
        client: DynamoDBClient,
        table_name: str,
        *,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        """Take the client and the table; ``wait`` gets seconds."""
        self._client = client
        self._table_name = table_name
        self._wait = wait

    def tries(self, what: str) -> Iterator[None]:
        """Yield before each try, after an exponential wait with full jitter from the second on.

        Raises:
            ThrottledError: Eight tries were not enough.
        """
        yield
        for attempt in range(1, _TRIES):
            longest = _FIRST_WAIT_SECONDS * 2**attempt
            self._wait(random.uniform(0, longest))  # noqa: S311 - spreads load, guards nothing
            yield
        message = f"some {what} of a batch were not processed in {_TRIES} tries"
        raise ThrottledError(message)


class BatchWriter(_Batches):
    """Carries out put and delete requests and repeats those that the service left undone."""

    def write(self, requests: Sequence[WriteRequestTypeDef]) -> None:
        """Carry out requests to different items.

        Raises:
            ThrottledError: Some were still undone after eight tries.
        """
        for start in range(0, len(requests), BATCH_ITEMS):
            self._write_batch(list(requests[start : start + BATCH_ITEMS]))

    def _write_batch(self, batch: list[WriteRequestTypeDef]) -> None:
        for _ in self.tries("writes"):
            with translated():
                answer = self._client.batch_write_item(RequestItems={self._table_name: batch})
            undone = answer.get("UnprocessedItems", {}).get(self._table_name)
            if not undone:
                return
            # The stubs tell requests as sent and as returned apart; they are the same.
            batch = cast("list[WriteRequestTypeDef]", undone)


class BatchReader(_Batches):
    """Reads items by their keys and asks again for those that the service left out."""

    def read(self, keys: Sequence[Key]) -> list[Item]:
        """Return the items that exist, in any order, each strongly consistent.

        Args:
            keys: 1 to 100 different keys (limit of BatchGetItem, API reference).

        Raises:
            ThrottledError: Some were still left out after eight tries.
        """
        wanted: Any = {"Keys": [to_key(key) for key in keys], "ConsistentRead": True}
        found: list[Item] = []
        for _ in self.tries("reads"):
            with translated():
                answer = self._client.batch_get_item(RequestItems={self._table_name: wanted})
            found += map(from_attributes, answer["Responses"].get(self._table_name, []))
            wanted = answer.get("UnprocessedKeys", {}).get(self._table_name)
            if not wanted:
                break
        return found
