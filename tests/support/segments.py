"""Runs real agent code on a journal in memory: one segment, or a whole run with its answers.

The journal can kill the worker at any of its writes: the error derives from ``BaseException``
and is none of our stop signals, so nothing in between can take it for an ordinary failure.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic_ai.models.function import AgentInfo, FunctionModel

from sayso.domain.ids import AppId, RunId, TenantId
from sayso.domain.run import EventDraft, Face
from sayso.domain.segment import (
    Asked,
    Failed,
    OperationRecord,
    SegmentStop,
    SegmentWork,
    SliceEnded,
)
from sayso_agent.layers.registry import BUILT_IN, FOR_TESTS, build_registry
from sayso_agent.models import Models
from sayso_agent.outgoing import Outgoing
from sayso_agent.runner import PydanticAgentRunner, build_runner

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

    from sayso.domain.segment import Operation, SegmentResult
    from sayso_agent.layers.plugin_llm import DifyPluginLLMLayerConfig

Json = dict[str, Any]


class Killed(BaseException):
    """The worker's process is gone."""


@dataclass
class Store:
    """What outlives a worker: the records and events of one segment."""

    records: dict[str, OperationRecord] = field(default_factory=dict)
    events: list[EventDraft] = field(default_factory=list)
    last_events: list[EventDraft] = field(default_factory=list)
    """Events that came with the result of the segment, committed with it."""
    writes: int = 0

    @property
    def shown(self) -> list[Json]:
        """All events of the segment, in their order."""
        return [event.data for event in (*self.events, *self.last_events)]


@dataclass
class MemoryJournal:
    """One worker's access to a store; the port ``SegmentJournal``."""

    store: Store = field(default_factory=Store)
    kill_at: float = 0
    """When the worker is killed: 2.5 is before, 3 after the third write; 0 is never."""
    refuse_start: SegmentStop | Exception | None = None
    """What ``mark_started`` raises instead of writing."""
    refuse_record: SegmentStop | Exception | None = None
    """What ``record`` raises instead of writing."""
    halves: float = field(default=0, init=False)
    _seen: dict[str, OperationRecord] = field(init=False)

    def __post_init__(self) -> None:
        self._seen = dict(self.store.records)

    @property
    def records(self) -> Mapping[str, OperationRecord]:
        """What earlier workers recorded."""
        return self._seen

    async def mark_started(self, operation: Operation) -> None:
        """Count a start."""
        if self.refuse_start is not None:
            raise self.refuse_start
        self._half()
        before = self.store.records.get(operation.key)
        starts = before.starts + 1 if before else 1
        self.store.records[operation.key] = OperationRecord(
            operation=operation, starts=starts, outcome=None
        )
        self._half()

    async def record(
        self, operation: Operation, outcome: Any, events: Sequence[EventDraft]
    ) -> None:
        """Record a result with its events."""
        if self.refuse_record is not None:
            raise self.refuse_record
        self._half()
        before = self.store.records.get(operation.key)
        self.store.records[operation.key] = OperationRecord(
            operation=operation,
            starts=before.starts if before else 0,
            outcome=json.loads(json.dumps(outcome)),
            shown=tuple(event.identity for event in events if event.identity),
        )
        self.store.events += events
        self.store.writes += 1
        self._half()
        await asyncio.sleep(0)

    def _half(self) -> None:
        self.halves += 0.5
        if self.halves == self.kill_at:
            raise Killed


def prompt(**config: Any) -> Json:
    """Return a prompt layer; without config it asks to look after the shop."""
    return {"name": "prompt", "type": "plain.prompt", "config": config or {"user": "Go on."}}


HISTORY: Json = {"name": "history", "type": "pydantic_ai.history"}
CONTEXT: Json = {
    "name": "execution_context",
    "type": "dify.execution_context",
    "config": {
        "tenant_id": "tenant-1",
        "user_from": "account",
        "agent_mode": "workflow_run",
        "invoke_from": "service-api",
    },
}


def ask_human(**config: Any) -> Json:
    """Return an ask-human layer."""
    return {"name": "ask_human", "type": "dify.ask_human", "config": config or None}


def tools(**config: Any) -> Json:
    """Return the layer of tools for tests."""
    return {"name": "tools", "type": "test.tools", "config": config or None}


def llm(turns: Sequence[Json], **config: Any) -> Json:
    """Return a model layer that speaks these turns."""
    return {
        "name": "llm",
        "type": "dify.plugin.llm",
        "deps": {"execution_context": "execution_context"},
        "config": {
            "plugin_id": "langgenius/scripted",
            "model_provider": "scripted",
            "model": "scripted",
            "credentials": {"script": json.dumps(turns)},
            **config,
        },
    }


def text(content: str) -> Json:
    """Return a turn that says something."""
    return {"text": content}


def calls(*wanted: tuple[str, str, Json]) -> Json:
    """Return a turn of tool calls, each given as id, tool and arguments."""
    return {"calls": [{"id": one, "name": name, "args": args} for one, name, args in wanted]}


