"""Write-once documents in the bucket, read back against their digest."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from sayso.domain.errors import SnapshotCorruptError
from sayso.domain.run import ObjectRef
from sayso.store.codec import digest_of

if TYPE_CHECKING:
    from sayso.domain.ids import RunId, TenantId
    from sayso.ports import ObjectStore


class Documents:
    """Gzipped documents of runs, named after their content."""

    def __init__(self, objects: ObjectStore) -> None:
        """Take the object store."""
        self._objects = objects

    def put(self, tenant: TenantId, run_id: RunId, name: str, data: bytes) -> ObjectRef:
        """Store a document and return where it is.

        The key holds the digest, so attempts with different bytes never meet; the commit decides
        which of them counts.
        """
        digest = digest_of(data)
        key = f"{run_prefix(tenant, run_id)}{name}-{digest}.json.gz"
        self._objects.put_once(key, gzip.compress(data, 6, mtime=0))
        return ObjectRef(key=key, digest=digest)

    def get(self, ref: ObjectRef) -> bytes:
        """Return a document.

        Raises:
            SnapshotCorruptError: It is gone, or its bytes are not those that were stored.
        """
        data = self._objects.get(ref.key)
        if data is None:
            message = f"the stored document {ref.key!r} is gone"
            raise SnapshotCorruptError(message)
        try:
            plain = gzip.decompress(data)
        except (OSError, EOFError) as error:
            message = f"the stored document {ref.key!r} is not readable"
            raise SnapshotCorruptError(message) from error
        if digest_of(plain) != ref.digest:
            message = f"the stored document {ref.key!r} does not match its digest"
            raise SnapshotCorruptError(message)
        return plain

    def delete_all(self, tenant: TenantId, run_id: RunId) -> None:
        """Delete every document of a run."""
        self._objects.delete_prefix(run_prefix(tenant, run_id))


def run_prefix(tenant: TenantId, run_id: RunId) -> str:
    """Return the start of the keys of a run's objects."""
    return f"runs/{tenant}/{run_id}/"
