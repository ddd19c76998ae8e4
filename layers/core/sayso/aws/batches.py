"""Writes and deletes many items, without conditions, in DynamoDB's batches."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, cast

from sayso.aws.errors import translated
from sayso.domain.errors import ThrottledError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import WriteRequestTypeDef

BATCH_ITEMS = 25
"""Limit of BatchWriteItem (API reference)."""

_TRIES = 8
_FIRST_WAIT_SECONDS = 0.05


class BatchWriter:
    """Carries out put and delete requests and repeats those that the service left undone."""

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

    def write(self, requests: Sequence[WriteRequestTypeDef]) -> None:
        """Carry out requests to different items.

        Raises:
            ThrottledError: Some were still undone after eight tries.
        """
        for start in range(0, len(requests), BATCH_ITEMS):
            self._write_batch(list(requests[start : start + BATCH_ITEMS]))

    def _write_batch(self, batch: list[WriteRequestTypeDef]) -> None:
        for attempt in range(_TRIES):
            if attempt:
                # Exponential with full jitter, as the guide asks for unprocessed items.
                longest = _FIRST_WAIT_SECONDS * 2**attempt
                self._wait(random.uniform(0, longest))  # noqa: S311 - spreads load, guards nothing
            with translated():
                answer = self._client.batch_write_item(RequestItems={self._table_name: batch})
            undone = answer.get("UnprocessedItems", {}).get(self._table_name)
            if not undone:
                return
            # The stubs tell requests as sent and as returned apart; they are the same.
            batch = cast("list[WriteRequestTypeDef]", undone)
        message = f"{len(batch)} items of a batch were not processed in {_TRIES} tries"
        raise ThrottledError(message)