def ask(call_id: str = "call_1", question: str = "Deploy now?", **more: Any) -> Json:
    """Return a turn that asks a person."""
    return calls((call_id, "ask_human", {"question": question, **more}))


def request(*layers: Json, **members: Any) -> Json:
    """Return a create request."""
    return {"composition": {"schema_version": 1, "layers": list(layers)}, **members}


def usual(turns: Sequence[Json], **members: Any) -> Json:
    """Return a create request with the usual layers."""
    return request(prompt(), HISTORY, CONTEXT, ask_human(), llm(turns), **members)


def work_on(create: Json, **changes: Any) -> SegmentWork:
    """Return the work on the first segment of a managed run."""
    work = SegmentWork(
        run_id=RunId("run-1"),
        tenant=TenantId("tenant-1"),
        app=AppId("app-1"),
        face=Face.MANAGED,
        segment=1,
        request=create,
        request_digest="digest-1",
    )
    return replace(work, **changes)


def runner_of_tests(**options: Any) -> PydanticAgentRunner:
    """Return a runner that knows the scripted model and the layers for tests."""
    usual: Json = {
        "scripted": True,
        "allow_internal": True,
        "stored_credentials": lambda _provider: None,
        "test_layers": True,
    }
    return build_runner(**usual | options)


RUNNER = runner_of_tests()


def run_segment(
    work: SegmentWork,
    journal: MemoryJournal | None = None,
    runner: PydanticAgentRunner = RUNNER,
) -> SegmentResult:
    """Run one segment in an event loop of its own, as a worker does."""
    return asyncio.run(runner.run(work, journal or MemoryJournal()))


@dataclass
class WatchedModels(Models):
    """A scripted model that keeps what it was asked."""

    asked: list[tuple[list[ModelMessage], AgentInfo]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(
            outgoing=Outgoing(allow_internal=True),
            stored_credentials=lambda _provider: None,
            scripted=True,
        )

    @asynccontextmanager
    async def open(self, config: DifyPluginLLMLayerConfig) -> AsyncIterator[Model]:
        """Return the model of the config, watched."""
        async with super().open(config) as model:
            assert isinstance(model, FunctionModel)
            speak = model.stream_function
            assert speak is not None

            def listen(messages: list[ModelMessage], info: AgentInfo) -> Any:
                self.asked.append((list(messages), info))
                return speak(messages, info)

            yield FunctionModel(stream_function=listen, model_name=config.model)

    @property
    def instructions(self) -> list[str]:
        """The system fragments of the last request."""
        parts = self.asked[-1][1].model_request_parameters.instruction_parts or []
        return [part.content for part in parts]


def run_watched(create: Json, **changes: Any) -> tuple[SegmentResult, WatchedModels]:
    """Run a protocol run and keep what its model was asked."""
    models = WatchedModels()
    watched = PydanticAgentRunner(registry=build_registry([*BUILT_IN, *FOR_TESTS]), models=models)
    work = work_on(create, face=Face.PROTOCOL, **changes)
    return asyncio.run(watched.run(work, MemoryJournal())), models


def failed_text(create: Json, **changes: Any) -> str:
    """Run a protocol run that fails and return its error."""
    result = run_protocol(create, **changes)
    assert isinstance(result, Failed), result
    return result.error


def run_protocol(create: Json, **changes: Any) -> SegmentResult:
    """Run a protocol run to its end."""
    return run_segment(work_on(create, face=Face.PROTOCOL, **changes))


def submitted(**values: Any) -> Json:
    """Return what the model reads of a submitted form."""
    return {
        "status": "submitted",
        "action": {"id": "submit", "label": "Submit"},
        "values": values,
        "message": None,
        "rendered_content": None,
    }


@dataclass
class ManagedRun:
    """A managed run whose questions are answered at once, segment after segment."""

    create: Json
    answer: Callable[[str], Json] = lambda call_id: submitted(id=call_id)
    stores: list[Store] = field(default_factory=list)

    def finish(
        self, *, kill_at: float = 0, remaining: Callable[[], float] = lambda: float("inf")
    ) -> SegmentResult:
        """Carry the run on to its end.

        Args:
            kill_at: Half-writes after which the first worker is killed; the next one goes on.
            remaining: Time that each worker has; slices go on at once.

        Raises:
            Killed: The worker was killed.
        """
        work = work_on(self.create, remaining_seconds=remaining)
        while True:
            if len(self.stores) < work.segment:
                self.stores.append(Store())
            store = self.stores[work.segment - 1]
            journal = MemoryJournal(store, kill_at=kill_at)
            try:
                result = run_segment(work, journal)
            except SliceEnded:
                continue
            kill_at = max(kill_at - journal.halves, 0)
            store.last_events = list(result.events)
            if not isinstance(result, Asked):
                return result
            work = replace(
                work,
                segment=work.segment + 1,
                snapshot=result.snapshot,
                answers={
                    one.tool_call_id: self.answer(one.tool_call_id) for one in result.questions
                },
            )

    @property
    def shown(self) -> list[Json]:
        """All events of the run, in their order."""
        return [event for store in self.stores for event in store.shown]
