"""The layer types of this installation: one table, and what entry points add to it.

A deployer's package announces a type in the entry point group ``sayso.layers``; the entry point
names a subclass of ``Layer``. A type id is taken once: nobody replaces a type by accident.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from sayso_agent.layers.ask_human import DifyAskHumanLayer
from sayso_agent.layers.base import Layer
from sayso_agent.layers.execution_context import DifyExecutionContextLayer
from sayso_agent.layers.history import PydanticAIHistoryLayer
from sayso_agent.layers.output import DifyOutputLayer
from sayso_agent.layers.plain_prompt import PromptLayer
from sayso_agent.layers.plugin_llm import DifyPluginLLMLayer
from sayso_agent.layers.plugin_tools import DifyPluginToolsLayer
from sayso_agent.layers.testing import TestToolsLayer
from sayso_agent.layers.user_prompt import DifyUserPromptLayer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "sayso.layers"

BUILT_IN: tuple[type[Layer[Any]], ...] = (
    PromptLayer,
    PydanticAIHistoryLayer,
    DifyExecutionContextLayer,
    DifyAskHumanLayer,
    DifyPluginLLMLayer,
    DifyPluginToolsLayer,
    DifyOutputLayer,
    DifyUserPromptLayer,
)
FOR_TESTS: tuple[type[Layer[Any]], ...] = (TestToolsLayer,)


def build_registry(types: Iterable[type[Layer[Any]]]) -> dict[str, type[Layer[Any]]]:
    """Return the types by their ids.

    Raises:
        ValueError: Two types share an id.
    """
    registry: dict[str, type[Layer[Any]]] = {}
    for layer_type in types:
        if layer_type.type_id in registry:
            message = f"Layer type id '{layer_type.type_id}' is already registered."
            raise ValueError(message)
        registry[layer_type.type_id] = layer_type
    return registry


def installed_types() -> list[type[Layer[Any]]]:
    """Return the types that installed packages announce, in the order of their names."""
    return load_types(entry_points(group=ENTRY_POINT_GROUP))


def load_types(points: Iterable[EntryPoint]) -> list[type[Layer[Any]]]:
    """Return the types that entry points name.

    Raises:
        TypeError: One names something else.
    """
    types: list[type[Layer[Any]]] = []
    for point in sorted(points, key=lambda one: one.name):
        loaded = point.load()
        if not (isinstance(loaded, type) and issubclass(loaded, Layer)):
            message = f"the entry point {point.name!r}: {point.value!r} is no layer type"
            raise TypeError(message)
        types.append(loaded)
    return types
