"""What a layer is: one part of a composition, with a config, a state and contributions.

A layer lives for one segment. What it contributes must follow from its config, its state and the
layers it depends on alone: a segment may be replayed, and then contributions are asked for again
(research: pure code between operations). A deployer's own layer types derive from ``Layer`` and
are announced in the entry point group ``sayso.layers``.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic_ai import Tool
    from pydantic_ai.messages import UserContent

    from sayso_agent.deps import RunDeps

    Prompt = str | Callable[[], str]


class LayerModel(BaseModel):
    """Base of configs and states: closed to unknown members (dify-agent §7)."""

    model_config = ConfigDict(extra="forbid")


class EmptyLayerConfig(LayerModel):
    """Config of a layer that has nothing to configure."""


class EmptyRuntimeState(LayerModel):
    """State of a layer that keeps none."""


ConfigT = TypeVar("ConfigT", bound=BaseModel)


class Layer(Generic[ConfigT]):
    """One layer of a run.

    Class attributes describe the type; the methods are its contributions, none by default.
    """

    type_id: ClassVar[str]
    """Name in compositions, such as ``plain.prompt``."""
    config_type: ClassVar[type[BaseModel]] = EmptyLayerConfig
    state_type: ClassVar[type[BaseModel]] = EmptyRuntimeState
    dependencies: ClassVar[Mapping[str, bool]] = {}
    """Dependency key → whether it must be given."""

    def __init__(self, *, name: str, config: ConfigT, state: BaseModel) -> None:
        self.name = name
        self.config = config
        self.state = state
        self.deps: dict[str, Layer[Any]] = {}

    def runtime_state(self) -> dict[str, Any]:
        """Return the state as it stands in a session snapshot."""
        return self.state.model_dump(mode="json")

    def lifespan(self) -> AbstractAsyncContextManager[None]:
        """Return what surrounds the run; entered first to last, left last to first (§12)."""
        return nullcontext()

    def prefix_prompts(self) -> Sequence[Prompt]:
        """Return system fragments that stand before those of later layers."""
        return ()

    def suffix_prompts(self) -> Sequence[Prompt]:
        """Return system fragments that stand after those of later layers."""
        return ()

    def user_prompts(self) -> Sequence[UserContent]:
        """Return fragments of the user input."""
        return ()

    def tools(self) -> Sequence[Tool[RunDeps]]:
        """Return the tools the model is offered."""
        return ()

    def wrap_prompt(self, prompt: Prompt) -> Prompt:
        """Adapt one system fragment of this layer before it joins those of the others."""
        return prompt

    def wrap_user_prompt(self, prompt: UserContent) -> UserContent:
        """Adapt one fragment of this layer's user input before it joins those of the others."""
        return prompt
