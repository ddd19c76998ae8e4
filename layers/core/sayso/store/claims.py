"""Claims of idempotency keys: one item each, written in the transaction that stores the run.

A claim holds a digest of the request and the id of the run it became, so that whoever repeats the
request is given that run and no second one is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from sayso.domain.ids import RunId
from sayso.ports import AnyOf, AtMost, Missing, Put
from sayso.store.codec import to_ms
from sayso.store.keys import claim_key

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from sayso.domain.errors import ConditionFailedError
    from sayso.domain.ids import TenantId

KEPT = timedelta(hours=24)
"""How long a key stands for its request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An idempotency key and the request it came with."""

    tenant: TenantId
    key: str
    request_digest: str
    """SHA-256, hex, of the request without its credentials."""

    def put(self, run_id: RunId, now: datetime) -> Put:
        """Return the write that claims the key for a run.

        A claim that is over may still lie there: the table drops items days late (DynamoDB
        developer guide, "Time to Live").
        """
        key = claim_key(self.tenant, self.key)
        until = now + KEPT
        item = {
            "pk": key.pk,
            "sk": key.sk,
            "request_digest": self.request_digest,
            "run_id": run_id,
            "claimed_until": to_ms(until),
            "ttl": int(until.timestamp()),
        }
        free = AnyOf((Missing("pk"), AtMost("claimed_until", to_ms(now))))
        return Put(item=item, when=(free,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """What stood in the way of a claim."""

    run_id: RunId
    request_digest: str


def standing_claim(error: ConditionFailedError) -> Claimed | None:
    """Return the claim that a transaction ran into; None when that was not the reason."""
    items: list[Mapping[str, Any]] = [item for item in error.items if item]
    for item in items:
        if item["sk"] == "IDEM":
            return Claimed(run_id=RunId(item["run_id"]), request_digest=item["request_digest"])
    return None
