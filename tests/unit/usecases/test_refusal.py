"""Code that cannot resume a run refuses before the answer is consumed (decision 4 of the issue)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sayso.domain.transitions import RunStatus
from sayso.usecases.preflight import Finding, preflight
from support.world import World

POLICY: dict[str, Any] = {
    "delivery_methods": [{"type": "webapp"}],
    "timeout": 2,
    "timeout_unit": "day",
}
REASON = "the tool 'ask_human' is no longer offered"


def refused_world() -> tuple[World, Any]:
    world = World()
    run_id = world.create(POLICY | {"run_timeout_seconds": 3 * 24 * 3600})
    world.settle()
    world.agent.refuses = REASON
    world.submit(world.forms(run_id)[0], comment="kept")
    world.settle()
    return world, run_id


def test_a_refused_run_stays_paused_with_its_reason_and_its_answer() -> None:
    world, run_id = refused_world()

    run = world.run(run_id)
    assert run.status is RunStatus.PAUSED
    assert run.refusal == REASON
    assert world.agent.segments.count((run_id, 2)) == 0
    assert world.context.stores.runs.pauses(run_id)[0].resumed_at is None


def test_code_that_can_resume_takes_the_kept_answer() -> None:
    world, run_id = refused_world()
    world.agent.refuses = None

    world.pass_time(timedelta(minutes=20))

    assert world.run(run_id).status is RunStatus.SUCCEEDED
    assert "kept" in world.events(run_id)[-1].data["output"]


def test_a_refused_run_expires_at_its_deadline_and_says_why() -> None:
    world, run_id = refused_world()

    world.pass_time(timedelta(days=3), step=timedelta(minutes=30))

    run = world.run(run_id)
    assert run.status is RunStatus.EXPIRED
    assert REASON in (run.error or "")


def test_a_decided_run_past_its_deadline_is_resumed_and_never_expired() -> None:
    world = World()
    run_id = world.create(POLICY | {"run_timeout_seconds": 3600})
    world.settle()
    world.clock.advance(timedelta(minutes=59, seconds=59))
    world.submit(world.forms(run_id)[0])
    world.queue.drop()

    world.pass_time(timedelta(minutes=3))

    assert world.run(run_id).status is RunStatus.SUCCEEDED


def test_a_corrupt_snapshot_leaves_the_run_paused_with_a_reason() -> None:
    world = World()
    run_id = world.create(POLICY)
    world.settle()
    world.objects.stored = dict.fromkeys(world.objects.stored, b"not gzip")

    world.submit(world.forms(run_id)[0])
    world.settle()

    run = world.run(run_id)
    assert run.status is RunStatus.PAUSED
    assert "is not readable" in (run.refusal or "")


def test_preflight_lists_what_this_code_could_not_resume() -> None:
    world = World()
    run_id = world.create(POLICY)
    world.create(POLICY)
    world.settle()

    assert preflight(world.context.stores, world.agent) == (2, [])
    world.agent.refuses = REASON
    checked, findings = preflight(world.context.stores, world.agent)

    assert checked == 2
    assert Finding(run_id=run_id, reason=REASON) in findings
