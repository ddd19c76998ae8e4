"""dify-agent §7.5: structured output."""

from __future__ import annotations

from typing import Any

import pytest

from sayso.domain.segment import Finished
from support.segments import (
    CONTEXT,
    calls,
    failed_text,
    llm,
    prompt,
    request,
    run_protocol,
    run_watched,
    text,
)

LLM = llm([text("Done.")])


def output(**config: Any) -> dict[str, Any]:
    return {"name": "output", "type": "dify.output", "config": config}


SCHEMA = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/n"}},
    "required": ["a"],
    "$defs": {"n": {"type": "integer"}},
}


def answer(**args: Any) -> dict[str, Any]:
    return calls(("o", "final_output", args))


def test_s7_5_output_is_the_object() -> None:
    result = run_protocol(
        request(prompt(), CONTEXT, output(json_schema=SCHEMA), llm([answer(a=1)]))
    )

    assert isinstance(result, Finished)
    assert result.output == {"a": 1}


def test_s7_5_the_model_sees_one_output_tool() -> None:
    layer = output(json_schema=SCHEMA, description="The number.", strict=True)

    _, model = run_watched(request(prompt(), CONTEXT, layer, llm([answer(a=1)])))

    (tool,) = model.asked[0][1].output_tools
    assert (tool.name, tool.strict) == ("final_output", True)
    assert tool.parameters_json_schema["title"] == "final_output"
    assert tool.description == "The number."


def test_s7_5_without_the_layer_output_is_text() -> None:
    result = run_protocol(request(prompt(), CONTEXT, LLM))

    assert isinstance(result, Finished)
    assert result.output == "Done."


def test_s7_5_an_invalid_output_may_be_mended_once() -> None:
    create = request(
        prompt(), CONTEXT, output(json_schema=SCHEMA), llm([answer(a="x"), answer(a=2)])
    )

    result, model = run_watched(create)

    assert isinstance(result, Finished)
    assert result.output == {"a": 2}
    told = str(model.asked[1][0][-1].parts[0])
    assert "Output does not match JSON Schema: $.a: 'x' is not of type 'integer'" in told


def test_s7_5_the_second_invalid_output_ends_the_run() -> None:
    create = request(prompt(), CONTEXT, output(json_schema=SCHEMA), llm([answer(a="x")]))

    assert failed_text(create) == "Exceeded maximum retries (1) for output validation"


def test_s7_5_schema_must_declare_an_object() -> None:
    error = failed_text(request(prompt(), CONTEXT, output(json_schema={"type": "string"}), LLM))

    assert "Schema must declare an object output." in error


def ref(target: str, **definitions: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"$ref": target}}, "$defs": definitions}


@pytest.mark.parametrize(
    ("schema", "error"),
    [
        (
            ref("https://example.org/s.json"),
            (
                "Remote $ref values are not supported; only local fragment refs beginning with '#'"
                " are allowed."
            ),
        ),
        (
            ref("#/properties/a"),
            (
                "Only local refs under '#/$defs/' are supported in this version; got unsupported"
                " local ref '#/properties/a'."
            ),
        ),
        (
            ref("#/$defs/n", n={"properties": {"b": {"$ref": "#/$defs/n"}}}),
            "Recursive $defs refs are not supported for structured output exposure.",
        ),
        (ref("#/$defs/n"), "Local $ref '#/$defs/n' could not be resolved from $defs."),
    ],
    ids=["remote", "elsewhere", "recursive", "unresolved"],
)
def test_s7_5_references(schema: dict[str, Any], error: str) -> None:
    assert failed_text(request(prompt(), CONTEXT, output(json_schema=schema), LLM)) == error


def test_s7_5_ref_as_a_value_is_no_reference() -> None:
    schema = {"type": "object", "properties": {"a": {"const": {"$ref": "https://example.org"}}}}
    create = request(prompt(), CONTEXT, output(json_schema=schema), llm([answer()]))

    assert isinstance(run_protocol(create), Finished)
