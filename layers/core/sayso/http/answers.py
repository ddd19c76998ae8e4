"""Answers of the run API as models (dify-agent §1, §2, §14), for ``openapi.json`` and its tests.

The functions build these answers without models, which costs a reader nothing at start-up. What
they send is compared with these models by the tests that call every route with random requests.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from sayso.http.agent_event_answers import PortableEvent
from sayso.http.schemas import CompositorSessionSnapshot


class Answer(BaseModel):
    """What we say, and nothing else."""

    model_config = ConfigDict(extra="forbid")


class RunAccepted(Answer):
    """A run was stored."""

    run_id: str
    status: Literal["running"]


class RunCancelled(Answer):
    """A run is cancelled, or about to be."""

    run_id: str
    status: Literal["cancelled"]


class RunStatusResponse(Answer):
    """Where a run stands. ``paused`` and ``expired`` are statuses of managed runs only."""

    run_id: str
    status: Literal["running", "paused", "succeeded", "failed", "cancelled", "expired"]
    created_at: AwareDatetime
    updated_at: AwareDatetime
    error: str | None
    error_type: Literal["agent_run_limit_exceeded"] | None = None
    """Only with ``Sayso-Events: r2``."""


class Detail(Answer):
    """Why a request was refused."""

    detail: str


class InvalidEntry(Answer):
    """One mistake in a request."""

    type: str
    loc: list[str | int]
    msg: str
    input: Any
    ctx: dict[str, Any] = {}


class Invalid(Answer):
    """All mistakes in a request, at most 100."""

    detail: list[InvalidEntry]


class DeferredToolCall(Answer):
    """The question that ended a protocol run (§9.6)."""

    tool_call_id: str
    tool_name: str
    args: dict[str, Any]
    metadata: dict[str, Any]


class Usage(Answer):
    """What a run used. Only with ``Sayso-Events: r2``."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    currency: Literal["USD"]
    latency: float
    """Seconds that were worked on the run."""


class Started(Answer):
    """Nothing."""


class Succeeded(Answer):
    """Exactly one of ``output`` and ``deferred_tool_call`` is there."""

    output: Any = None
    deferred_tool_call: DeferredToolCall | None = None
    session_snapshot: CompositorSessionSnapshot
    usage: Usage | None = None


class Failed(Answer):
    """Why the run failed; the last three only with ``Sayso-Events: r2``."""

    error: str
    reason: str | None
    error_type: str | None = None
    session_snapshot: CompositorSessionSnapshot | None = None
    usage: Usage | None = None


class Cancelled(Answer):
    """Why the run was cancelled; the last two only with ``Sayso-Events: r2``."""

    reason: str | None
    message: str | None
    session_snapshot: CompositorSessionSnapshot | None = None
    usage: Usage | None = None


class Question(Answer):
    """A form waits for people; whoever may answer without a mail gets the link."""

    form_id: str
    tool_call_id: str
    question: str
    deadline: AwareDatetime
    form_token: str | None
    form_url: str | None


class PauseReason(Answer):
    """One reason why a managed run waits."""

    TYPE: Literal["human_input_required", "scheduled_pause"]
    form_id: str | None = None
    message: str | None = None


class Paused(Answer):
    """Why a managed run waits."""

    reasons: list[PauseReason]


class _Envelope(Answer):
    id: str
    run_id: str
    created_at: AwareDatetime


class RunStarted(_Envelope):
    """The run exists."""

    type: Literal["run_started"]
    data: Started


class AgentEvent(_Envelope):
    """One event of the agent library in portable form (§14.2); readers may skip it."""

    type: Literal["pydantic_ai_event"]
    data: PortableEvent
    agent_message_delta: str | None = None
    """Only with ``Sayso-Events: r2``."""


class RunSucceeded(_Envelope):
    """The run's end."""

    type: Literal["run_succeeded"]
    data: Succeeded


class RunFailed(_Envelope):
    """The run's end."""

    type: Literal["run_failed"]
    data: Failed


class RunWasCancelled(_Envelope):
    """The run's end."""

    type: Literal["run_cancelled"]
    data: Cancelled


class HumanInputRequired(_Envelope):
    """Only with ``Sayso-Events: managed``."""

    type: Literal["human_input_required"]
    data: Question


class RunPaused(_Envelope):
    """Only with ``Sayso-Events: managed``."""

    type: Literal["run_paused"]
    data: Paused


RunEvent = Annotated[
    RunStarted
    | AgentEvent
    | RunSucceeded
    | RunFailed
    | RunWasCancelled
    | HumanInputRequired
    | RunPaused,
    Field(discriminator="type"),
]


class RunEventsResponse(Answer):
    """One page of events."""

    run_id: str
    events: list[RunEvent]
    next_cursor: str
