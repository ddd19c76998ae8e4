"""``dify.execution_context``: who and what a run belongs to (dify-agent §7.2).

Recorded and handed to tools; access follows from the API key alone (DESIGN decision 3).
"""

from __future__ import annotations

from typing import Literal

from sayso_agent.layers.base import Layer, LayerModel


class DifyExecutionContextLayerConfig(LayerModel):
    """Identity facts; ``user_from`` is required in R1 and optional in R2."""

    tenant_id: str
    user_from: Literal["account", "end-user"] | None = None
    agent_mode: Literal["workflow_run", "single_step", "agent_app", "babysit", "fasten"]
    invoke_from: Literal[
        "service-api",
        "openapi",
        "web-app",
        "trigger",
        "explore",
        "debugger",
        "published",
        "validation",
    ]
    user_id: str | None = None
    app_id: str | None = None
    workflow_id: str | None = None
    workflow_run_id: str | None = None
    node_id: str | None = None
    node_execution_id: str | None = None
    conversation_id: str | None = None
    agent_id: str | None = None
    agent_config_version_id: str | None = None
    trace_id: str | None = None


class DifyExecutionContextLayer(Layer[DifyExecutionContextLayerConfig]):
    """Contributes no prompt and no tool."""

    type_id = "dify.execution_context"
    config_type = DifyExecutionContextLayerConfig
