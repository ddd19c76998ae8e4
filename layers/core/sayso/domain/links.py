"""Form links: tokens that carry what they open and a MAC, and nothing secret (DESIGN decision 9).

Upload tokens look alike and carry the same, under a key of another purpose: a link uploads nothing,
and an upload token opens no form.

Layout, 37 bytes, then URL-safe base64 without padding (50 characters):

====  =======================================================
1     version, 1
1     key id
16    form id, a UUID
2     recipient number, big endian
1     recipient revision
16    first 128 bits of HMAC-SHA256 over the bytes before it
====  =======================================================

Decoding is strict: a token that does not re-encode to itself is unknown.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import struct
import uuid
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from sayso.domain.errors import UnknownLinkError
from sayso.domain.ids import FormId

if TYPE_CHECKING:
    from collections.abc import Mapping

_VERSION = 1
_HEAD = struct.Struct(">BB16sHB")
_MAC_BYTES = 16
_TOKEN_CHARS = 50
_MIN_KEY_BYTES = 32
MAX_REVISION = 255
"""What one byte holds."""


class Purpose(Enum):
    """What a token is for; each has MAC keys of its own."""

    FORM = b"sayso form link"
    UPLOAD = b"sayso upload token"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What a token opens."""

    form_id: FormId
    recipient: int
    revision: int


class LinkSigner:
    """Makes and checks tokens. Two keys allow rotation: all verify, the current one signs."""

    def __init__(self, keys: Mapping[int, bytes], current: int) -> None:
        """Derive one MAC key from each master key, so that these serve nothing else.

        Args:
            keys: Key id (0 to 255) → master key.
            current: Id of the key that signs.

        Raises:
            ValueError: ``current`` is not among the keys, or a key is shorter than 32 bytes.
        """
        if current not in keys or any(len(key) < _MIN_KEY_BYTES for key in keys.values()):
            message = "the current key must be among the keys, each of at least 32 bytes"
            raise ValueError(message)
        self._keys = {
            (key_id, purpose): hmac.digest(key, purpose.value, hashlib.sha256)
            for key_id, key in keys.items()
            for purpose in Purpose
        }
        self._current = current

    def sign(self, link: Link, purpose: Purpose = Purpose.FORM) -> str:
        """Return the token of a link."""
        head = _HEAD.pack(
            _VERSION,
            self._current,
            uuid.UUID(link.form_id).bytes,
            link.recipient,
            link.revision,
        )
        return _encode(head + self._mac(self._current, purpose, head))

    def verify(self, token: str, purpose: Purpose = Purpose.FORM) -> Link:
        """Return what a token opens.

        Raises:
            UnknownLinkError: Forged, cut, in another spelling, of an unknown key or another purpose.
        """
        head, mac = _split(token)
        version, key_id, form_bytes, recipient, revision = _HEAD.unpack(head)
        if version != _VERSION or (key_id, purpose) not in self._keys:
            raise UnknownLinkError("the link is not known")
        if not hmac.compare_digest(mac, self._mac(key_id, purpose, head)):
            raise UnknownLinkError("the link is not known")
        form_id = FormId(str(uuid.UUID(bytes=form_bytes)))
        return Link(form_id=form_id, recipient=recipient, revision=revision)

    def _mac(self, key_id: int, purpose: Purpose, head: bytes) -> bytes:
        return hmac.digest(self._keys[key_id, purpose], head, hashlib.sha256)[:_MAC_BYTES]


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _split(token: str) -> tuple[bytes, bytes]:
    try:
        raw = base64.b64decode(f"{token}==", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise UnknownLinkError("the link is not known") from None
    if len(token) != _TOKEN_CHARS or _encode(raw) != token:
        raise UnknownLinkError("the link is not known")
    return raw[: _HEAD.size], raw[_HEAD.size :]
