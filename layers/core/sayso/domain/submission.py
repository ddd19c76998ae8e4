"""Checks what a person or a program sent against the form's definition (human-input §9).

All problems are reported at once, in page order, so that the page can show them together. The
messages are the contract's; the page has friendlier words for the codes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from sayso.domain.errors import FieldIssue, ValidationError
from sayso.domain.form import ParagraphInput, SelectInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.form import Action, FormDefinition, FormInput

MAX_TEXT_CHARS = 20_000
"""Longest text of one field. The reference has no bound; an item of the table holds 400 KB."""


def check_submission(
    definition: FormDefinition, action_id: str, values: Mapping[str, Any]
) -> tuple[Action, dict[str, str]]:
    """Return the chosen action and the normalised values.

    A field that was left out is an error only when it is required; the value is then empty text
    for a paragraph and left out for a select.

    Raises:
        ValidationError: With one issue a field, ``action`` first.
    """
    issues: list[FieldIssue] = []
    action = definition.action(action_id)
    if action is None:
        issues.append(FieldIssue("action", "invalid_action", f"Invalid action: {action_id[:80]}"))
    known = {one.name for one in definition.inputs}
    issues += [
        FieldIssue(name, "unknown", f"Unknown input: {name[:80]}")
        for name in sorted(values.keys() - known)
    ]
    accepted: dict[str, str] = {}
    for field in definition.inputs:
        _check_field(field, values, accepted, issues)
    if issues or action is None:
        raise ValidationError(issues[0].message, issues)
    return action, accepted


def _check_field(
    field: FormInput,
    values: Mapping[str, Any],
    accepted: dict[str, str],
    issues: list[FieldIssue],
) -> None:
    value = values.get(field.name)
    if value is None or value == "":
        if field.required:
            message = f"Missing required inputs: {field.name}"
            issues.append(FieldIssue(field.name, "missing", message))
        elif isinstance(field, ParagraphInput):
            accepted[field.name] = ""
        return
    if issue := _issue_of(field, value):
        issues.append(issue)
    else:
        accepted[field.name] = value


def _issue_of(field: FormInput, value: object) -> FieldIssue | None:
    match field:
        case ParagraphInput():
            return _paragraph_issue(field, value)
        case SelectInput():
            return _select_issue(field, value)
        case _:
            assert_never(field)


def _paragraph_issue(field: ParagraphInput, value: object) -> FieldIssue | None:
    prefix = f"Invalid value for paragraph input '{field.name}'"
    if not isinstance(value, str):
        return FieldIssue(field.name, "not_text", f"{prefix}: expected string")
    if len(value) > MAX_TEXT_CHARS:
        message = f"{prefix}: at most {MAX_TEXT_CHARS} characters"
        return FieldIssue(field.name, "too_long", message)
    if field.required and not value.strip():
        return FieldIssue(field.name, "missing", f"Missing required inputs: {field.name}")
    return None


def _select_issue(field: SelectInput, value: object) -> FieldIssue | None:
    prefix = f"Invalid value for select input '{field.name}'"
    if not isinstance(value, str):
        return FieldIssue(field.name, "not_text", f"{prefix}: expected string")
    if value not in {option.value for option in field.options}:
        return FieldIssue(field.name, "not_an_option", f"{prefix}: {value[:80]}")
    return None
