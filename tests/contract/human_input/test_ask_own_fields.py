"""Kinds of fields beyond the reference: the model may use those that the layer's config lists."""

from __future__ import annotations

from typing import Any

import pytest

from sayso.domain.asking import definition_of
from sayso_agent.layers.ask_arguments import AskHumanToolArgs
from sayso_agent.layers.ask_human import DifyAskHumanLayerConfig, normalise
from sayso_agent.layers.ask_own_fields import OWN_FIELD_TYPES, arguments_for

CONFIG = DifyAskHumanLayerConfig(allowed_field_types=["paragraph", *sorted(OWN_FIELD_TYPES)])
OPTIONS = [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]
FIELDS: list[dict[str, Any]] = [
    {"type": "text", "pattern": "[A-Z]+", "default": "AB", "max_chars": 5},
    {"type": "email", "placeholder": "name@example.org"},
    {"type": "url", "default": "https://a.example"},
    {"type": "number", "minimum": 0, "maximum": 1.5, "default": 0.5},
    {"type": "integer", "minimum": 1},
    {"type": "boolean", "default": False},
    {"type": "date", "earliest": "2026-01-01"},
    {"type": "multi-select", "options": OPTIONS, "default": ["b"], "max_choices": 1},
]


def ask(field: dict[str, Any]) -> AskHumanToolArgs:
    named = {"name": "x", "label": "X", **field}
    return normalise({"question": "Which?", "fields": [named]}, CONFIG)


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: str(field["type"]))
def test_a_listed_kind_becomes_a_field_of_the_form(field: dict[str, Any]) -> None:
    definition = definition_of(ask(field).model_dump(mode="json"))

    (made,) = definition.inputs
    assert made.kind == field["type"]
    default = field.get("default")
    expected = tuple(default) if isinstance(default, list) else default
    if expected is not None:
        assert getattr(made, "default", None) == expected


def test_without_own_kinds_the_tool_is_the_contracts() -> None:
    assert arguments_for(["paragraph", "select", "file"]) is AskHumanToolArgs


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ({"type": "text", "pattern": "(a"}, "pattern is not understood"),
        ({"type": "number", "minimum": 2, "maximum": 1}, "no number is within its bounds"),
        ({"type": "number", "maximum": 1, "default": 2}, "default of field 'x'"),
        ({"type": "date", "default": "tomorrow"}, "expected a date such as 2026-12-31"),
        ({"type": "multi-select"}, "it has 0 options"),
    ],
)
def test_a_field_that_cannot_be_answered_is_retry_text(field: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ask(field)
