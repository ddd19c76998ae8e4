"""The run record and what hangs on it: lease, cancel intent, pause, events.

Field values are what the table stores, in types that say what they are: aware UTC instants,
typed ids, frozen parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sayso.domain.transitions import RunStatus

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sayso.domain.ids import AppId, FormId, PauseId, RunId, TenantId

MAX_TIMEOUT = timedelta(days=366)
"""Longest time for a run or a question (DESIGN §3)."""

Json = Any
"""A JSON value; its shape is somebody else's business."""


class Face(StrEnum):
    """Which of its two faces a run shows (DESIGN decision 2)."""

    PROTOCOL = "protocol"
    MANAGED = "managed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Who may work on a run, and until when."""

    owner: str
    """Random name of the worker's attempt."""
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelIntent:
    """A cancel that was asked for while a worker held the run."""

    reason: str | None
    message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectRef:
    """A write-once object in the bucket."""

    key: str
    digest: str
    """SHA-256 of the uncompressed content, hex; checked on every read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One agent task, from create to its end."""

    id: RunId
    tenant: TenantId
    app: AppId
    face: Face
    status: RunStatus
    created_at: datetime
    updated_at: datetime
    deadline: datetime
    """When a run that still waits or works is expired."""
    base_url: str
    """Base of the links of this run, no trailing slash."""
    title: str = ""
    """What the run is called towards people; of managed runs."""
    asked_by: str = ""
    """Name of the agent towards people."""
    trace_id: str = ""
    invoke_from: str = ""
    """What started it; of managed runs (``invocation``)."""
    acting_user: str = ""
    """Who tries the agent out, as the execution context says; of managed runs."""
    segment: int = 1
    """Number of the current segment, from 1; changes only at a commit."""
    epoch: int = 0
    """Counts the leases; a write of an older epoch is refused."""
    lease: Lease | None = None
    deaths: int = 0
    """Leases that ran out since the last operation was recorded."""
    last_event: int = 0
    audits: int = 0
    questions: int = 0
    """Questions asked so far."""
    mails: int = 0
    """People who were mailed a question so far, each once a question."""
    cancel: CancelIntent | None = None
    pause_id: PauseId | None = None
    snapshot: ObjectRef | None = None
    request: ObjectRef | None = None
    """Where the request lies when it is too large for the table."""
    error: str | None = None
    reason: str | None = None
    error_type: str | None = None
    """``agent_run_limit_exceeded`` when a limit ended the run (dify-agent §13)."""
    active_ms: int = 0
    """How long workers have been at it, all segments together; waiting does not count."""
    refusal: str | None = None
    """Why resuming was refused; the run stays paused."""
    not_before: datetime | None = None
    tells: int = 0
    """How often the sweep has told again what is still untold."""
    due_at: datetime | None = None


_PROTOCOL_STATUS = {
    RunStatus.PAUSED: RunStatus.RUNNING,
    RunStatus.EXPIRED: RunStatus.FAILED,
}


def shown_status(run: Run) -> RunStatus:
    """Return the status that callers are told: of a protocol run the contract's four only."""
    if run.face is Face.PROTOCOL:
        return _PROTOCOL_STATUS.get(run.status, run.status)
    return run.status


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a run did not succeed."""

    error: str | None = None
    """For the caller."""
    reason: str | None = None
    """Machine-readable (dify-agent §13.2)."""
    error_type: str | None = None


NO_FAILURE = Failure()


class PauseReason(StrEnum):
    """Why a run stopped. Open to more without a migration."""

    HUMAN_INPUT_REQUIRED = "human_input_required"
    SCHEDULED_PAUSE = "scheduled_pause"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """One stop of a run."""

    id: PauseId
    reason: PauseReason
    created_at: datetime
    snapshot: ObjectRef | None
    forms: Mapping[str, FormId] = field(default_factory=dict)
    """Tool call id → the form that asks for its result, in the order of the calls."""
    resumed_at: datetime | None = None


class Audience(StrEnum):
    """Which readers of the run API are shown an event."""

    ALL = "all"
    MANAGED = "managed"
    """Only readers that ask with ``Sayso-Events: managed``."""
    WORKFLOW = "workflow"
    """No reader of the run API: what the workflow view needs besides (DESIGN §7.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDraft:
    """An event that is not numbered yet."""

    type: str
    """Wire type of the agent run API (dify-agent §14)."""
    data: Json
    audience: Audience = Audience.ALL
    identity: str | None = None
    """Recognises the event in a replay of its segment; None when its operation does that."""
    created_at: datetime | None = None
    """None: the instant of the write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """One stored event. Its wire id is ``<number>-0``."""

    number: int
    created_at: datetime
    type: str
    data: Json
    audience: Audience = Audience.ALL


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One line of a history: what happened, when, by whom. Never an answer or an address."""

    number: int
    at: datetime
    what: str
    facts: Mapping[str, Json] = field(default_factory=dict)
    previous_digest: str = ""
