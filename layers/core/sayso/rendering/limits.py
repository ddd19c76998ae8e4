"""The bounds of a field in words for people, shown before they type (WCAG 3.3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from sayso.rendering.i18n import _

if TYPE_CHECKING:
    from sayso.domain.fields import FormInput


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
            return ", ".join(field.limits.extensions)
        case _:
            return ""


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
