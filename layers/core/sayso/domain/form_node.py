"""The ``form`` of a policy: the reference's node data for human input (human-input §3.1 to §3.4).

A border model: imported where a run is created or paused, never by the page. It checks the shape;
whether the form can be answered is for ``node_definition``, which knows the variables. Members that
the reference does not have (``label``, ``required``, bounds, the kinds behind ``file-list``) are ours.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

MAX_CONTENT_CHARS: Final = 50_000
MAX_INPUTS: Final = 50
MAX_ACTIONS: Final = 20
MAX_OPTIONS: Final = 500
TIMEOUT_EDGE: Final = "__timeout"
"""What a decision by nobody is called; no button can be (§3.6)."""

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OLD_NAMES: Final = {
    "actions": "user_actions",
    "resolved_default_values": "default_values",
    "node_title": "title",
}
"""Spellings of earlier releases and stored definitions (§3.2, §3.5)."""

Words = Annotated[str, StringConstraints(max_length=200)]
OptionText = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Options = Annotated[list[OptionText], Field(max_length=MAX_OPTIONS)]
Number = Annotated[int | float, Field(allow_inf_nan=False)]
Method = Literal["local_file", "remote_url"]


def _identifier(value: str) -> str:
    if not _IDENTIFIER.fullmatch(value):
        message = (
            f"'{value}' is not a valid identifier. It must start with a letter or underscore, and"
            " contain only letters, numbers, or underscores."
        )
        raise ValueError(message)
    return value


class Strict(BaseModel):
    """What all parts share: unknown members are refused, values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(Strict):
    """Where a value comes from; both branches are kept, as editors want (§3.2)."""

    type: Literal["variable", "constant"]
    selector: Annotated[list[Words], Field(max_length=11)] = []
    value: Any = ""

    @model_validator(mode="after")
    def _names_a_variable(self) -> Source:
        if self.type == "variable" and len(self.selector) < 2:  # noqa: PLR2004 - node and name
            message = f"the length of selector should be at least 2, selector={self.selector}"
            raise ValueError(message)
        return self


class StringSource(Source):
    """Where a text comes from."""

    value: Annotated[str, StringConstraints(max_length=20_000)] = ""


class OptionsSource(Source):
    """Where the options of a select come from."""

    value: Options = []


class InputNode(Strict):
    """What all inputs have."""

    output_variable_name: Annotated[str, StringConstraints(min_length=1, max_length=30)]
    label: Words = ""
    """Empty: made from the name."""
    help: Annotated[str, StringConstraints(max_length=1_000)] = ""
    required: bool | None = None
    """None: as the reference has it, where the key must be there and a text may be empty."""

    @field_validator("output_variable_name")
    @classmethod
    def _is_identifier(cls, value: str) -> str:
        return _identifier(value)


class TextNode(InputNode):
    """A text of any kind."""

    type: Literal["paragraph", "text", "email", "url"]
    default: StringSource | None = None
    placeholder: Words | None = None
    min_length: Annotated[int, Field(ge=0)] = 0
    max_length: Annotated[int, Field(ge=1)] | None = None
    pattern: str = ""

    @field_validator("default", mode="before")
    @classmethod
    def _text_is_a_constant(cls, value: Any) -> Any:
        return {"type": "constant", "value": value} if isinstance(value, str) else value


class NumberNode(InputNode):
    """A number."""

    type: Literal["number", "integer"]
    default: Source | Number | None = None
    minimum: Number | None = None
    maximum: Number | None = None


class BooleanNode(InputNode):
    """Yes or no."""

    type: Literal["boolean"]
    default: Source | bool | None = None


class DateNode(InputNode):
    """A day."""

    type: Literal["date"]
    default: Source | Words | None = None
    earliest: Words = ""
    latest: Words = ""


class SelectNode(InputNode):
    """One option."""

    type: Literal["select"]
    option_source: OptionsSource
    option_labels: dict[str, Words] = {}
    """Value → what people read; an option without one is its own label."""
    default: OptionText | None = None


class MultiSelectNode(InputNode):
    """Some options."""

    type: Literal["multi-select"]
    option_source: OptionsSource
    option_labels: dict[str, Words] = {}
    default: Options = []
    min_choices: Annotated[int, Field(ge=0)] = 0
    max_choices: Annotated[int, Field(ge=1)] | None = None


class FileNode(InputNode):
    """One file or several."""

    type: Literal["file", "file-list"]
    allowed_file_types: list[Literal["image", "document", "audio", "video", "custom"]] = []
    allowed_file_extensions: Annotated[list[Words], Field(max_length=100)] = []
    allowed_file_upload_methods: list[Method] = []
    """Empty: both."""
    number_limits: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _custom_names_extensions(self) -> FileNode:
        if "custom" in self.allowed_file_types and not self.allowed_file_extensions:
            message = "allowed_file_extensions must not be empty for the file type 'custom'"
            raise ValueError(message)
        return self


AnyInput = Annotated[
    TextNode | NumberNode | BooleanNode | DateNode | SelectNode | MultiSelectNode | FileNode,
    Field(discriminator="type"),
]


class ActionNode(Strict):
    """A button."""

    id: Annotated[str, StringConstraints(min_length=1, max_length=20)]
    title: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    button_style: Literal["primary", "default", "accent", "ghost", "destructive"] = "default"
    required_inputs: Annotated[list[Words], Field(max_length=MAX_INPUTS)] | None = None
    """Names of the inputs that this action needs; None: as the inputs say."""

    @field_validator("id")
    @classmethod
    def _is_identifier(cls, value: str) -> str:
        if value == TIMEOUT_EDGE:
            message = f"'{TIMEOUT_EDGE}' is what a form without an answer ends with"
            raise ValueError(message)
        return _identifier(value)


class FormNode(Strict):
    """Node data of human input, without what the policy itself says (whom, until when)."""

    type: Literal["human-input"] = "human-input"
    title: Words = ""
    form_content: Annotated[str, StringConstraints(max_length=MAX_CONTENT_CHARS)] = ""
    inputs: Annotated[list[AnyInput], Field(max_length=MAX_INPUTS)] = []
    user_actions: Annotated[list[ActionNode], Field(min_length=1, max_length=MAX_ACTIONS)]
    default_values: dict[str, Any] = {}
    """Defaults of inputs that name none themselves."""

    @model_validator(mode="before")
    @classmethod
    def _read_old_spellings(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        read = {_OLD_NAMES.get(name, name): member for name, member in value.items()}
        if len(read) < len(value):
            message = "a member is given under its old and its new name"
            raise ValueError(message)
        if isinstance(read.get("inputs"), list):
            read["inputs"] = [_without_text_input(one) for one in read["inputs"]]
        return read

    @model_validator(mode="after")
    def _names_are_unique(self) -> FormNode:
        names = [one.output_variable_name for one in self.inputs]
        if twice := _repeated(names):
            message = f"duplicated output_variable_name '{twice}' in inputs"
            raise ValueError(message)
        if twice := _repeated([one.id for one in self.user_actions]):
            message = f"duplicated user action id '{twice}'"
            raise ValueError(message)
        return self


def _without_text_input(value: Any) -> Any:
    if isinstance(value, dict) and value.get("type") in {"text_input", "text-input"}:
        return value | {"type": "paragraph"}
    return value


def _repeated(names: list[str]) -> str | None:
    return next((name for number, name in enumerate(names) if name in names[:number]), None)
