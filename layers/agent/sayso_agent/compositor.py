"""Builds the layers of a run from its composition (dify-agent §6.1, §8, §11, §12).

The checks come in the contract's order and with its texts; all of them end the run, none answers
the create request. The result holds live layers for one segment.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from sayso_agent.graph import check_graph, check_reserved_names
from sayso_agent.protocol import CompositorSessionSnapshot, LayerSessionSnapshot, LifecycleState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from pydantic import BaseModel
    from pydantic_ai import Tool
    from pydantic_ai.messages import UserContent

    from sayso_agent.deps import RunDeps
    from sayso_agent.layers.base import Layer
    from sayso_agent.protocol import LayerExitSignals, RunLayerSpec, RunRequest

LayerT = TypeVar("LayerT", bound="Layer[Any]")

_EXIT_STATES = {"suspend": LifecycleState.SUSPENDED, "delete": LifecycleState.CLOSED}


def compose(request: RunRequest, registry: Mapping[str, type[Layer[Any]]]) -> Composition:
    """Return the live layers of a request, with the states of its session snapshot.

    Raises:
        Exception: With the contract's text; the types are those the texts imply (KeyError for an
            unknown layer type, pydantic's for a bad config).
    """
    check_reserved_names(request.composition)
    specs = request.composition.layers
    check_graph(request.composition, registry)
    _check_exit_names(request.on_exit, specs)
    configs = [_config(spec, registry[spec.type]) for spec in specs]
    states = _states(specs, registry, request.session_snapshot)
    layers = {
        spec.name: registry[spec.type](name=spec.name, config=config, state=state)
        for spec, config, state in zip(specs, configs, states, strict=True)
    }
    for spec in specs:
        _bind(spec, layers)
    return Composition(layers=layers, on_exit=request.on_exit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """The live layers of one segment, in their order."""

    layers: Mapping[str, Layer[Any]]
    on_exit: LayerExitSignals

    @asynccontextmanager
    async def entered(self) -> AsyncIterator[None]:
        """Enter the layers first to last, leave them last to first."""
        async with AsyncExitStack() as stack:
            for layer in self.layers.values():
                await stack.enter_async_context(layer.lifespan())
            yield

    def first(self, layer_type: type[LayerT]) -> LayerT | None:
        """Return the first layer of a type, if there is one."""
        return next((one for one in self.layers.values() if isinstance(one, layer_type)), None)

    def system_prompts(self) -> list[str]:
        """Return prefixes first to last, then suffixes of the layers last to first (§8)."""
        layers = list(self.layers.values())
        fragments = [
            *(layer.wrap_prompt(one) for layer in layers for one in layer.prefix_prompts()),
            *(layer.wrap_prompt(one) for layer in layers[::-1] for one in layer.suffix_prompts()),
        ]
        return [one if isinstance(one, str) else one() for one in fragments]

    def user_prompts(self) -> list[UserContent]:
        """Return the user input, first layer to last (§8)."""
        return [
            layer.wrap_user_prompt(one)
            for layer in self.layers.values()
            for one in layer.user_prompts()
        ]

    def tools(self) -> list[Tool[RunDeps]]:
        """Return the tools of all layers.

        Raises:
            ValueError: Two layers offer the same name.
        """
        tools = [tool for layer in self.layers.values() for tool in layer.tools()]
        names = [tool.name for tool in tools]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            message = (
                "Agent run requires unique tool names across all layers, got duplicates:"
                f" {', '.join(twice)}."
            )
            raise ValueError(message)
        return tools

    def session_snapshot(self) -> CompositorSessionSnapshot:
        """Return the snapshot that ends a run: every layer, as ``on_exit`` asks (§12)."""
        return self._snapshot(
            {name: _EXIT_STATES[self.on_exit.signal(name)] for name in self.layers}
        )

    def paused_snapshot(self) -> CompositorSessionSnapshot:
        """Return the snapshot of a pause: the same run goes on, so no layer is closed."""
        return self._snapshot(dict.fromkeys(self.layers, LifecycleState.SUSPENDED))

    def _snapshot(self, states: Mapping[str, LifecycleState]) -> CompositorSessionSnapshot:
        return CompositorSessionSnapshot(
            layers=[
                LayerSessionSnapshot(
                    name=name, lifecycle_state=states[name], runtime_state=layer.runtime_state()
                )
                for name, layer in self.layers.items()
            ]
        )


def _check_exit_names(signals: LayerExitSignals, specs: Sequence[RunLayerSpec]) -> None:
    if unknown := sorted(signals.layers.keys() - {spec.name for spec in specs}):
        message = f"on_exit.layers references unknown layer ids: {', '.join(unknown)}."
        raise ValueError(message)


def _config(spec: RunLayerSpec, layer_type: type[Layer[Any]]) -> BaseModel:
    """Read a config given as an object, as a JSON string holding one, or as null (§6)."""
    if isinstance(spec.config, str):
        return layer_type.config_type.model_validate_json(spec.config)
    return layer_type.config_type.model_validate(spec.config or {})


def _states(
    specs: Sequence[RunLayerSpec],
    registry: Mapping[str, type[Layer[Any]]],
    snapshot: CompositorSessionSnapshot | None,
) -> list[BaseModel]:
    if snapshot is None:
        return [registry[spec.type].state_type() for spec in specs]
    if snapshot.schema_version != 1:
        message = (
            f"Unsupported compositor session snapshot schema_version: {snapshot.schema_version}."
        )
        raise ValueError(message)
    expected = [spec.name for spec in specs]
    got = [layer.name for layer in snapshot.layers]
    if expected != got:
        message = (
            "CompositorSessionSnapshot layer names must match compositor layers in order."
            f" Expected [{', '.join(expected)}], got [{', '.join(got)}]."
        )
        raise ValueError(message)
    return [
        _state(layer, registry[spec.type])
        for spec, layer in zip(specs, snapshot.layers, strict=True)
    ]


def _state(snapshot: LayerSessionSnapshot, layer_type: type[Layer[Any]]) -> BaseModel:
    if snapshot.lifecycle_state is LifecycleState.CLOSED:
        message = f"Layer '{snapshot.name}' is closed; CLOSED snapshots cannot be entered."
        raise ValueError(message)
    return layer_type.state_type.model_validate(snapshot.runtime_state)


def _bind(spec: RunLayerSpec, layers: Mapping[str, Layer[Any]]) -> None:
    layer = layers[spec.name]
    for key, required in layer.dependencies.items():
        if key in spec.deps:
            layer.deps[key] = layers[spec.deps[key]]
        elif required:
            message = (
                f"Dependency '{key}' is required for layer '{type(layer).__name__}' but not"
                " provided."
            )
            raise ValueError(message)
