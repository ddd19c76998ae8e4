"""Write-once objects in a dict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.domain.errors import PermanentError
from sayso.testing.faults import around, no_faults

if TYPE_CHECKING:
    from sayso.testing.faults import FaultHook


class MemoryObjectStore:
    """An ``ObjectStore`` in memory."""

    def __init__(self, *, faults: FaultHook = no_faults) -> None:
        """Start empty."""
        self.objects: dict[str, bytes] = {}
        """Everything stored, by key."""
        self._faults = faults

    def put_once(self, key: str, data: bytes) -> None:
        """Keep bytes, unless there are some already."""
        with around(self._faults, "put_once"):
            self.objects.setdefault(key, bytes(data))

    def get(self, key: str) -> bytes | None:
        """Return the bytes, or None."""
        with around(self._faults, "get"):
            return self.objects.get(key)

    def delete_prefix(self, prefix: str) -> None:
        """Forget all objects below a prefix."""
        if not prefix:
            message = "an empty prefix would delete the whole bucket, expected one of a run"
            raise PermanentError(message)
        with around(self._faults, "delete_prefix"):
            for key in [key for key in self.objects if key.startswith(prefix)]:
                del self.objects[key]
