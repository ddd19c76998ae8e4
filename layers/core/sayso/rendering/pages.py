"""Complete HTML pages of the approver (human-input §18), one function each.

Every page works without JavaScript. ``nonce`` is the style nonce of the response's content policy;
it must be new in every response. Free of bleach, markdown-it and pydantic: what people see of
Markdown was rendered when the form was made.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from sayso.rendering.environment import render
from sayso.rendering.wording import field_message, general_message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sayso.domain.errors import FieldIssue
    from sayso.rendering.views import (
        ActionView,
        AnsweredView,
        CancelledView,
        ExpiredView,
        FieldView,
        FormView,
        RateLimitedView,
        ReceiptView,
        UndeliverableView,
    )

_NO_VALUES: Final[Mapping[str, object]] = MappingProxyType({})
_OWN_CONTROLS: Final = frozenset({"action", "form_nonce"})


@dataclass(frozen=True, slots=True)
class _Problem:
    """One line of the error summary."""

    target: str
    """Id of the element to go to."""
    message: str


def control_name(field: str) -> str:
    """Return the name under which the page sends a field.

    The field's own, unless the page uses that itself; field names hold no dot, so it cannot clash.
    """
    return f"field.{field}" if field in _OWN_CONTROLS else field


def control_id(field: str) -> str:
    """Return the id of a field's control; the hyphen keeps it apart from all other ids."""
    return f"field-{field}"


def form_page(
    view: FormView,
    *,
    nonce: str,
    values: Mapping[str, object] = _NO_VALUES,
    issues: Sequence[FieldIssue] = (),
) -> str:
    """Return the page of an open question.

    Args:
        view: The question.
        nonce: Style nonce of this response.
        values: What a person typed, by field name, lists where a control came several times. An
            empty mapping stands for nothing typed yet: fields show their initial values.
        issues: What is wrong with it. The page then starts with an error summary, and its title
            with "Error:".
    """
    fields = [part for part in view.parts if part.kind != "text"]
    errors = {
        field.name: field_message(field, issue.code)
        for field in fields
        for issue in issues
        if issue.field == field.name
    }
    return render(
        "form.html",
        nonce=nonce,
        view=view,
        actions=_in_order(view.actions),
        values={field.name: _typed(field, values) for field in fields},
        errors=errors,
        problems=_problems(fields, errors, issues),
        control_id=control_id,
        control_name=control_name,
    )


def _typed(field: FieldView, values: Mapping[str, object]) -> object:
    """Return what a field's control shows. Boxes that are all empty are not sent at all."""
    if field.kind == "file":
        kept = values.get(field.name) or []
        return kept if isinstance(kept, list) else [kept]
    if not values:
        return field.initial
    return values.get(field.name, () if field.kind == "choices" else field.initial)


def _problems(
    fields: Sequence[FieldView], errors: Mapping[str, str], issues: Sequence[FieldIssue]
) -> list[_Problem]:
    """Return the lines of the error summary: fields in page order, then all else once each."""
    of_fields = [
        _Problem(control_id(field.name), errors[field.name])
        for field in fields
        if field.name in errors
    ]
    others = {general_message(issue.code): None for issue in issues if issue.field not in errors}
    return of_fields + [_Problem("decide", message) for message in others]


def _in_order(actions: Sequence[ActionView]) -> list[ActionView]:
    """Put destructive buttons last: the focus reaches them after all others (mock-up rule)."""
    return sorted(actions, key=lambda action: action.style == "destructive")


def receipt_page(view: ReceiptView, *, nonce: str) -> str:
    """Return the receipt of an accepted answer; stays right when it is opened again later."""
    return render("receipt.html", nonce=nonce, view=view)


def answered_page(view: AnsweredView, *, nonce: str) -> str:
    """Return the page that says somebody else was first. For valid links only."""
    return render("answered.html", nonce=nonce, view=view)


def expired_page(view: ExpiredView, *, nonce: str) -> str:
    """Return the page that says the time is over. For valid links only."""
    return render("expired.html", nonce=nonce, view=view)


def cancelled_page(view: CancelledView, *, nonce: str) -> str:
    """Return the page of a stopped run or a question taken back. For valid links only."""
    return render("cancelled.html", nonce=nonce, view=view)


def undeliverable_page(view: UndeliverableView, *, nonce: str) -> str:
    """Return the page of a question that is handled elsewhere. For valid links only."""
    return render("undeliverable.html", nonce=nonce, view=view)


def unknown_page(*, nonce: str) -> str:
    """Return the page of a link that opens nothing; takes no reason, so it can tell none."""
    return render("unknown.html", nonce=nonce)


def rate_limited_page(view: RateLimitedView, *, nonce: str) -> str:
    """Return the page for too many requests; made before any look-up."""
    return render("rate_limited.html", nonce=nonce, view=view)


def server_error_page(*, nonce: str) -> str:
    """Return the page for a failure of ours, which must not say more than that."""
    return render("server_error.html", nonce=nonce)
