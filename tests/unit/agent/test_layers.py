"""Layer types are a registry that a deployer extends."""

from __future__ import annotations

import asyncio
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

import pytest
from pydantic_ai import ModelRetry, RunContext, Tool

from sayso.domain.run import Face
from sayso.domain.segment import Failed, Finished
from sayso_agent.deps import RunDeps, idempotency_key
from sayso_agent.layers import registry
from sayso_agent.layers.base import Layer, LayerModel
from sayso_agent.layers.registry import BUILT_IN, build_registry, load_types
from sayso_agent.runner import PydanticAgentRunner
from support.segments import (
    CONTEXT,
    MemoryJournal,
    WatchedModels,
    calls,
    llm,
    prompt,
    request,
    text,
    work_on,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


class ShoutingConfig(LayerModel):
    """How loud."""

    rule: str = "Be polite."
    marks: int = 1


class ShoutingLayer(Layer[ShoutingConfig]):
    """Says its rule in capitals."""

    type_id = "example.shouting"
    config_type = ShoutingConfig

    def prefix_prompts(self) -> Sequence[str]:
        """Return the rule."""
        return [self.config.rule]

    def user_prompts(self) -> Sequence[str]:
        """Return a question."""
        return ["Ready?"]

    def wrap_prompt(self, prompt: Any) -> str:
        """Say it louder."""
        return f"{prompt.upper()}{'!' * self.config.marks}"

    def wrap_user_prompt(self, prompt: Any) -> str:
        """Say it louder."""
        return str(prompt).upper()


class ToolingLayer(Layer[Any]):
    """Offers a tool that tells what it finds in its context, and a prompt made when it is asked."""

    type_id = "example.tooling"

    def prefix_prompts(self) -> Sequence[Any]:
        """Return a prompt that is a function."""
        return [lambda: "Made late."]

    def tools(self) -> Sequence[Tool[RunDeps]]:
        """Return the tool."""
        return [Tool(_tell, name="tell", takes_ctx=True), Tool(_hide, name="hide")]


async def _tell(ctx: RunContext[RunDeps]) -> dict[str, Any]:
    deps = ctx.deps
    return {
        "run": deps.run_id,
        "tenant": deps.tenant,
        "app": deps.app,
        "variables": dict(deps.variables),
        "invoked": (deps.execution_context or {}).get("invoke_from"),
        "key": idempotency_key(ctx),
    }


async def _hide() -> object:
    return object()


class CheckingLayer(Layer[Any]):
    """Offers a tool that does not take every number."""

    type_id = "example.checking"

    def tools(self) -> Sequence[Tool[RunDeps]]:
        """Return the tool."""
        return [Tool(_pick, name="pick", args_validator=_is_lucky)]


async def _pick(number: int) -> int:
    return number


def _is_lucky(_ctx: RunContext[RunDeps], number: int) -> None:
    if number == 13:
        message = "not this one"
        raise ModelRetry(message)


def run_with(*types: type[Layer[Any]], layers: list[dict[str, Any]], turns: list[Any]) -> Any:
    """Run a protocol run with more layer types; return its result and its model."""
    models = WatchedModels()
    runner = PydanticAgentRunner(registry=build_registry([*BUILT_IN, *types]), models=models)
    create = request(*layers, CONTEXT, llm(turns))
    work = work_on(create, face=Face.PROTOCOL, variables={"order": {"id": "17"}})
    return asyncio.run(runner.run(work, MemoryJournal())), models


def test_a_layer_may_wrap_its_own_fragments() -> None:
    shouting = {"name": "loud", "type": "example.shouting", "config": {"marks": 2}}

    result, model = run_with(
        ShoutingLayer, layers=[prompt(prefix="Quiet.", user="Go."), shouting], turns=[text("Ok.")]
    )

    assert isinstance(result, Finished)
    assert model.instructions == ["Quiet.", "BE POLITE.!!"]
    assert model.asked[0][0][0].parts[0].content == ["Go.", "READY?"]


def test_a_prompt_may_be_a_function_without_arguments() -> None:
    _, model = run_with(
        ToolingLayer, layers=[prompt(), {"name": "t", "type": "example.tooling"}], turns=[text("x")]
    )

    assert model.instructions == ["Made late."]


def test_tools_find_the_run_its_variables_and_an_idempotency_key_in_their_context() -> None:
    result, model = run_with(
        ToolingLayer,
        layers=[prompt(), {"name": "t", "type": "example.tooling"}],
        turns=[calls(("c", "tell", {})), text("x")],
    )

    assert isinstance(result, Finished)
    assert model.asked[1][0][-1].parts[0].content == {
        "run": "run-1",
        "tenant": "tenant-1",
        "app": "app-1",
        "variables": {"order": {"id": "17"}},
        "invoked": "service-api",
        "key": "run-1:c",
    }


def test_a_tool_may_have_its_arguments_checked_which_is_an_operation_of_its_own() -> None:
    layers = [prompt(), {"name": "t", "type": "example.checking"}]
    turns = [calls(("c", "pick", {"number": 13})), calls(("d", "pick", {"number": 7})), text("x")]
    create = request(*layers, CONTEXT, llm(turns))
    registry = build_registry([*BUILT_IN, CheckingLayer])
    runner = PydanticAgentRunner(registry=registry, models=WatchedModels())
    journal = MemoryJournal()

    result = asyncio.run(runner.run(work_on(create), journal))

    assert isinstance(result, Finished)
    keys = [key.partition(".")[2] for key in journal.store.records if "toolset" in key]
    assert keys == ["validate_args#c#1", "validate_args#d#1", "call_tool:pick#d#1"]


def test_a_result_without_a_json_form_becomes_a_failed_result_for_the_model() -> None:
    result, model = run_with(
        ToolingLayer,
        layers=[prompt(), {"name": "t", "type": "example.tooling"}],
        turns=[calls(("c", "hide", {})), text("x")],
    )

    assert isinstance(result, Finished)
    part = model.asked[1][0][-1].parts[0]
    assert (part.content, part.outcome) == (
        "The result cannot be stored: PydanticSerializationError",
        "failed",
    )


def test_an_idempotency_key_exists_inside_a_tool_call_only() -> None:
    ctx: Any = RunContext(deps=None, model=None, usage=None)  # type: ignore[arg-type]  # no run here

    with pytest.raises(ValueError, match="inside a tool call only"):
        idempotency_key(ctx)


def test_a_type_id_is_taken_once() -> None:
    with pytest.raises(ValueError, match=r"Layer type id 'plain\.prompt' is already registered\."):
        build_registry([*BUILT_IN, BUILT_IN[0]])


def test_entry_points_add_layer_types() -> None:
    points = [
        EntryPoint("b", f"{__name__}:ShoutingLayer", registry.ENTRY_POINT_GROUP),
        EntryPoint("a", "sayso_agent.layers.testing:TestToolsLayer", registry.ENTRY_POINT_GROUP),
    ]

    loaded = load_types(points)

    assert [one.type_id for one in loaded] == ["test.tools", "example.shouting"]


def test_an_entry_point_that_names_no_layer_is_refused() -> None:
    point = EntryPoint("x", "json:dumps", registry.ENTRY_POINT_GROUP)

    with pytest.raises(TypeError, match="'json:dumps' is no layer type"):
        load_types([point])


def test_test_layers_are_there_only_when_they_are_asked_for() -> None:
    tools = {"name": "t", "type": "test.tools"}

    result, _ = run_with(layers=[prompt(), tools], turns=[text("x")])

    assert isinstance(result, Failed)
    assert "'test.tools' is not registered" in result.error
