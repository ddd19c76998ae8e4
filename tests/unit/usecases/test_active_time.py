"""A run may be worked on for an hour in all; waiting does not count (dify-agent §13 Limits)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from sayso.domain.segment import Left, SegmentResult, Usage
from sayso.domain.transitions import RunStatus
from support.agent import Do, End, FakeAgent
from support.world import World

if TYPE_CHECKING:
    from sayso.domain.ids import RunId
    from sayso.domain.segment import SegmentWork
    from sayso.ports import SegmentJournal

TEXT = "Agent run exceeded the configured limit of 3600 seconds"
WEBAPP = {"delivery_methods": [{"type": "webapp"}]}


def slow_world(minutes_each: int, *names: str, slice_of: int = 1_000) -> World:
    """Return a world whose agent takes that long for each of its operations."""
    agent = FakeAgent(
        ((*(Do(name) for name in names), End("finish")),), operations_per_slice=slice_of
    )
    world = World(agent)

    def take_time(_: str) -> None:
        world.clock.advance(timedelta(minutes=minutes_each))

    agent.before = take_time
    return world


def worked_on(world: World) -> RunId:
    run_id = world.create(None)
    world.settle()
    return run_id


def test_a_run_fails_once_it_was_worked_on_for_an_hour() -> None:
    world = slow_world(30, "m1", "m2", "m3")

    run_id = worked_on(world)

    run = world.run(run_id)
    assert (run.status, run.error, run.reason) == (RunStatus.FAILED, TEXT, None)
    assert run.error_type == "agent_run_limit_exceeded"
    data = world.events(run_id)[-1].data
    assert (data["error"], data["error_type"]) == (TEXT, "agent_run_limit_exceeded")
    assert world.agent.executed[f"{run_id}:1:m3"] == 0


def test_what_was_recorded_before_the_limit_is_shown() -> None:
    world = slow_world(30, "m1", "m2", "m3")

    run_id = worked_on(world)

    types = [event.type for event in world.events(run_id)]
    assert types == ["run_started", "pydantic_ai_event", "pydantic_ai_event", "run_failed"]


def test_the_time_of_all_slices_is_added_up() -> None:
    world = slow_world(20, "m1", "m2", "m3", "m4", slice_of=1)

    run_id = worked_on(world)

    assert world.run(run_id).error == TEXT
    assert world.run(run_id).active_ms == 3_600_000


def test_the_time_before_a_death_counts_as_far_as_it_was_recorded() -> None:
    world = slow_world(50, "m1", "m2")
    run_id = world.create(None)
    done: list[str] = []

    def die_in_the_second(name: str) -> None:
        world.clock.advance(timedelta(minutes=50))
        done.append(name)
        if done == ["m1", "m2"]:
            raise KeyboardInterrupt

    world.agent.before = die_in_the_second
    (message,) = world.queue.pop_due()
    try:
        world.dispatch(message.body)
    except KeyboardInterrupt:
        world.queue.drop()

    assert world.run(run_id).active_ms == 3_000_000


def test_waiting_for_people_does_not_count() -> None:
    world = World()
    run_id = world.create(WEBAPP)
    world.settle()

    world.clock.advance(timedelta(hours=5))
    world.submit(world.forms(run_id)[0])
    world.settle()

    assert world.run(run_id).status is RunStatus.SUCCEEDED
    assert world.run(run_id).active_ms == 0


@dataclass
class StuckAgent(FakeAgent):
    """Never comes back from its model call, and leaves behind what it had when it is stopped."""

    async def run(self, work: SegmentWork, journal: SegmentJournal) -> SegmentResult:
        """Wait for ever."""
        assert not journal.records
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            work.leave(
                Left(
                    session_snapshot={"schema_version": 1, "layers": []},
                    usage=Usage(input_tokens=3, output_tokens=4),
                )
            )
        raise AssertionError("nobody sets the result")


def test_a_model_call_that_does_not_end_is_interrupted_and_its_state_is_kept() -> None:
    world = World(StuckAgent())
    world.shop = replace(world.shop, max_active=timedelta())

    run_id = worked_on(world)

    data = world.events(run_id)[-1].data
    assert data["error"] == "Agent run exceeded the configured limit of 0 seconds"
    assert data["session_snapshot"] == {"schema_version": 1, "layers": []}
    assert data["usage"] == {
        "prompt_tokens": 3,
        "completion_tokens": 4,
        "total_tokens": 7,
        "currency": "USD",
        "latency": 0.0,
    }
