"""A mailer that keeps mails instead of sending them."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from sayso.testing.faults import around, no_faults

if TYPE_CHECKING:
    from sayso.ports import OutgoingMail
    from sayso.testing.faults import FaultHook


class RecordingMailer:
    """A ``Mailer`` for tests; let it fail through its ``faults``."""

    def __init__(self, *, faults: FaultHook = no_faults) -> None:
        """Start with an empty outbox."""
        self.sent: list[OutgoingMail] = []
        """Mails in the order in which they were sent."""
        self._faults = faults
        self._numbers = count(1)

    def send(self, mail: OutgoingMail) -> str:
        """Keep the mail and return an id such as ``mail-1``."""
        with around(self._faults, "send"):
            self.sent.append(mail)
            return f"mail-{next(self._numbers)}"
