"""Waits by looking again and again, for a bounded time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE_SECONDS = 60.0
"""Far more than anything takes, so that a busy machine fails no test."""

Found = TypeVar("Found")


def eventually(
    what: str,
    look: Callable[[], Found | None],
    *,
    seconds: float = PATIENCE_SECONDS,
    every: float = 0.02,
) -> Found:
    """Return what ``look`` finds, as soon as that is something true; look ``every`` so many seconds.

    Raises:
        AssertionError: Nothing came in time.
    """
    give_up_at = time.monotonic() + seconds
    while time.monotonic() < give_up_at:
        if found := look():
            return found
        time.sleep(every)
    message = f"waited {seconds:.0f} s in vain for {what}"
    raise AssertionError(message)
