"""dify-agent §6: the composition, its rules in their order and with their texts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sayso.domain.segment import Finished
from support.segments import (
    CONTEXT,
    HISTORY,
    ask_human,
    failed_text,
    llm,
    prompt,
    request,
    run_protocol,
    text,
)

LLM = llm([text("Done.")])
OUTPUT = {"name": "output", "type": "dify.output", "config": {"json_schema": {"type": "object"}}}
SNAPSHOT_OF_PROMPT = {
    "schema_version": 1,
    "layers": [{"name": "prompt", "lifecycle_state": "suspended", "runtime_state": {}}],
}


def layer(name: str, layer_type: str = "plain.prompt", **members: Any) -> dict[str, Any]:
    return {"name": name, "type": layer_type, **members}


def test_s6_config_as_object_as_json_string_and_as_null() -> None:
    config = LLM["config"]
    as_text = {**LLM, "config": json.dumps(config)}

    result = run_protocol(
        request(prompt(), CONTEXT, ask_human(), {**HISTORY, "config": None}, as_text)
    )

    assert isinstance(result, Finished)
    assert result.output == "Done."


def test_s6_schema_version_as_lax_string() -> None:
    create = request(prompt(), CONTEXT, LLM)
    create["composition"]["schema_version"] = "1"

    assert isinstance(run_protocol(create), Finished)


def test_s6_unsupported_schema_version() -> None:
    create = request(prompt(), CONTEXT, LLM)
    create["composition"]["schema_version"] = 2

    assert failed_text(create) == "Unsupported compositor config schema_version: 2."


def test_s6_nulls_and_defaults_of_every_optional_member() -> None:
    create = request(
        prompt(),
        CONTEXT,
        LLM,
        purpose="workflow_node",
        idempotency_key=None,
        metadata={},
        session_snapshot=None,
        deferred_tool_results=None,
        on_exit={"default": "suspend", "layers": {}},
    )

    assert isinstance(run_protocol(create), Finished)


def test_s6_1_unknown_type() -> None:
    error = failed_text(request(layer("a", "no.such")))

    assert error == "\"Layer type id 'no.such' is not registered.\""


def test_s6_1_duplicate_name() -> None:
    assert failed_text(request(prompt(), prompt())) == "Duplicate layer name 'prompt'."


def test_s6_1_empty_name() -> None:
    assert failed_text(request(layer(""))) == "Layer node name must not be empty."


def test_s6_1_unknown_dependency_key() -> None:
    error = failed_text(request(layer("a", deps={"z": "b", "y": "b"}), layer("b")))

    assert error == "Layer 'a' declares unknown dependency keys: y, z."


def test_s6_1_absent_dependency_target() -> None:
    error = failed_text(request({**LLM, "deps": {"execution_context": "nobody"}}))

    assert error == "Layer 'llm' depends on undefined layer names: nobody."


def test_s6_1_dependency_target_that_comes_later() -> None:
    error = failed_text(request(LLM, CONTEXT))

    assert error == (
        "Layer 'llm' dependencies must target preceding layer nodes in compositor order:"
        " execution_context->execution_context."
    )


def test_s6_1_missing_required_dependency() -> None:
    error = failed_text(request(prompt(), {**LLM, "deps": {}}))

    assert error == (
        "Dependency 'execution_context' is required for layer 'DifyPluginLLMLayer' but not provided."
    )


def test_s6_1_on_exit_names_unknown_layers() -> None:
    create = request(prompt(), on_exit={"layers": {"x": "delete", "b": "suspend"}})

    assert failed_text(create) == "on_exit.layers references unknown layer ids: b, x."


def test_s6_1_bad_layer_config() -> None:
    error = failed_text(request(layer("prompt", config={"user": 7, "x": 1})))

    assert error.splitlines()[0] == "3 validation errors for PromptLayerConfig"


def test_s6_1_bad_llm_config_does_not_echo_credentials() -> None:
    bad = {**LLM, "config": {**LLM["config"], "credentials": {"key": ["sk-secret"]}}}

    error = failed_text(request(prompt(), CONTEXT, bad))

    assert "validation errors for DifyPluginLLMLayerConfig" in error
    assert "sk-secret" not in error


def test_s6_1_no_llm_layer_with_a_snapshot_is_a_lifecycle_only_run() -> None:
    result = run_protocol(request(prompt(), session_snapshot=SNAPSHOT_OF_PROMPT))

    assert isinstance(result, Finished)
    assert result.output is None
    assert result.session_snapshot == SNAPSHOT_OF_PROMPT


def test_s6_1_no_llm_layer_without_a_snapshot() -> None:
    error = failed_text(request(prompt()))

    assert error == "Missing 'llm' requires a session_snapshot for lifecycle-only runs."


def test_s6_1_no_llm_layer_with_deferred_results() -> None:
    create = request(
        prompt(), session_snapshot=SNAPSHOT_OF_PROMPT, deferred_tool_results={"calls": {}}
    )

    assert failed_text(create) == "Deferred tool results require the reserved 'llm' layer."


def test_s6_1_llm_layer_of_another_type() -> None:
    error = failed_text(request(prompt(), layer("llm")))

    assert error == "Layer 'llm' must be DifyPluginLLMLayer, got PromptLayer."


def test_s6_1_two_layers_offer_one_tool_name() -> None:
    tools = {"name": "tools", "type": "test.tools"}

    error = failed_text(request(prompt(), CONTEXT, tools, ask_human(tool_name="look_up"), LLM))

    assert error == (
        "Agent run requires unique tool names across all layers, got duplicates: look_up."
    )


def test_s6_1_two_history_layers() -> None:
    error = failed_text(request(HISTORY, layer("h2", "pydantic_ai.history")))

    assert error == (
        "Only one 'pydantic_ai.history' layer is supported, named 'history'. Found layers:"
        " history, h2."
    )


def test_s6_1_misnamed_history() -> None:
    error = failed_text(request(layer("past", "pydantic_ai.history")))

    assert error == (
        "Layer type 'pydantic_ai.history' must use reserved layer name 'history', got 'past'."
    )


def test_s6_1_history_with_dependencies() -> None:
    error = failed_text(request(prompt(), {**HISTORY, "deps": {"b": "prompt", "a": "prompt"}}))

    assert error == (
        "Layer type 'pydantic_ai.history' does not support dependencies; got dependency keys: a, b."
    )


def test_s6_1_two_output_layers() -> None:
    error = failed_text(request(OUTPUT, {**OUTPUT, "name": "o2"}))

    assert error == (
        "Only one 'dify.output' layer is supported, named 'output'. Found layers: output, o2."
    )


def test_s6_1_misnamed_output() -> None:
    error = failed_text(request({**OUTPUT, "name": "result"}))

    assert error == "Layer type 'dify.output' must use reserved layer name 'output', got 'result'."


def test_s6_1_two_ask_human_layers() -> None:
    error = failed_text(request(ask_human(), {**ask_human(), "name": "ask_2"}))

    assert error == "Only one 'dify.ask_human' layer is supported. Found layers: ask_human, ask_2."


BROKEN: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("Layer type 'dify.output'", {**OUTPUT, "name": "result"}, {}),
    ("Layer type 'pydantic_ai.history'", layer("past", "pydantic_ai.history"), {}),
    ("Only one 'dify.ask_human'", {**ask_human(), "name": "ask_2"}, {}),
    ("\"Layer type id 'no.such'", layer("x", "no.such"), {}),
    ("Duplicate layer name 'prompt'", layer("prompt"), {}),
    ("Layer 'y' declares unknown", layer("y", deps={"k": "prompt"}), {}),
    ("on_exit.layers", layer("o"), {"on_exit": {"layers": {"zz": "delete"}}}),
    ("1 validation error for", layer("z", config={"wrong": 1}), {}),
    ("CompositorSessionSnapshot layer", layer("s"), {"session_snapshot": SNAPSHOT_OF_PROMPT}),
    ("Dependency 'execution_context'", {**LLM, "name": "llm2", "deps": {}}, {}),
    ("run.user_prompts must not be empty", layer("p", config={"prefix": "x"}), {}),
]


@pytest.mark.parametrize("first", range(len(BROKEN)), ids=lambda n: BROKEN[n][0])
def test_s6_1_rules_are_checked_in_the_contract_order(first: int) -> None:
    """Of all that is wrong from a rule on, that rule is named."""
    model = llm([text("Done.")], model_provider="no-such-provider")
    layers = [prompt(user=" "), ask_human(), CONTEXT, model]
    members: dict[str, Any] = {}
    for _, broken, more in reversed(BROKEN[first:]):
        layers.append(broken)
        members |= more

    assert failed_text(request(*layers, **members)).startswith(BROKEN[first][0])


def test_s6_1_the_model_is_checked_last() -> None:
    model = llm([text("Done.")], model_provider="no-such-provider")

    assert failed_text(request(prompt(), CONTEXT, model)).startswith("unknown model provider")
