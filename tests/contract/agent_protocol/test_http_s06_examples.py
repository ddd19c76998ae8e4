"""The published examples of dify-agent work over HTTP as they are written (§5.1, §7.1, §9.6, §11)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.conversations import client_of
from support.functions import QUESTION, Functions

CONTEXT = {
    "tenant_id": "t",
    "user_from": "account",
    "agent_mode": "workflow_run",
    "invoke_from": "service-api",
}


def composition(prompt: dict[str, Any], turns: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the composition of prompt, execution context, history, ask-human and model."""
    model = {
        "plugin_id": "scripted",
        "model_provider": "scripted",
        "model": "m",
        "credentials": {"script": json.dumps(turns)},
    }
    layers = [
        ("prompt", "plain.prompt", {}, prompt),
        ("ec", "dify.execution_context", {}, CONTEXT),
        ("history", "pydantic_ai.history", {}, None),
        ("ask_human", "dify.ask_human", {}, {"max_fields": 2}),
        ("llm", "dify.plugin.llm", {"execution_context": "ec"}, model),
    ]
    return {
        "schema_version": 1,
        "layers": [
            {"name": name, "type": kind, "deps": deps, "metadata": {}, "config": config}
            for name, kind, deps, config in layers
        ],
    }


@pytest.mark.parametrize(
    "prompt",
    [
        {"prefix": "Be brief.", "suffix": [], "user": "Hi"},
        {"prefix": "You are terse.", "user": ["Plan a release.", "Ask before shipping."]},
        {"prefix": ["A", "A2"], "suffix": ["S1a", "S1b"], "user": "Hi"},
    ],
)
def test_s07_1_the_prompt_layer_with_strings_and_with_lists(prompt: dict[str, Any]) -> None:
    client = client_of(Functions())

    created = client.create_run({"composition": composition(prompt, [{"text": "Done."}])})
    client.wait_run(created.run_id)
    *_, last = client.stream_events(created.run_id)

    assert last.data["output"] == "Done."


def test_s09_6_the_question_and_its_resume() -> None:
    client = client_of(Functions())
    turns: list[dict[str, Any]] = [
        {"calls": [{"name": "ask_human", "args": QUESTION, "id": "call_7"}]},
        {"text": "{{results}}"},
    ]
    request = {"composition": composition({"user": "Deploy?"}, turns)}
    first = client.create_run(request)
    client.wait_run(first.run_id)
    *_, asked = client.stream_events(first.run_id)
    result = {
        "status": "submitted",
        "action": {"id": "approve", "label": "Approve"},
        "values": {"reason": "late"},
        "message": None,
        "rendered_content": None,
    }

    second = client.create_run(
        {
            **request,
            "session_snapshot": asked.data["session_snapshot"],
            "deferred_tool_results": {"calls": {"call_7": result}, "metadata": {}},
            "on_exit": {"default": "delete", "layers": {"prompt": "suspend"}},
        }
    )
    client.wait_run(second.run_id)
    *_, done = client.stream_events(second.run_id)

    assert asked.data["deferred_tool_call"]["metadata"] == {
        "layer_type": "dify.ask_human",
        "tool_name": "ask_human",
        "schema_version": 1,
    }
    assert json.dumps("submitted") in done.data["output"]
    states = {
        layer["name"]: layer["lifecycle_state"] for layer in done.data["session_snapshot"]["layers"]
    }
    assert states.pop("prompt") == "suspended"
    assert set(states.values()) == {"closed"}
