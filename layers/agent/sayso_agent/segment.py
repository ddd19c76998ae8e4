"""One segment of one run: compose it, start or resume the agent, say how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, cast

from pydantic_ai import Agent, DeferredToolRequests, UsageLimits, capture_run_messages
from pydantic_ai.durable_exec import replay_scope
from pydantic_core import to_json, to_jsonable_python

from sayso.domain.run import Face
from sayso.domain.segment import Asked, Failed, Finished, Left, Question, Usage
from sayso_agent.compositor import compose
from sayso_agent.deps import QuestionLimits, RunDeps
from sayso_agent.durability import AGENT_NAME, JournalDurability
from sayso_agent.failures import failure
from sayso_agent.journal import Replay
from sayso_agent.layers.ask_human import DifyAskHumanLayer
from sayso_agent.layers.execution_context import DifyExecutionContextLayer
from sayso_agent.layers.history import PydanticAIHistoryLayer
from sayso_agent.layers.output import DifyOutputLayer
from sayso_agent.layers.plugin_llm import LLM_LAYER_NAME, DifyPluginLLMLayer
from sayso_agent.protocol import RunRequest
from sayso_agent.snapshots import PausedState, dump_paused, load_paused
from sayso_agent.starting import Start, from_pause, from_prompt, from_results
from sayso_agent.threads import threads_of_tools

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.run import AgentRunResult
    from pydantic_ai.settings import ModelSettings

    from sayso.domain.segment import SegmentResult, SegmentWork
    from sayso.ports import SegmentJournal
    from sayso_agent.compositor import Composition
    from sayso_agent.layers.base import Layer
    from sayso_agent.models import Models

MAX_SESSION_SNAPSHOT_BYTES: Final = 4 * 1024 * 1024
MAX_SNAPSHOT_BYTES: Final = 50 * 1024 * 1024


async def run_segment(
    work: SegmentWork,
    journal: SegmentJournal,
    *,
    registry: Mapping[str, type[Layer[Any]]],
    models: Models,
    request_limit: int,
) -> SegmentResult:
    """Work on a segment to its end. Whatever the agent does wrong is a ``Failed`` result.

    Raises:
        SegmentStop: The worker must stop; the run goes on elsewhere.
    """
    replay = Replay(journal, remaining=work.remaining_seconds)
    replay.check_versions()
    try:
        request = RunRequest.model_validate(work.request)
        paused = None
        if work.snapshot is not None:
            paused = load_paused(work.snapshot, request_digest=work.request_digest)
            request = request.with_snapshot(paused.session_snapshot())
        composition = compose(request, registry)
    except Exception as error:  # noqa: BLE001 - a request that cannot be composed ends its run
        return failure(error)
    segment = _Segment(
        work=work,
        request=request,
        paused=paused,
        composition=composition,
        replay=replay,
        models=models,
        limits=UsageLimits(request_limit=request_limit),
    )
    return await segment.run()


@dataclass(kw_only=True)
class _Segment:
    """The work on one composed segment."""

    work: SegmentWork
    request: RunRequest
    paused: PausedState | None
    composition: Composition
    replay: Replay
    models: Models
    limits: UsageLimits
    start: Start = field(default_factory=Start)
    """Set when it is known how the agent starts; its usage counts on while the agent runs."""

    async def run(self) -> SegmentResult:
        """Enter the layers, run the agent, leave them again."""
        try:
            async with self.composition.entered():
                result = await self._run_agent()
            return self._ended(result)
        except Exception as error:  # noqa: BLE001 - whatever the agent raises ends its run
            return self._failed(error)
        except BaseException:  # stopped from outside, perhaps for good: readers get what there is
            self.work.leave(Left(session_snapshot=self._last_snapshot(), usage=self._usage()))
            raise

    async def _run_agent(self) -> AgentRunResult[Any] | None:
        """Return the agent's result, None when the composition has no model to run."""
        llm = self.composition.layers.get(LLM_LAYER_NAME)
        if llm is None:
            self._check_lifecycle_only()
            return None
        self.start = self._starting_point()
        if not isinstance(llm, DifyPluginLLMLayer):
            message = (
                f"Layer '{LLM_LAYER_NAME}' must be {DifyPluginLLMLayer.__name__}, got"
                f" {type(llm).__name__}."
            )
            raise TypeError(message)
        tools = self.composition.tools()
        output = self.composition.first(DifyOutputLayer)
        output_tool = output.output_tool() if output else None
        async with self.models.open(llm.config) as model:
            agent = Agent(
                model,
                name=AGENT_NAME,
                deps_type=RunDeps,
                output_type=[output_tool or str, DeferredToolRequests],
                tools=tools,
                model_settings=_settings(llm),
                capabilities=[JournalDurability(self.replay)],
                retries=1,
            )
            if output:
                agent.output_validator(output.validator())
            return await self._converse(agent)

    def _starting_point(self) -> Start:
        if self.paused is not None:
            return from_pause(self.paused, self.work.answers)
        if self.request.deferred_tool_results is not None:
            return from_results(self.request.deferred_tool_results, self.composition)
        return from_prompt(self.composition)

    def _check_lifecycle_only(self) -> None:
        """Without a model a run only enters and leaves layers, and needs their states (§6.1)."""
        if self.request.deferred_tool_results is not None:
            message = "Deferred tool results require the reserved 'llm' layer."
            raise ValueError(message)
        if self.request.session_snapshot is None:
            message = "Missing 'llm' requires a session_snapshot for lifecycle-only runs."
            raise ValueError(message)

    async def _converse(self, agent: Agent[RunDeps, Any]) -> AgentRunResult[Any]:
        start = self.start
        with (
            replay_scope(),
            threads_of_tools(),
            Agent.parallel_tool_call_execution_mode("parallel_ordered_events"),
            capture_run_messages() as messages,
        ):
            try:
                return await agent.run(
                    start.prompt,
                    message_history=start.history or None,
                    deferred_tool_results=start.results,
                    usage=start.usage,
                    conversation_id=start.conversation_id,
                    run_id=f"{self.work.run_id}:{self.work.segment}",
                    instructions=self.composition.system_prompts(),
                    deps=self._deps(),
                    usage_limits=self.limits,
                    infer_name=False,
                )
            finally:
                self._keep(messages)

    def _keep(self, messages: Sequence[ModelMessage]) -> None:
        """Let the history hold what was said, also when the run fails (§10, R2)."""
        history = self.composition.first(PydanticAIHistoryLayer)
        if history and messages:
            history.messages = list(messages)

    def _deps(self) -> RunDeps:
        work = self.work
        context = self.composition.first(DifyExecutionContextLayer)
        managed = work.face is Face.MANAGED
        return RunDeps(
            run_id=work.run_id,
            tenant=work.tenant,
            app=work.app,
            variables=work.variables,
            execution_context=context.config.model_dump() if context else None,
            questions=QuestionLimits(in_one_turn=work.max_questions, left=work.questions_left)
            if managed
            else None,
        )

    def _ended(self, result: AgentRunResult[Any] | None) -> SegmentResult:
        if result is None:
            ended: SegmentResult = Finished(output=None, session_snapshot=self._session_snapshot())
        elif isinstance(result.output, DeferredToolRequests):
            ended = self._asked(result, result.output)
        else:
            ended = Finished(
                output=to_jsonable_python(result.output), session_snapshot=self._session_snapshot()
            )
        return replace(ended, usage=self._usage(), events=self.replay.finish())

    def _asked(self, result: AgentRunResult[Any], requests: DeferredToolRequests) -> Asked:
        ask = self.composition.first(DifyAskHumanLayer)
        if ask is None or not ask.config.enabled:
            message = (
                "Deferred tool requests were returned, but no active ask_human layer is available"
                " for validation."
            )
            raise ValueError(message)
        if self.work.face is Face.MANAGED:
            return self._paused_by(ask.questions(requests), result)
        if self.composition.first(PydanticAIHistoryLayer) is None:
            message = (
                "ask_human deferred tool requests require a 'history' layer so the pending tool"
                " call can be resumed."
            )
            raise ValueError(message)
        return Asked(
            questions=[ask.only_question(requests)],
            snapshot=b"",
            session_snapshot=self._session_snapshot(),
        )

    def _paused_by(self, questions: Sequence[Question], result: AgentRunResult[Any]) -> Asked:
        session = self.composition.paused_snapshot()
        state = PausedState(
            request_digest=self.work.request_digest,
            layers=session.layers,
            conversation=result.conversation,
        )
        snapshot = dump_paused(state)
        _check_size("snapshot", len(snapshot), MAX_SNAPSHOT_BYTES)
        return Asked(
            questions=questions,
            snapshot=snapshot,
            session_snapshot=session.model_dump(mode="json"),
        )

    def _session_snapshot(self) -> dict[str, Any]:
        snapshot = self.composition.session_snapshot().model_dump(mode="json")
        if self.work.face is Face.PROTOCOL:
            _check_size("session snapshot", len(to_json(snapshot)), MAX_SESSION_SNAPSHOT_BYTES)
        return snapshot

    def _failed(self, error: Exception) -> Failed:
        llm = self.composition.first(DifyPluginLLMLayer)
        return replace(
            failure(error, secrets=self.models.secrets(llm.config) if llm else ()),
            session_snapshot=self._last_snapshot(),
            usage=self._usage(),
            events=self.replay.take_pending(),
        )

    def _last_snapshot(self) -> dict[str, Any] | None:
        try:
            return self._session_snapshot()
        except ValueError:  # it is too large, which may be the very error
            return None

    def _usage(self) -> Usage:
        used = self.start.usage
        return Usage(
            requests=used.requests,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            tool_calls=used.tool_calls,
        )


def _settings(llm: DifyPluginLLMLayer) -> ModelSettings | None:
    # Settings are passed on as they came; the library ignores what a provider does not know.
    return cast("ModelSettings | None", llm.config.model_settings)


def _check_size(what: str, size_bytes: int, limit_bytes: int) -> None:
    if size_bytes > limit_bytes:
        message = f"{what} is too large: {size_bytes} bytes, at most {limit_bytes}"
        raise ValueError(message)
