"""The page's words for what is wrong with an answer.

The codes are those of ``sayso.domain.submission``; their own messages are the contract's and speak
to programs. Error says what to do (WCAG 3.3.1, 3.3.3), without blame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.rendering.i18n import _

if TYPE_CHECKING:
    from sayso.rendering.views import FieldView


def field_message(field: FieldView, code: str) -> str:
    """Return what to do about one field."""
    if code == "missing" and field.kind == "paragraph":
        return _("Fill in “%s”") % field.label
    if code in {"missing", "not_an_option"} and field.kind == "select":
        return _("Choose an answer to “%s”") % field.label
    if code == "too_long":
        return _("Shorten “%s”") % field.label
    return _("Change “%s”: this answer is not possible") % field.label


def general_message(code: str) -> str:
    """Return what to do about something that is no field of the page."""
    if code == "invalid_action":
        return _("Press one of the buttons below")
    return _("Open the link in your mail again: this page was out of date")
