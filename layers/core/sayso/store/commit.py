"""Carries out writes so that a lost answer is recognised as one's own (DESIGN decision 5, I13).

Each write gets an attempt id, which the table stores in the items. A write that may have landed
(timeout, throttle, conflict) is repeated under the same id; when its condition then fails
because of an item that carries this very id, it had landed.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from sayso.domain.errors import ConditionFailedError, RetryableError
from sayso.ports import ATTEMPT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sayso.ports import Delete, IdSource, Item, Put, Table, Update, Write

_TRIES = 6
_FIRST_WAIT_SECONDS = 0.02


class Committer:
    """Repeats writes of one table under one attempt id each."""

    def __init__(
        self, table: Table, ids: IdSource, *, wait: Callable[[float], None] = time.sleep
    ) -> None:
        """Take the table and a source of attempt ids; ``wait`` gets seconds."""
        self.table = table
        self._ids = ids
        self._wait = wait

    def write(self, write: Put | Update | Delete) -> Item:
        """Carry out one write and return the item after it (empty after a delete).

        Raises:
            ConditionFailedError: Somebody else's write stands there.
            RetryableError: It did not go through in six tries; it may have landed.
        """
        attempt = self._ids.token()
        try:
            return self._repeat(lambda: self.table.write(write, attempt=attempt)) or {}
        except ConditionFailedError as error:
            if own := _own(error.items, attempt):
                return dict(own)
            raise

    def transact(self, writes: Sequence[Write]) -> None:
        """Carry out writes, all or none.

        Raises:
            ConditionFailedError: Somebody else's write stands there.
            RetryableError: It did not go through in six tries; it may have landed.
        """
        attempt = self._ids.token()
        try:
            self._repeat(lambda: self.table.transact(writes, attempt=attempt))
        except ConditionFailedError as error:
            if not _own(error.items, attempt):
                raise

    def _repeat(self, call: Callable[[], Item | None]) -> Item | None:
        for failures in range(1, _TRIES):
            try:
                return call()
            except RetryableError:
                self._wait(random.uniform(0, _FIRST_WAIT_SECONDS * 2**failures))  # noqa: S311
        return call()


def _own(items: Sequence[Mapping[str, object] | None], attempt: str) -> Mapping[str, object] | None:
    return next((item for item in items if item and item.get(ATTEMPT) == attempt), None)
