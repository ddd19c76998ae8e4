"""Stored runs and events as the run API shows them: one builder for polling, SSE and replay.

By default the safe profile of dify-agent §14.3: no member that the oldest client does not know.
A reader widens it by the header ``Sayso-Events``: ``r2`` shows the extras of the second revision,
``managed`` the events and states of runs that wait for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sayso.domain.run import Audience, shown_status
from sayso.http.cursors import event_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from sayso.domain.run import Run, RunEvent

HEADER: Final = "sayso-events"

TERMINAL: Final = frozenset({"run_succeeded", "run_failed", "run_cancelled"})
QUESTION: Final = "human_input_required"
PAUSED: Final = "run_paused"

_R2_MEMBERS: Final[Mapping[str, frozenset[str]]] = {
    "run_succeeded": frozenset({"usage"}),
    "run_failed": frozenset({"error_type", "session_snapshot", "usage"}),
    "run_cancelled": frozenset({"session_snapshot", "usage"}),
}
"""Members that only clients of the second revision know (§14)."""

_DELTA: Final = {"part_start": ("part", "content"), "part_delta": ("delta", "content_delta")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What one reader wants to see."""

    r2: bool = False
    managed: bool = False

    @property
    def audiences(self) -> frozenset[Audience]:
        """Whose events are shown."""
        return frozenset({Audience.ALL, Audience.MANAGED} if self.managed else {Audience.ALL})


def profile_of(wanted: frozenset[str]) -> Profile:
    """Return the profile for the items of ``Sayso-Events``; unknown ones mean nothing."""
    return Profile(r2="r2" in wanted, managed="managed" in wanted)


def wire_instant(instant: datetime) -> str:
    """Return an instant as upstream writes it: UTC, microseconds, ``Z`` (§1)."""
    return instant.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def wire_status(run: Run) -> str:
    """Return the status that readers of this run are shown."""
    return shown_status(run).value


def wire_run(run: Run, profile: Profile) -> dict[str, Any]:
    """Return a run: exactly five members, and ``error_type`` to who asks for it (§1, §14.3)."""
    extras = {"error_type": run.error_type} if profile.r2 else {}
    return {
        "run_id": run.id,
        "status": wire_status(run),
        "created_at": wire_instant(run.created_at),
        "updated_at": wire_instant(run.updated_at),
        "error": run.error,
        **extras,
    }


def wire_event(
    event: RunEvent,
    run: Run,
    profile: Profile,
    show_question: Callable[[Mapping[str, Any]], Mapping[str, Any]],
) -> dict[str, Any]:
    """Return one event for one reader.

    Args:
        event: As it is stored.
        run: The run it belongs to.
        profile: What the reader wants to see.
        show_question: Adds to a stored question what its readers may see of it.
    """
    data: Any = event.data
    if hidden := () if profile.r2 else _R2_MEMBERS.get(event.type, ()):
        data = {name: value for name, value in data.items() if name not in hidden}
    if event.type == QUESTION:
        data = show_question(data)
    wire = {
        "id": event_id(event.number),
        "run_id": run.id,
        "created_at": wire_instant(event.created_at),
        "type": event.type,
        "data": data,
    }
    if profile.r2 and event.type == "pydantic_ai_event":
        wire["agent_message_delta"] = message_delta(data)
    return wire


def message_delta(data: Mapping[str, Any]) -> str | None:
    """Return the text that an event adds to the agent's message (§14)."""
    member, text = _DELTA.get(data.get("event_kind", ""), ("", ""))
    part = data.get(member) or {}
    is_text = "text" in (part.get("part_kind"), part.get("part_delta_kind"))
    found: str | None = part.get(text) if is_text else None
    return found
