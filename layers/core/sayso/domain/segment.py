"""What a worker is given for one segment, what it brings back, and how it is stopped.

The agent layer implements the work, the core the journal; this module is all they share.
Stop signals derive from ``BaseException``: an ``Exception`` would be offered to the hooks of
the agent library, which may turn it into the result of a tool (research/journal §5.1).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sayso.domain.ids import AppId, RunId, TenantId
    from sayso.domain.run import EventDraft, Face

JOURNAL_VERSION = 1
"""Format of the operation records; another one in a record stops the run with a readable error."""

MAX_EVENTS_OF_OPERATION = 90
"""Events that may come with a result: one transaction holds 100 items (DynamoDB limit)."""
MAX_EVENTS_OF_END = 40
"""Events that may come with the end of a segment, whose transaction also holds its forms."""


class OperationKind(StrEnum):
    """What an operation is."""

    MODEL = "model"
    TOOL = "tool"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One model or tool call of a segment, as it is asked for."""

    kind: OperationKind
    name: str
    """Stored name, given by the agent library."""
    tool_call_id: str
    """``-`` for what is no tool call."""
    occurrence: int
    """How often name and call id came before in this segment, plus one."""
    digest: str
    """Of the arguments; guards against a replay by other code."""

    @property
    def key(self) -> str:
        """Identity within the segment."""
        return f"{self.name}#{self.tool_call_id}#{self.occurrence}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRecord:
    """What the journal holds of one operation."""

    operation: Operation
    starts: int
    """How often the body of a tool call was started."""
    outcome: Any | None
    """JSON of the result; None while there is none."""
    shown: tuple[str, ...] = ()
    """Identities of the events that were written with it."""
    version: int = JOURNAL_VERSION

    @property
    def is_finished(self) -> bool:
        """Whether the result is recorded."""
        return self.outcome is not None


class SegmentStop(BaseException):
    """Stops the work of this worker without harming the run."""


class LeaseLost(SegmentStop):
    """Another worker has the run, or it ended: write nothing more."""


class CancelSeen(SegmentStop):
    """A cancel intent is stored: stop and write the end."""


class SliceEnded(SegmentStop):
    """Time is short: another invocation goes on with this segment."""


class RunDeadlinePassed(SegmentStop):
    """The run's deadline came while a worker was at it: it expires."""


class ActiveTimeOver(SegmentStop):
    """Workers have been at the run for as long as they may: it fails (dify-agent §13)."""


class JournalUnavailable(SegmentStop):
    """A write failed for now: let the message come again."""


class JournalMismatch(SegmentStop):
    """The recorded operation is not the one asked for: the run fails, readably."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the run has used so far, all segments together."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    tool_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What an agent that was stopped leaves behind, for readers of its end."""

    session_snapshot: Mapping[str, Any] | None = None
    usage: Usage | None = None


NOTHING_LEFT = Left()


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentWork:
    """All that the agent side needs for one segment."""

    run_id: RunId
    tenant: TenantId
    app: AppId
    face: Face
    segment: int
    request: Mapping[str, Any]
    """The create request as it came, credentials put back in their places."""
    request_digest: str = ""
    """SHA-256 of the stored request, hex; a snapshot names the one it belongs to."""
    snapshot: bytes | None = None
    """The snapshot document of the pause before, None in the first segment."""
    answers: Mapping[str, Any] | None = None
    """Tool call id → result, of every question of the pause; None in the first segment."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    max_questions: int = 10
    """Questions the model may ask in one turn of a managed run."""
    questions_left: int = 20
    """Questions this run may still ask."""
    remaining_seconds: Callable[[], float] = lambda: float("inf")
    """Time until the platform stops this worker."""
    leave: Callable[[Left], None] = lambda _: None
    """Takes what an agent leaves behind when it is stopped from outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One deferred tool call for a person."""

    tool_call_id: str
    tool_name: str
    args: Mapping[str, Any]
    """Normalised ``AskHumanToolArgs`` (dify-agent §9.3)."""
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The agent gave its output."""

    output: Any
    session_snapshot: Mapping[str, Any]
    usage: Usage = Usage()
    events: Sequence[EventDraft] = ()
    kind: Literal["finished"] = "finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The agent waits for people; in a protocol run that ends the run."""

    questions: Sequence[Question]
    snapshot: bytes
    """Document to go on from; empty in a protocol run."""
    session_snapshot: Mapping[str, Any]
    usage: Usage = Usage()
    events: Sequence[EventDraft] = ()
    kind: Literal["asked"] = "asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The run cannot go on; the text goes to the caller."""

    error: str
    reason: str | None = None
    error_type: str | None = None
    session_snapshot: Mapping[str, Any] | None = None
    usage: Usage | None = None
    events: Sequence[EventDraft] = ()
    kind: Literal["failed"] = "failed"


SegmentResult = Finished | Asked | Failed
