"""How the agent is started: with a prompt, or with the results of what it waits for.

Results are wrapped before the library sees them: a plain dict whose ``kind`` happens to be that
of a control result would otherwise be read as one, and a person could steer the run by it.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pydantic_ai import DeferredToolResults, RunUsage, ToolReturn

from sayso_agent.layers.history import PydanticAIHistoryLayer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic_ai.messages import ModelMessage, UserContent

    from sayso_agent.compositor import Composition
    from sayso_agent.protocol import DeferredToolResultsPayload
    from sayso_agent.snapshots import PausedState

_NO_RESPONSE: Final = (
    "Tool call results were provided, but the message history does not contain a `ModelResponse`."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What the agent library is given to begin with."""

    prompt: str | Sequence[UserContent] | None = None
    history: Sequence[ModelMessage] = ()
    results: DeferredToolResults | None = None
    usage: RunUsage = field(default_factory=RunUsage)
    """Counts on from here; the run adds to this very object."""
    conversation_id: str | None = None


def from_pause(state: PausedState, answers: Mapping[str, Any] | None) -> Start:
    """Go on with a paused run.

    Raises:
        SnapshotRefusedError: Not every call that waits has its result. The library would go on
            all the same, telling the model that it was interrupted.
    """
    state.check_answers(answers or {})
    return Start(
        history=state.conversation.messages,
        results=_wrapped(answers or {}),
        usage=copy(state.conversation.usage),
        conversation_id=state.conversation.conversation_id,
    )


def from_results(payload: DeferredToolResultsPayload, composition: Composition) -> Start:
    """Go on with the conversation of an earlier run, whose question is answered (§9.6).

    Raises:
        ValueError: With the contract's text (§13.1).
    """
    layer = composition.first(PydanticAIHistoryLayer)
    if layer is None:
        message = "Deferred tool results require a 'history' layer with prior message history."
        raise ValueError(message)
    if not layer.messages and composition.system_prompts():
        raise ValueError(_NO_RESPONSE)
    results = _wrapped(payload.calls)
    results.metadata.update(payload.metadata)
    return Start(history=layer.messages, results=results)


def from_prompt(composition: Composition) -> Start:
    """Begin a turn with the composition's user prompt (§8).

    Raises:
        ValueError: Every fragment is blank.
    """
    fragments = composition.user_prompts()
    if not any(not isinstance(one, str) or one.strip() for one in fragments):
        message = "run.user_prompts must not be empty"
        raise ValueError(message)
    layer = composition.first(PydanticAIHistoryLayer)
    only = fragments[0] if len(fragments) == 1 and isinstance(fragments[0], str) else None
    return Start(
        prompt=fragments if only is None else only, history=layer.messages if layer else ()
    )


def _wrapped(values: Mapping[str, Any]) -> DeferredToolResults:
    return DeferredToolResults(calls={key: ToolReturn(value) for key, value in values.items()})
