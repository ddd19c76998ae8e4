"""The create request of a run: stored once, its credentials apart from it (DESIGN §3)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sayso.domain.errors import SnapshotCorruptError, ValidationError
from sayso.domain.requests import join_credentials, split_credentials
from sayso.store.codec import digest_of, pack, to_json, unpack
from sayso.store.keys import credential_key, pause_key, request_key
from sayso.store.run_codec import pause_from_item

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.ids import RunId, TenantId
    from sayso.domain.run import ObjectRef, Pause, Run
    from sayso.ports import CredentialVault, Item, Table
    from sayso.store.objects import Documents

MAX_INLINE_BYTES = 200_000
"""Packed requests above this go to the bucket (DESIGN §3)."""


MAX_CREDENTIAL_BYTES = 300_000
"""They stay in the table, which deletes them with the run's end; an item holds 400 KB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRequest:
    """A create request as it lies in the store."""

    plain: dict[str, Any]
    """Without credentials."""
    digest: str
    """SHA-256 of it, hex; a snapshot names the request it belongs to."""
    sealed: bytes | None


class RequestStore:
    """Create requests in the table or the bucket."""

    def __init__(self, table: Table, documents: Documents, vault: CredentialVault) -> None:
        """Take where requests lie and what seals their credentials."""
        self._table = table
        self._documents = documents
        self._vault = vault

    def prepare(
        self, tenant: TenantId, run_id: RunId, request: Mapping[str, Any]
    ) -> tuple[list[Item], ObjectRef | None]:
        """Return the items to write beside a new run, and where a large request lies.

        A large request is stored at once; without the run nothing refers to it.

        Raises:
            ValidationError: Its credentials are larger than an item holds.
        """
        plain, credentials = split_credentials(request)
        text = to_json(plain).encode()
        key = request_key(run_id)
        item: Item = {"pk": key.pk, "sk": key.sk, "digest": digest_of(text)}
        items, ref, packed = [item], None, pack(plain)
        if len(packed) <= MAX_INLINE_BYTES:
            item["document"] = packed
        else:
            ref = self._documents.put(tenant, run_id, "request", text)
        if credentials:
            key = credential_key(run_id)
            sealed = self._vault.seal(run_id, _bounded(to_json(credentials).encode()))
            items.append({"pk": key.pk, "sk": key.sk, "sealed": sealed})
        return items, ref

    def load(self, run: Run) -> tuple[StoredRequest, Pause | None]:
        """Return the request of a run and the pause it waits in or went on from, in one call.

        Raises:
            SnapshotCorruptError: The request is gone.
        """
        keys = [request_key(run.id), credential_key(run.id)]
        if run.pause_id is not None:
            keys.append(pause_key(run.id, run.pause_id))
        item, sealed, *pauses = self._table.get_many(keys)
        plain, digest = self._opened(run, item)
        request = StoredRequest(
            plain=plain, digest=digest, sealed=sealed["sealed"] if sealed else None
        )
        found = next((pause for pause in pauses if pause is not None), None)
        return request, None if found is None else pause_from_item(found)

    def plain(self, run: Run) -> Mapping[str, Any]:
        """Return the request of a run for who must not come near its credentials.

        Raises:
            SnapshotCorruptError: The request is gone.
        """
        return self._opened(run, self._table.get(request_key(run.id)))[0]

    def _opened(self, run: Run, item: Item | None) -> tuple[dict[str, Any], str]:
        if item is None:
            message = f"the stored request of run {run.id!r} is gone"
            raise SnapshotCorruptError(message)
        if run.request is None:
            return unpack(item["document"]), item["digest"]
        return json.loads(self._documents.get(run.request)), item["digest"]

    def unlock(self, run: Run, request: StoredRequest) -> Mapping[str, Any]:
        """Return the request with its credentials back in place; there may be none."""
        if request.sealed is None:
            return request.plain
        credentials = json.loads(self._vault.open(run.id, request.sealed))
        return join_credentials(request.plain, credentials)


def _bounded(credentials: bytes) -> bytes:
    if len(credentials) > MAX_CREDENTIAL_BYTES:
        message = f"credentials have {len(credentials)} bytes, at most {MAX_CREDENTIAL_BYTES}"
        raise ValidationError(message)
    return credentials
