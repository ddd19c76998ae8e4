"""What the sweep does with a form that is due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.domain.transitions import FormStatus, RunStatus
from sayso.usecases.ask_to_resume import ask_to_resume
from sayso.usecases.backoff import next_look
from sayso.usecases.tell_people import tell_people
from sayso.usecases.time_out import time_out_form

if TYPE_CHECKING:
    from sayso.domain.form import Form, WholeForm
    from sayso.domain.ids import FormId
    from sayso.usecases.tell_people import Telling


def look_at_form(form_id: FormId, telling: Telling) -> None:
    """Time out a form, tell about it again, or settle it. Harmless when repeated."""
    context = telling.context
    whole = context.stores.forms.whole(form_id)
    now = context.clock.now()
    if whole is None or whole.form.due_at is None or whole.form.due_at > now:
        return
    form = whole.form
    if form.status is not FormStatus.WAITING:
        _tell_decided(form, telling)
    elif form.deadline <= now:
        context.stores.forms.retell(form, due_at=now + next_look(form.tells))
        time_out_form(form_id, context)
    else:
        _tell_waiting(whole, telling)


def _tell_waiting(whole: WholeForm, telling: Telling) -> None:
    """Repeat what may be untold about a waiting form: timer, delayed message, mails."""
    context, form = telling.context, whole.form
    due_at = min(context.clock.now() + next_look(form.tells), form.deadline)
    if not context.stores.forms.retell(form, due_at=due_at):
        return
    context.report("form_retold", form_id=form.id, attempt=form.tells + 1)
    tell_people([whole], telling)


def _tell_decided(form: Form, telling: Telling) -> None:
    """Ask to resume the run of an ended form, until the run has moved on from its pause."""
    context = telling.context
    run = context.stores.runs.get(form.run_id)
    waits = run is not None and run.status is RunStatus.PAUSED and run.pause_id == form.pause_id
    if not waits:
        context.stores.forms.settled(form)
        return
    due_at = context.clock.now() + next_look(form.tells)
    if context.stores.forms.retell(form, due_at=due_at):
        context.report("form_retold", form_id=form.id, attempt=form.tells + 1)
        ask_to_resume(form, context)
