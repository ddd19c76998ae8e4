"""What an operator may do to a waiting form: give it more time, take it back, revoke a link.

Each is one conditional write with an audit entry that names the key that was used. Answers of
people are not touched: a form that was decided stays decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from sayso.domain.errors import (
    FieldIssue,
    FormClosedError,
    MovedOnError,
    NotFoundError,
    ValidationError,
)
from sayso.domain.form import FormKind
from sayso.domain.run import MAX_TIMEOUT
from sayso.domain.transitions import FormStatus, FormTrigger
from sayso.store.form_history import audit_ttl
from sayso.usecases.ask_to_resume import ask_to_resume
from sayso.usecases.context import tell
from sayso.usecases.time_out import LONGEST_DELAY

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from sayso.domain.form import Form, WholeForm
    from sayso.domain.ids import FormId, TenantId
    from sayso.usecases.context import Context

_TRIES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """Who does it, as far as an API key tells."""

    tenant: TenantId
    key_id: str


def extend_form(form_id: FormId, deadline: datetime, by: Operator, context: Context) -> Form:
    """Move the deadline of a waiting form to a later instant, never behind that of its run.

    The sweep sets the new schedule within a minute; a deadline that is near is told at once. The
    old schedule finds nothing to do. Called twice, the second changes nothing.

    Raises:
        NotFoundError: No such form of this tenant.
        ValidationError: Not later than now or the deadline that stands, or later than the run's.
        FormClosedError: It was answered, or its time is over.
        MovedOnError: It kept changing while we tried.
    """

    def extend(whole: WholeForm) -> Form:
        form, now = whole.form, context.clock.now()
        if form.status is not FormStatus.WAITING:
            raise FormClosedError(form.id, form.status)
        if form.deadline == deadline > now:
            return form
        _check_later(form, deadline, now, context)
        return context.stores.forms.extend(
            form, deadline, by=by.key_id, now=now, ttl=audit_ttl(form)
        )

    extended = _retried(form_id, by, context, extend)
    context.report("form_extended", form_id=form_id, run_id=extended.run_id)
    delay = deadline - context.clock.now()
    if delay <= LONGEST_DELAY:
        wait = max(delay, timedelta(0))
        tell(context, lambda: context.queue.time_out([form_id], delay=wait), form_id=form_id)
    return extended


def withdraw_form(form_id: FormId, reason: str, by: Operator, context: Context) -> Form:
    """Take a question back; the model is told ``cancelled`` and goes on.

    Args:
        form_id: The form.
        reason: Why, shown to people who open their link and told to the model; may be empty.
        by: Who does it.
        context: The common context.

    Raises:
        NotFoundError: No such form of this tenant.
        FormClosedError: It was answered, or its time is over.
        MovedOnError: It kept changing while we tried.
    """

    def withdraw(whole: WholeForm) -> Form:
        form = whole.form
        if form.status is FormStatus.CANCELLED:
            return form
        if form.status is not FormStatus.WAITING:
            raise FormClosedError(form.id, form.status)
        return context.stores.forms.close(
            form,
            FormTrigger.CANCEL,
            now=context.clock.now(),
            ttl=audit_ttl(form),
            note=reason or None,
            facts={"by": by.key_id},
        )

    withdrawn = _retried(form_id, by, context, withdraw)
    context.report("form_withdrawn", form_id=form_id, run_id=withdrawn.run_id)
    ask_to_resume(withdrawn, context)
    return withdrawn


def revoke_link(form_id: FormId, number: int, by: Operator, context: Context) -> None:
    """Make one recipient's link unknown; the others' stay as they are.

    A mailed person gets no new link. Whoever is shown links by an API is shown a new one. The form
    waits on even when nobody is left: whoever revokes sees that, and may withdraw it.

    Raises:
        NotFoundError: No such form of this tenant, or no such recipient.
        MovedOnError: It kept changing while we tried.
    """

    def revoke(whole: WholeForm) -> Form:
        recipient = whole.recipient(number)
        if recipient is None:
            message = f"form {form_id!r} has no recipient {number}"
            raise NotFoundError(message)
        form, now = whole.form, context.clock.now()
        context.stores.forms.revoke(form, recipient, by=by.key_id, now=now, ttl=audit_ttl(form))
        return form

    form = _retried(form_id, by, context, revoke)
    context.report("link_revoked", form_id=form_id, run_id=form.run_id, recipient=number)


def _retried(
    form_id: FormId, by: Operator, context: Context, change: Callable[[WholeForm], Form]
) -> Form:
    """Read the form of the operator's tenant and change it, anew when it changed meanwhile."""
    for _ in range(_TRIES):
        whole = context.stores.forms.whole(form_id)
        if whole is None or whole.form.tenant != by.tenant:
            message = "form not found"
            raise NotFoundError(message)
        try:
            return change(whole)
        except MovedOnError:
            continue
    message = f"form {form_id!r} keeps changing, try again"
    raise MovedOnError(message)


def _check_later(form: Form, deadline: datetime, now: datetime, context: Context) -> None:
    if form.deadline <= now:
        raise FormClosedError(form.id, FormStatus.TIMEOUT)
    if deadline <= form.deadline:
        raise _refused("deadline must be later than the one that stands")
    run = None if form.kind is FormKind.DELIVERY_TEST else context.stores.runs.get(form.run_id)
    latest = form.created_at + MAX_TIMEOUT if run is None else run.deadline
    if deadline > latest:
        text = f"deadline must not be later than {latest.isoformat()}, when the run itself ends"
        raise _refused(text)


def _refused(message: str) -> ValidationError:
    return ValidationError(message, [FieldIssue("deadline", "out_of_range", message)])
