"""How long the sweep waits before it tells the same thing again."""

from __future__ import annotations

from datetime import timedelta

LONGEST = timedelta(minutes=15)


def next_look(tells: int) -> timedelta:
    """Return the wait after ``tells`` repetitions: 1, 2, 4, 8, then always 15 minutes.

    A backlog is told again without flooding the queues (DESIGN decision 6).
    """
    return min(timedelta(minutes=1 << min(tells, 4)), LONGEST)
