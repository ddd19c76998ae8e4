"""What a reader of a run's events may see of a question, and the link to answer it by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sayso.domain.access import Surface, surface_may
from sayso.domain.dispositions import disposition, surface_of
from sayso.domain.links import Link
from sayso.domain.transitions import FormStatus

if TYPE_CHECKING:
    from datetime import datetime

    from sayso.domain.form import WholeForm
    from sayso.domain.ids import FormId
    from sayso.ports import Links
    from sayso.usecases.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWay:
    """How a form can be answered, as far as one reader may know."""

    token: str | None
    """Of the recipient that readers of the run answer as; None: only others may answer."""
    url: str | None
    """The page of the token; None where the token works on no page."""
    approval_channels: tuple[str, ...]
    """Where else it can be answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownQuestion(ShownWay):
    """A question as programs are told about it."""

    question: str
    deadline: datetime


def show_question(form_id: FormId, context: Context, links: Links) -> ShownQuestion | None:
    """Return a question, None when its form is gone.

    The token is made here, when it is read, and only for a form that still waits. Whose it is
    follows from what started the run (human-input §6.3); a mailed link is in its mail only.
    """
    whole = context.stores.forms.whole(form_id)
    if whole is None:
        return None
    shown = show_way(whole, surface_of(whole.content.invoke_from), links)
    return ShownQuestion(
        question=whole.content.definition.question,
        deadline=whole.form.deadline,
        token=shown.token,
        url=shown.url,
        approval_channels=shown.approval_channels,
    )


def show_way(whole: WholeForm, surface: Surface | None, links: Links) -> ShownWay:
    """Return how readers of a surface answer a form; without a surface every token may be shown."""
    found = disposition(whole.recipients, surface)
    token = url = None
    if whole.form.status is FormStatus.WAITING and (one := found.recipient):
        token = links.sign(Link(form_id=whole.form.id, recipient=one.number, revision=one.revision))
        if surface_may(Surface.PAGE, one.type):
            url = f"{whole.content.base_url}/form/{token}"
    return ShownWay(token=token, url=url, approval_channels=found.approval_channels)
