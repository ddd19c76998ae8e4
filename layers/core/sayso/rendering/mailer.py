"""The port ``MailRenderer``: from a form to a message for one recipient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sayso.ports import OutgoingMail
from sayso.rendering.authored import Substitutions, authored_body, authored_subject
from sayso.rendering.content import mail_html, mail_text
from sayso.rendering.from_domain import ask_view
from sayso.rendering.mails import ApprovalView, MailTriple, approval_mail, authored_mail
from sayso.rendering.message import build_message
from sayso.rendering.safe import POLICY_VERSION, RenderedHtml

if TYPE_CHECKING:
    from datetime import datetime

    from sayso.domain.form import FormContent, Recipient, WholeForm


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalMails:
    """Makes approval mails with the addresses and names of one stack."""

    sender: str
    """Address, or name and address."""
    reply_to: str = ""
    workspace: str = ""
    zone: str = "UTC"
    """IANA name of the zone of recipients who have none of their own."""

    def approval_mail(
        self,
        whole: WholeForm,
        *,
        recipient: int,
        link: str,
        now: datetime,  # noqa: ARG002 - part of the port; nothing in this mail grows old
    ) -> OutgoingMail:
        """Return the mail, ready to send.

        Raises:
            ValueError: There is no such recipient, or its address is none.
        """
        to = whole.recipient(recipient)
        if to is None:
            raise ValueError(f"form {whole.form.id!r} has no recipient {recipient}")
        raw = build_message(
            self._triple(whole, to, link),
            sender=self.sender,
            recipient=to.address,
            thread=whole.form.id,
            reply_to=self.reply_to,
            urgency=whole.content.definition.urgency,
        )
        tags = {"form_id": whole.form.id, "recipient": str(to.number), "attempt": str(to.attempts)}
        return OutgoingMail(to=to.address, raw=raw, tags=tags)

    def _triple(self, whole: WholeForm, to: Recipient, link: str) -> MailTriple:
        content = whole.content
        view = ApprovalView(
            ask=ask_view(whole, workspace=self.workspace, zone=to.time_zone or self.zone),
            deadline=whole.form.deadline,
            recipient=to.name or to.address,
            link=link,
            content=_mail_html(content),
            content_text=mail_text(content.definition.content),
        )
        if not content.mail:
            return approval_mail(view)
        return _authored(whole, to, view)


def _authored(whole: WholeForm, to: Recipient, view: ApprovalView) -> MailTriple:
    """Return the mail in the author's words: subject, body, or both."""
    mail = whole.content.mail
    given = Substitutions(
        link=view.link,
        content=_mail_html(whole.content),
        content_text=view.content_text,
        names={
            "form_id": whole.form.id,
            "node_title": whole.content.definition.title or whole.content.run_title,
            "workflow_run_id": whole.form.run_id,
            "recipient_email": to.address,
        },
        variables=mail.get("variables") or {},
    )
    subject = authored_subject(mail.get("subject") or "", given)
    if not mail.get("body"):
        return approval_mail(view, subject=subject)
    return authored_mail(view, subject=subject, body=authored_body(mail["body"], given))


def _mail_html(content: FormContent) -> RenderedHtml:
    """Return the stored HTML, or a fresh one when the rules have changed since."""
    if content.sanitiser_version == POLICY_VERSION:
        return RenderedHtml(content.mail_html)
    return mail_html(content.definition.content)
