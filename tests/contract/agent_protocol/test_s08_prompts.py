"""dify-agent §8: how the fragments of the layers become one prompt."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai.messages import ModelRequest, UserPromptPart

from sayso.domain.segment import Asked, Finished
from support.segments import (
    CONTEXT,
    HISTORY,
    ask,
    ask_human,
    failed_text,
    llm,
    prompt,
    request,
    run_protocol,
    run_watched,
    text,
    usual,
)

LLM = llm([text("Done.")])
P1 = {
    "name": "p1",
    "type": "plain.prompt",
    "config": {"prefix": ["A", "A2"], "suffix": ["S1a", "S1b"], "user": "Go."},
}
P2 = {"name": "p2", "type": "plain.prompt", "config": {"prefix": "C", "suffix": "S2"}}


def user_content(create: dict[str, Any]) -> Any:
    _, model = run_watched(create)
    (part,) = [p for p in model.asked[0][0][-1].parts if isinstance(p, UserPromptPart)]
    return part.content


def test_s8_prefixes_in_order_then_suffixes_of_the_layers_reversed() -> None:
    _, model = run_watched(request(P1, P2, CONTEXT, ask_human(), LLM))

    instructions = model.instructions
    assert instructions[:3] == ["A", "A2", "C"]
    assert "ask_human" in instructions[3]
    assert instructions[4:] == ["S2", "S1a", "S1b"]


def test_s8_the_hint_stands_where_its_layer_stands() -> None:
    _, model = run_watched(request(P1, ask_human(), P2, CONTEXT, LLM))

    assert "ask_human" in model.instructions[2]
    assert model.instructions[3] == "C"


def test_s8_instructions_are_never_stored() -> None:
    result, _ = run_watched(request(P1, P2, HISTORY, CONTEXT, LLM))

    assert isinstance(result, Finished)
    assert "A2" not in str(result.session_snapshot)


def test_s8_instructions_are_those_of_the_request_also_on_resume() -> None:
    first = run_protocol(usual([ask()]))
    assert isinstance(first, Asked)
    resumed = request(
        prompt(user="Other words.", prefix="New rule."),
        HISTORY,
        CONTEXT,
        ask_human(),
        llm([ask(), text("Done.")]),
        session_snapshot=first.session_snapshot,
        deferred_tool_results={"calls": {"call_1": "yes"}},
    )

    result, model = run_watched(resumed, run_id="run-2")

    assert isinstance(result, Finished)
    assert model.instructions[0] == "New rule."
    assert "Other words." not in str(model.asked)


def test_s8_one_string_fragment_is_passed_as_a_string() -> None:
    assert user_content(request(prompt(user=["Hi."]), CONTEXT, LLM)) == "Hi."


def test_s8_several_fragments_are_passed_as_a_list_with_blank_members_kept() -> None:
    content = user_content(request(prompt(user=["Hi.", " ", "Bye."]), CONTEXT, LLM))

    assert content == ["Hi.", " ", "Bye."]


def test_s8_user_fragments_of_the_layers_in_order() -> None:
    second = {"name": "p2", "type": "plain.prompt", "config": {"user": "second"}}

    assert user_content(request(prompt(user="first"), second, CONTEXT, LLM)) == ["first", "second"]


@pytest.mark.parametrize("user", [[], "", " \n", ["", " "]], ids=repr)
def test_s8_a_blank_user_prompt_fails_the_run(user: Any) -> None:
    error = failed_text(request(prompt(user=user), CONTEXT, LLM))

    assert error == "run.user_prompts must not be empty"


def test_s8_an_image_counts_as_user_input() -> None:
    image = {
        "type": "image",
        "filename": "a.png",
        "mime_type": "image/png",
        "format": "png",
        "url": "https://example.org/a.png",
    }
    layer = {"name": "u", "type": "dify.user_prompt", "config": {"text": " ", "files": [image]}}

    assert isinstance(run_protocol(request(layer, CONTEXT, LLM)), Finished)


def test_s8_the_check_is_skipped_when_results_are_present() -> None:
    first = run_protocol(usual([ask()]))
    assert isinstance(first, Asked)
    create = request(
        prompt(user=" "),
        HISTORY,
        CONTEXT,
        ask_human(),
        llm([ask(), text("Done.")]),
        session_snapshot=first.session_snapshot,
        deferred_tool_results={"calls": {"call_1": None}},
    )

    assert isinstance(run_protocol(create, run_id="run-2"), Finished)


def test_s8_history_stands_before_the_new_prompt() -> None:
    first = run_protocol(request(prompt(user="One."), HISTORY, CONTEXT, LLM))
    assert isinstance(first, Finished)
    create = request(
        prompt(user="Two."), HISTORY, CONTEXT, LLM, session_snapshot=first.session_snapshot
    )

    _, model = run_watched(create, run_id="run-2")

    messages = model.asked[0][0]
    contents = [
        part.content
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]
    assert contents == ["One.", "Two."]
