"""Reads the mails that the emulator's SES took, oldest first."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import dataclass
from datetime import UTC, datetime

from sayso_local.emulator import ACCOUNT


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One mail as its recipient would see it; the emulator keeps no other headers."""

    id: str
    sender: str
    to: tuple[str, ...]
    subject: str
    text: str
    html: str
    sent_at: datetime

    def as_json(self) -> dict[str, object]:
        """The mail as `GET /_mail/messages` shows it."""
        return {
            "id": self.id,
            "from": self.sender,
            "to": list(self.to),
            "subject": self.subject,
            "text": self.text,
            "html": self.html,
            "sent_at": self.sent_at.isoformat(),
        }


def read_mails(emulator_url: str) -> list[Mail]:
    """Return all mails so far."""
    address = f"{emulator_url}/_ministack/ses/messages?account={ACCOUNT}"
    with urllib.request.urlopen(address, timeout=10) as response:  # noqa: S310 - our own loopback
        found = json.load(response)["messages"].get(ACCOUNT, [])
    return [
        Mail(
            id=mail["MessageId"].partition("@")[0],
            sender=mail["Source"],
            to=tuple(mail["To"]),
            subject=mail["Subject"],
            text=mail["BodyText"] or "",
            html=mail["BodyHtml"] or "",
            sent_at=datetime.fromtimestamp(mail["Timestamp"], tz=UTC),
        )
        for mail in found
    ]
