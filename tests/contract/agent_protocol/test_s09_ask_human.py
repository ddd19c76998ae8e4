"""dify-agent §9: the ask-human layer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from pydantic_ai import Tool
from pydantic_ai.messages import ToolReturnPart

from sayso.domain.run import Face
from sayso.domain.segment import Asked, Failed, Finished
from sayso_agent.layers.ask_arguments import AskHumanToolArgs
from sayso_agent.layers.ask_human import DifyAskHumanLayerConfig, normalise
from sayso_agent.layers.base import Layer
from sayso_agent.layers.registry import BUILT_IN, build_registry
from sayso_agent.runner import PydanticAgentRunner
from support.segments import (
    CONTEXT,
    HISTORY,
    WatchedModels,
    ask,
    ask_human,
    calls,
    failed_text,
    llm,
    prompt,
    request,
    run_protocol,
    run_segment,
    run_watched,
    text,
    usual,
    work_on,
)

if TYPE_CHECKING:
    from pydantic_ai.tools import ToolDefinition

    from sayso_agent.deps import RunDeps


def with_layer(layer: dict[str, Any], *turns: dict[str, Any]) -> dict[str, Any]:
    return request(prompt(), HISTORY, CONTEXT, layer, llm(turns or [text("Done.")]))


def told_after(arguments: dict[str, Any], layer: dict[str, Any] | None = None) -> str:
    """Return what the model is told when it asks with these arguments."""
    create = with_layer(layer or ask_human(), calls(("c", "ask_human", arguments)), text("No."))
    result, model = run_watched(create)
    assert isinstance(result, Finished), result
    (part,) = model.asked[1][0][-1].parts
    assert isinstance(part, ToolReturnPart)
    assert part.outcome == "retried"
    return str(part.content)


@pytest.mark.parametrize(
    ("member", "default"),
    [
        ("enabled", True),
        ("tool_name", "ask_human"),
        ("tool_description", None),
        ("max_fields", 8),
        ("max_actions", 4),
        ("allowed_field_types", ["paragraph", "select"]),
        ("allow_file_fields", False),
        ("max_markdown_chars", 8000),
        ("max_question_chars", 1000),
        ("max_field_label_chars", 120),
        ("max_action_label_chars", 80),
    ],
)
def test_s9_1_defaults(member: str, default: object) -> None:
    assert getattr(DifyAskHumanLayerConfig(), member) == default


@pytest.mark.parametrize(
    ("member", "cap"),
    [
        ("max_fields", 16),
        ("max_actions", 8),
        ("max_markdown_chars", 20000),
        ("max_question_chars", 4000),
        ("max_field_label_chars", 200),
        ("max_action_label_chars", 120),
    ],
)
def test_s9_1_hard_caps(member: str, cap: int) -> None:
    assert getattr(DifyAskHumanLayerConfig.model_validate({member: cap}), member) == cap

    error = failed_text(with_layer(ask_human(**{member: cap + 1})))

    assert f"{member} must be <= {cap}" in error


@pytest.mark.parametrize(
    ("member", "bound"),
    [
        ("max_fields", 0),
        ("max_markdown_chars", 0),
        ("max_actions", 1),
        ("max_question_chars", 1),
        ("max_field_label_chars", 1),
        ("max_action_label_chars", 1),
    ],
)
def test_s9_1_own_bounds(member: str, bound: int) -> None:
    assert getattr(DifyAskHumanLayerConfig.model_validate({member: bound}), member) == bound

    error = failed_text(with_layer(ask_human(**{member: bound - 1})))

    assert f"Input should be greater than or equal to {bound}" in error


@pytest.mark.parametrize(
    ("config", "error"),
    [
        ({"tool_name": "ask-human"}, "tool_name must be a valid tool identifier"),
        ({"tool_name": "frägen"}, "tool_name must be a valid tool identifier"),
        (
            {"allowed_field_types": ["select", "select"]},
            "allowed_field_types must not contain duplicates",
        ),
        (
            {"allowed_field_types": ["file-list", "select", "file"]},
            (
                "allowed_field_types cannot include file field types when allow_file_fields is"
                " false: file-list, file"
            ),
        ),
        ({"allowed_field_types": ["colour"]}, "Input should be 'paragraph', 'select', 'file'"),
    ],
    ids=["name", "ascii", "duplicates", "files", "type"],
)
def test_s9_1_messages(config: dict[str, Any], error: str) -> None:
    assert error in failed_text(with_layer(ask_human(**config)))


@pytest.mark.parametrize(("given", "read"), [("8", 8), (8.0, 8), (True, 1)], ids=repr)
def test_s9_1_ints_are_lax(given: object, read: int) -> None:
    assert DifyAskHumanLayerConfig.model_validate({"max_fields": given}).max_fields == read


def test_s9_1_file_types_with_permission() -> None:
    config = ask_human(allowed_field_types=["file"], allow_file_fields=True)

    assert isinstance(run_protocol(with_layer(config)), Finished)


def test_s9_1_allowed_field_types_may_be_empty() -> None:
    assert isinstance(run_protocol(with_layer(ask_human(allowed_field_types=[]))), Finished)


def tool_seen(layer: dict[str, Any]) -> Any:
    _, model = run_watched(with_layer(layer))
    (tool,) = model.asked[0][1].function_tools
    return tool


def test_s9_1_blank_description_means_the_built_in_one() -> None:
    built_in = tool_seen(ask_human(tool_description="  ")).description

    assert "person" in built_in
    assert tool_seen(ask_human(tool_description=" Ask. ")).description == "Ask."


def test_s9_2_the_tool() -> None:
    tool = tool_seen(ask_human(tool_name="ask_boss", tool_description="Ask the boss."))

    assert (tool.name, tool.kind, tool.strict, tool.sequential) == (
        "ask_boss",
        "external",
        False,
        True,
    )
    assert tool.parameters_json_schema == AskHumanToolArgs.model_json_schema()


def test_s9_2_disabled_means_no_tool_and_no_hint() -> None:
    _, model = run_watched(with_layer(ask_human(enabled=False)))

    assert model.asked[0][1].function_tools == []
    assert model.instructions == []


def test_s9_2_disabled_and_called_all_the_same_is_an_unknown_tool() -> None:
    result, model = run_watched(with_layer(ask_human(enabled=False), ask(), text("Fine.")))

    assert isinstance(result, Finished)
    assert "Unknown tool name: 'ask_human'" in str(model.asked[1][0][-1].parts[0])


SELECT = {"name": "env", "label": "Environment", "type": "select"}
EU = {"value": "eu", "label": "EU"}


def field(**members: Any) -> dict[str, Any]:
    return {"name": "f", "label": "F", "type": "paragraph", **members}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"title": " ", "question": "Q?"}, "title must not be blank"),
        ({"question": ""}, "String should have at least 1 character"),
        ({"question": " "}, "question must not be blank"),
        ({}, "Field required"),
        ({"question": "Q?", "fields": [field(), field()]}, "field name 'f' must be unique"),
        (
            {"question": "Q?", "actions": [{"id": "a", "label": "A"}, {"id": "a", "label": "B"}]},
            "action id 'a' must be unique",
        ),
        ({"question": "Q?", "urgency": "low"}, "Input should be 'normal' or 'high'"),
        ({"question": "Q?", "who": "me"}, "Extra inputs are not permitted"),
        (
            {"question": "Q?", "fields": [{"name": "f", "label": "F"}]},
            "Unable to extract tag using discriminator 'type'",
        ),
        (
            {"question": "Q?", "fields": [field(name="a b")]},
            "field name must be a valid identifier",
        ),
        ({"question": "Q?", "fields": [field(name="ä")]}, "field name must be a valid identifier"),
        ({"question": "Q?", "fields": [field(label=" ")]}, "field label must not be blank"),
        ({"question": "Q?", "fields": [SELECT]}, "select fields must define at least one option"),
        (
            {"question": "Q?", "fields": [{**SELECT, "options": [EU, EU]}]},
            "select field 'env' contains duplicate option value 'eu'",
        ),
        (
            {"question": "Q?", "fields": [{**SELECT, "options": [EU], "default": "us"}]},
            "select field 'env' default must match one of its option values",
        ),
        (
            {"question": "Q?", "fields": [{**SELECT, "options": [{**EU, "value": " "}]}]},
            "select option value must not be blank",
        ),
        (
            {"question": "Q?", "fields": [{**SELECT, "options": [{**EU, "label": " "}]}]},
            "select option label must not be blank",
        ),
        (
            {"question": "Q?", "fields": [field(type="file-list", max_files=0)]},
            "Input should be greater than or equal to 1",
        ),
        (
            {"question": "Q?", "actions": [{"id": "a b", "label": "A"}]},
            "action id must be a valid identifier",
        ),
        (
            {"question": "Q?", "actions": [{"id": "a", "label": " "}]},
            "action label must not be blank",
        ),
        (
            {"question": "Q?", "actions": [{"id": "a", "label": "A", "style": "accent"}]},
            "Input should be 'default', 'primary' or 'destructive'",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_s9_3_argument_messages_reach_the_model(arguments: dict[str, Any], message: str) -> None:
    assert message in told_after(arguments)


@pytest.mark.parametrize(
    ("layer", "arguments", "message"),
    [
        (
            ask_human(max_fields=1),
            {"question": "Q?", "fields": [field(), field(name="g")]},
            "ask_human fields must contain at most 1 item(s)",
        ),
        (
            ask_human(max_actions=1),
            {"question": "Q?", "actions": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]},
            "ask_human actions must contain at most 1 item(s)",
        ),
        (
            ask_human(max_question_chars=3),
            {"question": "Why?"},
            "ask_human question must be <= 3 characters",
        ),
        (
            ask_human(max_markdown_chars=0),
            {"question": "Q?", "markdown": "x"},
            "ask_human markdown must be <= 0 characters",
        ),
        (
            ask_human(allowed_field_types=["select"]),
            {"question": "Q?", "fields": [field()]},
            "ask_human field type 'paragraph' is not allowed by this layer config",
        ),
        (
            ask_human(max_field_label_chars=2),
            {"question": "Q?", "fields": [field(label="abc")]},
            "ask_human field label 'abc' must be <= 2 characters",
        ),
        (
            ask_human(max_action_label_chars=5),
            {"question": "Q?"},
            "ask_human action label 'Submit' must be <= 5 characters",
        ),
    ],
    ids=["fields", "actions", "question", "markdown", "type", "label", "default action"],
)
def test_s9_4_guardrails(layer: dict[str, Any], arguments: dict[str, Any], message: str) -> None:
    assert told_after(arguments, layer) == message


def test_s9_4_guardrails_come_in_order() -> None:
    config = DifyAskHumanLayerConfig(
        max_fields=1,
        max_actions=1,
        max_question_chars=1,
        max_markdown_chars=1,
        allowed_field_types=["select"],
        max_action_label_chars=1,
    )
    asked: dict[str, Any] = {
        "question": "Why?",
        "markdown": "xx",
        "fields": [field(), field(name="g")],
        "actions": [{"id": "a", "label": "AA"}, {"id": "b", "label": "B"}],
    }
    mended: list[tuple[str, dict[str, Any]]] = [
        ("fields must contain", {"fields": [field()]}),
        ("actions must contain", {"actions": [{"id": "a", "label": "AA"}]}),
        ("question must be", {"question": "?"}),
        ("markdown must be", {"markdown": "x"}),
        ("field type 'paragraph'", {"fields": []}),
        ("action label 'AA'", {"actions": [{"id": "a", "label": "A"}]}),
    ]

    for complaint, mending in mended:
        with pytest.raises(ValueError, match=complaint):
            normalise(asked, config)
        asked |= mending

    normalise(asked, config)


def test_s9_4_lengths_are_code_points() -> None:
    config = DifyAskHumanLayerConfig(max_question_chars=2)

    assert normalise({"question": "🙂🙂"}, config).question == "🙂🙂"


def test_s9_4_the_second_failure_in_a_row_fails_the_run() -> None:
    error = failed_text(with_layer(ask_human(), calls(("c", "ask_human", {"question": ""}))))

    assert error == "Tool 'ask_human' exceeded max retries count of 1"


def test_s9_4_a_mended_question_is_asked() -> None:
    create = with_layer(ask_human(), ask("c1", ""), ask("c2", "Well?"))

    result = run_protocol(create)

    assert isinstance(result, Asked)
    assert [(one.tool_call_id, one.args["question"]) for one in result.questions] == [
        ("c2", "Well?")
    ]


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ({"allowed_field_types": ["paragraph"]}, "Allowed field types: paragraph."),
        ({"allowed_field_types": []}, "Allowed field types: none."),
        ({}, "Allowed field types: paragraph, select."),
        ({}, "File upload fields are disabled."),
        ({"allow_file_fields": True}, "File upload fields are enabled."),
        ({"max_fields": 2}, "Use at most 2 field(s)."),
        ({"max_fields": 0}, "Do not add any fields."),
        ({"max_actions": 3}, "Use at most 3 action(s)."),
        ({"max_question_chars": 240}, "Keep 'question' under 240 characters."),
        ({"max_markdown_chars": 512}, "Keep 'markdown' under 512 characters."),
        ({"max_field_label_chars": 32}, "Keep each field label under 32 characters."),
        ({"max_action_label_chars": 16}, "Keep each action label under 16 characters."),
        ({"tool_name": "ask_boss"}, "'ask_boss'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_s9_5_hint(config: dict[str, Any], line: str) -> None:
    _, model = run_watched(with_layer(ask_human(**config)))

    assert line in model.instructions[0]


def test_s9_6_a_question_ends_the_run_with_its_normalised_payload() -> None:
    fields = [{**SELECT, "options": [EU]}]

    result = run_protocol(usual([ask("call_7", "Deploy now?", fields=fields)]))

    assert isinstance(result, Asked)
    (question,) = result.questions
    assert question.tool_call_id == "call_7"
    assert question.tool_name == "ask_human"
    assert question.args == {
        "title": None,
        "question": "Deploy now?",
        "markdown": None,
        "fields": [
            {
                "name": "env",
                "label": "Environment",
                "required": False,
                "type": "select",
                "options": [{"value": "eu", "label": "EU"}],
                "default": None,
            }
        ],
        "actions": [{"id": "submit", "label": "Submit", "style": "primary"}],
        "urgency": "normal",
    }
    assert question.metadata == {
        "layer_type": "dify.ask_human",
        "tool_name": "ask_human",
        "schema_version": 1,
    }
    assert result.snapshot == b""


def test_s9_6_without_history_layer() -> None:
    error = failed_text(request(prompt(), CONTEXT, ask_human(), llm([ask()])))

    assert error == (
        "ask_human deferred tool requests require a 'history' layer so the pending tool call can"
        " be resumed."
    )


def test_s9_6_more_than_one_call_in_the_response() -> None:
    two = calls(*[(one, "ask_human", {"question": "Q?"}) for one in ("a", "b")])

    assert failed_text(usual([two])) == (
        "ask_human supports exactly one deferred call per run in this version; got 2."
    )


class DeferringLayer(Layer[Any]):
    """Offers tools that are not run here: one external, one that needs an approval."""

    type_id = "example.deferring"

    def tools(self) -> list[Tool[RunDeps]]:
        """Return the tools."""
        return [
            Tool(_nothing, name="call_out", prepare=_make_external),
            Tool(_nothing, name="approve_me", requires_approval=True),
        ]


async def _nothing() -> None:
    pytest.fail("a deferred tool was run")


def _make_external(_ctx: object, definition: ToolDefinition) -> ToolDefinition:
    return replace(definition, kind="external")


@pytest.mark.parametrize(
    ("tool", "ask", "error"),
    [
        (
            "call_out",
            ask_human(),
            "ask_human deferred tool name must be 'ask_human', got 'call_out'.",
        ),
        (
            "approve_me",
            ask_human(),
            "ask_human does not support approval requests; use external deferred calls only",
        ),
        (
            "call_out",
            ask_human(enabled=False),
            (
                "Deferred tool requests were returned, but no active ask_human layer is available"
                " for validation."
            ),
        ),
    ],
    ids=["other tool", "approval", "no ask-human layer"],
)
@pytest.mark.parametrize("face", list(Face))
def test_s9_6_deferred_calls_that_are_no_question(
    tool: str, ask: dict[str, Any], error: str, face: Face
) -> None:
    registry = build_registry([*BUILT_IN, DeferringLayer])
    deferring = {"name": "deferring", "type": "example.deferring"}
    create = request(prompt(), HISTORY, CONTEXT, ask, deferring, llm([calls(("c", tool, {}))]))

    result = run_segment(
        work_on(create, face=face),
        runner=PydanticAgentRunner(registry=registry, models=WatchedModels()),
    )

    assert isinstance(result, Failed)
    assert result.error == error


@pytest.mark.parametrize(
    "value",
    [{"status": "submitted"}, "yes", 7, None, ["a"], {"kind": "tool-failed", "message": "x"}],
)
def test_s9_6_a_result_of_any_json_goes_to_the_model_as_it_is(value: Any) -> None:
    """Also one that the library would take for a control result of its own."""
    first = run_protocol(usual([ask()]))
    assert isinstance(first, Asked)
    create = usual(
        [ask(), text("Done.")],
        session_snapshot=first.session_snapshot,
        deferred_tool_results={
            "calls": {"call_1": value},
            "metadata": {"call_1": {"form": "f1"}},
        },
    )

    result, model = run_watched(create, run_id="run-2")

    assert isinstance(result, Finished)
    (part,) = model.asked[0][0][-1].parts
    assert isinstance(part, ToolReturnPart)
    assert (part.content, part.outcome) == (value, "success")


def test_s9_6_after_a_resume_the_model_may_ask_again() -> None:
    first = run_protocol(usual([ask("call_7")]))
    assert isinstance(first, Asked)
    create = usual(
        [ask("call_7"), ask("call_8", "And now?")],
        session_snapshot=first.session_snapshot,
        deferred_tool_results={"calls": {"call_7": "yes"}},
    )

    second = run_protocol(create, run_id="run-2")

    assert isinstance(second, Asked)
    assert [one.tool_call_id for one in second.questions] == ["call_8"]


@pytest.mark.parametrize("layer", [ask_human(tool_name="renamed"), ask_human(enabled=False)])
def test_s9_6_the_tool_may_be_renamed_or_disabled_on_resume(layer: dict[str, Any]) -> None:
    first = run_protocol(usual([ask()]))
    assert isinstance(first, Asked)
    create = request(
        prompt(),
        HISTORY,
        CONTEXT,
        layer,
        llm([ask(), text("Done.")]),
        session_snapshot=first.session_snapshot,
        deferred_tool_results={"calls": {"call_1": "yes"}},
    )

    assert isinstance(run_protocol(create, run_id="run-2"), Finished)


def test_s9_6_the_same_result_may_be_replayed_any_number_of_times() -> None:
    first = run_protocol(usual([ask()]))
    assert isinstance(first, Asked)
    create = usual(
        [ask(), text("{{results}}")],
        session_snapshot=first.session_snapshot,
        deferred_tool_results={"calls": {"call_1": "yes"}},
    )

    results = [run_protocol(create, run_id=f"run-{n}") for n in range(2, 5)]

    assert [one.output for one in results if isinstance(one, Finished)] == ['["yes"]'] * 3


@pytest.mark.parametrize(
    "result",
    [
        {"status": "submitted", "action": {"id": "submit", "label": "Submit"}, "values": {"a": 1}},
        {
            "status": "timeout",
            "action": {"id": "__timeout", "label": "Timeout"},
            "values": {},
            "message": "No answer within the limit.",
        },
        {"status": "cancelled"},
        {"status": "unavailable", "message": None, "rendered_content": None},
    ],
    ids=lambda result: str(result["status"]),
)
def test_s9_7_recommended_results_reach_the_model(result: dict[str, Any]) -> None:
    first = run_protocol(usual([ask()]))
    assert isinstance(first, Asked)
    create = usual(
        [ask(), text("{{results}}")],
        session_snapshot=first.session_snapshot,
        deferred_tool_results={"calls": {"call_1": result}},
    )

    second = run_protocol(create, run_id="run-2")

    assert isinstance(second, Finished)
    assert json.loads(second.output) == [result]
