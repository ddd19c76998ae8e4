"""Arguments of the ask-human tool (dify-agent §9.3).

The texts of the checks are part of the contract: the model reads them when it has to try again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from sayso_agent.layers.base import LayerModel

if TYPE_CHECKING:
    from collections.abc import Iterable

FieldType = Literal["paragraph", "select", "file", "file-list"]

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_identifier(value: str) -> bool:
    """Tell whether a name is an ASCII identifier, as the contract's names must be."""
    return _IDENTIFIER.fullmatch(value) is not None


def _identifier(what: str) -> AfterValidator:
    def check(value: str) -> str:
        if not is_identifier(value):
            message = f"{what} must be a valid identifier"
            raise ValueError(message)
        return value

    return AfterValidator(check)


def _not_blank(what: str) -> AfterValidator:
    def check(value: str) -> str:
        if not value.strip():
            message = f"{what} must not be blank"
            raise ValueError(message)
        return value

    return AfterValidator(check)


_Text = Annotated[str, Field(min_length=1)]


class SelectOption(LayerModel):
    """One choice of a select."""

    value: Annotated[_Text, _not_blank("select option value")]
    label: Annotated[_Text, _not_blank("select option label")]


class BaseField(LayerModel):
    """What all fields have."""

    name: Annotated[_Text, _identifier("field name")]
    label: Annotated[_Text, _not_blank("field label")]
    required: bool = False


class ParagraphField(BaseField):
    """Free text."""

    type: Literal["paragraph"]
    placeholder: str | None = None
    default: str | None = None


class SelectField(BaseField):
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


class FileField(BaseField):
    """One file."""

    type: Literal["file"]


class FileListField(BaseField):
    """Several files."""

    type: Literal["file-list"]
    max_files: Annotated[int, Field(ge=1)] | None = None


AskHumanField = Annotated[
    ParagraphField | SelectField | FileField | FileListField, Field(discriminator="type")
]


class AskHumanAction(LayerModel):
    """A button."""

    id: Annotated[_Text, _identifier("action id")]
    label: Annotated[_Text, _not_blank("action label")]
    style: Literal["default", "primary", "destructive"] = "default"


class AskHumanToolArgs(LayerModel):
    """What the model may ask."""

    title: Annotated[str, _not_blank("title")] | None = None
    question: Annotated[_Text, _not_blank("question")]
    markdown: str | None = None
    fields: list[AskHumanField] = Field(default_factory=list)
    actions: list[AskHumanAction] = Field(default_factory=list)
    urgency: Literal["normal", "high"] = "normal"

    @model_validator(mode="after")
    def _names_are_unique(self) -> AskHumanToolArgs:
        if (name := _first_repeated(field.name for field in self.fields)) is not None:
            message = f"field name '{name}' must be unique"
            raise ValueError(message)
        if (action := _first_repeated(action.id for action in self.actions)) is not None:
            message = f"action id '{action}' must be unique"
            raise ValueError(message)
        return self


def _first_repeated(values: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None
