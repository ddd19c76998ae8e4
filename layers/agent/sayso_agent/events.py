"""Turns the agent library's stream events into the portable form of the run API.

Clients refuse members they do not know, each version others, so only what all of them know is
sent and the rest is dropped, which is always legal (dify-agent §14.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic_ai.messages import (
    FinalResultEvent,
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
)
from pydantic_core import to_jsonable_python

from sayso.domain.run import EventDraft

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_ai.messages import AgentStreamEvent

EVENT_TYPE: Final = "pydantic_ai_event"


def model_event(event: AgentStreamEvent) -> EventDraft | None:
    """Return an event of a model call, None for one that clients would not understand."""
    data: dict[str, Any] | None
    match event:
        case PartStartEvent(index=index, part=part) | PartEndEvent(index=index, part=part):
            shown = _part(part)
            data = shown and {"index": index, "part": shown, "event_kind": event.event_kind}
        case PartDeltaEvent(index=index, delta=delta):
            shown = _delta(delta)
            data = shown and {"index": index, "delta": shown, "event_kind": event.event_kind}
        case FinalResultEvent(tool_name=tool_name, tool_call_id=tool_call_id):
            data = {
                "tool_name": tool_name,
                "tool_call_id": tool_call_id,
                "event_kind": event.event_kind,
            }
        case _:
            data = None
    return EventDraft(type=EVENT_TYPE, data=data) if data else None


def tool_event(
    event: AgentStreamEvent, run_step: int, occurrence: Callable[[str], int]
) -> EventDraft | None:
    """Return an event of a tool call, None for one that clients would not understand.

    The library repeats these in every attempt; the identity recognises them.

    Args:
        event: The library's event.
        run_step: Number of the model turn within the segment.
        occurrence: Counts how often a name came up in this attempt.
    """
    match event:
        case FunctionToolCallEvent(part=part):
            data = {"part": _part(part), "args_valid": event.args_valid}
        case FunctionToolResultEvent(part=ToolReturnPart() as part):
            data = {"part": _tool_return(part)}
        case _:
            return None
    name = f"{run_step}.{event.event_kind}.{part.tool_call_id}"
    return EventDraft(
        type=EVENT_TYPE,
        data={**data, "event_kind": event.event_kind},
        identity=f"{name}.{occurrence(name)}",
    )


def _part(part: object) -> dict[str, Any] | None:
    match part:
        case TextPart(content=content):
            return {"part_kind": "text", "content": content}
        case ThinkingPart(content=content):
            return {"part_kind": "thinking", "content": content}
        case ToolCallPart():
            return {
                "part_kind": "tool-call",
                "tool_name": part.tool_name,
                "args": part.args,
                "tool_call_id": part.tool_call_id,
            }
        case _:
            return None


def _tool_return(part: ToolReturnPart[Any]) -> dict[str, Any]:
    return {
        "part_kind": "tool-return",
        "tool_name": part.tool_name,
        "content": to_jsonable_python(part.content, fallback=repr),
        "tool_call_id": part.tool_call_id,
        "outcome": "success" if part.outcome == "success" else "failed",
    }


def _delta(delta: object) -> dict[str, Any] | None:
    match delta:
        case TextPartDelta(content_delta=text):
            return {"part_delta_kind": "text", "content_delta": text}
        case ThinkingPartDelta(content_delta=str() as text):
            return {"part_delta_kind": "thinking", "content_delta": text}
        case ToolCallPartDelta(args_delta=arguments) if arguments is not None:
            return {
                "part_delta_kind": "tool_call",
                "args_delta": arguments,
                "tool_call_id": delta.tool_call_id,
            }
        case _:
            return None
