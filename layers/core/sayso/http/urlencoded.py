"""Reads what an HTML form sends (``application/x-www-form-urlencoded``, URL standard §5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from sayso.domain.errors import FieldIssue, ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sayso.http.request import HttpRequest

MAX_BYTES: Final = 256 * 1024
MAX_FIELDS: Final = 200
_FORM_TYPE: Final = "application/x-www-form-urlencoded"


def read_fields(request: HttpRequest, *, once: Iterable[str] = ()) -> dict[str, list[str]]:
    """Return names and values; with line ends of one character, where browsers send two.

    Args:
        request: What a browser sent.
        once: Names that must not come twice: what they decide must not be open to reading.

    Raises:
        ValidationError: Another type, too large, not UTF-8, or a name of ``once`` that comes twice.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    raw = request.body_bytes()
    if kind != _FORM_TYPE or len(raw) > MAX_BYTES:
        raise unreadable()
    try:
        pairs = parse_qsl(
            raw.decode(),
            keep_blank_values=True,
            strict_parsing=bool(raw),
            errors="strict",
            max_num_fields=MAX_FIELDS,
        )
    except ValueError:  # UnicodeDecodeError too
        raise unreadable() from None
    return without_repeated(pairs, once=once)


def without_repeated(
    pairs: Iterable[tuple[str, str]], *, once: Iterable[str]
) -> dict[str, list[str]]:
    """Return texts by name.

    Raises:
        ValidationError: A name of ``once`` comes twice.
    """
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(value.replace("\r\n", "\n"))
    if any(len(fields.get(name, ())) > 1 for name in once):
        raise unreadable()
    return fields


def unreadable() -> ValidationError:
    """Return the error of what is no form that we take."""
    message = f"expected a form of at most {MAX_BYTES} bytes and {MAX_FIELDS} fields"
    return ValidationError(message, [FieldIssue("", "unreadable", message)])
