"""Arguments and result of the ask-human tool (dify-agent §9.3, §9.7).

The texts of the checks are part of the contract: the model reads them when it has to try again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from sayso_agent.layers.base import LayerModel

if TYPE_CHECKING:
    from collections.abc import Iterable

FieldType = Literal["paragraph", "select", "file", "file-list"]

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

_Text = Annotated[str, Field(min_length=1)]


def is_identifier(value: str) -> bool:
    """Tell whether a name is an ASCII identifier, as the contract's names must be."""
    return _IDENTIFIER.fullmatch(value) is not None


class SelectOption(LayerModel):
    """One choice of a select."""

    value: _Text
    label: _Text

    @field_validator("value")
    @classmethod
    def _value_says_something(cls, value: str) -> str:
        return _not_blank(value, "select option value")

    @field_validator("label")
    @classmethod
    def _label_says_something(cls, value: str) -> str:
        return _not_blank(value, "select option label")


class _Field(LayerModel):
    name: _Text
    label: _Text
    required: bool = False

    @field_validator("name")
    @classmethod
    def _name_is_identifier(cls, value: str) -> str:
        return _identifier(value, "field name")

    @field_validator("label")
    @classmethod
    def _label_says_something(cls, value: str) -> str:
        return _not_blank(value, "field label")


class ParagraphField(_Field):
    """Free text."""

    type: Literal["paragraph"]
    placeholder: str | None = None
    default: str | None = None


class SelectField(_Field):
    """One of several options."""

    type: Literal["select"]
    options: list[SelectOption] = Field(default_factory=list)
    default: str | None = None

    @model_validator(mode="after")
    def _options_fit(self) -> SelectField:
        if not self.options:
            message = "select fields must define at least one option"
            raise ValueError(message)
        values = [option.value for option in self.options]
        if (twice := _first_repeated(values)) is not None:
            message = f"select field '{self.name}' contains duplicate option value '{twice}'"
            raise ValueError(message)
        if self.default is not None and self.default not in values:
            message = f"select field '{self.name}' default must match one of its option values"
            raise ValueError(message)
        return self


class FileField(_Field):
    """One file."""

    type: Literal["file"]


class FileListField(_Field):
    """Several files."""

    type: Literal["file-list"]
    max_files: Annotated[int, Field(ge=1)] | None = None


AskHumanField = Annotated[
    ParagraphField | SelectField | FileField | FileListField, Field(discriminator="type")
]


class AskHumanAction(LayerModel):
    """A button."""

    id: _Text
    label: _Text
    style: Literal["default", "primary", "destructive"] = "default"

    @field_validator("id")
    @classmethod
    def _id_is_identifier(cls, value: str) -> str:
        return _identifier(value, "action id")

    @field_validator("label")
    @classmethod
    def _label_says_something(cls, value: str) -> str:
        return _not_blank(value, "action label")


class AskHumanToolArgs(LayerModel):
    """What the model may ask."""

    title: str | None = None
    question: _Text
    markdown: str | None = None
    fields: list[AskHumanField] = Field(default_factory=list)
    actions: list[AskHumanAction] = Field(default_factory=list)
    urgency: Literal["normal", "high"] = "normal"

    @field_validator("title")
    @classmethod
    def _title_says_something(cls, value: str | None) -> str | None:
        return value if value is None else _not_blank(value, "title")

    @field_validator("question")
    @classmethod
    def _question_says_something(cls, value: str) -> str:
        return _not_blank(value, "question")

    @model_validator(mode="after")
    def _names_are_unique(self) -> AskHumanToolArgs:
        if (name := _first_repeated(field.name for field in self.fields)) is not None:
            message = f"field name '{name}' must be unique"
            raise ValueError(message)
        if (action := _first_repeated(action.id for action in self.actions)) is not None:
            message = f"action id '{action}' must be unique"
            raise ValueError(message)
        return self


class SelectedAction(LayerModel):
    """The button a person pressed."""

    id: _Text
    label: _Text

    @field_validator("id")
    @classmethod
    def _id_is_identifier(cls, value: str) -> str:
        return _identifier(value, "selected action id")

    @field_validator("label")
    @classmethod
    def _label_says_something(cls, value: str) -> str:
        return _not_blank(value, "selected action label")


class AskHumanToolResult(LayerModel):
    """What the model reads of the answer. Protocol runs pass any value on unchecked (§9.6)."""

    status: Literal["submitted", "timeout", "cancelled", "unavailable"]
    action: SelectedAction | None = None
    values: dict[str, Any] = Field(default_factory=dict)
    message: str | None = None
    rendered_content: str | None = None


def _not_blank(value: str, what: str) -> str:
    if not value.strip():
        message = f"{what} must not be blank"
        raise ValueError(message)
    return value


def _identifier(value: str, what: str) -> str:
    if not is_identifier(value):
        message = f"{what} must be a valid identifier"
        raise ValueError(message)
    return value


def _first_repeated(values: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None
