"""API keys, form links and credentials for tests: nothing here is secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.domain.errors import PermanentError
from sayso.domain.links import LinkSigner

if TYPE_CHECKING:
    from sayso.domain.access import ApiKey
    from sayso.domain.ids import RunId


class MemoryDirectory:
    """A ``Directory`` in a dict."""

    def __init__(self, keys: dict[str, ApiKey] | None = None) -> None:
        """Know these keys, by the secret that a caller sends."""
        self.keys = dict(keys or {})

    def find_key(self, secret: str) -> ApiKey | None:
        """Return the record of an API key, or None."""
        return self.keys.get(secret)


class MemoryVault:
    """A ``CredentialVault`` that hides nothing but minds whose credentials it opens."""

    def seal(self, run_id: RunId, plain: bytes) -> bytes:
        """Return the bytes behind the run id."""
        return f"sealed for {run_id}: ".encode() + plain

    def open(self, run_id: RunId, sealed: bytes) -> bytes:
        """Return the bytes if they were sealed for this run."""
        mark = f"sealed for {run_id}: ".encode()
        if not sealed.startswith(mark):
            message = f"the credentials do not belong to run {run_id!r}"
            raise PermanentError(message)
        return sealed.removeprefix(mark)


def fixed_links() -> LinkSigner:
    """Return a ``Links`` whose key is the same in every test."""
    return LinkSigner({1: b"a key for tests, 32 bytes or more"}, current=1)
