"""The create request of a run: stored once, its credentials apart from it (DESIGN §3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sayso.domain.errors import SnapshotCorruptError
from sayso.domain.requests import join_credentials, split_credentials
from sayso.store.codec import digest_of, pack, to_json, unpack
from sayso.store.keys import credential_key, request_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.ids import RunId, TenantId
    from sayso.domain.run import ObjectRef, Run
    from sayso.ports import CredentialVault, Item, Table
    from sayso.store.objects import Documents

MAX_INLINE_BYTES = 200_000
"""Packed requests above this go to the bucket (DESIGN §3)."""


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
            sealed = self._vault.seal(run_id, json.dumps(credentials).encode())
            items.append({"pk": key.pk, "sk": key.sk, "sealed": sealed})
        return items, ref

    def load(self, run: Run) -> tuple[dict[str, Any], str]:
        """Return the request without its credentials, and its digest.

        Raises:
            SnapshotCorruptError: The request is gone.
        """
        item = self._table.get(request_key(run.id))
        if item is None:
            message = f"the stored request of run {run.id!r} is gone"
            raise SnapshotCorruptError(message)
        if run.request is None:
            request = unpack(item["document"])
        else:
            request = json.loads(self._documents.get(run.request))
        return request, item["digest"]

    def unlock(self, run: Run, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the request with its credentials back in place; there may be none."""
        sealed = self._table.get(credential_key(run.id))
        if sealed is None:
            return request
        credentials = json.loads(self._vault.open(run.id, sealed["sealed"]))
        return join_credentials(dict(request), credentials)
