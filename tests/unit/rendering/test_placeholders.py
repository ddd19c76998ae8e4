"""Placeholders in content (human-input §3.4): one grammar, one pass, nothing expanded twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.domain.placeholders import (
    FIELD_PATTERN,
    VARIABLE_PATTERN,
    FieldPlaceholder,
    Text,
    fill_fields,
    split_content,
    substitute_variables,
)

ORDER = {"order": {"id": "17", "amount": 3200, "lines": [{"sku": "ä"}], "paid": True, "note": None}}


def test_content_is_split_at_fields_and_empty_stretches_are_left_out() -> None:
    parts = split_content("Hi {{#$output.note#}}{{#$output.reason#}} bye")

    assert parts == (
        Text("Hi "),
        FieldPlaceholder("note"),
        FieldPlaceholder("reason"),
        Text(" bye"),
    )


@given(
    st.lists(st.sampled_from(["{{#$output.a#}}", "{{#$output.b_1#}}", "text", "{{#", "#}}", "$"]))
)
def test_splitting_loses_nothing(pieces: list[str]) -> None:
    content = "".join(pieces)

    parts = split_content(content)

    joined = "".join(
        part.text if isinstance(part, Text) else f"{{{{#$output.{part.name}#}}}}" for part in parts
    )
    assert joined == content


@pytest.mark.parametrize(
    ("placeholder", "value"),
    [
        ("{{#order.id#}}", "17"),
        ("{{#order.amount#}}", "3200"),
        ("{{#order.paid#}}", "true"),
        ("{{#order.note#}}", ""),
        ("{{#order.lines#}}", '[{"sku": "ä"}]'),
    ],
)
def test_a_known_variable_becomes_its_value(placeholder: str, value: str) -> None:
    assert substitute_variables(f"<{placeholder}>", ORDER) == (f"<{value}>", [])


def test_an_unknown_variable_becomes_nothing_and_is_reported_once() -> None:
    text = "{{#order.x#}}|{{#nobody.id#}}|{{#order.x#}}|{{#order.id.deeper#}}"

    assert substitute_variables(text, ORDER) == ("|||", ["order.x", "nobody.id", "order.id.deeper"])


@pytest.mark.parametrize(
    "text",
    [
        "{{#order#}}",
        "{{# order.id #}}",
        "{{order.id}}",
        "{{#order.1d#}}",
        "{{#or-der.id#}}",
        "{{#order." + "x" * 31 + "#}}",
        "{{#" + "n" * 51 + ".id#}}",
        "{{#order" + ".a" * 11 + "#}}",
        "{{#$output." + "x" * 31 + "#}}",
        "{{#$output.a.b#}}",
    ],
)
def test_what_does_not_fit_the_grammar_is_text(text: str) -> None:
    assert substitute_variables(text, ORDER) == (text, [])
    assert split_content(text) == (Text(text),)


def test_the_longest_names_fit() -> None:
    node, part = "n" * 50, "p" * 30

    text, missing = substitute_variables(f"{{{{#{node}.{part}#}}}}", {node: {part: "v"}})

    assert (text, missing) == ("v", [])


@given(value=st.text(alphabet="{}#$.abco utp", max_size=60))
def test_a_value_is_neither_expanded_nor_a_field(value: str) -> None:
    hostile = f"{value}{{{{#order.id#}}}}{{{{#$output.note#}}}}"

    text, _missing = substitute_variables("{{#user.says#}}", {"user": {"says": hostile}})

    assert not VARIABLE_PATTERN.search(text)
    assert not FIELD_PATTERN.search(text)


def test_fields_become_what_was_answered() -> None:
    content = "{{#$output.note#}}/{{#$output.proof#}}/{{#$output.all#}}/{{#$output.left#}}/{{#$output.x#}}"
    values = {"note": "ok", "proof": {"id": 1}, "all": [{}, {}], "x": {"k": "ü"}}

    filled = fill_fields(content, values, kinds={"proof": "file", "all": "file-list"})

    assert filled == 'ok/[file]/[2 files]//{"k": "ü"}'


def test_an_answer_that_looks_like_a_field_stays_as_it_is() -> None:
    values = {"a": "{{#$output.b#}}", "b": "secret"}

    assert fill_fields("{{#$output.a#}}", values) == "{{#$output.b#}}"
