"""dify-agent §7: layer types, their configs and contributions."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from pydantic_ai import BinaryContent, ImageUrl
from pydantic_ai.messages import UserPromptPart

from sayso.domain.segment import Finished
from support.segments import (
    CONTEXT,
    HISTORY,
    failed_text,
    llm,
    prompt,
    request,
    run_protocol,
    run_watched,
    text,
)

LLM = llm([text("Done.")])


def context(**config: Any) -> dict[str, Any]:
    return {**CONTEXT, "config": {**CONTEXT["config"], **config}}


def user_prompt(**config: Any) -> dict[str, Any]:
    return {"name": "user", "type": "dify.user_prompt", "config": config}


@pytest.mark.parametrize(
    "layer_type",
    [
        "plain.prompt",
        "pydantic_ai.history",
        "dify.ask_human",
        "dify.execution_context",
        "dify.plugin.llm",
        "dify.output",
        "dify.user_prompt",
        "dify.plugin.tools",
    ],
)
def test_s7_layer_configs_forbid_extras(layer_type: str) -> None:
    name = {"pydantic_ai.history": "history", "dify.output": "output"}.get(layer_type, "a")

    error = failed_text(request({"name": name, "type": layer_type, "config": {"extra_member": 1}}))

    assert "extra_member\n  Extra inputs are not permitted" in error


def test_s7_1_prompt_as_string_and_as_list() -> None:
    layer = prompt(prefix="You are terse.", user=["Plan a release.", "Ask before shipping."])

    _, model = run_watched(request(layer, CONTEXT, LLM))

    assert model.instructions == ["You are terse."]
    part = model.asked[0][0][0].parts[0]
    assert isinstance(part, UserPromptPart)
    assert part.content == ["Plan a release.", "Ask before shipping."]


@pytest.mark.parametrize("missing", ["tenant_id", "agent_mode", "invoke_from"])
def test_s7_2_required_members_of_the_execution_context(missing: str) -> None:
    layer = context()
    del layer["config"][missing]

    assert f"{missing}\n  Field required" in failed_text(request(prompt(), layer, LLM))


@pytest.mark.parametrize(
    ("member", "value"),
    [("user_from", "robot"), ("agent_mode", "chat"), ("invoke_from", "cron")],
)
def test_s7_2_unknown_words_in_the_execution_context(member: str, value: str) -> None:
    assert "Input should be" in failed_text(request(prompt(), context(**{member: value}), LLM))


@pytest.mark.parametrize("member", ["user_id", "conversation_id", "trace_id", "user_from"])
def test_s7_2_optional_members_may_be_null(member: str) -> None:
    assert isinstance(run_protocol(request(prompt(), context(**{member: None}), LLM)), Finished)


@pytest.mark.parametrize("missing", ["plugin_id", "model_provider", "model"])
def test_s7_3_required_members_of_the_model(missing: str) -> None:
    layer = llm([text("Done.")])
    del layer["config"][missing]

    assert f"{missing}\n  Field required" in failed_text(request(prompt(), CONTEXT, layer))


def test_s7_3_members_of_both_revisions_are_accepted() -> None:
    layer = llm([text("Done.")], model_settings={"temperature": 0.1}, context_window_tokens=8000)

    _, model = run_watched(request(prompt(), CONTEXT, layer))

    settings = model.asked[0][1].model_settings
    assert settings is not None
    assert settings.get("temperature") == 0.1


def test_s7_3_context_window_must_be_positive() -> None:
    layer = llm([text("Done.")], context_window_tokens=0)

    assert "Input should be greater than 0" in failed_text(request(prompt(), CONTEXT, layer))


def test_s7_4_plugin_tools_without_tools_are_accepted() -> None:
    layer = {
        "name": "tools",
        "type": "dify.plugin.tools",
        "deps": {"execution_context": "execution_context"},
        "config": {"tools": []},
    }

    assert isinstance(run_protocol(request(prompt(), CONTEXT, layer, LLM)), Finished)


def test_s7_4_plugin_tools_need_a_plugin_daemon() -> None:
    tool = {
        "plugin_id": "p",
        "provider": "q",
        "tool_name": "search",
        "credential_type": "api-key",
        "credentials": {"key": "sk-secret"},
    }
    layer = {"name": "tools", "type": "dify.plugin.tools", "config": {"tools": [tool]}}

    error = failed_text(request(prompt(), CONTEXT, layer, LLM))

    assert "plugin tools need a plugin daemon, which Sayso has not: search" in error
    assert "sk-secret" not in error


def image(**members: Any) -> dict[str, Any]:
    return {
        "type": "image",
        "filename": "a.png",
        "mime_type": "image/png",
        "format": "png",
        **members,
    }


def test_s7_6_text_then_images() -> None:
    data = base64.b64encode(b"picture").decode()
    layer = user_prompt(
        text="Look.", files=[image(url="https://example.org/a.png"), image(base64_data=data)]
    )

    _, model = run_watched(request(layer, HISTORY, CONTEXT, LLM))

    part = model.asked[0][0][0].parts[0]
    assert isinstance(part, UserPromptPart)
    assert part.content == [
        "Look.",
        ImageUrl(url="https://example.org/a.png", media_type="image/png"),
        BinaryContent(data=b"picture", media_type="image/png"),
    ]


@pytest.mark.parametrize(
    ("file", "error"),
    [
        (image(), "exactly one of url or base64_data must be provided"),
        (image(url="https://e.org", base64_data="aGk="), "exactly one of url or base64_data"),
        (image(url="ftp://example.org/a"), "url must use http or https"),
        (image(base64_data="%%%"), "base64_data must be valid base64"),
        (image(url="https://e.org", mime_type="text/html"), "String should match pattern"),
        (image(url="https://e.org", filename=""), "String should have at least 1 character"),
    ],
    ids=["none", "both", "scheme", "base64", "mime", "filename"],
)
def test_s7_6_images_that_do_not_fit(file: dict[str, Any], error: str) -> None:
    assert error in failed_text(request(user_prompt(text="Look.", files=[file]), CONTEXT, LLM))


def test_s7_6_text_must_not_be_empty() -> None:
    error = failed_text(request(user_prompt(text=""), CONTEXT, LLM))

    assert "String should have at least 1 character" in error
