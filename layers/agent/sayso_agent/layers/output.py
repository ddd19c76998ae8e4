"""``dify.output``: the run's output is an object of a given schema (dify-agent §7.5)."""

from __future__ import annotations

from copy import deepcopy
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from pydantic import field_validator
from pydantic_ai import ModelRetry, StructuredDict, ToolOutput

from sayso_agent.layers.base import Layer, LayerModel

if TYPE_CHECKING:
    from collections.abc import Callable

OUTPUT_TOOL_NAME: Final = "final_output"


class DifyOutputLayerConfig(LayerModel):
    """The schema, and how the model is told of it."""

    json_schema: dict[str, Any]
    description: str | None = None
    strict: bool | None = None

    @field_validator("json_schema")
    @classmethod
    def _is_of_an_object(cls, value: dict[str, Any]) -> dict[str, Any]:
        if value.get("type") != "object":
            message = "Schema must declare an object output."
            raise ValueError(message)
        return value


class DifyOutputLayer(Layer[DifyOutputLayerConfig]):
    """Contributes no prompt and no function tool; it decides what the model answers with."""

    type_id = "dify.output"
    config_type = DifyOutputLayerConfig

    def output_tool(self) -> ToolOutput[dict[str, Any]]:
        """Return the one output tool.

        Raises:
            ValueError: The schema is none, or has references that cannot be followed.
        """
        schema = deepcopy(self.config.json_schema)
        _schemas().check(schema)
        answer = StructuredDict(schema, name=OUTPUT_TOOL_NAME, description=self.config.description)
        return ToolOutput(answer, name=OUTPUT_TOOL_NAME, strict=self.config.strict)

    def validator(self) -> Callable[[Any], Any]:
        """Return the check of an answer; the model may mend a wrong one once."""
        find_fault = _schemas().fault_finder(self.config.json_schema)

        def validate(output: Any) -> Any:
            if isinstance(output, dict) and (fault := find_fault(output)):
                message = f"Output does not match JSON Schema: {fault}"
                raise ModelRetry(message)
            return output

        return validate


def _schemas() -> Any:
    """Only runs with this layer pay for the import of the schema library (0.2 s)."""
    return import_module("sayso_agent.layers.output_schema")
