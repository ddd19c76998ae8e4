"""What a lease sets, what its owner may still write under, and what a refused write tells it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sayso.domain.segment import CancelSeen, LeaseLost
from sayso.domain.transitions import RunStatus
from sayso.ports import Condition, Equals, Missing
from sayso.store.codec import to_ms
from sayso.store.keys import shard_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sayso.domain.ids import RunId
    from sayso.domain.run import Run

LEASE_GRACE = timedelta(seconds=15)
"""How long after a lease the sweep looks for a successor."""

NO_CANCEL: Condition = Missing("cancel")


def still_held(run: Run) -> tuple[Condition, ...]:
    """Return the conditions under which the worker of this epoch may write."""
    return (Equals("status", RunStatus.RUNNING), Equals("epoch", run.epoch))


def lease_attributes(run_id: RunId, owner: str, until: datetime) -> dict[str, Any]:
    """Return what a lease sets; the sweep looks for a successor shortly after it ran out."""
    return {
        "lease_owner": owner,
        "lease_until": to_ms(until),
        "due_at": to_ms(until + LEASE_GRACE),
        "due_shard": shard_of(run_id),
    }


def stop_reason(run: Run, item: Mapping[str, Any] | None) -> LeaseLost | CancelSeen:
    """Tell a worker whose write was refused why: cancelled, or no longer the owner."""
    if (
        item is not None
        and item.get("epoch") == run.epoch
        and item.get("status") == RunStatus.RUNNING
        and "cancel" in item
    ):
        return CancelSeen(f"run {run.id!r} is to be cancelled")
    return LeaseLost(f"the lease of run {run.id!r} is gone")
