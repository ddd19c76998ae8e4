"""Wire models of the run API (dify-agent §6, §11): both revisions, extras forbidden, lax numbers.

Only the shape is checked here; what the composition means is found out by the run itself (§1.1).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import pydantic
from pydantic import BaseModel, ConfigDict, StringConstraints, field_validator

from sayso.domain.policy import HumanInputPolicy
from sayso.domain.requests import METADATA_POLICY
from sayso.http.invalid import Entry, InvalidRequestError, entry_of

if TYPE_CHECKING:
    from collections.abc import Sequence

Model = TypeVar("Model", bound=BaseModel)

Note = Annotated[str, StringConstraints(max_length=10_000)]
"""Stored in the run record, which holds 400 KB (DynamoDB limit)."""


class _Wire(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RunLayerSpec(_Wire):
    """One layer of a composition. ``config`` is its layer's business."""

    name: str
    type: str
    deps: dict[str, str] = {}
    metadata: dict[str, Any] = {}
    config: Any = None


class RunComposition(_Wire):
    """The layers of a run; another version than 1 fails the run, not the request (§6)."""

    schema_version: int = 1
    layers: list[RunLayerSpec]


class LifecycleState(StrEnum):
    """State of a layer in a snapshot."""

    NEW = "new"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    CLOSED = "closed"


class LayerSessionSnapshot(_Wire):
    """State of one layer."""

    name: str
    lifecycle_state: LifecycleState
    runtime_state: dict[str, Any]

    @field_validator("lifecycle_state")
    @classmethod
    def _is_not_active(cls, value: LifecycleState) -> LifecycleState:
        if value is LifecycleState.ACTIVE:
            message = (
                "LifecycleState.ACTIVE is internal-only and cannot appear in session snapshots."
            )
            raise ValueError(message)
        return value


class CompositorSessionSnapshot(_Wire):
    """The state that a caller brings back (§11)."""

    schema_version: int = 1
    layers: list[LayerSessionSnapshot]


class DeferredToolResultsPayload(_Wire):
    """Answers to the questions that ended the run before (§9.6)."""

    calls: dict[str, Any] = {}
    metadata: dict[str, dict[str, Any]] = {}


ExitIntent = Literal["suspend", "delete"]


class LayerExitSignals(_Wire):
    """What becomes of each layer at the end of the run (§12)."""

    default: ExitIntent = "suspend"
    layers: dict[str, ExitIntent] = {}


class CreateRunRequest(_Wire):
    """Body of ``POST /runs``."""

    composition: RunComposition
    purpose: Literal["workflow_node", "single_step", "agent_app", "babysit", "fasten_preview"] = (
        "workflow_node"
    )
    """R1 only; accepted and ignored."""
    idempotency_key: str | None = None
    metadata: dict[str, Any] = {}
    session_snapshot: CompositorSessionSnapshot | None = None
    deferred_tool_results: DeferredToolResultsPayload | None = None
    on_exit: LayerExitSignals = LayerExitSignals()
    human_input: HumanInputPolicy | None = None
    """Our own member: with it the run is a managed one (DESIGN §7)."""

    @property
    def carried_policy(self) -> Any:
        """What ``metadata`` carries for an unmodified client, None when nothing."""
        return self.metadata.get(METADATA_POLICY)


class CancelRunRequest(_Wire):
    """Body of ``POST /runs/{run_id}/cancel``."""

    reason: Note | None = None
    message: Note | None = None


def parse_create_run(value: Any) -> CreateRunRequest:
    """Return the create request of a body.

    Raises:
        InvalidRequestError: Its shape, or that of the policy it carries, does not fit.
    """
    request = parse(CreateRunRequest, value, ["body"])
    if request.carried_policy is not None:
        parse(HumanInputPolicy, request.carried_policy, ["body", "metadata", METADATA_POLICY])
    return request


def parse(model: type[Model], value: Any, loc: Sequence[str | int]) -> Model:
    """Return the model of a JSON value.

    Raises:
        InvalidRequestError: With entries whose place starts with ``loc``.
    """
    try:
        return model.model_validate(value)
    except pydantic.ValidationError as error:
        found = error.errors(include_url=False)
        raise InvalidRequestError([_entry(one, loc) for one in found]) from None


def _entry(found: Any, loc: Sequence[str | int]) -> Entry:
    context = found.get("ctx", {})
    if "error" in context:  # an exception; FastAPI shows it so, its text is in the message
        context = {**context, "error": {}}
    return entry_of(found["type"], [*loc, *found["loc"]], found["msg"], found["input"], **context)
