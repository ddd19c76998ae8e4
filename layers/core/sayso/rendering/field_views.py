"""Makes the view of one field: its control, its words, what it starts with, what was answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, assert_never

from sayso.domain.fields import (
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
)
from sayso.domain.file_types import TYPES as FILE_TYPES
from sayso.domain.placeholders import as_text
from sayso.rendering.i18n import _
from sayso.rendering.limits import limits_of
from sayso.rendering.plain import one_line
from sayso.rendering.views import (
    ChoicesView,
    FileView,
    LineView,
    OptionView,
    ParagraphView,
    SelectView,
)

if TYPE_CHECKING:
    from sayso.domain.fields import FileLimits, FormInput, Option
    from sayso.rendering.views import FieldView


def field_view(field: FormInput) -> FieldView:
    """Return what the page shows of a field."""
    label, hint = one_line(field.label), _hint(field)
    match field:
        case ParagraphInput():
            return ParagraphView(
                name=field.name,
                label=label,
                required=field.required,
                initial=field.default or "",
                hint=hint,
            )
        case SelectInput():
            return SelectView(
                name=field.name,
                label=label,
                options=_options(field.options),
                required=field.required,
                initial=field.default or "",
                hint=hint,
            )
        case BooleanInput() | MultiSelectInput():
            return _choices(field, label, hint)
        case FileInput() | FileListInput():
            return FileView(
                name=field.name,
                label=label,
                required=field.required,
                hint=hint,
                takes_uploads="local_file" in field.limits.methods,
                is_list=field.kind == "file-list",
                accept=_accepted(field.limits),
            )
        case _:
            return _line(field, label, hint)


def _line(
    field: TextInput | EmailInput | UrlInput | NumberInput | IntegerInput | DateInput,
    label: str,
    hint: str,
) -> LineView:
    kind: Literal["text", "email", "url", "date"] = "text"
    keyboard: Literal["", "decimal", "numeric"] = ""
    match field:
        case NumberInput():
            keyboard = "decimal"
        case IntegerInput():
            keyboard = "numeric"
        case TextInput():
            pass
        case EmailInput() | UrlInput() | DateInput():
            kind = field.kind
        case _:
            assert_never(field)
    return LineView(
        name=field.name,
        label=label,
        type=kind,
        keyboard=keyboard,
        required=field.required,
        initial=as_text(field.default),
        hint=hint,
    )


def _choices(field: BooleanInput | MultiSelectInput, label: str, hint: str) -> ChoicesView:
    if isinstance(field, MultiSelectInput):
        return ChoicesView(
            name=field.name,
            label=label,
            type="checkbox",
            options=_options(field.options),
            required=field.required,
            initial=field.default,
            hint=hint,
        )
    options = [OptionView(value="true", label=_("Yes")), OptionView(value="false", label=_("No"))]
    if not field.required:
        # A pair of radio buttons cannot be left alone again once one was chosen.
        options.append(OptionView(value="", label=_("No answer")))
    return ChoicesView(
        name=field.name,
        label=label,
        type="radio",
        options=tuple(options),
        required=field.required,
        initial=(as_text(field.default),) if field.default is not None else (),
        hint=hint,
    )


def _options(options: tuple[Option, ...]) -> tuple[OptionView, ...]:
    return tuple(OptionView(value=one.value, label=one_line(one.label)) for one in options)


def _accepted(limits: FileLimits) -> str:
    """Return the endings of the kinds that a field takes, for the browser's dialogue."""
    known = [name for name, one in FILE_TYPES.items() if one.kind in limits.types]
    own = limits.extensions if "custom" in limits.types else ()
    return ",".join(f".{one.removeprefix('.')}" for one in (*known, *own))


def _hint(field: FormInput) -> str:
    """Return help and bounds in one line; a placeholder is no help once somebody types."""
    placeholder = getattr(field, "placeholder", None) or ""
    parts = (one_line(field.help), one_line(placeholder), limits_of(field))
    return " · ".join(part for part in parts if part)


def shown_value(field: FormInput, value: object) -> str:
    """Return a given value as people read it; nothing for what does not belong to the field."""
    match field:
        case SelectInput() | MultiSelectInput():
            labels = {option.value: one_line(option.label) for option in field.options}
            chosen = value if isinstance(value, list) else [value]
            return ", ".join(labels[one] for one in chosen if one in labels)
        case BooleanInput():
            words = {"true": _("Yes"), "false": _("No")}
            return words.get(as_text(value), "")
        case FileInput() | FileListInput():
            return _names_of_files(value)
        case _:
            is_shown = isinstance(value, str | int | float)
            return as_text(value) if is_shown else ""


def _names_of_files(value: object) -> str:
    """Return the names of uploads, and the addresses of files that stayed where they are."""
    files = value if isinstance(value, list) else [value]
    names = (one.get("name") or one.get("url") for one in files if isinstance(one, dict))
    return ", ".join(one_line(str(name)) for name in names if name)
