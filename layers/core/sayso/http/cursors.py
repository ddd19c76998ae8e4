"""Cursors and page sizes of event routes, read from the query (dify-agent §1, §4.1).

Ids are ``<n>-0``; ``5`` means ``5-0``. A cursor is exclusive, and one that is well-formed but
unknown returns later events only. Entries are worded as FastAPI words them.
"""

from __future__ import annotations

import re
from typing import Final

from sayso.http.invalid import InvalidRequestError, entry_of

START: Final = "0-0"
MAX_LIMIT: Final = 500
DEFAULT_LIMIT: Final = 100
_LAST_NUMBER: Final = 999_999_999_999
"""Greatest number that the sort key of an event holds."""

_CURSOR: Final = re.compile(r"([0-9]{1,20})(?:-[0-9]{1,20})?")
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,20}")


def event_id(number: int) -> str:
    """Return the wire id of an event."""
    return f"{number}-0"


def read_cursor(text: str, *, loc: tuple[str, str] = ("query", "after")) -> int:
    """Return the number behind which a cursor reads.

    Raises:
        InvalidRequestError: It is none.
    """
    match = _CURSOR.fullmatch(text)
    if match is None:
        message = f"String should match pattern '{_CURSOR.pattern}'"
        raise InvalidRequestError(
            [entry_of("string_pattern_mismatch", loc, message, text, pattern=_CURSOR.pattern)]
        )
    return min(int(match[1]), _LAST_NUMBER)


def read_limit(text: str | None) -> int:
    """Return the size of a page.

    Raises:
        InvalidRequestError: Not an integer from 1 to 500.
    """
    if text is None:
        return DEFAULT_LIMIT
    loc = ("query", "limit")
    if not _INTEGER.fullmatch(text.strip()):
        message = "Input should be a valid integer, unable to parse string as an integer"
        raise InvalidRequestError([entry_of("int_parsing", loc, message, text)])
    limit = int(text)
    if limit < 1:
        message = "Input should be greater than or equal to 1"
        raise InvalidRequestError([entry_of("greater_than_equal", loc, message, text, ge=1)])
    if limit > MAX_LIMIT:
        message = f"Input should be less than or equal to {MAX_LIMIT}"
        raise InvalidRequestError([entry_of("less_than_equal", loc, message, text, le=MAX_LIMIT)])
    return limit
