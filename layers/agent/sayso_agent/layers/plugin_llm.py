"""``dify.plugin.llm``: which model answers, and with which settings (dify-agent §7.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import ConfigDict, Field

from sayso_agent.layers.base import Layer, LayerModel

if TYPE_CHECKING:
    from collections.abc import Mapping

LLM_LAYER_NAME = "llm"
"""The reserved name under which the model is looked up."""


class DifyPluginLLMLayerConfig(LayerModel):
    """Members of both revisions; ``credentials`` is R1's, ``context_window_tokens`` R2's.

    Its validation errors go to the caller and must not echo a credential.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, protected_namespaces=())

    plugin_id: str
    model_provider: str
    model: str
    credentials: dict[str, str | int | float | bool | None] = Field(default={}, repr=False)
    model_settings: dict[str, Any] | None = None
    context_window_tokens: Annotated[int, Field(gt=0)] | None = None


class DifyPluginLLMLayer(Layer[DifyPluginLLMLayerConfig]):
    """Only describes the model; ``sayso_agent.models`` makes it."""

    type_id = "dify.plugin.llm"
    config_type = DifyPluginLLMLayerConfig
    dependencies: ClassVar[Mapping[str, bool]] = {"execution_context": True}
