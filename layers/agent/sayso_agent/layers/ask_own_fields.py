"""Kinds of fields that the reference does not have; offered to the model only where a config lists them.

A tool without them has exactly the contract's schema (dify-agent §9.3). Bounds are checked by the
rules of the core, whose words the model reads when it has to try again.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args

from pydantic import Field, create_model, model_validator

from sayso.domain.asking import input_of
from sayso.domain.field_bounds import checked
from sayso.domain.field_checks import Refused, check_value
from sayso_agent.layers.ask_arguments import (
    AskHumanField,
    AskHumanToolArgs,
    BaseField,
    SelectOption,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

OwnFieldType = Literal[
    "text", "number", "integer", "boolean", "date", "multi-select", "email", "url"
]
OWN_FIELD_TYPES: Final = frozenset(get_args(OwnFieldType))


class _OwnField(BaseField):
    help: str = ""

    @model_validator(mode="after")
    def _can_be_answered(self) -> _OwnField:
        members = self.model_dump(mode="json")
        field = checked(input_of(members))
        default = members.get("default")
        if default not in (None, []):
            try:
                check_value(field, default, {})
            except Refused as refused:
                message = f"default of field '{self.name}': {refused.issue.message}"
                raise ValueError(message) from None
        return self


class TextField(_OwnField):
    """A text on one line, an address of a person, or one of the web."""

    type: Literal["text", "email", "url"]
    placeholder: str | None = None
    default: str | None = None
    min_chars: Annotated[int, Field(ge=0)] = 0
    max_chars: Annotated[int, Field(ge=1)] | None = None
    pattern: str = ""


class NumberField(_OwnField):
    """A number."""

    type: Literal["number", "integer"]
    default: Annotated[int | float, Field(allow_inf_nan=False)] | None = None
    minimum: Annotated[int | float, Field(allow_inf_nan=False)] | None = None
    maximum: Annotated[int | float, Field(allow_inf_nan=False)] | None = None


class BooleanField(_OwnField):
    """Yes or no."""

    type: Literal["boolean"]
    default: bool | None = None


class DateField(_OwnField):
    """A day, such as 2026-12-31."""

    type: Literal["date"]
    default: str | None = None
    earliest: str = ""
    latest: str = ""


class MultiSelectField(_OwnField):
    """Some of several options."""

    type: Literal["multi-select"]
    options: list[SelectOption] = Field(default_factory=list)
    default: list[str] = Field(default_factory=list)
    min_choices: Annotated[int, Field(ge=0)] = 0
    max_choices: Annotated[int, Field(ge=1)] | None = None


AnyField = Annotated[
    AskHumanField | TextField | NumberField | BooleanField | DateField | MultiSelectField,
    Field(discriminator="type"),
]


def arguments_for(types: Sequence[str]) -> type[AskHumanToolArgs]:
    """Return the model of the tool's arguments for the kinds of fields that a config allows."""
    return _extended() if OWN_FIELD_TYPES.intersection(types) else AskHumanToolArgs


@cache
def _extended() -> type[AskHumanToolArgs]:
    fields: Any = (list[AnyField], Field(default_factory=list))
    return create_model("AskHumanToolArgs", __base__=AskHumanToolArgs, fields=fields)
