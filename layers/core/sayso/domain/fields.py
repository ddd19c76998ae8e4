"""Fields of a form: what can be asked, and within which bounds (human-input §3.2).

``paragraph``, ``select``, ``file`` and ``file-list`` are the reference's; the other kinds are ours.
Plain dataclasses: the page function reads these and must start fast. Bounds were checked when the
definition came in; here they are trusted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CHAR_LIMITS: Final[Mapping[str, int]] = MappingProxyType(
    {"paragraph": 20_000, "text": 1_000, "email": 254, "url": 2_000}
)
"""Longest text by kind of field, in characters. The reference has no bound; an item of the table
holds 400 KB. 254 is the longest mail address (RFC 5321 §4.5.3.1)."""
MAX_PATTERN_TEXT_CHARS: Final = 500
"""Longest text of a field with a pattern: what keeps the match quick (see ``patterns``)."""
MAX_NUMBER: Final = 10**15
"""Largest amount: beyond 2**53 JSON readers lose digits (RFC 8259 §6)."""
MAX_FILES: Final = 50
"""Files of one field whose definition names no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableSource:
    """A default or options that were taken from a run variable when the form was made.

    Kept so that programs are shown the definition as it was given.
    """

    selector: tuple[str, ...]
    value: Any
    """The constant beside the selector; of options the resolved ones (human-input §3.5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One choice of a select."""

    value: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """What all fields have."""

    name: str
    label: str
    required: bool = False
    """An action may say otherwise (``Action.requires``)."""
    must_be_sent: bool = False
    """The key has to be there, empty counts: what the reference asks of its own fields (§9.7)."""
    help: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextField(Field):
    """What all fields for text have."""

    placeholder: str | None = None
    default: str | None = None
    source: VariableSource | None = None
    min_chars: int = 0
    max_chars: int | None = None
    """None: the limit of the kind."""
    pattern: str = ""
    """The whole text has to match it; empty: any text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParagraphInput(TextField):
    """Free text, several lines."""

    kind: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextInput(TextField):
    """Free text on one line."""

    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailInput(TextField):
    """A mail address."""

    kind: Literal["email"] = "email"


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlInput(TextField):
    """An address of the web."""

    kind: Literal["url"] = "url"


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericField(Field):
    """What both fields for numbers have."""

    default: int | float | None = None
    source: VariableSource | None = None
    minimum: int | float | None = None
    maximum: int | float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberInput(NumericField):
    """A number, perhaps with decimals."""

    kind: Literal["number"] = "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerInput(NumericField):
    """A whole number."""

    kind: Literal["integer"] = "integer"


@dataclass(frozen=True, slots=True, kw_only=True)
class BooleanInput(Field):
    """Yes or no. Never a single box: one that was left alone would not tell no from unseen."""

    default: bool | None = None
    source: VariableSource | None = None
    kind: Literal["boolean"] = "boolean"


@dataclass(frozen=True, slots=True, kw_only=True)
class DateInput(Field):
    """A day of the calendar, as ISO 8601 text."""

    default: str | None = None
    source: VariableSource | None = None
    earliest: str = ""
    latest: str = ""
    kind: Literal["date"] = "date"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectInput(Field):
    """One of several options."""

    options: tuple[Option, ...]
    default: str | None = None
    source: VariableSource | None = None
    """Of the options."""
    kind: Literal["select"] = "select"


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiSelectInput(Field):
    """Some of several options."""

    options: tuple[Option, ...]
    default: tuple[str, ...] = ()
    source: VariableSource | None = None
    """Of the options."""
    min_choices: int = 0
    max_choices: int | None = None
    kind: Literal["multi-select"] = "multi-select"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLimits:
    """Which files a field takes (human-input §3.2, §9.5)."""

    types: tuple[str, ...] = ()
    """Empty: any."""
    extensions: tuple[str, ...] = ()
    """Count only where ``custom`` is among the types."""
    methods: tuple[str, ...] = ("local_file", "remote_url")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInput(Field):
    """One file."""

    limits: FileLimits = field(default_factory=FileLimits)
    kind: Literal["file"] = "file"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileListInput(Field):
    """Several files."""

    limits: FileLimits = field(default_factory=FileLimits)
    max_files: int = 0
    """0: as many as ``MAX_FILES``."""
    kind: Literal["file-list"] = "file-list"


TextInputs = ParagraphInput | TextInput | EmailInput | UrlInput
FormInput = (
    TextInputs
    | NumberInput
    | IntegerInput
    | BooleanInput
    | DateInput
    | SelectInput
    | MultiSelectInput
    | FileInput
    | FileListInput
)
INPUT_TYPES: Final[Mapping[str, Callable[..., FormInput]]] = MappingProxyType(
    {
        "paragraph": ParagraphInput,
        "text": TextInput,
        "email": EmailInput,
        "url": UrlInput,
        "number": NumberInput,
        "integer": IntegerInput,
        "boolean": BooleanInput,
        "date": DateInput,
        "select": SelectInput,
        "multi-select": MultiSelectInput,
        "file": FileInput,
        "file-list": FileListInput,
    }
)
"""Kind → class; a further kind is a row here, a check in ``field_checks``, a row in ``form_json``
and a part of the page."""


def max_chars_of(field: TextInputs) -> int:
    """Return the longest text that a field takes, in characters."""
    limit = CHAR_LIMITS[field.kind]
    if field.pattern:
        limit = min(limit, MAX_PATTERN_TEXT_CHARS)
    return limit if field.max_chars is None else min(limit, field.max_chars)


def words_of(name: str) -> str:
    """Return a label for a field that was given none: ``refund_reason`` → ``Refund reason``."""
    words = name.replace("_", " ").strip()
    return f"{words[:1].upper()}{words[1:]}" or name
