"""``plain.prompt``: fixed fragments of system and user prompt (dify-agent §7.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from sayso_agent.layers.base import Layer, LayerModel

if TYPE_CHECKING:
    from collections.abc import Sequence


class PromptLayerConfig(LayerModel):
    """Each member is one fragment or a list of them; a string counts even when it is empty."""

    prefix: str | list[str] = Field(default=[])
    user: str | list[str] = Field(default=[])
    suffix: str | list[str] = Field(default=[])


class PromptLayer(Layer[PromptLayerConfig]):
    """Contributes what its config says, unchanged."""

    type_id = "plain.prompt"
    config_type = PromptLayerConfig

    def prefix_prompts(self) -> Sequence[str]:
        """Return the prefix fragments."""
        return _fragments(self.config.prefix)

    def suffix_prompts(self) -> Sequence[str]:
        """Return the suffix fragments."""
        return _fragments(self.config.suffix)

    def user_prompts(self) -> Sequence[str]:
        """Return the user fragments."""
        return _fragments(self.config.user)


def _fragments(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
