"""Decide a form, once. The link, or an API key with the link, is the credential."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sayso.domain.access import Surface
from sayso.domain.errors import FormClosedError, MovedOnError, ValidationError
from sayso.domain.form import Actor, Decision
from sayso.domain.submission import check_submission
from sayso.domain.transitions import FormStatus
from sayso.store.form_history import audit_ttl
from sayso.usecases.ask_to_resume import ask_to_resume
from sayso.usecases.open_form import FormAccess, OpenForm, admit, check_open, find_form

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sayso.domain.files import Uploads
    from sayso.domain.form import Form, FormDefinition, Recipient
    from sayso.domain.links import Link
    from sayso.ports import Links, RateLimiter
    from sayso.usecases.context import Context

    Reader = Callable[[FormDefinition, Mapping[str, Any], Uploads], Mapping[str, Any]]

_TRIES = 4
"""How often a form is read again when its deadline or a link changed at the same moment."""


def as_sent(
    _definition: FormDefinition, values: Mapping[str, Any], _uploads: Uploads
) -> Mapping[str, Any]:
    """Return values as they are: programs send JSON."""
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What was sent."""

    action: str
    values: Mapping[str, Any]
    shown_digest: str | None = None
    """Digest of the content that was shown; None: what is stored (programs)."""
    user: str | None = None
    read: Reader = as_sent
    """Turns what was sent into values of the fields' kinds; a page sends texts only."""


def submit_form(
    access: FormAccess,
    submission: Submission,
    context: Context,
    links: Links,
    limiter: RateLimiter | None,
) -> Form:
    """Decide a form, once, and ask to resume its run.

    The same person sending the same answer again gets the decision that stands. An accepted
    answer is kept when the queue is down: the sweep resumes (I3).

    Raises:
        UnknownLinkError: As ``open_form``.
        TooManyRequestsError: The address sent too often, or too much was sent to the form.
        FormClosedError: Decided by somebody else, or over.
        ContentChangedError: Not what was shown.
        ValidationError: The answer does not fit; nothing is decided.
        MovedOnError: The form kept changing while we tried.
    """
    link = admit("submit", access, links, limiter)
    for _ in range(_TRIES):
        try:
            return _try(link, access, submission, context)
        except MovedOnError:
            continue
    message = f"form {link.form_id!r} keeps changing, try again"
    raise MovedOnError(message)


def _try(link: Link, access: FormAccess, submission: Submission, context: Context) -> Form:
    opened = find_form(link, access, context)
    form, definition = opened.whole.form, opened.whole.content.definition
    actor = _actor(access, opened.recipient, submission.user)
    now = context.clock.now()
    if form.status is not FormStatus.WAITING:
        return _again(opened, actor, submission)
    check_open(form, now)
    uploads = opened.whole.uploads
    values = submission.read(definition, submission.values, uploads)
    action, accepted = check_submission(definition, submission.action, values, uploads)
    decision = Decision(
        action_id=action.id,
        action_label=action.label,
        values=accepted,
        actor=actor,
        decided_at=now,
    )
    shown = submission.shown_digest or form.content_digest
    try:
        decided = context.stores.forms.decide(
            form, decision, shown_digest=shown, ttl=audit_ttl(form)
        )
    except FormClosedError:
        return _again(find_form(link, access, context), actor, submission)
    ask_to_resume(decided, context)
    context.report("form_submitted", form_id=form.id, run_id=form.run_id)
    return decided


def _again(opened: OpenForm, actor: Actor, submission: Submission) -> Form:
    """Return the standing decision to the one who made it with the same answer.

    Raises:
        FormClosedError: It was somebody else's, another one, or none.
    """
    form = opened.whole.form
    decision = form.decision
    if decision is not None and decision.actor == actor and _is_same(decision, opened, submission):
        return form
    raise FormClosedError(form.id, form.status)


def _is_same(decision: Decision, opened: OpenForm, submission: Submission) -> bool:
    definition, uploads = opened.whole.content.definition, opened.whole.uploads
    try:
        values = submission.read(definition, submission.values, uploads)
        action, accepted = check_submission(definition, submission.action, values, uploads)
    except ValidationError:
        return False
    return action.id == decision.action_id and accepted == dict(decision.values)


def _actor(access: FormAccess, recipient: Recipient, user: str | None) -> Actor:
    if access.surface is Surface.PAGE:
        name = recipient.name or _masked(recipient.address)
        return Actor(recipient=recipient.number, proven_by="link", name=name)
    return Actor(recipient=recipient.number, proven_by="api_key", user=user)


def _masked(address: str) -> str:
    """Return a mail address that its owner recognises and others can't use: ``c…@example.org``."""
    local, _, domain = address.partition("@")
    return f"{local[:1]}…@{domain}" if domain else ""
