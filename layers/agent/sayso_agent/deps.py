"""What tools and validators find in ``ctx.deps``: who runs, with which variables and limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import ModelResponse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_ai import RunContext


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLimits:
    """How many questions a managed run may still ask."""

    in_one_turn: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDeps:
    """Facts about the run. Ids of an execution context are for tools, never for access."""

    run_id: str
    tenant: str
    app: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    execution_context: Mapping[str, Any] | None = None
    questions: QuestionLimits | None = None
    """None in a protocol run, which ends with its one question."""


def idempotency_key(ctx: RunContext[RunDeps]) -> str:
    """Return the key a tool hands on, so that a repeated call takes effect once.

    It is ``<run id>:<tool call id>``, the same in every attempt. Some models use the same call
    ids in every turn; from the second use on the key says which use it is.

    Raises:
        ValueError: When not called from a tool call.
    """
    if ctx.tool_call_id is None:
        message = "an idempotency key exists inside a tool call only"
        raise ValueError(message)
    uses = sum(
        call.tool_call_id == ctx.tool_call_id
        for message in ctx.messages
        if isinstance(message, ModelResponse)
        for call in message.tool_calls
    )
    suffix = f"#{uses}" if uses > 1 else ""
    return f"{ctx.deps.run_id}:{ctx.tool_call_id}{suffix}"
