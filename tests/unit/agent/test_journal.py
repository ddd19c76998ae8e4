"""The replay engine by itself: what it refuses, in which order it stops."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.domain.run import EventDraft
from sayso.domain.segment import (
    JournalMismatch,
    JournalUnavailable,
    OperationKind,
    SliceEnded,
)
from sayso_agent.journal import Replay
from sayso_agent.operations import GivenUpError, Request, live_events
from support.segments import Killed, MemoryJournal, Store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from sayso.domain.segment import Operation

MODEL = Request(kind=OperationKind.MODEL, name="model", digest="m")


def tool(call_id: str, digest: str = "t", max_starts: int = 3) -> Request:
    return Request(
        kind=OperationKind.TOOL,
        name="tool",
        digest=digest,
        tool_call_id=call_id,
        max_starts=max_starts,
    )


def giving(value: Any) -> Callable[[], Awaitable[Any]]:
    async def body() -> Any:
        return value

    return body


async def never() -> Any:
    pytest.fail("the body of a recorded operation was run")


def replay_of(store: Store, **options: Any) -> Replay:
    return Replay(MemoryJournal(store), **{"remaining": lambda: float("inf"), **options})


def stored(*requests: Request) -> Store:
    async def fill() -> Store:
        store = Store()
        replay = replay_of(store)
        for request in requests:
            await replay.run(request, giving(request.name))
        return store

    return asyncio.run(fill())


async def _ask_all(replay: Replay, *requests: Request) -> list[Any]:
    return [await replay.run(request, never) for request in requests]


def ask(store: Store, *requests: Request) -> list[Any]:
    return asyncio.run(_ask_all(replay_of(store), *requests))


def test_a_recorded_operation_gives_its_value_without_running() -> None:
    store = stored(MODEL, tool("a"), MODEL)

    assert ask(store, MODEL, tool("a"), MODEL) == [
        ("model", False),
        ("tool", False),
        ("model", False),
    ]


def test_tool_calls_of_one_turn_may_be_asked_for_in_another_order() -> None:
    store = stored(MODEL, tool("a"), tool("b"))

    assert ask(store, MODEL, tool("b"), tool("a"))[1:] == [("tool", False), ("tool", False)]


def test_other_arguments_than_recorded_are_a_mismatch() -> None:
    store = stored(MODEL, tool("a"))

    with pytest.raises(JournalMismatch, match=r"'tool#a#1' is asked for with other arguments"):
        ask(store, MODEL, tool("a", digest="other"))


def test_another_kind_than_recorded_is_a_mismatch() -> None:
    store = stored(tool("a"))

    with pytest.raises(JournalMismatch, match="other arguments than recorded"):
        ask(store, replace(tool("a"), kind=OperationKind.OTHER))


@pytest.mark.parametrize("first", [replace(MODEL, name="renamed"), tool("x")], ids=repr)
def test_a_new_operation_while_recorded_ones_wait_is_a_mismatch(first: Request) -> None:
    store = stored(MODEL)

    with pytest.raises(JournalMismatch, match=r"recorded is model#-#1; the run was recorded by"):
        ask(store, first)


def test_a_new_tool_call_beside_recorded_ones_of_its_turn_is_none() -> None:
    store = stored(MODEL, tool("b"))

    async def live() -> Any:
        replay = replay_of(store)
        await replay.run(MODEL, never)
        return await replay.run(tool("a"), giving("new"))

    assert asyncio.run(live()) == ("new", True)


def test_recorded_operations_that_are_never_asked_for_are_a_mismatch() -> None:
    store = stored(MODEL, tool("a"))

    async def short() -> None:
        replay = replay_of(store)
        await replay.run(MODEL, never)
        replay.finish()

    with pytest.raises(JournalMismatch, match="recorded but never asked for: tool#a#1"):
        asyncio.run(short())


def test_records_of_another_format_are_a_mismatch() -> None:
    store = stored(MODEL)
    store.records = {key: replace(one, version=7) for key, one in store.records.items()}

    with pytest.raises(JournalMismatch, match="journal format 7, expected 1"):
        replay_of(store).check_versions()


def test_a_failed_outcome_is_recorded_and_raised_again() -> None:
    store = Store()

    async def fails() -> Any:
        message = "no JSON form"
        raise GivenUpError(message)

    with pytest.raises(GivenUpError, match="no JSON form"):
        asyncio.run(replay_of(store).run(tool("a"), fails))

    with pytest.raises(GivenUpError, match="no JSON form"):
        ask(store, tool("a"))


def test_any_other_error_of_a_body_is_recorded_nowhere() -> None:
    store = Store()

    async def fails() -> Any:
        message = "provider down"
        raise RuntimeError(message)

    with pytest.raises(RuntimeError, match="provider down"):
        asyncio.run(replay_of(store).run(MODEL, fails))

    assert not store.records


def test_one_operation_is_let_through_however_little_time_is_left() -> None:
    store = Store()

    async def two() -> None:
        replay = replay_of(store, remaining=lambda: 0.0)
        await replay.run(MODEL, giving(1))
        await replay.run(MODEL, never)

    with pytest.raises(SliceEnded, match="model#-#2"):
        asyncio.run(two())

    assert list(store.records) == ["model#-#1"]


@pytest.mark.parametrize(("left", "goes_on"), [(19.9, False), (20.0, True)])
def test_a_slice_ends_below_twenty_seconds(left: float, goes_on: bool) -> None:
    async def two() -> Any:
        replay = replay_of(Store(), remaining=lambda: left)
        await replay.run(MODEL, giving(1))
        return await replay.run(MODEL, giving(2))

    if goes_on:
        assert asyncio.run(two()) == (2, True)
    else:
        with pytest.raises(SliceEnded):
            asyncio.run(two())


def test_replayed_operations_do_not_use_up_the_one_that_is_let_through() -> None:
    store = stored(MODEL)

    async def more() -> Any:
        replay = replay_of(store, remaining=lambda: 0.0)
        await replay.run(MODEL, never)
        return await replay.run(MODEL, giving("new"))

    assert asyncio.run(more()) == ("new", True)


class LosingJournal(MemoryJournal):
    """Loses the answer of one write, which landed; others would still be taken."""

    async def record(
        self, operation: Operation, outcome: Any, events: Sequence[EventDraft]
    ) -> None:
        """Record, and lose the answer for call ``a``."""
        await super().record(operation, outcome, events)
        if operation.tool_call_id == "a":
            raise TimeoutError


def test_after_a_failed_write_the_siblings_in_flight_write_nothing_more() -> None:
    store = Store()

    async def two_calls() -> None:
        replay = Replay(LosingJournal(store), remaining=lambda: float("inf"))
        release = asyncio.Event()

        async def slow() -> None:
            await release.wait()

        calls = [replay.run(tool("b"), slow), replay.run(tool("a"), giving(1))]
        both = asyncio.gather(*calls, return_exceptions=True)
        for _ in range(10):
            await asyncio.sleep(0)  # let the other call come to its write
        release.set()
        results = await both
        assert all(isinstance(one, JournalUnavailable) for one in results)

    asyncio.run(two_calls())

    assert [one.is_finished for one in store.records.values()] == [False, True]


def test_events_of_a_body_that_fails_leave_no_trace() -> None:
    store = Store()

    async def fails_after_showing() -> Any:
        events = live_events.get()
        assert events is not None
        events.append(EventDraft(type="pydantic_ai_event", data="half"))
        message = "cut off"
        raise RuntimeError(message)

    with pytest.raises(RuntimeError):
        asyncio.run(replay_of(store).run(MODEL, fails_after_showing))

    assert store.events == []


@given(
    turns=st.lists(st.integers(min_value=0, max_value=3), min_size=1, max_size=5),
    kills=st.lists(st.integers(min_value=1, max_value=12), max_size=4),
)
def test_every_event_is_shown_once_whatever_kills_the_worker(
    turns: list[int], kills: list[int]
) -> None:
    """Each turn is a model call and some parallel tool calls with an event before and after."""
    store, rest = Store(), list[EventDraft]()

    for kill in [*(kill / 2 for kill in kills), 0]:
        try:
            rest = asyncio.run(
                _turns(Replay(MemoryJournal(store, kill_at=kill), remaining=_ample), turns)
            )
        except Killed:
            continue

    shown = [event.data for event in [*store.events, *rest]]
    expected = [
        name
        for turn, number in enumerate(turns)
        for name in (
            f"model {turn}",
            *(f"call {turn}.{one}" for one in range(number)),
            *(f"result {turn}.{one}" for one in range(number)),
        )
    ]
    assert shown == expected


def _ample() -> float:
    return float("inf")


async def _turns(replay: Replay, turns: list[int]) -> list[EventDraft]:
    for turn, number in enumerate(turns):
        await replay.run(MODEL, _showing(f"model {turn}"))
        _show(replay, [f"call {turn}.{one}" for one in range(number)])
        calls = [
            replay.run(tool(f"{turn}.{one}", max_starts=99), giving(one)) for one in range(number)
        ]
        await asyncio.gather(*calls)
        _show(replay, [f"result {turn}.{one}" for one in range(number)])
    return replay.finish()


def _showing(name: str) -> Callable[[], Awaitable[Any]]:
    async def body() -> Any:
        events = live_events.get()
        assert events is not None
        events.append(EventDraft(type="pydantic_ai_event", data=name))

    return body


def _show(replay: Replay, names: list[str]) -> None:
    for name in names:
        replay.show(EventDraft(type="pydantic_ai_event", data=name, identity=name))
