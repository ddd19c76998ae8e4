"""The page's words for what is wrong with an answer.

The codes are those of ``sayso.domain.submission``; their own messages are the contract's and speak
to programs. Error says what to do (WCAG 3.3.1, 3.3.3), without blame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sayso.rendering.i18n import _

if TYPE_CHECKING:
    from sayso.rendering.views import FieldView


_FORMS: Final = {
    "not_a_number": "Write “%s” as a number such as 12 or 12.5",
    "not_whole": "Write “%s” as a whole number",
    "not_a_date": "Write “%s” as a date such as 2026-12-31",
    "not_an_email": "Write “%s” as a mail address such as name@example.org",
    "not_a_url": "Write “%s” as an address that starts with https://",
    "several_lines": "Write “%s” on one line",
    "pattern": "Write “%s” in the form asked for",
    "too_long": "Shorten “%s”",
    "too_short": "Write more in “%s”",
    "not_yes_or_no": "Choose an answer to “%s”",
    "not_a_file": "Choose another file for “%s”",
    "too_many_files": "Choose fewer files for “%s”",
    "file_too_large": "Choose a smaller file for “%s”",
    "file_empty": "Choose another file for “%s”: this one is empty",
    "file_type": "Choose another file for “%s”: in this one is not what its name says",
    "file_blocked": "Choose another file for “%s”: programs are not taken",
}
_WITH_LIMITS: Final = frozenset(
    {
        "out_of_range",
        "number_of_choices",
        "too_long",
        "too_short",
        "not_a_file",
        "too_many_files",
        "file_too_large",
    }
)
_NOT_GIVEN: Final = {
    "select": "Choose an answer to “%s”",
    "choices": "Choose an answer to “%s”",
    "file": "Add a file to “%s”",
}


def field_message(field: FieldView, code: str) -> str:
    """Return what to do about one field."""
    words = _("Change “%s”: this answer is not possible")
    if code == "missing" or (code == "not_an_option" and field.kind == "select"):
        words = _(_NOT_GIVEN.get(field.kind, "Fill in “%s”"))
    elif code in {"out_of_range", "number_of_choices"}:
        words = _("Change “%s”")
    elif code == "not_a_number" and field.kind == "line" and field.keyboard == "numeric":
        words = _(_FORMS["not_whole"])
    elif code in _FORMS:
        words = _(_FORMS[code])
    message = words % field.label
    # The hint holds the bounds; repeated here it is read out together with the error.
    return f"{message} ({field.hint})" if code in _WITH_LIMITS and field.hint else message


def general_message(code: str) -> str:
    """Return what to do about something that is no field of the page."""
    if code == "invalid_action":
        return _("Press one of the buttons below")
    if code == "too_large":
        return _("Write less: the whole answer is too long")
    return _("Open the link in your mail again: this page was out of date")
