"""Tell people about forms that wait, and end forms that reach nobody.

Apart from ``pause_run`` so that the sweep and the mail worker, which only repeat what a pause has
told, start without the policy's schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from sayso.domain.errors import FormClosedError, MovedOnError
from sayso.domain.form import DeliveryState
from sayso.domain.transitions import FormStatus, FormTrigger
from sayso.store.form_history import audit_ttl
from sayso.usecases.ask_to_resume import ask_to_resume
from sayso.usecases.context import Context, tell
from sayso.usecases.time_out import LONGEST_DELAY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sayso.domain.form import Form, WholeForm
    from sayso.ports import Timers

MAIL_WITHIN = timedelta(minutes=5)
"""Mails that are not settled after this time are queued again by the sweep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """What telling people needs."""

    context: Context
    timers: Timers


def tell_people(wholes: Sequence[WholeForm], telling: Telling) -> None:
    """Tell about forms that wait: schedules, delayed messages, mails; then look again.

    Called by the pause and, for what is still untold, by the sweep. Telling twice is harmless.
    """
    context = telling.context
    told = True
    for whole in wholes:
        told &= _set_timer(whole.form, telling)
    now = context.clock.now()
    told &= _send_delayed(wholes, now, context)
    mails = [whole.form.id for whole in wholes if _awaits_mail(whole)]
    if mails:
        told &= tell(context, lambda: context.queue.mail(mails), form_id=mails[0])
    stand = [_note_told(whole, now, context, told=told) for whole in wholes]
    if all(form.status is not FormStatus.WAITING for form in stand):
        ask_to_resume(stand[0], context)


def _send_delayed(wholes: Sequence[WholeForm], now: datetime, context: Context) -> bool:
    """Send delayed messages for the forms whose deadline is near, those of one instant at once."""
    told = True
    for deadline in {whole.form.deadline for whole in wholes}:
        delay = max(deadline - now, timedelta(0))
        ids = [whole.form.id for whole in wholes if whole.form.deadline == deadline]
        if delay <= LONGEST_DELAY:
            told &= tell(context, partial(context.queue.time_out, ids, delay=delay))
    return told


def _set_timer(form: Form, telling: Telling) -> bool:
    # The deadline is part of the name: a schedule that exists stays as it is.
    name = f"form-{form.id}-{int(form.deadline.timestamp())}"
    message = {"kind": "timeout", "form_id": form.id}
    return tell(
        telling.context,
        lambda: telling.timers.at(name, form.deadline, message),
        form_id=form.id,
    )


def _note_told(whole: WholeForm, now: datetime, context: Context, *, told: bool) -> Form:
    """Move the form's due instant on, and end at once a form that reaches nobody."""
    form = whole.form
    if not any(one.may_be_reached for one in whole.recipients):
        return give_up(form, context)
    if not told:
        return form
    due_at = now + MAIL_WITHIN if _awaits_mail(whole) else form.deadline
    return context.stores.forms.told(form, due_at=min(due_at, form.deadline))


def give_up(form: Form, context: Context) -> Form:
    """End a waiting form that reaches nobody; the model is told ``unavailable``.

    The caller asks to resume the run.
    """
    now, ttl = context.clock.now(), audit_ttl(form)
    try:
        ended = context.stores.forms.close(form, FormTrigger.GIVE_UP, now=now, ttl=ttl)
    except (FormClosedError, MovedOnError):
        return context.stores.forms.get(form.id) or form
    context.report("form_undeliverable", form_id=form.id, run_id=form.run_id)
    return ended


def _awaits_mail(whole: WholeForm) -> bool:
    unsettled = (DeliveryState.QUEUED, DeliveryState.SENDING)
    return any(one.state in unsettled for one in whole.recipients)
