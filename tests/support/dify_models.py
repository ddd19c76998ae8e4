"""What the run API's clients take: their models of both revisions, extras forbidden (dify-agent §14).

A model of a client, written from the contract alone: none of it is shared with the code under test.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

Revision = Literal["r1", "r2"]
STATUS = Literal["running", "succeeded", "failed", "cancelled"]


class Strict(BaseModel):
    """Every model of the clients refuses members that it does not know."""

    model_config = ConfigDict(extra="forbid")


class CreateRunResponse(Strict):
    """Answer to ``POST /runs``."""

    run_id: str
    status: Literal["running"]


class CancelRunResponse(Strict):
    """Answer to a cancel."""

    run_id: str
    status: Literal["cancelled"]


class RunStatusResponse(Strict):
    """Answer to ``GET /runs/{run_id}``."""

    run_id: str
    status: STATUS
    created_at: datetime
    updated_at: datetime
    error: str | None = None


class RunStatusResponseR2(RunStatusResponse):
    """With what revision 2 added."""

    error_type: Literal["agent_run_limit_exceeded"] | None = None


class LayerSnapshot(Strict):
    """State of a layer (§11)."""

    name: str
    lifecycle_state: Literal["new", "suspended", "closed"]
    runtime_state: dict[str, Any]


class SessionSnapshot(Strict):
    """What a caller brings back (§11)."""

    schema_version: int = 1
    layers: list[LayerSnapshot]


class DeferredToolCall(Strict):
    """The question that ended a run (§9.6)."""

    tool_call_id: str
    tool_name: str
    args: dict[str, Any]
    metadata: dict[str, Any] = {}


class Usage(Strict):
    """Tokens, prices and times of revision 2 (§14)."""

    prompt_tokens: int = 0
    prompt_unit_price: str = "0"
    prompt_price_unit: str = "0"
    prompt_price: str = "0"
    completion_tokens: int = 0
    completion_unit_price: str = "0"
    completion_price_unit: str = "0"
    completion_price: str = "0"
    total_tokens: int = 0
    total_price: str = "0"
    currency: str = "USD"
    latency: float = 0.0
    time_to_first_token: float | None = None
    time_to_generate: float | None = None


class Nothing(Strict):
    """``{}``."""


class Succeeded(Strict):
    """Data of ``run_succeeded``."""

    output: Any = None
    deferred_tool_call: DeferredToolCall | None = None
    session_snapshot: SessionSnapshot

    @model_validator(mode="after")
    def _has_one_outcome(self) -> Succeeded:
        if len({"output", "deferred_tool_call"} & self.model_fields_set) != 1:
            message = "Exactly one of output or deferred_tool_call must be set"
            raise ValueError(message)
        return self


class SucceededR2(Succeeded):
    """With what revision 2 added."""

    usage: Usage | None = None


class Failed(Strict):
    """Data of ``run_failed``."""

    error: str
    reason: str | None = None


class FailedR2(Failed):
    """With what revision 2 added."""

    error_type: Literal["agent_run_limit_exceeded"] | None = None
    session_snapshot: SessionSnapshot | None = None
    usage: Usage | None = None


class Cancelled(Strict):
    """Data of ``run_cancelled``."""

    reason: str | None = None
    message: str | None = None


class CancelledR2(Cancelled):
    """With what revision 2 added."""

    session_snapshot: SessionSnapshot | None = None
    usage: Usage | None = None


class TextPart(Strict):
    """Text or thinking of the model."""

    part_kind: Literal["text", "thinking"]
    content: str


class ToolCallPart(Strict):
    """A call of a tool."""

    part_kind: Literal["tool-call"]
    tool_name: str
    args: str | dict[str, Any] | None
    tool_call_id: str


class ToolReturnPart(Strict):
    """The result of a tool, in the form that all installs read (§14.2)."""

    part_kind: Literal["tool-return"]
    tool_name: str
    content: Any
    tool_call_id: str
    outcome: Literal["success", "failed"]


Part = Annotated[TextPart | ToolCallPart, Field(discriminator="part_kind")]


class TextDelta(Strict):
    """More text or thinking."""

    part_delta_kind: Literal["text", "thinking"]
    content_delta: str


class ToolCallDelta(Strict):
    """More of a call."""

    part_delta_kind: Literal["tool_call"]
    args_delta: str | dict[str, Any]
    tool_call_id: str | None


class PartEvent(Strict):
    """A part begins or ends."""

    event_kind: Literal["part_start", "part_end"]
    index: int
    part: Part


class DeltaEvent(Strict):
    """A part grows."""

    event_kind: Literal["part_delta"]
    index: int
    delta: Annotated[TextDelta | ToolCallDelta, Field(discriminator="part_delta_kind")]


class FinalResultEvent(Strict):
    """The model is about to give its result."""

    event_kind: Literal["final_result"]
    tool_name: str | None
    tool_call_id: str | None


class FunctionToolCallEvent(Strict):
    """A tool is called."""

    event_kind: Literal["function_tool_call"]
    part: ToolCallPart
    args_valid: bool | None = None


class FunctionToolResultEvent(Strict):
    """A tool has answered."""

    event_kind: Literal["function_tool_result"]
    part: ToolReturnPart


AgentEvent = Annotated[
    PartEvent | DeltaEvent | FinalResultEvent | FunctionToolCallEvent | FunctionToolResultEvent,
    Field(discriminator="event_kind"),
]

_DATA: dict[Revision, dict[str, TypeAdapter[Any]]] = {
    "r1": {
        "run_started": TypeAdapter(Nothing),
        "pydantic_ai_event": TypeAdapter(AgentEvent),
        "run_succeeded": TypeAdapter(Succeeded),
        "run_failed": TypeAdapter(Failed),
        "run_cancelled": TypeAdapter(Cancelled),
    },
    "r2": {
        "run_started": TypeAdapter(Nothing),
        "pydantic_ai_event": TypeAdapter(AgentEvent),
        "run_succeeded": TypeAdapter(SucceededR2),
        "run_failed": TypeAdapter(FailedR2),
        "run_cancelled": TypeAdapter(CancelledR2),
    },
}


class RunEvent(Strict):
    """The envelope of an event (§14); ``data`` is checked by its type."""

    id: str | None = None
    run_id: str
    created_at: datetime
    type: str
    data: Any = None
    agent_message_delta: str | None = None


def read_event(value: dict[str, Any], revision: Revision) -> RunEvent:
    """Return an event as a client of that revision reads it.

    Raises:
        ValueError: The client would refuse it.
    """
    event = RunEvent.model_validate(value)
    if "agent_message_delta" in event.model_fields_set and (
        revision == "r1" or event.type != "pydantic_ai_event"
    ):
        message = f"agent_message_delta is not known in {event.type!r} of {revision}"
        raise ValueError(message)
    if event.type not in _DATA[revision]:
        message = f"the event type {event.type!r} is not known"
        raise ValueError(message)
    _DATA[revision][event.type].validate_python(value.get("data", {}))
    return event


class RunEventsResponse(Strict):
    """Answer to ``GET /runs/{run_id}/events``."""

    run_id: str
    events: list[dict[str, Any]]
    next_cursor: str | None
