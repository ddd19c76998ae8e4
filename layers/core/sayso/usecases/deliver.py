"""Bring a form to its recipients, one attempt each at a time (DESIGN §5 Deliver).

An attempt is claimed before the mail is sent. After a crash in between a mail may come twice,
never not at all. One bad address stops nobody.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sayso.domain.errors import MailNotAcceptedError, MailRefusedError
from sayso.domain.form import DeliveryState
from sayso.domain.links import Link
from sayso.domain.transitions import FormStatus
from sayso.usecases.ask_to_resume import ask_to_resume
from sayso.usecases.tell_people import give_up

if TYPE_CHECKING:
    from sayso.domain.form import Recipient, WholeForm
    from sayso.domain.ids import FormId
    from sayso.ports import Links, Mailer, MailRenderer
    from sayso.usecases.context import Context

MAX_ATTEMPTS = 10
"""Attempts for one recipient before it counts as failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """What delivering needs beyond the common context."""

    context: Context
    links: Links
    mailer: Mailer
    renderer: MailRenderer


def deliver_form(form_id: FormId, post: Post) -> None:
    """Send the form's mails that are not sent yet.

    Called twice, it sends nothing twice; a form that was decided meanwhile is left alone.

    Raises:
        MailNotAcceptedError: At least one mail is to be tried again; the others went out.
    """
    context = post.context
    whole = context.stores.forms.whole(form_id)
    if whole is None or whole.form.status is not FormStatus.WAITING:
        return
    waiting = [one for one in whole.recipients if one.state in _UNSETTLED]
    outcomes = [_deliver(whole, one, post) for one in waiting]
    if DeliveryState.FAILED in outcomes:
        close_if_unreachable(form_id, context)
    if DeliveryState.QUEUED in outcomes:
        message = f"a mail of form {form_id!r} was not accepted yet"
        raise MailNotAcceptedError(message)


_UNSETTLED = (DeliveryState.QUEUED, DeliveryState.SENDING)


def _deliver(whole: WholeForm, recipient: Recipient, post: Post) -> DeliveryState | None:
    """Make one attempt and return the state after it, None when somebody else is at it."""
    context, form = post.context, whole.form
    claimed = context.stores.recipients.claim_mail(form.id, recipient, now=context.clock.now())
    if claimed is None:
        return None
    # The mail says which attempt it is, so it is made of the recipient as it was claimed.
    recipients = (claimed if one.number == claimed.number else one for one in whole.recipients)
    state, message_id = _send(replace(whole, recipients=tuple(recipients)), claimed, post)
    context.stores.recipients.settle_mail(form.id, claimed, state, message_id=message_id)
    context.report("mail", form_id=form.id, status=state, attempt=claimed.attempts)
    return state


def _send(whole: WholeForm, recipient: Recipient, post: Post) -> tuple[DeliveryState, str]:
    link = Link(form_id=whole.form.id, recipient=recipient.number, revision=recipient.revision)
    url = f"{whole.content.base_url}/form/{post.links.sign(link)}"
    try:
        mail = post.renderer.approval_mail(
            whole, recipient=recipient.number, link=url, now=post.context.clock.now()
        )
    except ValueError:
        return DeliveryState.FAILED, ""  # an address that no header can hold stops nobody else
    try:
        return DeliveryState.SENT, post.mailer.send(mail)
    except MailNotAcceptedError:
        over = recipient.attempts >= MAX_ATTEMPTS
        return (DeliveryState.FAILED if over else DeliveryState.QUEUED), ""
    except MailRefusedError:
        return DeliveryState.FAILED, ""


def note_feedback(form_id: FormId, number: int, state: DeliveryState, context: Context) -> None:
    """Store what the mail service reports about a recipient; end the form if nobody is left.

    Args:
        form_id: From the mail's tags.
        number: Recipient number, from the mail's tags.
        state: bounced, complained or failed.
        context: The common context.
    """
    if context.stores.recipients.note_feedback(form_id, number, state):
        context.report("mail_feedback", form_id=form_id, status=state)
    close_if_unreachable(form_id, context)


def close_if_unreachable(form_id: FormId, context: Context) -> None:
    """End a waiting form that nobody can get any more, and ask to resume its run."""
    whole = context.stores.forms.whole(form_id)
    if whole is None or any(one.may_be_reached for one in whole.recipients):
        return
    if whole.form.status is FormStatus.WAITING:
        give_up(whole.form, context)
    ask_to_resume(whole.form, context)
