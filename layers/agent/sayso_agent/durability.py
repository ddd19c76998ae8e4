"""Connects the agent library's durable execution to the journal.

Operation names are stored data: the agent's name, the toolset's id and the streaming mode are
part of them and must never change (pinned by a test). What follows from that: the one event
handler is always set, because it decides whether models are streamed.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pydantic_ai.durable_exec import (
    JSON_CODEC,
    BaseDurabilityCapability,
    DurabilityEngineSpec,
    DurableOperationId,
    EventStreamHandlerId,
    JournalCallableOperationBackend,
    ModelRequestId,
    RoleBasedOperationConfig,
    ToolsetCallToolId,
    ToolsetValidateToolArgumentsId,
    conversation_id_from_run_id,
    record_durable_unit,
)
from pydantic_ai.exceptions import ToolFailed
from pydantic_core import to_jsonable_python

from sayso.domain.segment import OperationKind
from sayso_agent.deltas import append_joined
from sayso_agent.deps import RunDeps
from sayso_agent.events import model_event, tool_event
from sayso_agent.journal import MAX_STARTS, Replay
from sayso_agent.operations import GivenUpError, Request, live_events

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Awaitable, Callable, Mapping, Sequence

    from pydantic_ai import RunContext
    from pydantic_ai.messages import AgentStreamEvent, ModelMessage

AGENT_NAME: Final = "agent"
METADATA_KEY: Final = "sayso"
"""Key in a tool's metadata: ``{"retry": "never", "timeout_seconds": 30}``, both optional, or
``False`` for a pure tool without record, which has no time limit either."""

TOOL_SECONDS: Final = 120.0
"""How long a tool call may take that does not say so itself.

Far below a function's 900 s: a slice ends before a call that might not fit into it.
"""

MAX_CALL_ID_BYTES: Final = 256

Config = dict[str, Any]


class JournalBackend(JournalCallableOperationBackend[Config]):
    """Turns the library's durable units into operations of the journal."""

    def __init__(self, replay: Replay) -> None:
        super().__init__(
            agent_name=AGENT_NAME,
            config=RoleBasedOperationConfig(
                model={}, event={}, capability={}, tool={}, resolve_tool=_tool_config
            ),
        )
        self._replay = replay

    async def execute(
        self,
        *,
        operation_id: DurableOperationId,
        name: str,
        body: Callable[[], Awaitable[object]],
        cache_key: tuple[Any, ...],
        config: Config,
    ) -> object:
        """Return the recorded payload, or that of ``body`` after recording it."""
        if isinstance(operation_id, EventStreamHandlerId):
            return await body()  # events are written with operations, not as operations

        async def carry_out() -> object:
            try:
                return await body()
            except ToolFailed as error:  # the result has no JSON form, see the engine spec
                raise GivenUpError(error.message) from error

        request = _request(operation_id, name, cache_key, config)
        try:
            value, performed = await self._replay.run(request, carry_out)
        except GivenUpError as error:
            raise ToolFailed(str(error)) from error
        record_durable_unit(executed=performed)
        return value


class JournalDurability(BaseDurabilityCapability[RunDeps]):
    """Makes every model and tool call of a run an operation of one segment's journal."""

    engine_spec: ClassVar[DurabilityEngineSpec] = DurabilityEngineSpec(
        engine_name="Sayso",
        durable_unit_noun="operation",
        durable_container_noun="segment",
        codec=JSON_CODEC,
        tool_config_key=METADATA_KEY,
        toolset_lifecycles={
            "function": "enter-always",
            "mcp": "enter-in-durable-unit",
            "dynamic": "enter-never",
        },
        unsupported_runtime_toolset_kinds=frozenset({"function", "mcp", "dynamic"}),
        serialization_failure=lambda error: ToolFailed(
            f"The result cannot be stored: {type(error).__name__}"
        ),
    )

    def __init__(self, replay: Replay) -> None:
        super().__init__(event_stream_handler=self._collect, name=AGENT_NAME)
        self._replay = replay

    @property
    def in_durable_context(self) -> bool:
        """False inside an operation: an agent run in a tool belongs to that tool's record."""
        return live_events.get() is None

    def get_default_conversation_id(self, run_id: str) -> str:
        """Derive the conversation from the run, so that every attempt has the same."""
        return conversation_id_from_run_id(run_id)

    def get_durable_operation_backend(self) -> JournalBackend:
        """Return the backend of this segment."""
        return JournalBackend(self._replay)

    async def _collect(
        self, ctx: RunContext[RunDeps], stream: AsyncIterable[AgentStreamEvent]
    ) -> None:
        """Take the library's events: a model's inside its operation, a tool's outside of any."""
        async for event in stream:
            live = live_events.get()
            if live is not None:
                if (draft := model_event(event)) is not None:
                    append_joined(live, draft)
            elif (draft := tool_event(event, ctx.run_step, self._replay.occurrence)) is not None:
                self._replay.show(draft)


def _tool_config(_operation: object, tool: Any, _name: str) -> Config | Any:
    """Return what a tool says about itself; ``False`` runs it inline, without a record."""
    metadata: Mapping[str, Any] = (tool.tool_def.metadata or {}) if tool is not None else {}
    return metadata.get(METADATA_KEY, {})


def _request(
    operation_id: DurableOperationId, name: str, cache_key: tuple[Any, ...], config: Config
) -> Request:
    match operation_id:
        case ToolsetCallToolId():
            tool_name, arguments, ctx, _ = cache_key
            return Request(
                kind=OperationKind.TOOL,
                name=name,
                digest=_digest([tool_name, arguments]),
                tool_call_id=_bounded(ctx.tool_call_id),
                max_starts=1 if config.get("retry") == "never" else MAX_STARTS,
                limit_seconds=config.get("timeout_seconds", TOOL_SECONDS),
            )
        case ToolsetValidateToolArgumentsId():
            tool_name, arguments, ctx, _ = cache_key
            return Request(
                kind=OperationKind.OTHER,
                name=name,
                digest=_digest([tool_name, arguments]),
                tool_call_id=_bounded(ctx.tool_call_id),
            )
        case ModelRequestId():
            digest = _digest(_essence(cache_key[1]))
            return Request(kind=OperationKind.MODEL, name=name, digest=digest)
        case _:  # the union grows; an unknown kind is guarded by its name and order alone
            return Request(kind=OperationKind.OTHER, name=name, digest="")


def _bounded(tool_call_id: str) -> str:
    """Shorten an id that would not fit into the key of a record; a model may send any."""
    if len(tool_call_id.encode()) <= MAX_CALL_ID_BYTES:
        return tool_call_id
    return hashlib.sha256(tool_call_id.encode()).hexdigest()


def _essence(messages: Sequence[ModelMessage]) -> list[list[Any]]:
    """Return what makes two histories the same for us.

    Without times, instructions and whatever members the next version of the library adds: those
    differ between attempts and deploys that may well go on with the run.
    """
    return [
        [
            part.part_kind,
            getattr(part, "tool_call_id", None),
            getattr(part, "content", None),
            getattr(part, "args", None),
        ]
        for message in messages
        for part in message.parts
        if part.part_kind != "system-prompt"
    ]


def _digest(value: Any) -> str:
    plain = to_jsonable_python(value, fallback=repr)
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
