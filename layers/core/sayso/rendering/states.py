"""Chooses the page that fits the state of a form (human-input §18). For valid links only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.domain.transitions import FormStatus
from sayso.rendering import pages
from sayso.rendering.from_domain import ask_view, decision_view, form_view, value_views
from sayso.rendering.i18n import _
from sayso.rendering.views import (
    AnsweredView,
    CancelledView,
    ExpiredView,
    ReceiptView,
    UndeliverableView,
)

if TYPE_CHECKING:
    from datetime import datetime

    from sayso.domain.form import Decision, Recipient, WholeForm
    from sayso.rendering.views import AskView, TypedView


def opened_page(
    whole: WholeForm,
    recipient: Recipient,
    *,
    now: datetime,
    nonce: str,
    form_nonce: str | None = None,
    workspace: str = "",
    zone: str = "UTC",
) -> str:
    """Return the page for somebody who opens a link: the open question, or how it ended."""
    if whole.form.status is FormStatus.WAITING and whole.form.deadline > now:
        view = form_view(
            whole,
            recipient,
            now=now,
            form_nonce=form_nonce,
            workspace=workspace,
            zone=recipient.time_zone or zone,
        )
        return pages.form_page(view, nonce=nonce)
    return ended_page(whole, recipient, nonce=nonce, workspace=workspace, zone=zone)


def ended_page(
    whole: WholeForm,
    recipient: Recipient,
    *,
    nonce: str,
    typed: TypedView | None = None,
    typed_at: datetime | None = None,
    workspace: str = "",
    zone: str = "UTC",
) -> str:
    """Return the page of a question that takes no answer any more.

    Who decided sees the receipt, everybody else who was first and when.

    Args:
        whole: The form; still waiting means that only its deadline has passed.
        recipient: Whose link was used.
        nonce: Style nonce of this response.
        typed: The answer that came too late and goes back.
        typed_at: When it came.
        workspace: Who runs this stack.
        zone: IANA name of the zone of readers who have none of their own.
    """
    ask = ask_view(whole, workspace=workspace, zone=recipient.time_zone or zone)
    form = whole.form
    match form.status:
        case FormStatus.SUBMITTED if form.decision is not None:
            return _decided(whole, recipient, ask, form.decision, typed, nonce)
        case FormStatus.CANCELLED:
            cancelled = CancelledView(
                ask=ask, at=form.ended_at, note=form.end_note or "", typed=typed
            )
            return pages.cancelled_page(cancelled, nonce=nonce)
        case FormStatus.UNDELIVERABLE:
            return pages.undeliverable_page(UndeliverableView(ask=ask, typed=typed), nonce=nonce)
        case _:
            expired = ExpiredView(
                ask=ask,
                deadline=form.deadline,
                consequence=_run_over(ask) if form.status is FormStatus.EXPIRED else "",
                typed=typed,
                typed_at=typed_at,
            )
            return pages.expired_page(expired, nonce=nonce)


def _decided(
    whole: WholeForm,
    recipient: Recipient,
    ask: AskView,
    decision: Decision,
    typed: TypedView | None,
    nonce: str,
) -> str:
    if typed is None and decision.actor.recipient == recipient.number:
        receipt = ReceiptView(
            ask=ask,
            decision=decision_view(decision, by=decision.actor.name),
            values=value_views(whole.content.definition, decision.values),
            digest=whole.form.content_digest,
        )
        return pages.receipt_page(receipt, nonce=nonce)
    by = decision.actor.name if whole.content.show_decider else ""
    answered = AnsweredView(ask=ask, decision=decision_view(decision, by=by), typed=typed)
    return pages.answered_page(answered, nonce=nonce)


def _run_over(ask: AskView) -> str:
    """Return what happened when the whole run ran out of time: it never goes on (DESIGN §5)."""
    return _("Nothing was decided, and %s does not go on.") % ask.asker
