"""Turns domain values into attributes and back.

Instants are epoch milliseconds, documents JSON text, large ones gzipped. Attributes without a
value are left out, so that sparse indexes stay sparse and ``Missing`` means what it says.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from datetime import UTC, datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from sayso.domain.errors import PermanentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sayso.domain.run import AuditEntry
    from sayso.ports import Item, Key


P = ParamSpec("P")
T = TypeVar("T")

_UNREADABLE = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    TypeError,
    ValueError,
)
"""What reading a document of an unknown shape may raise, a broken gzip file among them."""


def refuses_unknown_formats(
    read: Callable[Concatenate[Mapping[str, Any], P], T],
) -> Callable[Concatenate[Mapping[str, Any], P], T]:
    """Let a reader of items say which one it cannot read; other code may have stored it.

    Nothing is lost by that: the item stays as it is, for code that knows its format.
    """

    @wraps(read)
    def reader(item: Mapping[str, Any], /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return read(item, *args, **kwargs)
        except _UNREADABLE as error:
            message = (
                f"the item {item.get('pk')!r} {item.get('sk')!r} is of a format that this code does"
                f" not know ({type(error).__name__}); go on with the code that stored it"
            )
            raise PermanentError(message) from error

    return reader


def to_ms(instant: datetime) -> int:
    """Return an aware instant as epoch milliseconds, rounded down."""
    return int(instant.timestamp() * 1000 + 1e-3)


def from_ms(value: int) -> datetime:
    """Return epoch milliseconds as an aware instant."""
    return datetime.fromtimestamp(value // 1000, UTC).replace(microsecond=value % 1000 * 1000)


def optional_ms(instant: datetime | None) -> int | None:
    """Return the milliseconds, or None."""
    return None if instant is None else to_ms(instant)


def optional_instant(value: int | None) -> datetime | None:
    """Return the instant, or None."""
    return None if value is None else from_ms(value)


def to_json(value: object) -> str:
    """Return compact JSON in a canonical order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def pack(value: object) -> bytes:
    """Return gzipped JSON; the same value gives the same bytes."""
    return gzip.compress(
        json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), 6, mtime=0
    )


def unpack(data: bytes) -> Any:
    """Return the value of ``pack``."""
    return json.loads(gzip.decompress(data))


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of bytes, hex."""
    return hashlib.sha256(data).hexdigest()


def without_none(item: Mapping[str, Any]) -> Item:
    """Return the attributes that have a value."""
    return {name: value for name, value in item.items() if value is not None}


def split_changes(attributes: Mapping[str, Any]) -> tuple[Item, tuple[str, ...]]:
    """Return what an update sets, and what it removes because it has no value any more."""
    gone = tuple(name for name, value in attributes.items() if value is None)
    return without_none(attributes), gone


def audit_item(key: Key, entry: AuditEntry, ttl: int) -> Item:
    """Return the item of an audit entry; its digest is what the next entry names."""
    return {
        "pk": key.pk,
        "sk": key.sk,
        "at": to_ms(entry.at),
        "what": entry.what,
        "facts": to_json(dict(entry.facts)),
        "previous": entry.previous_digest,
        "ttl": ttl,
    }


def audit_digest(entry: AuditEntry) -> str:
    """Return the digest of an entry, over all it says."""
    parts = [entry.number, to_ms(entry.at), entry.what, dict(entry.facts), entry.previous_digest]
    return digest_of(to_json(parts).encode())
