"""``pydantic_ai.history``: the conversation between runs (dify-agent §10).

Its state is what the session snapshot carries of the messages: everything but the instructions,
which belong to one run and are made anew from the composition of the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, field_validator
from pydantic_ai.messages import ModelMessagesTypeAdapter

from sayso_agent.layers.base import EmptyLayerConfig, Layer, LayerModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_ai.messages import ModelMessage


class PydanticAIHistoryRuntimeState(LayerModel):
    """The messages, each checked by the model library's own adapter."""

    messages: list[Any] = Field(default_factory=list)

    @field_validator("messages", mode="before")
    @classmethod
    def _are_messages(cls, value: object) -> list[ModelMessage]:
        return ModelMessagesTypeAdapter.validate_python(value)


class PydanticAIHistoryLayer(Layer[EmptyLayerConfig]):
    """Holds the messages a run starts from, and those it leaves behind."""

    type_id = "pydantic_ai.history"
    state_type = PydanticAIHistoryRuntimeState

    def __init__(self, *, name: str, config: EmptyLayerConfig, state: BaseModel) -> None:
        super().__init__(name=name, config=config, state=state)
        assert isinstance(state, PydanticAIHistoryRuntimeState)
        self.messages: Sequence[ModelMessage] = state.messages

    def runtime_state(self) -> dict[str, Any]:
        """Return the messages as they stand now, instructions left out."""
        return {"messages": dump_messages(self.messages)}


def dump_messages(messages: Sequence[ModelMessage]) -> list[Any]:
    """Return messages as JSON values without their instructions."""
    dumped: list[Any] = ModelMessagesTypeAdapter.dump_python(
        list(messages), mode="json", exclude={"__all__": {"instructions"}}
    )
    return dumped
