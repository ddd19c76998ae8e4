"""The largest writes of a segment are within DynamoDB's limits, and nothing of them is lost."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.run import EventDraft, Run
from sayso.domain.segment import (
    MAX_EVENTS_OF_END,
    MAX_EVENTS_OF_OPERATION,
    Operation,
    OperationKind,
)
from sayso.domain.transitions import RunStatus
from support.agent import FakeAgent, ask_times
from support.world import LEASE, MAIL_POLICY, World

if TYPE_CHECKING:
    from sayso.domain.segment import SegmentResult, SegmentWork
    from sayso.ports import SegmentJournal

OPERATION = Operation(
    kind=OperationKind.MODEL, name="m", tool_call_id="-", occurrence=1, digest="d"
)


def noise(characters: int) -> str:
    """Return text that packing does not make smaller than half."""
    some = random.Random(characters)  # noqa: S311 - a sample, no secret
    return some.randbytes(characters // 2).hex()


def held(world: World) -> Run:
    run_id = world.create(None)
    now = world.clock.now()
    run = world.context.stores.runs.claim(run_id, owner="w", now=now, lease=LEASE)
    assert run is not None
    return run


def drafts(number: int, text: Any) -> list[EventDraft]:
    return [
        EventDraft(type="pydantic_ai_event", data={"n": n, "text": text}) for n in range(number)
    ]


@pytest.mark.parametrize("text", ["short", noise(180_000)], ids=["small", "90 KB packed"])
def test_as_many_events_as_an_operation_may_have_are_written_with_its_result(text: str) -> None:
    world = World()
    run = held(world)
    before = run.last_event

    world.context.stores.journal.record(
        run,
        OPERATION,
        0,
        {"value": noise(400_000)},
        drafts(MAX_EVENTS_OF_OPERATION, text),
        world.clock.now(),
    )

    events = world.context.stores.events.read(run.id, after=before, limit=200)
    assert [event.data for event in events] == [
        draft.data for draft in drafts(MAX_EVENTS_OF_OPERATION, text)
    ]
    loaded = world.context.stores.journal.load(replace(run, last_event=events[-1].number))
    assert loaded[OPERATION.key].outcome == {"value": noise(400_000)}


def test_more_events_are_a_mistake_of_the_caller() -> None:
    world = World()
    run = held(world)

    with pytest.raises(AssertionError):
        world.context.stores.journal.record(
            run, OPERATION, 0, {}, drafts(MAX_EVENTS_OF_OPERATION + 1, "x"), world.clock.now()
        )


class TalkativeAgent(FakeAgent):
    """Brings as many events with the end of each segment as it may."""

    async def run(self, work: SegmentWork, journal: SegmentJournal) -> SegmentResult:
        """Run the script."""
        result = await super().run(work, journal)
        return replace(result, events=drafts(MAX_EVENTS_OF_END, noise(180_000)))


def test_a_pause_with_all_its_questions_and_events_is_written() -> None:
    world = World(TalkativeAgent(ask_times(10)))
    run_id = world.create(MAIL_POLICY)

    world.settle()

    assert world.run(run_id).status is RunStatus.PAUSED
    assert len(world.forms(run_id)) == 10
