"""MIME messages, ready for SES (``SendEmail`` with raw content)."""

from __future__ import annotations

import re
from email.headerregistry import Address, HeaderRegistry, MessageIDHeader
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import parseaddr
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from sayso.rendering.mails import MailTriple


def _headers() -> HeaderRegistry:
    """Return header types with ``References`` as message ids: unencoded, whatever the length."""
    headers = HeaderRegistry()
    # A mix-in that the registry completes to a header class; the stubs ask for a whole one.
    headers.map_to_type("references", MessageIDHeader)  # type: ignore[arg-type]
    return headers


_POLICY: Final = SMTP.clone(header_factory=_headers())
_ADDRESS: Final = re.compile(r"[!-~]+@[!-?A-~]+")


def build_message(
    mail: MailTriple,
    *,
    sender: str,
    recipient: str,
    thread: str,
    reply_to: str = "",
    urgency: Literal["normal", "high"] = "normal",
) -> bytes:
    """Return a mail as a MIME message: text first, HTML as the better alternative (RFC 2046 §5.1.4).

    SES writes ``Message-ID`` and ``Date`` itself, so all mails of a form name the same synthetic
    ``References``: mail programs then show them as one thread. ``Auto-Submitted`` keeps answering
    machines quiet (RFC 3834).

    Args:
        mail: Subject, text and HTML.
        sender: Address, or name and address.
        recipient: Address.
        thread: Names the thread; letters, digits and hyphens, the form's id.
        reply_to: Address or name and address; empty: answers go to the sender.
        urgency: ``high`` marks the mail as such.

    Raises:
        ValueError: An address is none.
    """
    from_ = _address(sender)
    message = EmailMessage(policy=_POLICY)
    message["From"] = from_
    message["To"] = _address(recipient)
    if reply_to:
        message["Reply-To"] = _address(reply_to)
    message["Subject"] = mail.subject
    message["References"] = f"<form.{thread}@{from_.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    if urgency == "high":
        message["X-Priority"] = "1"
    message.set_content(mail.text, cte="quoted-printable")
    message.add_alternative(mail.html, subtype="html", cte="quoted-printable")
    return message.as_bytes()


def _address(text: str) -> Address:
    name, spec = parseaddr(text)
    if not _ADDRESS.fullmatch(spec):
        raise ValueError("a mail address must be a name, an at sign and a domain, in ASCII")
    user, _at, domain = spec.rpartition("@")
    return Address(display_name=name, username=user, domain=domain)
