"""Open a form and decide it. The link, or an API key with the link, is the credential."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sayso.domain.access import Surface, surface_may
from sayso.domain.errors import FormClosedError, UnknownLinkError
from sayso.domain.form import Actor, Decision, Form, Recipient, WholeForm
from sayso.domain.submission import check_submission
from sayso.domain.transitions import FormStatus
from sayso.usecases.context import tell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.ids import AppId, TenantId
    from sayso.ports import Links, RateLimiter
    from sayso.usecases.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class FormAccess:
    """Through what somebody comes to a form."""

    token: str
    surface: Surface
    address: str = ""
    """Client address as the gateway saw it; counted by the limiter when there is one."""
    tenant: TenantId | None = None
    app: AppId | None = None
    """Of the API key, on surfaces that need one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenForm:
    """A form and whose link it was opened with."""

    whole: WholeForm
    recipient: Recipient


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What was sent."""

    action: str
    values: Mapping[str, Any]
    shown_digest: str | None = None
    """Digest of the content that was shown; None: what is stored (programs)."""
    user: str | None = None


def open_form(
    access: FormAccess, context: Context, links: Links, limiter: RateLimiter | None
) -> OpenForm:
    """Return the form of a link. Changes nothing but the limiter's counter.

    Raises:
        UnknownLinkError: The link is forged, revoked, of another surface, tenant or app, or its
            form is gone; the caller can't tell which.
        TooManyRequestsError: The address asked too often.
    """
    link = links.verify(access.token)
    if limiter is not None:
        limiter.count("access", access.address)
    return _find(link.form_id, link.recipient, link.revision, access, context)


def _find(
    form_id: Any, number: int, revision: int, access: FormAccess, context: Context
) -> OpenForm:
    whole = context.stores.forms.whole(form_id)
    recipient = whole.recipient(number) if whole else None
    if (
        whole is None
        or recipient is None
        or recipient.revision != revision
        or not surface_may(access.surface, recipient.type)
        or (access.tenant is not None and access.tenant != whole.form.tenant)
        or (access.app is not None and access.app != whole.form.app)
    ):
        message = "the link is not known"
        raise UnknownLinkError(message)
    return OpenForm(whole=whole, recipient=recipient)


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
        TooManyRequestsError: The address sent too often.
        FormClosedError: Decided by somebody else, or over.
        ContentChangedError: Not what was shown.
        ValidationError: The answer does not fit; nothing is decided.
    """
    link = links.verify(access.token)
    if limiter is not None:
        limiter.count("submit", access.address)
    opened = _find(link.form_id, link.recipient, link.revision, access, context)
    form, definition = opened.whole.form, opened.whole.content.definition
    now = context.clock.now()
    if form.status is not FormStatus.WAITING:
        return _again(opened, submission)
    if form.deadline <= now:
        raise FormClosedError(form.id, FormStatus.TIMEOUT)
    action, values = check_submission(definition, submission.action, submission.values)
    decision = Decision(
        action_id=action.id,
        action_label=action.label,
        values=values,
        actor=_actor(access, opened.recipient, submission.user),
        decided_at=now,
    )
    shown = submission.shown_digest or form.content_digest
    ttl = int(form.deadline.timestamp()) + _NET_SECONDS
    try:
        decided = context.stores.forms.decide(form, decision, shown_digest=shown, ttl=ttl)
    except FormClosedError:
        return _again(_find(form.id, link.recipient, link.revision, access, context), submission)
    tell(context, lambda: context.queue.resume(form.run_id), run_id=form.run_id)
    context.report("form_submitted", form_id=form.id, run_id=form.run_id)
    return decided


_NET_SECONDS = 400 * 24 * 3600
"""``ttl`` of a decision's audit entry: beyond any run's deadline and retention."""


def _again(opened: OpenForm, submission: Submission) -> Form:
    """Return the standing decision to the one who made it with the same answer."""
    form = opened.whole.form
    decision = form.decision
    if (
        decision is not None
        and decision.actor.recipient == opened.recipient.number
        and decision.action_id == submission.action
        and _same(decision.values, submission.values)
    ):
        return form
    raise FormClosedError(form.id, form.status)


def _same(stored: Mapping[str, Any], sent: Mapping[str, Any]) -> bool:
    return {k: v for k, v in stored.items() if v != ""} == {
        k: v for k, v in sent.items() if v not in ("", None)
    }


def _actor(access: FormAccess, recipient: Recipient, user: str | None) -> Actor:
    if access.surface is Surface.PAGE:
        name = recipient.name or _masked(recipient.address)
        return Actor(recipient=recipient.number, proven_by="link", name=name)
    return Actor(recipient=recipient.number, proven_by="api_key", user=user)


def _masked(address: str) -> str:
    """Return a mail address that its owner recognises and others can't use: ``c…@example.org``."""
    local, _, domain = address.partition("@")
    return f"{local[:1]}…@{domain}" if domain else ""
