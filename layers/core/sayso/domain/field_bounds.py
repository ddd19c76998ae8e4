"""Refuses fields that nobody could fill in, while the author of the form can still mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sayso.domain.field_checks import is_day
from sayso.domain.fields import (
    MAX_NUMBER,
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
from sayso.domain.patterns import check_pattern

if TYPE_CHECKING:
    from sayso.domain.fields import FormInput, TextInputs

MAX_OPTIONS: Final = 500
_SHORTEST: Final = {"email": 6, "url": 11}
"""``a@b.co`` and ``http://b.co``: below this length there is nothing sensible to enter."""


def checked(field: FormInput) -> FormInput:
    """Return the field.

    Raises:
        ValueError: Its bounds leave no value, or it has no options.
    """
    match field:
        case ParagraphInput() | TextInput() | EmailInput() | UrlInput():
            problem = _text_problem(field)
        case NumberInput() | IntegerInput():
            problem = _number_problem(field)
        case DateInput():
            problem = _date_problem(field)
        case SelectInput() | MultiSelectInput():
            problem = _options_problem(field)
        case FileInput() | FileListInput():
            problem = _file_problem(field)
        case _:
            problem = ""
    if problem:
        message = f"input '{field.name}' cannot be answered: {problem}"
        raise ValueError(message)
    return field


def _text_problem(field: TextInputs) -> str:
    most = max_chars_of(field)
    least = max(field.min_chars, _SHORTEST.get(field.kind, 0))
    if least > most:
        return f"it wants at least {least} and at most {most} characters"
    if not field.pattern:
        return ""
    if field.kind in _SHORTEST:
        return f"the type {field.kind} takes no pattern"
    try:
        check_pattern(field.pattern, shortest=field.min_chars, longest=most)
    except ValueError as error:
        return str(error)
    return ""


def _number_problem(field: NumberInput | IntegerInput) -> str:
    low = -MAX_NUMBER if field.minimum is None else field.minimum
    high = MAX_NUMBER if field.maximum is None else field.maximum
    if isinstance(field, IntegerInput):
        low = -(-low // 1)  # the first whole number from there on
    within = low <= high and low <= MAX_NUMBER and high >= -MAX_NUMBER
    return "" if within else "no number is within its bounds"


def _date_problem(field: DateInput) -> str:
    if not all(is_day(day) for day in (field.earliest, field.latest) if day):
        return "a bound is no date such as 2026-12-31"
    if field.earliest and field.latest and field.earliest > field.latest:
        return "no date is within its bounds"
    return ""


def _options_problem(field: SelectInput | MultiSelectInput) -> str:
    values = [option.value for option in field.options]
    if not 0 < len(values) <= MAX_OPTIONS:
        return f"it has {len(values)} options, 1 to {MAX_OPTIONS} are possible"
    if not all(values) or len(set(values)) != len(values):
        return "its options are empty or not all different"
    if isinstance(field, MultiSelectInput):
        most = len(values) if field.max_choices is None else field.max_choices
        if field.min_choices > min(most, len(values)):
            return "it wants more choices than there can be"
    return ""


def _file_problem(field: FileInput | FileListInput) -> str:
    if "custom" in field.limits.types and not field.limits.extensions:
        return "the file type 'custom' needs extensions"
    return ""
