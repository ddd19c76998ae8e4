"""``dify.plugin.tools``: tools of a plugin daemon (dify-agent §7.4), of which there is none here.

The layer is known, because the contract's clients send it even without tools. A tool in it fails
the run with a clear text instead of being left out in silence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import ConfigDict, Field, field_validator

from sayso_agent.layers.base import Layer, LayerModel

if TYPE_CHECKING:
    from collections.abc import Mapping


class PluginTool(LayerModel):
    """One tool, as far as it is looked at."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    plugin_id: str
    provider: str
    tool_name: str
    credential_type: Literal["api-key", "oauth2", "unauthorized"]


class DifyPluginToolsLayerConfig(LayerModel):
    """The tools; their credentials must not be echoed."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    tools: list[PluginTool] = Field(default_factory=list)

    @field_validator("tools")
    @classmethod
    def _are_none(cls, value: list[PluginTool]) -> list[PluginTool]:
        if value:
            names = ", ".join(tool.tool_name for tool in value)
            message = f"plugin tools need a plugin daemon, which Sayso has not: {names}"
            raise ValueError(message)
        return value


class DifyPluginToolsLayer(Layer[DifyPluginToolsLayerConfig]):
    """Contributes nothing."""

    type_id = "dify.plugin.tools"
    config_type = DifyPluginToolsLayerConfig
    dependencies: ClassVar[Mapping[str, bool]] = {"execution_context": True}
