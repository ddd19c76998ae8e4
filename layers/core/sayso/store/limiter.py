"""Counts the requests of an address, one write each, so that nobody can try links or hammer pages.

The rate is that of a sliding window, approximated from two fixed ones: all of the current one and
the part of the one before that the sliding window still covers. Each window has a counter of its
own, so that counting needs no condition and no read: the write hands back both. Addresses are
stored as digests only, and the item goes by ``ttl`` when the address stays away.
"""

from __future__ import annotations

import hashlib
import math
from datetime import timedelta
from typing import TYPE_CHECKING

from sayso.domain.errors import TooManyRequestsError
from sayso.ports import Key, Update

if TYPE_CHECKING:
    from sayso.ports import Clock, Table

WINDOW = timedelta(seconds=60)
"""Length of the window in which an address may make its number of requests."""

_DIGEST_CHARS = 16
_ATTEMPT = "count"
"""Counting is not conditional: a repeated write counts twice, which does no harm."""


class TableRateLimiter:
    """A ``RateLimiter`` over a table. Refused requests count too: hammering stays refused."""

    def __init__(
        self, table: Table, clock: Clock, *, limit: int, window: timedelta = WINDOW
    ) -> None:
        """Allow ``limit`` requests of one address to one limiter within a window."""
        self._table = table
        self._clock = clock
        self._limit = limit
        self._window_seconds = window.total_seconds()

    def count(self, limiter: str, address: str) -> None:
        """Count one request.

        Raises:
            TooManyRequestsError: Over the limit; says when the next one would be taken.
        """
        now = self._clock.now().timestamp()
        number, passed = divmod(now, self._window_seconds)
        current, previous = self._add(limiter, address, int(number), now)
        share = 1 - passed / self._window_seconds
        if current + previous * share > self._limit:
            raise TooManyRequestsError(self._wait(current, previous, share))

    def _add(self, limiter: str, address: str, number: int, now: float) -> tuple[int, int]:
        update = Update(
            key=_key_of(limiter, address),
            set={"ttl": math.ceil(now + 2 * self._window_seconds)},
            # What an address left behind before it stayed away longer goes with its item.
            remove=(_counter(number - 2), _counter(number - 3)),
            add={_counter(number): 1},
        )
        after = self._table.write(update, attempt=_ATTEMPT) or {}
        return after.get(_counter(number), 1), after.get(_counter(number - 1), 0)

    def _wait(self, current: int, previous: int, share: float) -> timedelta:
        """Return how long to stay away for the next request to be taken."""
        room = self._limit - 1
        if current <= room:
            wanted_share = (room - current) / previous
            windows = share - wanted_share
        else:
            windows = share + 1 - room / current
        return timedelta(seconds=max(1, math.ceil(windows * self._window_seconds)))


def _key_of(limiter: str, address: str) -> Key:
    digest = hashlib.sha256(address.encode()).hexdigest()[:_DIGEST_CHARS]
    return Key(f"RATE#{limiter}#{digest}", "RATE")


def _counter(number: int) -> str:
    return f"n{number}"
