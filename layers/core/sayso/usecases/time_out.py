"""A form's deadline has come: nobody answered. That is a result, never a failure of the run."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from sayso.domain.errors import FormClosedError, MovedOnError
from sayso.domain.form import FormKind
from sayso.domain.transitions import FormStatus, FormTrigger
from sayso.store.form_history import audit_ttl
from sayso.usecases.ask_to_resume import ask_to_resume
from sayso.usecases.context import tell

if TYPE_CHECKING:
    from datetime import datetime

    from sayso.domain.form import Form
    from sayso.domain.ids import FormId
    from sayso.usecases.context import Context

LONGEST_DELAY = timedelta(minutes=15)
"""Longest delay of a queue message (SQS limit)."""


def time_out_form(form_id: FormId, context: Context) -> None:
    """End a waiting form whose deadline has passed and ask to resume its run.

    Called early, it asks to be called again; called twice or late, it finds nothing to do.
    """
    form = context.stores.forms.get(form_id)
    if form is None or form.status is not FormStatus.WAITING:
        return
    now = context.clock.now()
    left = form.deadline - now
    if left > timedelta(0):
        if left <= LONGEST_DELAY:
            tell(context, lambda: context.queue.time_out([form_id], delay=left), form_id=form_id)
        return
    if _run_is_over(form, now, context):
        return  # the run's own deadline wins (human-input §12); the sweep expires it
    try:
        ended = context.stores.forms.close(form, FormTrigger.TIME_OUT, now=now, ttl=audit_ttl(form))
    except (FormClosedError, MovedOnError):
        return  # answered, extended, or timed out by somebody else
    context.report("form_timed_out", form_id=form_id, run_id=form.run_id)
    ask_to_resume(ended, context)


def _run_is_over(form: Form, now: datetime, context: Context) -> bool:
    """Tell whether the run of a form is gone or past its deadline; a delivery test has no run."""
    if form.kind is FormKind.DELIVERY_TEST:
        return False
    run = context.stores.runs.get(form.run_id)
    return run is None or run.deadline <= now
