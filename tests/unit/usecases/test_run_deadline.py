"""A run's deadline ends it also while it is worked on (I7)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from sayso.domain.transitions import FormStatus, RunStatus
from support.agent import Do, End, FakeAgent, Step
from support.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

TEN_MINUTES = {"delivery_methods": [{"type": "webapp"}], "run_timeout_seconds": 600}


def six_minutes(world: World) -> Callable[[str], None]:
    """Return what lets each operation take six minutes."""

    def take_time(_: str) -> None:
        world.clock.advance(timedelta(minutes=6))

    return take_time


def slow_world(*names: str, slice_of: int = 1_000) -> World:
    """Return a world whose agent takes six minutes for each of its operations."""
    steps: tuple[Step, ...] = (*(Do(name) for name in names), End("finish"))
    world = World(FakeAgent((steps,), operations_per_slice=slice_of))
    world.agent.before = six_minutes(world)
    return world


@pytest.mark.parametrize("slice_of", [1, 1_000])
def test_a_run_that_is_worked_on_is_expired_at_its_deadline(slice_of: int) -> None:
    world = slow_world("m1", "m2", "m3", slice_of=slice_of)

    run_id = world.create(TEN_MINUTES)
    world.settle()

    run = world.run(run_id)
    assert (run.status, run.reason) == (RunStatus.EXPIRED, "expired")
    assert run.error == "the run's deadline passed"
    assert world.events(run_id)[-1].type == "run_failed"
    assert world.agent.executed[f"{run_id}:1:m3"] == 0


def test_a_run_whose_start_comes_after_its_deadline_is_expired() -> None:
    world = slow_world("m1")
    run_id = world.create(TEN_MINUTES)
    world.clock.advance(timedelta(minutes=10))

    world.settle()

    assert world.run(run_id).status is RunStatus.EXPIRED
    assert not world.agent.executed


def test_nobody_is_asked_when_the_deadline_has_passed_meanwhile() -> None:
    world = World(FakeAgent(((Do("m1"), Do("m2"), End("ask")), (End("finish"),))))
    world.agent.before = six_minutes(world)

    run_id = world.create(TEN_MINUTES)
    world.settle()

    assert world.run(run_id).status is RunStatus.EXPIRED
    assert world.forms(run_id) == []


def test_an_answer_before_the_deadline_is_worked_on_after_it() -> None:
    world = World(FakeAgent(((End("ask"),), (Do("m1"), End("finish")))))
    run_id = world.create(TEN_MINUTES)
    world.settle()
    world.clock.advance(timedelta(minutes=9, seconds=59))
    world.submit(world.forms(run_id)[0])
    world.clock.advance(timedelta(seconds=2))

    world.settle()

    assert world.forms(run_id)[0].status is FormStatus.SUBMITTED
    assert world.run(run_id).status is RunStatus.SUCCEEDED
