"""``scripted``: a model whose turns stand in its credentials (DESIGN §8), for tests and demos.

It can say only what the request says itself, and needs no network. Still it is off unless the
stack turns it on, so that nobody takes it for a real answer.
"""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_core import to_jsonable_python

from sayso_agent.providers.base import ModelConfigError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

    from sayso_agent.outgoing import Outgoing
    from sayso_agent.providers.base import ModelSpec

_CHUNK_CHARS: Final = 24
"""Text is streamed in pieces of this length, as a real model would."""
_RESULTS: Final = "{{results}}"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ScriptedCall(_Part):
    """One tool call of a turn."""

    name: str
    args: dict[str, Any] | str = {}
    id: str


class ScriptedTurn(_Part):
    """What the model answers once: text, tool calls, or both."""

    text: str | None = None
    calls: list[ScriptedCall] = []


_SCRIPT = TypeAdapter(Annotated[list[ScriptedTurn], Field(min_length=1)])


@asynccontextmanager
async def scripted(spec: ModelSpec, _outgoing: Outgoing) -> AsyncIterator[Model]:
    """Return a model that speaks the turns of ``credentials.script``."""
    turns = _read(spec.text("script"))

    async def stream(
        messages: list[ModelMessage], _info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        turn = turns[min(_responses(messages), len(turns) - 1)]
        text = (turn.text or "").replace(_RESULTS, _results(messages))
        for start in range(0, len(text), _CHUNK_CHARS):
            yield text[start : start + _CHUNK_CHARS]
        for number, call in enumerate(turn.calls):
            arguments = call.args if isinstance(call.args, str) else json.dumps(call.args)
            yield {number: DeltaToolCall(call.name, arguments, tool_call_id=call.id)}
        if not text and not turn.calls:
            yield ""

    yield FunctionModel(stream_function=stream, model_name=spec.model)


def _read(script: str) -> list[ScriptedTurn]:
    try:
        return _SCRIPT.validate_json(script)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        message = (
            "credentials.script of the scripted model must be a JSON list of turns such as"
            f' [{{"text": "Done."}}]; {place}: {first["msg"]}'
        )
        raise ModelConfigError(message) from error


def _responses(messages: Sequence[ModelMessage]) -> int:
    return sum(isinstance(message, ModelResponse) for message in messages)


def _results(messages: Sequence[ModelMessage]) -> str:
    """Return the tool results of the last request as a JSON list, in their order."""
    last = next((one for one in reversed(messages) if isinstance(one, ModelRequest)), None)
    results = (
        [part.content for part in last.parts if isinstance(part, ToolReturnPart)] if last else []
    )
    return json.dumps(to_jsonable_python(results), ensure_ascii=False)
