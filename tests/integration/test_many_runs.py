"""Two hundred runs at once: all end, and no event is lost, doubled or out of place (I11)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from sayso.domain.transitions import RunStatus
from support.agent import FakeAgent
from support.world import World

if TYPE_CHECKING:
    from sayso.domain.ids import RunId

RUNS = 200


def test_two_hundred_runs_created_and_worked_on_at_once_all_end() -> None:
    agent = FakeAgent()
    world = World(agent)

    with ThreadPoolExecutor(16) as pool:
        run_ids = list(pool.map(lambda _: world.create(None), range(RUNS)))
        messages = world.queue.pop_due()
        # Every message comes twice, as a queue may deliver it.
        list(pool.map(world.handle, [*messages, *messages]))
    world.settle()

    assert len(set(run_ids)) == RUNS
    for run_id in run_ids:
        check(world, run_id)
    assert set(agent.executed.values()) == {1}


def check(world: World, run_id: RunId) -> None:
    """Look at the one run."""
    events = world.events(run_id)

    assert world.run(run_id).status is RunStatus.SUCCEEDED
    assert [event.type for event in events] == [
        "run_started",
        "pydantic_ai_event",
        "pydantic_ai_event",
        "run_succeeded",
    ]
    assert [event.number for event in events] == [1, 2, 3, 4]
    assert [event.data["operation"] for event in events[1:3]] == ["m1", "t1"]
