"""API keys: the first one from a secret, the others from the table, by digest only."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Any

from sayso.domain.access import ApiKey, Role
from sayso.domain.errors import ServiceUnavailableError
from sayso.domain.ids import AppId, TenantId
from sayso.ports import Key

if TYPE_CHECKING:
    from collections.abc import Callable

    from sayso.ports import Item, Table

CACHE_SECONDS = 60.0
"""How long a found or missing key is remembered: a disabled key works at most that long."""

CACHE_KEYS = 1000
"""How many are remembered, so that guessing fills no memory."""

FIRST_KEY_ID = "first"


def key_digest(secret: str) -> str:
    """Return what the table knows of a key."""
    return hashlib.sha256(secret.encode()).hexdigest()


class TableDirectory:
    """A ``Directory`` over a table and the secret of the first key. Safe for threads.

    Keys are compared by their digests; one digest tells nothing about another, so the time that
    the look-up takes tells nothing about any key.
    """

    def __init__(
        self,
        table: Table,
        first_key: Callable[[], str],
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the table and what returns the secret.

        Args:
            table: Holds items ``KEY#<digest>``.
            first_key: Returns JSON ``{"tenant", "app", "role", "key"}``.
            monotonic: Returns seconds.
        """
        self._table = table
        self._first_key = first_key
        self._monotonic = monotonic
        self._known: OrderedDict[str, tuple[float, ApiKey | None]] = OrderedDict()
        self._lock = Lock()

    def find_key(self, secret: str) -> ApiKey | None:
        """Return the record of an API key, or None."""
        digest = key_digest(secret)
        now = self._monotonic()
        with self._lock:
            found_at, found = self._known.get(digest, (None, None))
        if found_at is not None and now - found_at < CACHE_SECONDS:
            return found
        found = self._look_up(digest)
        with self._lock:
            self._known[digest] = (now, found)
            self._known.move_to_end(digest)
            while len(self._known) > CACHE_KEYS:
                self._known.popitem(last=False)
        return found

    def _look_up(self, digest: str) -> ApiKey | None:
        first, first_digest = _parse_first(self._first_key())
        if hmac.compare_digest(digest, first_digest):
            return first
        item = self._table.get(Key(f"KEY#{digest}", "KEY"))
        return None if item is None else _from_item(item)


def _parse_first(text: str) -> tuple[ApiKey, str]:
    try:
        members: dict[str, str] = json.loads(text)
        key = ApiKey(
            id=FIRST_KEY_ID,
            tenant=TenantId(members["tenant"]),
            app=AppId(members["app"]),
            role=Role(members["role"]),
        )
        return key, key_digest(members["key"])
    except (AttributeError, KeyError, TypeError, ValueError):
        # Not from the error: its text may quote the secret. An operator mends it, so it is "not now".
        message = "the secret of the first API key is malformed, expected tenant, app, role, key"
        raise ServiceUnavailableError(message) from None


def _from_item(item: Item) -> ApiKey:
    policy: dict[str, Any] | None = None
    if text := item.get("default_policy"):
        policy = json.loads(text)
    return ApiKey(
        id=item["id"],
        tenant=TenantId(item["tenant"]),
        app=AppId(item["app"]),
        role=Role(item["role"]),
        default_policy=policy,
        disabled=item.get("disabled", False),
        limits=item.get("limits", {}),
    )
