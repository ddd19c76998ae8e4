"""Events of the agent in the form that clients of every version read (dify-agent §14.2)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Portable(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TextPart(_Portable):
    """What the model says or thinks."""

    part_kind: Literal["text", "thinking"]
    content: str


class ToolCallPart(_Portable):
    """A tool that the model calls."""

    part_kind: Literal["tool-call"]
    tool_name: str
    args: str | dict[str, Any] | None
    tool_call_id: str


class ToolReturnPart(_Portable):
    """What the tool said; its content may be any JSON."""

    part_kind: Literal["tool-return"]
    tool_name: str
    content: Any
    tool_call_id: str
    outcome: Literal["success", "failed"]


class TextDelta(_Portable):
    """More of a text."""

    part_delta_kind: Literal["text", "thinking"]
    content_delta: str


class ToolCallDelta(_Portable):
    """More of a call."""

    part_delta_kind: Literal["tool_call"]
    args_delta: str | dict[str, Any]
    tool_call_id: str | None


class PartEvent(_Portable):
    """A part begins or ends."""

    event_kind: Literal["part_start", "part_end"]
    index: int
    part: Annotated[TextPart | ToolCallPart, Field(discriminator="part_kind")]


class DeltaEvent(_Portable):
    """A part grows."""

    event_kind: Literal["part_delta"]
    index: int
    delta: Annotated[TextDelta | ToolCallDelta, Field(discriminator="part_delta_kind")]


class FinalResultEvent(_Portable):
    """The model is about to give its result."""

    event_kind: Literal["final_result"]
    tool_name: str | None
    tool_call_id: str | None


class FunctionToolCallEvent(_Portable):
    """A tool is called."""

    event_kind: Literal["function_tool_call"]
    part: ToolCallPart
    args_valid: bool | None = None


class FunctionToolResultEvent(_Portable):
    """A tool has answered."""

    event_kind: Literal["function_tool_result"]
    part: ToolReturnPart


PortableEvent = Annotated[
    PartEvent | DeltaEvent | FinalResultEvent | FunctionToolCallEvent | FunctionToolResultEvent,
    Field(discriminator="event_kind"),
]
