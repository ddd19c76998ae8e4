"""Open a form by a link: the one place that decides whose link works where (human-input §6, §7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sayso.domain.access import Surface, surface_may
from sayso.domain.errors import (
    FormClosedError,
    NotFoundError,
    SurfaceMismatchError,
    UnknownLinkError,
)
from sayso.domain.transitions import FormStatus

if TYPE_CHECKING:
    from datetime import datetime

    from sayso.domain.form import Form, Recipient, WholeForm
    from sayso.domain.ids import AppId, TenantId
    from sayso.domain.links import Link
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
    """Of the API key, on surfaces that need one. The console's may use every app of its tenant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenForm:
    """A form and whose link it was opened with."""

    whole: WholeForm
    recipient: Recipient


def open_form(
    access: FormAccess, context: Context, links: Links, limiter: RateLimiter | None
) -> OpenForm:
    """Return the form of a link. Changes nothing but the limiter's counter.

    Raises:
        UnknownLinkError: The link is forged, revoked, of another surface, tenant or app, or its
            form is gone; the caller can't tell which.
        SurfaceMismatchError: The link is of another surface, where that is said.
        TooManyRequestsError: The address, or the link, was used too often.
    """
    return find_form(admit("access", access, links, limiter), access, context)


def admit(counter: str, access: FormAccess, links: Links, limiter: RateLimiter | None) -> Link:
    """Return what a token opens, once the limiter has counted its use.

    A token that fails its MAC is refused before counting: 128 bits are not guessed (§16 R).
    """
    link = links.verify(access.token)
    if limiter is not None:
        limiter.count(counter, access.address)
        limiter.count_link(counter, link)
    return link


def find_form(link: Link, access: FormAccess, context: Context) -> OpenForm:
    """Return the form that a verified link opens on a surface.

    In the contract's order (§7.3): the link exists, then tenant and app, then the surface.
    """
    whole = context.stores.forms.whole(link.form_id)
    recipient = whole.recipient(link.recipient) if whole else None
    if (
        whole is None
        or recipient is None
        or recipient.revision != link.revision
        or _is_foreign(whole.form, access)
        or (access.app is not None and access.app != whole.form.app)
    ):
        raise _unknown()
    if not surface_may(access.surface, recipient.type):
        if access.surface is Surface.OPENAPI:
            message = "this form's recipient can't be submitted via the OpenAPI surface"
            raise SurfaceMismatchError(message)
        raise _unknown()
    return OpenForm(whole=whole, recipient=recipient)


def _is_foreign(form: Form, access: FormAccess) -> bool:
    """Tell whether a form belongs to another tenant; the console says so in its own words (§7.5)."""
    foreign = access.tenant is not None and access.tenant != form.tenant
    if foreign and access.surface is Surface.CONSOLE:
        message = "App not found"
        raise NotFoundError(message)
    return foreign


def _unknown() -> UnknownLinkError:
    return UnknownLinkError("the link is not known")


def check_open(form: Form, now: datetime) -> None:
    """Refuse what takes no answer any more, whether or not the sweep has seen it (§10).

    A form's deadline is never later than its run's, so this is the run's limit, too.

    Raises:
        FormClosedError: It was answered, or its time is over.
    """
    if form.status is not FormStatus.WAITING:
        raise FormClosedError(form.id, form.status)
    if form.deadline <= now:
        raise FormClosedError(form.id, FormStatus.TIMEOUT)
