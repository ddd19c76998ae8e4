"""Checks what a person or a program sent against the form's definition (human-input §9).

All problems are reported at once, in page order, so that the page can show them together. The
messages are the contract's; the page has friendlier words for the codes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from sayso.domain.errors import FieldIssue, ValidationError
from sayso.domain.field_checks import Refused, check_value
from sayso.domain.fields import TextField

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.fields import FormInput
    from sayso.domain.files import Uploads
    from sayso.domain.form import Action, FormDefinition

MAX_ANSWER_BYTES: Final = 200_000
"""All values together, as JSON: an item of the table holds 400 KB (DynamoDB limit)."""
_SHOWN_CHARS: Final = 80

_NO_UPLOADS: Final[Uploads] = {}


def check_submission(
    definition: FormDefinition,
    action_id: str,
    values: Mapping[str, Any],
    uploads: Uploads = _NO_UPLOADS,
) -> tuple[Action, dict[str, Any]]:
    """Return the chosen action and the normalised values.

    Which fields have to be filled in is the action's to say, else the fields' own. A text that was
    left out is empty; any other field that was left out has no value.

    Raises:
        ValidationError: With one issue a field, ``action`` first.
    """
    issues: list[FieldIssue] = []
    action = definition.action(action_id)
    if action is None:
        message = f"Invalid action: {action_id[:_SHOWN_CHARS]}"
        issues.append(FieldIssue("action", "invalid_action", message))
    known = {one.name for one in definition.inputs}
    issues += [
        FieldIssue(name, "unknown", f"Unknown input: {name[:_SHOWN_CHARS]}")
        for name in sorted(values.keys() - known)
    ]
    accepted: dict[str, Any] = {}
    for field in definition.inputs:
        try:
            _check_field(field, action, values, accepted, uploads)
        except Refused as refused:
            issues.append(refused.issue)
    if not issues and len(json.dumps(accepted, ensure_ascii=False).encode()) > MAX_ANSWER_BYTES:
        message = f"The answer is too large: at most {MAX_ANSWER_BYTES} bytes"
        issues.append(FieldIssue("", "too_large", message))
    if issues or action is None:
        raise ValidationError(issues[0].message, issues)
    return action, accepted


def _check_field(
    field: FormInput,
    action: Action | None,
    values: Mapping[str, Any],
    accepted: dict[str, Any],
    uploads: Uploads,
) -> None:
    """Put the value of one field into ``accepted``.

    Raises:
        Refused: It is missing or does not fit.
    """
    own = None if action is None else action.requires
    wants_all = own is None
    required = field.required if own is None else field.name in own
    value = values.get(field.name)
    must_be_sent = field.must_be_sent and wants_all
    is_sent = field.name in values and (value is not None or must_be_sent)
    if _is_empty(field, value) and (required or (must_be_sent and not is_sent)):
        raise Refused(FieldIssue(field.name, "missing", f"Missing required inputs: {field.name}"))
    if is_sent and not _is_nothing(field, value):
        accepted[field.name] = check_value(field, value, uploads)
    elif isinstance(field, TextField):
        accepted[field.name] = ""


def _is_empty(field: FormInput, value: Any) -> bool:
    """Tell whether a value fills in nothing."""
    if isinstance(value, str):
        return not value.strip() and field.kind != "select"
    return value is None or value == []


def _is_nothing(field: FormInput, value: Any) -> bool:
    """Tell whether an empty text stands for a value that is not given."""
    return value == "" and field.kind in {"date", "number", "integer", "boolean"}
