"""What a reader of a run's events may see of a question, and the link to answer it by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sayso.domain.form import RecipientType
from sayso.domain.links import Link
from sayso.domain.transitions import FormStatus

if TYPE_CHECKING:
    from datetime import datetime

    from sayso.domain.ids import FormId
    from sayso.ports import Links
    from sayso.usecases.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownQuestion:
    """A question as programs are told about it."""

    question: str
    deadline: datetime
    token: str | None
    """Of the recipient that holders of an API key answer as; None: only others may answer."""
    base_url: str

    @property
    def url(self) -> str | None:
        """The page of the token."""
        return self.token and f"{self.base_url}/form/{self.token}"


def show_question(form_id: FormId, context: Context, links: Links) -> ShownQuestion | None:
    """Return a question, None when its form is gone.

    The token is made here, when it is read, and only for a form that still waits and for a
    recipient of type ``standalone_web_app``: a mailed link is in the mail only (human-input §6.3).
    """
    whole = context.stores.forms.whole(form_id)
    if whole is None:
        return None
    token = None
    if whole.form.status is FormStatus.WAITING:
        token = next(
            (
                links.sign(Link(form_id=form_id, recipient=one.number, revision=one.revision))
                for one in whole.recipients
                if one.type is RecipientType.STANDALONE_WEB_APP
            ),
            None,
        )
    return ShownQuestion(
        question=whole.content.definition.question,
        deadline=whole.form.deadline,
        token=token,
        base_url=whole.content.base_url,
    )
