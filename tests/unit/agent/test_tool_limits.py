"""A tool that hangs costs its time and a failed result, never a worker."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from pydantic_ai import Tool

from sayso.domain.run import Face
from sayso.domain.segment import Finished, OperationKind, SliceEnded
from sayso_agent.durability import TOOL_SECONDS
from sayso_agent.journal import MIN_RESERVE_SECONDS, Replay
from sayso_agent.layers.base import EmptyLayerConfig, Layer
from sayso_agent.layers.registry import BUILT_IN, build_registry
from sayso_agent.models import Models
from sayso_agent.operations import GivenUpError, Request
from sayso_agent.outgoing import Outgoing
from sayso_agent.runner import PydanticAgentRunner
from support.segments import (
    CONTEXT,
    MemoryJournal,
    Store,
    calls,
    llm,
    prompt,
    request,
    text,
    work_on,
)
from support.skipping import run_skipping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sayso_agent.deps import RunDeps

FUNCTION_SECONDS = 900.0


class SlowToolsLayer(Layer[EmptyLayerConfig]):
    """Tools that take hours."""

    type_id = "tests.slow"
    released: ClassVar[threading.Event]

    def tools(self) -> Sequence[Tool[RunDeps]]:
        """Return the tools."""
        brief = {"sayso": {"timeout_seconds": 7}}
        patient = {"sayso": {"timeout_seconds": 7200}}
        return [
            Tool(self._wait, name="wait", takes_ctx=False),
            Tool(self._wait, name="wait_briefly", takes_ctx=False, metadata=brief),
            Tool(self._wait, name="wait_patiently", takes_ctx=False, metadata=patient),
            Tool(self._block, name="block", takes_ctx=False),
            Tool(self._quick, name="quick", takes_ctx=False),
        ]

    async def _wait(self) -> str:
        await asyncio.sleep(3600)
        return "at last"

    def _block(self) -> str:
        SlowToolsLayer.released.wait()
        return "at last"

    async def _quick(self) -> str:
        return "done"


@pytest.fixture(autouse=True)
def released() -> Any:
    """Let threads that were left behind end with the test."""
    SlowToolsLayer.released = threading.Event()
    yield
    SlowToolsLayer.released.set()


def run_tools(*names: str) -> tuple[Finished, Store, float]:
    """Run an agent whose model calls these tools at once and then tells their results."""
    turns = [calls(*((f"c-{name}", name, {}) for name in names)), text("{{results}}")]
    slow = {"name": "slow", "type": "tests.slow"}
    work = work_on(
        request(prompt(), CONTEXT, slow, llm(turns)),
        face=Face.PROTOCOL,
        remaining_seconds=lambda: FUNCTION_SECONDS,
    )
    models = Models(
        outgoing=Outgoing(allow_internal=False),
        stored_credentials=lambda _provider: None,
        scripted=True,
    )
    runner = PydanticAgentRunner(
        registry=build_registry([*BUILT_IN, SlowToolsLayer]), models=models
    )
    store = Store()
    while True:
        try:
            result, seconds = run_skipping(runner.run(work, MemoryJournal(store)))
        except SliceEnded:
            continue
        assert isinstance(result, Finished), result
        return result, store, seconds


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("wait", TOOL_SECONDS),
        ("wait_briefly", 7),
        ("wait_patiently", FUNCTION_SECONDS - MIN_RESERVE_SECONDS),
        ("block", TOOL_SECONDS),
    ],
)
def test_a_tool_that_hangs_has_failed_after_its_time(name: str, limit: float) -> None:
    result, store, seconds = run_tools(name)

    said = (
        f"The call did not end within {limit:g} seconds and was stopped; whether it took effect"
        " is unknown."
    )
    (record,) = (one for one in store.records.values() if one.operation.kind is OperationKind.TOOL)
    assert record.outcome == {"failed": said}
    assert said in result.output
    assert seconds == pytest.approx(limit, abs=1)
    (shown,) = (
        event.data for event in store.events if event.data["event_kind"] == "function_tool_result"
    )
    assert shown["part"]["outcome"] == "failed"


def test_siblings_of_a_tool_that_hangs_have_their_results() -> None:
    result, _, _ = run_tools("wait_briefly", "quick")

    assert "did not end within 7 seconds" in result.output
    assert '"done"' in result.output


def limited(seconds: float) -> Request:
    return Request(
        kind=OperationKind.TOOL,
        name="tool",
        digest="d",
        tool_call_id=f"call-{seconds}",
        max_starts=3,
        limit_seconds=seconds,
    )


@pytest.mark.parametrize(("left", "goes_on"), [(139.9, False), (140.0, True)])
def test_a_slice_ends_before_a_call_that_may_not_fit_into_it(left: float, goes_on: bool) -> None:
    async def quick() -> str:
        return "done"

    async def two() -> Any:
        replay = Replay(MemoryJournal(), remaining=lambda: left)
        await replay.run(limited(1), quick)
        return await replay.run(limited(120), quick)

    if goes_on:
        assert asyncio.run(two()) == ("done", True)
    else:
        with pytest.raises(SliceEnded):
            asyncio.run(two())


def test_the_one_call_that_is_let_through_ends_before_the_worker_does() -> None:
    async def forever() -> None:
        await asyncio.sleep(3600)

    async def run() -> None:
        replay = Replay(MemoryJournal(), remaining=lambda: 50.0)
        await replay.run(limited(120), forever)

    async def given_up() -> str:
        with pytest.raises(GivenUpError) as failed:
            await run()
        return str(failed.value)

    told, seconds = run_skipping(given_up())

    assert told.startswith("The call did not end within 30 seconds")
    assert seconds == pytest.approx(30, abs=1)


def test_a_tool_s_own_timeout_stays_its_own() -> None:
    async def gives_up() -> None:
        message = "upstream took too long"
        raise TimeoutError(message)

    replay = Replay(MemoryJournal(), remaining=lambda: FUNCTION_SECONDS)

    with pytest.raises(TimeoutError, match="upstream"):
        asyncio.run(replay.run(limited(120), gives_up))
