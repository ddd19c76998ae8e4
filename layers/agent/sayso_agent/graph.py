"""Rules for the shape of a composition (dify-agent §6.1), in the contract's order and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sayso_agent.layers.base import Layer
    from sayso_agent.protocol import RunComposition, RunLayerSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class _SingleLayer:
    """A type that occurs at most once, perhaps under a fixed name and without dependencies."""

    type_id: str
    name: str | None
    may_depend: bool = True


_SINGLE_LAYERS = (
    _SingleLayer(type_id="dify.output", name="output"),
    _SingleLayer(type_id="pydantic_ai.history", name="history", may_depend=False),
    _SingleLayer(type_id="dify.ask_human", name=None),
)


def check_reserved_names(composition: RunComposition) -> None:
    """Check output, history and ask-human layers, in this order.

    Raises:
        ValueError: With the contract's text.
    """
    for rule in _SINGLE_LAYERS:
        _check_single(rule, [one for one in composition.layers if one.type == rule.type_id])


def check_graph(composition: RunComposition, registry: Mapping[str, type[Layer[Any]]]) -> None:
    """Check types, names and dependencies.

    Raises:
        KeyError: A type is unknown; its text keeps the quotes of a KeyError, as upstream's does.
        ValueError: Any other rule is broken.
    """
    if composition.schema_version != 1:
        message = f"Unsupported compositor config schema_version: {composition.schema_version}."
        raise ValueError(message)
    for spec in composition.layers:
        if spec.type not in registry:
            message = f"Layer type id '{spec.type}' is not registered."
            raise KeyError(message)
        if not spec.name:
            message = "Layer node name must not be empty."
            raise ValueError(message)
    positions: dict[str, int] = {}
    for position, spec in enumerate(composition.layers):
        if spec.name in positions:
            message = f"Duplicate layer name '{spec.name}'."
            raise ValueError(message)
        positions[spec.name] = position
    for spec in composition.layers:
        _check_dependencies(spec, registry[spec.type].dependencies, positions)


def _check_single(rule: _SingleLayer, layers: Sequence[RunLayerSpec]) -> None:
    if len(layers) > 1:
        named = f", named '{rule.name}'" if rule.name else ""
        found = ", ".join(layer.name for layer in layers)
        message = f"Only one '{rule.type_id}' layer is supported{named}. Found layers: {found}."
        raise ValueError(message)
    for layer in layers:
        if rule.name and layer.name != rule.name:
            message = (
                f"Layer type '{rule.type_id}' must use reserved layer name '{rule.name}', got"
                f" '{layer.name}'."
            )
            raise ValueError(message)
        if layer.deps and not rule.may_depend:
            message = (
                f"Layer type '{rule.type_id}' does not support dependencies; got dependency"
                f" keys: {', '.join(sorted(layer.deps))}."
            )
            raise ValueError(message)


def _check_dependencies(
    spec: RunLayerSpec, declared: Mapping[str, bool], positions: Mapping[str, int]
) -> None:
    if unknown := sorted(spec.deps.keys() - declared.keys()):
        message = f"Layer '{spec.name}' declares unknown dependency keys: {', '.join(unknown)}."
        raise ValueError(message)
    if absent := sorted(set(spec.deps.values()) - positions.keys()):
        message = f"Layer '{spec.name}' depends on undefined layer names: {', '.join(absent)}."
        raise ValueError(message)
    later = [
        f"{key}->{target}"
        for key, target in sorted(spec.deps.items())
        if positions[target] >= positions[spec.name]
    ]
    if later:
        message = (
            f"Layer '{spec.name}' dependencies must target preceding layer nodes in compositor"
            f" order: {', '.join(later)}."
        )
        raise ValueError(message)
