"""Leases: one worker at a time, and a worker that was replaced can write nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from sayso.domain.ids import derive_pause_id
from sayso.domain.run import CancelIntent, EventDraft, Pause, PauseReason, Run
from sayso.domain.segment import CancelSeen, LeaseLost, Operation, OperationKind
from sayso.domain.transitions import RunTrigger
from support.world import LEASE, World

if TYPE_CHECKING:
    from collections.abc import Callable

    from sayso.domain.ids import RunId

OPERATION = Operation(
    kind=OperationKind.TOOL, name="t", tool_call_id="c1", occurrence=1, digest="d"
)
EVENT = EventDraft(type="pydantic_ai_event", data={})


def claim(world: World, run_id: RunId, owner: str) -> Run | None:
    now = world.clock.now()
    return world.context.stores.runs.claim(run_id, owner=owner, now=now, lease=LEASE)


def held(world: World) -> Run:
    run = claim(world, world.create(None), "first")
    assert run is not None
    return run


def test_a_held_lease_cannot_be_claimed() -> None:
    world = World()
    run = held(world)

    assert claim(world, run.id, "second") is None


def test_a_lease_that_ran_out_is_claimed_once_and_counts_as_a_death() -> None:
    world = World()
    run = held(world)
    world.clock.advance(LEASE)

    second, third = claim(world, run.id, "second"), claim(world, run.id, "third")

    assert second is not None
    assert (second.epoch, second.deaths) == (run.epoch + 1, 1)
    assert third is None


def test_a_released_lease_is_no_death() -> None:
    world = World()
    run = held(world)
    world.context.stores.runs.release(run, now=world.clock.now())

    second = claim(world, run.id, "second")

    assert second is not None
    assert second.deaths == 0


def writes_of_a_worker(world: World) -> dict[str, Callable[[Run], object]]:
    stores, now = world.context.stores, world.clock.now()
    pause = Pause(
        id=derive_pause_id(world.create(None), 1),
        reason=PauseReason.HUMAN_INPUT_REQUIRED,
        created_at=now,
        snapshot=None,
    )
    return {
        "renew": lambda run: stores.runs.renew(run, until=now + LEASE),
        "release": lambda run: stores.runs.release(run, now=now),
        "start": lambda run: stores.journal.mark_started(run, OPERATION, 1),
        "record": lambda run: stores.journal.record(run, OPERATION, 1, {"value": 1}, [EVENT], now),
        "pause": lambda run: stores.pauses.pause(run, pause, [], [EVENT], now=now, due_at=now),
    }


@pytest.mark.parametrize("write", ["renew", "release", "start", "record", "pause"])
def test_a_worker_that_was_replaced_writes_nothing(write: str) -> None:
    world = World()
    zombie = held(world)
    world.clock.advance(LEASE)
    owner = claim(world, zombie.id, "second")
    before = world.table.query(f"RUN#{zombie.id}")

    with pytest.raises(LeaseLost):
        writes_of_a_worker(world)[write](zombie)

    assert world.table.query(f"RUN#{zombie.id}") == before
    assert owner is not None


def test_a_worker_that_was_replaced_cannot_end_the_run() -> None:
    world = World()
    zombie = held(world)
    world.clock.advance(LEASE)
    claim(world, zombie.id, "second")

    with pytest.raises(Exception, match="has moved on"):
        world.context.stores.runs.end(
            zombie, RunTrigger.SUCCEED, now=world.clock.now(), events=[EVENT]
        )


@pytest.mark.parametrize("write", ["start", "pause"])
def test_after_a_cancel_intent_no_tool_starts_and_nobody_is_asked(write: str) -> None:
    world = World()
    run = held(world)
    intent = CancelIntent(reason="user", message=None)
    world.context.stores.runs.ask_to_cancel(run, intent, now=world.clock.now())

    with pytest.raises(CancelSeen):
        writes_of_a_worker(world)[write](run)


def test_events_are_never_overwritten_by_a_worker_that_lost_count() -> None:
    world = World()
    run = held(world)
    journal, now = world.context.stores.journal, world.clock.now()
    journal.record(run, OPERATION, 1, {"value": 1}, [EVENT], now)
    other = replace(OPERATION, tool_call_id="c2")

    with pytest.raises(LeaseLost):
        journal.record(run, other, 1, {"value": 2}, [EVENT], now)

    assert len(world.events(run.id)) == 2


def test_the_first_cancel_intent_stands() -> None:
    world = World()
    run = held(world)
    runs, now = world.context.stores.runs, world.clock.now()
    runs.ask_to_cancel(run, CancelIntent(reason="first", message=None), now=now)

    runs.ask_to_cancel(run, CancelIntent(reason="second", message=None), now=now)

    stored = world.run(run.id).cancel
    assert stored is not None
    assert stored.reason == "first"


def test_renewing_shows_a_cancel_intent() -> None:
    world = World()
    run = held(world)
    runs, now = world.context.stores.runs, world.clock.now()
    runs.ask_to_cancel(run, CancelIntent(reason="user", message=None), now=now)

    renewed = runs.renew(run, until=now + timedelta(seconds=60))

    assert renewed.cancel == CancelIntent(reason="user", message=None)
