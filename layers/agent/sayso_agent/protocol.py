"""The parts of a create request that the agent side reads (dify-agent §6, §11, §12).

The request was accepted by the HTTP side already; this reads it again, because what is stored is
the request as it came. Unknown members of the request itself are ignored here (they belong to
others), unknown members inside these parts are refused.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

ExitSignal = Literal["suspend", "delete"]


class Part(BaseModel):
    """Base of the parts: lax as the contract is, closed to unknown members.

    Errors do not echo the input, which may hold credentials.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class RunLayerSpec(Part):
    """One layer of the composition."""

    name: str
    type: str
    deps: dict[str, str] = {}
    metadata: dict[str, Any] = {}
    config: dict[str, Any] | str | None = None


class RunComposition(Part):
    """The layers of a run, in their order."""

    schema_version: int = 1
    layers: list[RunLayerSpec]


class LayerExitSignals(Part):
    """What becomes of each layer when the run ends (§12)."""

    default: ExitSignal = "suspend"
    layers: dict[str, ExitSignal] = {}

    def signal(self, name: str) -> ExitSignal:
        """Return what was asked for a layer, else the default."""
        return self.layers.get(name, self.default)


class LifecycleState(StrEnum):
    """How a layer stands between two runs; ``active`` exists inside a run only."""

    NEW = "new"
    SUSPENDED = "suspended"
    CLOSED = "closed"
    ACTIVE = "active"


class LayerSessionSnapshot(Part):
    """State of one layer."""

    name: str
    lifecycle_state: LifecycleState
    runtime_state: dict[str, Any]

    @field_validator("lifecycle_state")
    @classmethod
    def _is_outside_a_run(cls, value: LifecycleState) -> LifecycleState:
        if value is LifecycleState.ACTIVE:
            message = (
                "LifecycleState.ACTIVE is internal-only and cannot appear in session snapshots."
            )
            raise ValueError(message)
        return value


class CompositorSessionSnapshot(Part):
    """State of all layers, in the order of the composition (§11)."""

    schema_version: int = 1
    layers: list[LayerSessionSnapshot]


class DeferredToolResultsPayload(Part):
    """Results that a resuming request brings (§9.6); a value may be any JSON."""

    calls: dict[str, Any] = {}
    metadata: dict[str, dict[str, Any]] = {}


class RunRequest(BaseModel):
    """What the agent side reads of a create request."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    composition: RunComposition
    session_snapshot: CompositorSessionSnapshot | None = None
    deferred_tool_results: DeferredToolResultsPayload | None = None
    on_exit: LayerExitSignals = Field(default_factory=LayerExitSignals)

    def with_snapshot(self, snapshot: CompositorSessionSnapshot) -> RunRequest:
        """Return the request as it goes on from a pause, whose snapshot replaces what it brought."""
        return self.model_copy(update={"session_snapshot": snapshot, "deferred_tool_results": None})
