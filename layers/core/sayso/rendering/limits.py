"""The bounds of a field in words for people, shown before they type (WCAG 3.3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sayso.domain.fields import (
    CHAR_LIMITS,
    DateInput,
    FileInput,
    FileListInput,
    IntegerInput,
    MultiSelectInput,
    NumberInput,
    TextField,
)
from sayso.domain.uploads import MAX_UPLOAD_BYTES
from sayso.rendering.i18n import _

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sayso.domain.fields import FormInput


_KINDS: Final[Mapping[str, Callable[[], str]]] = {
    "image": lambda: _("images"),
    "document": lambda: _("documents"),
    "audio": lambda: _("sound"),
    "video": lambda: _("films"),
}


def limits_of(field: FormInput) -> str:
    """Return the bounds that the form's author set, empty where there are none."""
    match field:
        case TextField():
            most = field.max_chars if (field.max_chars or 0) < CHAR_LIMITS[field.kind] else None
            return _range(field.min_chars or None, most, _("characters"))
        case NumberInput() | IntegerInput():
            return _range(field.minimum, field.maximum, "")
        case DateInput():
            return _range(field.earliest or None, field.latest or None, "")
        case MultiSelectInput():
            return _range(field.min_choices or None, field.max_choices, _("choices"))
        case FileInput() | FileListInput():
            return _files(field)
        case _:
            return ""


def _files(field: FileInput | FileListInput) -> str:
    """Return which files are taken; all of one answer travel together, hence one size for all."""
    kinds = [words() for kind, words in _KINDS.items() if kind in field.limits.types]
    own = field.limits.extensions if "custom" in field.limits.types else ()
    megabytes = MAX_UPLOAD_BYTES // 2**20
    number = getattr(field, "max_files", 0)
    parts = [
        ", ".join([*kinds, *own]),
        _range(None, number or None, _("files")),
        _("up to %d MB in all") % megabytes
        if number != 1 and field.kind == "file-list"
        else _("up to %d MB") % megabytes,
    ]
    return ", ".join(part for part in parts if part)


def _range(low: object, high: object, unit: str) -> str:
    if low is None and high is None:
        return ""
    if high is None:
        words = _("From %s") % low
    elif low is None:
        words = _("Up to %s") % high
    else:
        words = _("From %(low)s to %(high)s") % {"low": low, "high": high}
    return f"{words} {unit}".strip()
