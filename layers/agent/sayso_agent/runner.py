"""Runs agent code for one segment: the port ``AgentRunner`` on the agent library.

Failures of the agent are results here, with the contract's texts; only stop signals pass. One
runner serves all segments of a worker, one after another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic_ai.conversation import ConversationTypeAdapter
from pydantic_ai.messages import ModelMessagesTypeAdapter

from sayso.domain.errors import SnapshotRefusedError
from sayso_agent.compositor import compose
from sayso_agent.failures import failure
from sayso_agent.layers.plugin_llm import DifyPluginLLMLayer
from sayso_agent.layers.registry import BUILT_IN, FOR_TESTS, build_registry, installed_types
from sayso_agent.models import Models
from sayso_agent.outgoing import Outgoing
from sayso_agent.protocol import RunRequest
from sayso_agent.segment import run_segment
from sayso_agent.snapshots import load_paused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sayso.domain.segment import SegmentResult, SegmentWork
    from sayso.ports import SegmentJournal, StoredCredential
    from sayso_agent.layers.base import Layer

REQUEST_LIMIT: Final = 500
"""Model requests of a run (dify-agent §13)."""


class PydanticAgentRunner:
    """The agent side of a worker."""

    def __init__(
        self,
        *,
        registry: Mapping[str, type[Layer[Any]]],
        models: Models,
        request_limit: int = REQUEST_LIMIT,
    ) -> None:
        self._registry = registry
        self._models = models
        self._request_limit = request_limit

    def check(self, work: SegmentWork) -> None:
        """Tell whether this code can resume the run, before its answers are consumed.

        Raises:
            SnapshotRefusedError: It cannot; says why.
        """
        if work.snapshot is None:
            return
        state = load_paused(work.snapshot, request_digest=work.request_digest)
        try:
            request = RunRequest.model_validate(work.request)
            composition = compose(request.with_snapshot(state.session_snapshot()), self._registry)
            offered = {tool.name for tool in composition.tools()}
            if (llm := composition.first(DifyPluginLLMLayer)) is not None:
                self._models.check(llm.config)
        except Exception as error:
            message = f"this code cannot build the run's layers: {failure(error).error}"
            raise SnapshotRefusedError(message) from error
        state.check_tools(offered)
        if work.answers is not None:
            state.check_answers(work.answers)

    async def run(self, work: SegmentWork, journal: SegmentJournal) -> SegmentResult:
        """Work on the segment to its end.

        Raises:
            SegmentStop: The worker must stop; the run goes on elsewhere.
        """
        return await run_segment(
            work,
            journal,
            registry=self._registry,
            models=self._models,
            request_limit=self._request_limit,
        )


def build_runner(
    *,
    scripted: bool,
    allow_internal: bool,
    stored_credentials: Callable[[str], StoredCredential | None],
    test_layers: bool = False,
    request_limit: int = REQUEST_LIMIT,
) -> PydanticAgentRunner:
    """Return a runner; call it once when the module of the function is loaded.

    Args:
        scripted: Whether the scripted model may be used.
        allow_internal: Whether models may be called at internal addresses; true only locally.
        stored_credentials: The stack's credential of a provider, if there is one.
        test_layers: Whether the layer types for tests are offered.
        request_limit: Model requests of a run, all its segments together.
    """
    for adapter in (ConversationTypeAdapter, ModelMessagesTypeAdapter):
        adapter.rebuild()  # they are built on first use otherwise, which a run would wait for
    types = [*BUILT_IN, *(FOR_TESTS if test_layers else ()), *installed_types()]
    outgoing = Outgoing(allow_internal=allow_internal)
    models = Models(outgoing=outgoing, stored_credentials=stored_credentials, scripted=scripted)
    return PydanticAgentRunner(
        registry=build_registry(types), models=models, request_limit=request_limit
    )
