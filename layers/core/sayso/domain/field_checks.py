"""Checks the value of one field; see ``submission`` for the whole answer (human-input §9).

Each check returns the value as it is stored, or the issue. Messages for the reference's kinds are
the contract's; ours follow their form. None of them repeats what was sent, but for the value of a
select, which the contract wants.
"""

from __future__ import annotations

import math
import re
from datetime import date
from typing import TYPE_CHECKING, Any, Final, assert_never

from sayso.domain.errors import FieldIssue
from sayso.domain.fields import (
    MAX_FILES,
    MAX_NUMBER,
    BooleanInput,
    DateInput,
    EmailInput,
    FileInput,
    FileListInput,
    IntegerInput,
    MultiSelectInput,
    NumberInput,
    ParagraphInput,
    SelectInput,
    TextInput,
    UrlInput,
    max_chars_of,
)
from sayso.domain.files import file_problem, is_web_address, plain_file
from sayso.domain.mail_addresses import is_mail_address
from sayso.domain.patterns import matches

if TYPE_CHECKING:
    from sayso.domain.fields import FormInput, TextInputs
    from sayso.domain.files import Uploads

_SHOWN_CHARS: Final = 80
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Refused(Exception):  # noqa: N818 - carries an issue to the loop over all fields, no error
    """A value does not fit its field."""

    def __init__(self, issue: FieldIssue) -> None:
        """Keep the issue."""
        super().__init__(issue.message)
        self.issue = issue


def check_value(field: FormInput, value: Any, uploads: Uploads) -> Any:
    """Return a value as it is stored.

    Args:
        field: What it was sent for.
        value: A JSON value.
        uploads: Files that were uploaded for this form.

    Raises:
        Refused: It does not fit.
    """
    accepted: Any
    match field:
        case ParagraphInput() | TextInput() | EmailInput() | UrlInput():
            accepted = _text(field, value)
        case NumberInput() | IntegerInput():
            accepted = _number(field, value)
        case BooleanInput():
            accepted = _yes_or_no(field, value)
        case DateInput():
            accepted = _day(field, value)
        case SelectInput():
            accepted = _choice(field, value)
        case MultiSelectInput():
            accepted = _choices(field, value)
        case FileInput():
            accepted = _file(field, value, uploads)
        case FileListInput():
            accepted = _files(field, value, uploads)
        case _:
            assert_never(field)
    return accepted


def _refused(field: FormInput, code: str, problem: str) -> Refused:
    kind = field.kind.replace("-", " ")
    message = f"Invalid value for {kind} input '{field.name}': {problem}"
    if field.kind == "file-list":  # the contract's word has no "input" here
        message = f"Invalid value for file list input '{field.name}': {problem}"
    return Refused(FieldIssue(field.name, code, message))


def _text(field: TextInputs, value: Any) -> str:
    if not isinstance(value, str):
        raise _refused(field, "not_text", "expected string")
    # Telephones add a space behind an address that they suggest.
    text: str = value.strip() if field.kind in {"email", "url"} else value
    most = max_chars_of(field)
    if len(text) > most:
        raise _refused(field, "too_long", f"at most {most} characters")
    if text:
        _check_form(field, text)
    return text


def _check_form(field: TextInputs, text: str) -> None:
    if len(text) < field.min_chars:
        raise _refused(field, "too_short", f"at least {field.min_chars} characters")
    if field.kind == "text" and len(text.splitlines()) > 1:
        raise _refused(field, "several_lines", "expected one line")
    if field.kind == "email" and not is_mail_address(text):
        raise _refused(field, "not_an_email", "expected a mail address")
    if field.kind == "url" and not is_web_address(text):
        raise _refused(field, "not_a_url", "expected an http or https address")
    if field.pattern and not matches(field.pattern, text):
        raise _refused(field, "pattern", "does not have the form asked for")


def _number(field: NumberInput | IntegerInput, value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _refused(field, "not_a_number", "expected number")
    if abs(value) > MAX_NUMBER:
        raise _refused(field, "out_of_range", f"at most {MAX_NUMBER}")
    if isinstance(field, IntegerInput) and value != int(value):
        raise _refused(field, "not_whole", "expected a whole number")
    if field.minimum is not None and value < field.minimum:
        raise _refused(field, "out_of_range", f"at least {field.minimum}")
    if field.maximum is not None and value > field.maximum:
        raise _refused(field, "out_of_range", f"at most {field.maximum}")
    number: int | float = int(value) if isinstance(field, IntegerInput) else value
    return number


def _yes_or_no(field: BooleanInput, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _refused(field, "not_yes_or_no", "expected boolean")
    return value


def _day(field: DateInput, value: Any) -> str:
    text = value.strip() if isinstance(value, str) else ""
    if not is_day(text):
        raise _refused(field, "not_a_date", "expected a date such as 2026-12-31")
    # Dates of this form sort as text.
    if field.earliest and text < field.earliest:
        raise _refused(field, "out_of_range", f"not before {field.earliest}")
    if field.latest and text > field.latest:
        raise _refused(field, "out_of_range", f"not after {field.latest}")
    return text


def is_day(text: str) -> bool:
    """Tell whether a text is a day of the calendar in the form ``2026-12-31``."""
    if not _DAY.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _choice(field: SelectInput, value: Any) -> str:
    if not isinstance(value, str):
        raise _refused(field, "not_text", "expected string")
    if value not in {option.value for option in field.options}:
        raise _refused(field, "not_an_option", value[:_SHOWN_CHARS])
    return value


def _choices(field: MultiSelectInput, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _refused(field, "not_a_list", "expected list of strings")
    if not set(value) <= {option.value for option in field.options}:
        raise _refused(field, "not_an_option", "expected options of the field")
    if len(set(value)) != len(value):
        raise _refused(field, "not_an_option", "an option comes twice")
    if value and len(value) < field.min_choices:
        raise _refused(field, "number_of_choices", f"at least {field.min_choices} options")
    if field.max_choices is not None and len(value) > field.max_choices:
        raise _refused(field, "number_of_choices", f"at most {field.max_choices} options")
    return value


def _file(field: FileInput, value: Any, uploads: Uploads) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _refused(field, "not_a_file", "expected mapping")
    if problem := file_problem(value, field.limits, uploads):
        raise _refused(field, "not_a_file", problem)
    return plain_file(value, uploads)


def _files(field: FileListInput, value: Any, uploads: Uploads) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise _refused(field, "not_a_list", "expected list")
    if not all(isinstance(one, dict) for one in value):
        raise _refused(field, "not_a_list", "expected list of mappings")
    if len(value) > (field.max_files or MAX_FILES):
        raise _refused(field, "too_many_files", "exceeds number limit")
    for one in value:
        if problem := file_problem(one, field.limits, uploads):
            raise _refused(field, "not_a_file", problem)
    return [plain_file(one, uploads) for one in value]
