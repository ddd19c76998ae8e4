"""A worker renews its lease while the agent works, and stops when it is told to.

The lease is some milliseconds of real time here: renewing is the one thing that waits.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from sayso.domain.errors import RetryableError, ServiceUnavailableError
from sayso.domain.run import EventDraft
from sayso.domain.segment import Finished, Operation, OperationKind, SegmentResult
from sayso.domain.transitions import RunStatus
from sayso.testing.faults import Faults
from support.agent import FakeAgent
from support.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from sayso.domain.segment import SegmentWork
    from sayso.ports import SegmentJournal
    from sayso.usecases.run_segment import Workshop

LEASE = timedelta(milliseconds=60)
OPERATION = Operation(
    kind=OperationKind.MODEL, name="m", tool_call_id="-", occurrence=1, digest="d"
)
DONE = Finished(output="done", session_snapshot={})


@dataclass
class SlowAgent(FakeAgent):
    """Waits in its model call until it is let go, or interrupted."""

    during: Callable[[], object] = lambda: None
    """Called once the model call has begun, in another thread."""
    interrupted: bool = False
    let_go: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, work: SegmentWork, journal: SegmentJournal) -> SegmentResult:
        """Call the model."""
        loop = asyncio.get_running_loop()

        def act() -> None:
            self.during()
            loop.call_soon_threadsafe(self.let_go.set)

        threading.Thread(target=act).start()
        try:
            await asyncio.wait_for(self.let_go.wait(), timeout=10)
            await asyncio.sleep(LEASE.total_seconds() * 2)
        except asyncio.CancelledError:
            self.interrupted = True
            raise
        event = EventDraft(type="pydantic_ai_event", data={"from": work.run_id})
        await journal.record(OPERATION, {"value": 1}, [event])
        return DONE


def shop_of(world: World) -> Workshop:
    return replace(world.shop, lease=LEASE)


def work(world: World) -> None:
    world.shop = shop_of(world)
    world.dispatch(world.queue.pop_due()[0].body)


def test_a_cancel_during_a_model_call_interrupts_it_and_ends_the_run() -> None:
    agent = SlowAgent()
    world = World(agent)
    run_id = world.create(None)
    agent.during = lambda: world.cancel(run_id, "changed my mind")

    work(world)

    assert agent.interrupted
    run = world.run(run_id)
    assert (run.status, run.error) == (RunStatus.CANCELLED, "changed my mind")
    assert [event.type for event in world.events(run_id)] == ["run_started", "run_cancelled"]


def test_a_worker_that_lost_its_lease_stops_and_writes_nothing() -> None:
    agent = SlowAgent()
    world = World(agent)
    run_id = world.create(None)

    def take_over() -> None:
        world.clock.advance(LEASE)
        now = world.clock.now()
        runs = world.context.stores.runs
        assert runs.claim(run_id, owner="other", now=now, lease=timedelta(minutes=1))

    agent.during = take_over

    work(world)

    run = world.run(run_id)
    assert agent.interrupted
    assert run.lease is not None
    assert run.lease.owner == "other"
    assert run.last_event == 1


def test_a_lease_that_is_renewed_is_held_for_longer_than_it_lasts() -> None:
    agent = SlowAgent()
    faults = Faults()
    world = World(agent, faults=faults)
    run_id = world.create(None)

    work(world)

    assert world.run(run_id).status is RunStatus.SUCCEEDED
    assert faults.calls.count("write") >= 3


def test_a_journal_that_cannot_be_written_brings_the_message_back() -> None:
    faults = Faults()
    world = World(FakeAgent(), faults=faults)
    world.create(None)
    message = world.queue.pop_due()[0]
    for _ in range(6):
        faults.fail_next(ServiceUnavailableError("down"), operation="transact")

    with pytest.raises(RetryableError, match="cannot be written now"):
        world.dispatch(message.body)
