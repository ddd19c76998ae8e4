"""Mails as triples: subject, text and HTML from one view (mock-up mail rules).

Free of bleach and markdown-it, like ``pages``. A mail has one link of ours; what a model wrote
stands in it without live links.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sayso.rendering.environment import render
from sayso.rendering.i18n import _
from sayso.rendering.plain import one_line, without_links
from sayso.rendering.times import InstantText, format_instant

if TYPE_CHECKING:
    from datetime import datetime

    from sayso.rendering.authored import AuthoredBody
    from sayso.rendering.safe import RenderedHtml
    from sayso.rendering.views import AskView

SUBJECT_CHARS: Final = 150
_QUESTION_CHARS: Final = 100
"""What is left of the question in a subject, so that the deadline still stands behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalView:
    """What an approval mail says to one recipient."""

    ask: AskView
    deadline: datetime
    recipient: str
    """Name, or mail address."""
    link: str
    """The one link: opening it decides nothing."""
    content: RenderedHtml | None = None
    """What the agent wrote, under the mail's allow-list. None: open the page to see it."""
    content_text: str = ""
    """The same as plain text."""
    silence: str = ""
    """What happens if nobody answers; empty: a general sentence."""
    started_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailTriple:
    """One mail, before it is a message."""

    subject: str
    text: str
    html: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """What a view says, in sentences without addresses that a mail program makes links of."""

    asker: str
    question: str
    more: str
    workspace: str
    due: InstantText
    silence: str
    who: str


def approval_mail(view: ApprovalView, *, subject: str = "") -> MailTriple:
    """Return the mail that asks one recipient, in our own words.

    Args:
        view: What it says.
        subject: From ``authored_subject``; empty: ours.
    """
    words = _words(view)
    return MailTriple(
        subject=subject or _subject(words),
        text=render("mail/approval.txt", view=view, words=words),
        html=render("mail/approval.html", view=view, words=words),
    )


def authored_mail(view: ApprovalView, *, subject: str, body: AuthoredBody) -> MailTriple:
    """Return the mail in the words of the policy's author; our link follows where it is missing.

    Args:
        view: As for our own words. Its content is left out: the author places it.
        subject: From ``authored_subject``; empty: ours.
        body: From ``authored_body``.
    """
    words = _words(view)
    line = render("mail/authored.subject.txt", subject=subject or _subject(words))
    return MailTriple(
        subject=one_line(line, limit=SUBJECT_CHARS),
        text=render("mail/authored.txt", view=view, words=words, body=body),
        html=render("mail/authored.html", view=view, words=words, body=body),
    )


def _subject(words: _Words) -> str:
    question = one_line(words.question, limit=_QUESTION_CHARS)
    subject = render("mail/approval.subject.txt", question=question, due=words.due.short)
    return one_line(subject, limit=SUBJECT_CHARS)


def _words(view: ApprovalView) -> _Words:
    asker = without_links(view.ask.asker)
    general = _("Nothing is decided. %s is told that the time ran out.") % asker
    return _Words(
        asker=asker,
        question=without_links(view.ask.question),
        more=without_links(view.ask.more),
        workspace=without_links(view.ask.workspace),
        due=format_instant(view.deadline, view.ask.zone),
        silence=without_links(view.silence) or general,
        who=_who_asks(view),
    )


def _who_asks(view: ApprovalView) -> str:
    who = view.ask.asker
    if view.ask.workspace:
        who = _("%(asker)s at %(workspace)s") % {"asker": who, "workspace": view.ask.workspace}
    if view.started_by:
        who = _("%(asker)s, started by %(person)s") % {"asker": who, "person": view.started_by}
    return without_links(who)
