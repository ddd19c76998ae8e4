"""What people send is checked against the definition, all problems at once."""

from __future__ import annotations

from typing import Any

import pytest

from sayso.domain.errors import ValidationError
from sayso.domain.fields import CHAR_LIMITS, Option, ParagraphInput, SelectInput
from sayso.domain.form import Action, FormDefinition
from sayso.domain.submission import check_submission

MAX_TEXT_CHARS = CHAR_LIMITS["paragraph"]

DEFINITION = FormDefinition(
    title="",
    question="Refund?",
    content="",
    inputs=(
        ParagraphInput(name="note", label="Note", required=True),
        ParagraphInput(name="more", label="More"),
        SelectInput(
            name="way",
            label="Way",
            options=(Option(value="card", label="Card"), Option(value="bank", label="Bank")),
        ),
    ),
    actions=(Action(id="approve", label="Approve"), Action(id="refuse", label="Refuse")),
)


def test_a_fitting_answer_is_returned_as_it_was_sent() -> None:
    action, values = check_submission(DEFINITION, "refuse", {"note": " no ", "way": "bank"})

    assert action.label == "Refuse"
    assert values == {"note": " no ", "more": "", "way": "bank"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "Missing required inputs: note"),
        ({"note": "  \n"}, "Missing required inputs: note"),
        ({"note": 7}, "Invalid value for paragraph input 'note': expected string"),
        ({"note": {"a": 1}}, "Invalid value for paragraph input 'note': expected string"),
        (
            {"note": "x" * (MAX_TEXT_CHARS + 1)},
            f"Invalid value for paragraph input 'note': at most {MAX_TEXT_CHARS} characters",
        ),
        ({"note": "a", "way": "cash"}, "Invalid value for select input 'way': cash"),
        ({"note": "a", "way": ["card"]}, "Invalid value for select input 'way': expected string"),
        ({"note": "a", "foreign": "x"}, "Unknown input: foreign"),
    ],
)
def test_a_value_that_does_not_fit_is_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        check_submission(DEFINITION, "approve", values)

    assert [issue.message for issue in refused.value.issues] == [message]


def test_all_problems_are_reported_at_once_action_first() -> None:
    with pytest.raises(ValidationError) as refused:
        check_submission(DEFINITION, "what", {"way": "cash", "x": "1"})

    assert [issue.field for issue in refused.value.issues] == ["action", "x", "note", "way"]
