"""Runs and events as readers see them: the safe profile, and what a header adds to it (§14.3)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from sayso.domain.ids import AppId, RunId, TenantId
from sayso.domain.run import Audience, Face, Run, RunEvent
from sayso.domain.transitions import RunStatus
from sayso.http.projections import (
    Profile,
    profile_of,
    wire_event,
    wire_instant,
    wire_run,
    wire_status,
)

AT = datetime(2026, 7, 1, 8, 0, 0, 120_000, tzinfo=UTC)
RUN = Run(
    id=RunId("r"),
    tenant=TenantId("t"),
    app=AppId("a"),
    face=Face.PROTOCOL,
    status=RunStatus.FAILED,
    created_at=AT,
    updated_at=AT,
    deadline=AT,
    base_url="",
    error="boom",
)
SAFE, R2 = Profile(), Profile(r2=True)


def shown(kind: str, data: dict[str, Any], profile: Profile = SAFE) -> dict[str, Any]:
    event = RunEvent(number=9, created_at=AT, type=kind, data=data)
    return wire_event(event, RUN, profile, lambda question: {**question, "shown": True})


def test_a_run_has_exactly_five_members() -> None:
    assert wire_run(RUN, SAFE) == {
        "run_id": "r",
        "status": "failed",
        "created_at": "2026-07-01T08:00:00.120000Z",
        "updated_at": "2026-07-01T08:00:00.120000Z",
        "error": "boom",
    }


def test_who_asks_for_revision_2_sees_the_type_of_the_error() -> None:
    run = replace(RUN, error_type="agent_run_limit_exceeded")

    assert wire_run(run, R2) == {**wire_run(run, SAFE), "error_type": "agent_run_limit_exceeded"}
    assert wire_run(RUN, R2)["error_type"] is None


def test_an_instant_has_microseconds_even_when_they_are_zero() -> None:
    assert wire_instant(datetime(2026, 7, 1, tzinfo=UTC)) == "2026-07-01T00:00:00.000000Z"


@pytest.mark.parametrize("status", list(RunStatus))
def test_a_protocol_run_shows_the_four_statuses_of_the_contract(status: RunStatus) -> None:
    shown_as = wire_status(replace(RUN, status=status))

    assert shown_as in {"running", "succeeded", "failed", "cancelled"}


@pytest.mark.parametrize("status", list(RunStatus))
def test_a_managed_run_shows_its_own_status(status: RunStatus) -> None:
    assert wire_status(replace(RUN, status=status, face=Face.MANAGED)) == status.value


EXTRAS = {"usage": {"total_tokens": 3}, "error_type": None, "session_snapshot": None}


@pytest.mark.parametrize(
    ("kind", "data", "safe"),
    [
        (
            "run_succeeded",
            {"output": None, "session_snapshot": {}, "usage": {}},
            {"output": None, "session_snapshot": {}},
        ),
        ("run_failed", {"error": "e", "reason": None, **EXTRAS}, {"error": "e", "reason": None}),
        (
            "run_cancelled",
            {"reason": "r", "message": None, "session_snapshot": {}, "usage": {}},
            {"reason": "r", "message": None},
        ),
    ],
)
def test_the_members_of_revision_2_show_only_to_readers_that_ask(
    kind: str, data: dict[str, Any], safe: dict[str, Any]
) -> None:
    assert shown(kind, data)["data"] == safe
    assert shown(kind, data, R2)["data"] == data


def test_an_event_has_exactly_five_members() -> None:
    assert shown("run_started", {}) == {
        "id": "9-0",
        "run_id": "r",
        "created_at": "2026-07-01T08:00:00.120000Z",
        "type": "run_started",
        "data": {},
    }


@pytest.mark.parametrize(
    ("data", "delta"),
    [
        ({"event_kind": "part_start", "part": {"part_kind": "text", "content": "Hi"}}, "Hi"),
        (
            {
                "event_kind": "part_delta",
                "delta": {"part_delta_kind": "text", "content_delta": "Ho"},
            },
            "Ho",
        ),
        (
            {
                "event_kind": "part_delta",
                "delta": {"part_delta_kind": "thinking", "content_delta": "?"},
            },
            None,
        ),
        ({"event_kind": "part_end", "part": {"part_kind": "text", "content": "Hi"}}, None),
        ({"event_kind": "final_result", "tool_name": None}, None),
    ],
)
def test_readers_of_revision_2_get_the_text_of_a_delta(
    data: dict[str, Any], delta: str | None
) -> None:
    assert "agent_message_delta" not in shown("pydantic_ai_event", data)
    assert shown("pydantic_ai_event", data, R2)["agent_message_delta"] == delta


def test_a_question_is_shown_by_what_knows_forms() -> None:
    assert shown("human_input_required", {"form_id": "f"})["data"] == {
        "form_id": "f",
        "shown": True,
    }


def test_the_header_widens_the_profile_and_unknown_items_do_nothing() -> None:
    assert profile_of(frozenset()) == SAFE
    assert profile_of(frozenset({"r2", "managed", "x"})) == Profile(r2=True, managed=True)
    assert SAFE.audiences == {Audience.ALL}
    assert Profile(managed=True).audiences == {Audience.ALL, Audience.MANAGED}
