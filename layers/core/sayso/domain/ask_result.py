"""What the model reads when a form has ended: an ``AskHumanToolResult`` (dify-agent §9.7)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sayso.domain.placeholders import fill_fields
from sayso.domain.transitions import FormStatus

if TYPE_CHECKING:
    from sayso.domain.form import Form, FormContent

_TIMEOUT_ACTION = {"id": "__timeout", "label": "Timeout"}
_MESSAGES = {
    FormStatus.TIMEOUT: "No answer within the limit.",
    FormStatus.CANCELLED: "The question was withdrawn.",
    FormStatus.UNDELIVERABLE: "Nobody could be reached.",
}
_RESULTS = {
    FormStatus.SUBMITTED: "submitted",
    FormStatus.TIMEOUT: "timeout",
    FormStatus.CANCELLED: "cancelled",
    FormStatus.UNDELIVERABLE: "unavailable",
}


def ask_result(form: Form, content: FormContent) -> dict[str, Any]:
    """Return the result of an ended form, with all five members.

    A timeout is a result and never a failure of the run (DESIGN §4).

    Args:
        form: A form whose status resumes the run.
        content: What it asked; it is told again with the answers filled in.
    """
    result: dict[str, Any] = {
        "status": _RESULTS[form.status],
        "action": _TIMEOUT_ACTION if form.status is FormStatus.TIMEOUT else None,
        "values": {},
        "message": form.end_note or _MESSAGES.get(form.status),
        "rendered_content": None,
    }
    if decision := form.decision:
        result["action"] = {"id": decision.action_id, "label": decision.action_label}
        result["values"] = dict(decision.values)
        kinds = {one.name: one.kind for one in content.definition.inputs}
        result["rendered_content"] = fill_fields(
            content.rendered_content, decision.values, kinds=kinds
        )
    # Through JSON, so that nothing but JSON can reach the model whatever a store returned.
    plain: dict[str, Any] = json.loads(json.dumps(result))
    return plain
