"""A form as JSON for programs (human-input §7.2)."""

from __future__ import annotations

from sayso.domain.asking import composed_content
from sayso.domain.fields import Option, ParagraphInput, SelectInput
from sayso.domain.form import (
    Action,
    ButtonStyle,
    FormDefinition,
)

DEFINITION = FormDefinition(
    title="Refund 17",
    question="Refund order 17?",
    content="Amount **3200**.\n\n{{#$output.note#}}",
    inputs=(
        ParagraphInput(name="note", label="Note"),
        SelectInput(
            name="why", label="Why", required=True, options=(Option(value="a", label="A"),)
        ),
    ),
    actions=(Action(id="go", label="Go", style=ButtonStyle.DESTRUCTIVE),),
)


def test_title_question_content_and_unplaced_fields_make_one_text() -> None:
    assert composed_content(DEFINITION) == (
        "# Refund 17\n\n"
        "Refund order 17?\n\n"
        "Amount **3200**.\n\n{{#$output.note#}}\n\n"
        "Why *\n\n{{#$output.why#}}"
    )
