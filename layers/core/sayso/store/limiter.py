"""Counts requests, one write each, so that nobody can try links or hammer pages.

The rate is that of a sliding window, approximated from two fixed ones: all of the current one and
the part of the one before that the sliding window still covers. Each window has a counter of its
own, so that counting needs no condition and no read: the write hands back both. A link and its form
are counted by one write to one item. Addresses are stored as digests only, and items go by ``ttl``
when nobody comes back.
"""

from __future__ import annotations

import hashlib
import math
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from sayso.domain.errors import TooManyRequestsError
from sayso.ports import Key, Update

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.links import Link
    from sayso.ports import Clock, Table

WINDOW: Final = timedelta(seconds=60)
"""Length of the window in which an address may make its number of requests."""
LINK_FACTOR: Final = 4
"""One link may be used from several networks: so many times as often as one address may ask."""
FORM_FACTOR: Final = 20
"""A form has up to fifty recipients."""

_DIGEST_CHARS: Final = 16
_ATTEMPT: Final = "count"
"""Counting is not conditional: a repeated write counts twice, which does no harm."""
_OF_ADDRESS, _OF_FORM = "n", "f"


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
        """Count one request of an address.

        Raises:
            TooManyRequestsError: Over the limit; says when the next one would be taken.
        """
        self._count(_key_of(limiter, address), {_OF_ADDRESS: self._limit})

    def count_link(self, limiter: str, link: Link) -> None:
        """Count one use of a link, which is one of its form, too.

        Raises:
            TooManyRequestsError: Over the limit of a link or of a form.
        """
        limits = {
            _OF_FORM: self._limit * FORM_FACTOR,
            f"r{link.recipient}_": self._limit * LINK_FACTOR,
        }
        self._count(_key_of(limiter, link.form_id), limits)

    def _count(self, key: Key, limits: Mapping[str, int]) -> None:
        """Count once for each name, in one write, and compare each with its limit."""
        now = self._clock.now().timestamp()
        number, passed = divmod(now, self._window_seconds)
        after = self._add(key, limits, int(number), now)
        share = 1 - passed / self._window_seconds
        for name, limit in limits.items():
            current = after.get(_counter(name, int(number)), 1)
            previous = after.get(_counter(name, int(number) - 1), 0)
            if current + previous * share > limit:
                raise TooManyRequestsError(self._wait(limit, current, previous, share))

    def _add(
        self, key: Key, names: Mapping[str, int], number: int, now: float
    ) -> Mapping[str, int]:
        update = Update(
            key=key,
            set={"ttl": math.ceil(now + 2 * self._window_seconds)},
            # What was left behind before a longer absence goes with its item.
            remove=tuple(_counter(name, number - back) for name in names for back in (2, 3)),
            add={_counter(name, number): 1 for name in names},
        )
        return self._table.write(update, attempt=_ATTEMPT) or {}

    def _wait(self, limit: int, current: int, previous: int, share: float) -> timedelta:
        """Return how long to stay away for the next request to be taken."""
        room = limit - 1
        if current <= room:
            wanted_share = (room - current) / previous
            windows = share - wanted_share
        else:
            windows = share + 1 - room / current
        return timedelta(seconds=max(1, math.ceil(windows * self._window_seconds)))


def _key_of(limiter: str, what: str) -> Key:
    digest = hashlib.sha256(what.encode()).hexdigest()[:_DIGEST_CHARS]
    return Key(f"RATE#{limiter}#{digest}", "RATE")


def _counter(name: str, number: int) -> str:
    return f"{name}{number}"
