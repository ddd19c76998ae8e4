"""The error of a request whose shape does not fit, as 422 entries (dify-agent §2).

Entries look exactly as FastAPI's: ``type``, ``loc``, ``msg``, ``input`` and perhaps ``ctx``, never
``url``. They echo what was sent to the caller, who knows it; credentials are masked all the same.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from sayso.domain.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Sequence

MASK: Final = "***"
MAX_ENTRIES: Final = 100
"""A body of 4 MB can hold a million mistakes."""
MAX_INPUT_CHARS: Final = 20_000
"""Longest input that is echoed; the caller has the rest."""
_SECRET_MEMBER: Final = "credentials"  # noqa: S105 - the name of a member, not a secret

Entry = dict[str, Any]


class InvalidRequestError(ValidationError):
    """Body or query do not have the shape that the contract asks for. The caller acts."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        """Keep the entries, masked and bounded."""
        super().__init__(f"the request has {len(entries)} mistakes")
        self.entries = [_masked_entry(entry) for entry in entries[:MAX_ENTRIES]]


def entry_of(
    kind: str, loc: Sequence[str | int], msg: str, value: object, **context: object
) -> Entry:
    """Return one entry; ``context`` becomes its ``ctx``."""
    entry: Entry = {"type": kind, "loc": list(loc), "msg": msg, "input": value}
    return entry | {"ctx": context} if context else entry


def _masked_entry(entry: Entry) -> Entry:
    if _SECRET_MEMBER in entry["loc"]:
        return entry | {"input": MASK}
    value = masked(entry["input"])
    if len(json.dumps(value)) > MAX_INPUT_CHARS:
        value = "(too long to repeat)"
    return entry | {"input": value}


def masked(value: Any) -> Any:
    """Return JSON without what stands in members named ``credentials``.

    A text that mentions the name may be JSON with such a member (a layer's config, dify-agent §6)
    and is masked whole.
    """
    match value:
        case dict():
            return {
                name: MASK if name == _SECRET_MEMBER else masked(member)
                for name, member in value.items()
            }
        case list():
            return [masked(member) for member in value]
        case str() if _SECRET_MEMBER in value:
            return MASK
        case _:
            return value
