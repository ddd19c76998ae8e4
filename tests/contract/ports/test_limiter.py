"""The rate limiter over every table."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from sayso.domain.errors import TooManyRequestsError
from sayso.store.limiter import TableRateLimiter
from sayso.testing.table import MemoryTable

if TYPE_CHECKING:
    from sayso.ports import Table
    from sayso.testing.clock import FixedClock

LIMIT = 5


@pytest.fixture
def limiter(table: Table, clock: FixedClock) -> TableRateLimiter:
    return TableRateLimiter(table, clock, limit=LIMIT)


def count(limiter: TableRateLimiter, number: int) -> int:
    """Count so many requests and return how many were taken."""
    taken = 0
    for _ in range(number):
        try:
            limiter.count("form", "192.0.2.1")
        except TooManyRequestsError:
            continue
        taken += 1
    return taken


def test_requests_up_to_the_limit_are_taken(limiter: TableRateLimiter) -> None:
    assert count(limiter, LIMIT + 3) == LIMIT


def test_addresses_and_limiters_are_counted_apart(limiter: TableRateLimiter) -> None:
    count(limiter, LIMIT)

    limiter.count("form", "192.0.2.2")
    limiter.count("submit", "192.0.2.1")


def test_refusal_says_when_the_next_request_is_taken(
    limiter: TableRateLimiter, clock: FixedClock
) -> None:
    count(limiter, LIMIT)
    with pytest.raises(TooManyRequestsError) as refusal:
        limiter.count("form", "192.0.2.1")

    clock.advance(refusal.value.retry_after - timedelta(seconds=2))
    assert count(limiter, 1) == 0
    with pytest.raises(TooManyRequestsError) as second:
        limiter.count("form", "192.0.2.1")
    clock.advance(second.value.retry_after)
    assert count(limiter, 1) == 1


def test_no_window_of_a_minute_takes_twice_the_limit(
    limiter: TableRateLimiter, clock: FixedClock
) -> None:
    clock.advance(timedelta(seconds=59))
    first = count(limiter, LIMIT)
    clock.advance(timedelta(seconds=2))

    second = count(limiter, LIMIT)

    assert first == LIMIT
    assert second == 0


def test_rate_below_the_limit_is_never_refused(
    limiter: TableRateLimiter, clock: FixedClock
) -> None:
    for _ in range(100):
        assert count(limiter, 1) == 1
        clock.advance(timedelta(seconds=60 / (LIMIT - 1)))


def test_address_that_stayed_away_starts_afresh(
    limiter: TableRateLimiter, clock: FixedClock
) -> None:
    count(limiter, LIMIT + 1)
    clock.advance(timedelta(minutes=2))

    assert count(limiter, LIMIT + 1) == LIMIT


def test_counting_is_one_write_that_shows_no_address(clock: FixedClock) -> None:
    table = MemoryTable(clock=clock)
    limiter = TableRateLimiter(table, clock, limit=LIMIT)
    for _ in range(10):
        limiter.count("form", "192.0.2.1")
        clock.advance(timedelta(seconds=60))

    ((key, item),) = table.snapshot().items()

    assert key.pk.startswith("RATE#form#")
    assert len(key.pk) == len("RATE#form#") + 16
    assert "192.0.2.1" not in repr((key, item))
    assert item["ttl"] == int(clock.now().timestamp()) - 60 + 120
    assert len([name for name in item if name.startswith("n")]) <= 2
