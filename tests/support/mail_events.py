"""What SES reports of a mail, as it comes to the queue ``deliveries``, and a service that refuses.

Shapes are those of the SES developer guide, "Monitoring Amazon SES with Amazon EventBridge".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sayso.testing.mailer import RecordingMailer

if TYPE_CHECKING:
    from sayso.domain.form import Form
    from sayso.ports import OutgoingMail

Json = dict[str, Any]

BOUNCE: Json = {"eventType": "Bounce", "bounce": {"bounceType": "Permanent"}}
SUPPRESSED: Json = {
    "eventType": "Bounce",
    "bounce": {"bounceType": "Permanent", "bounceSubType": "OnAccountSuppressionList"},
}
OUT_OF_OFFICE: Json = {"eventType": "Bounce", "bounce": {"bounceType": "Transient"}}
UNDETERMINED: Json = {"eventType": "Bounce", "bounce": {"bounceType": "Undetermined"}}
COMPLAINT: Json = {"eventType": "Complaint", "complaint": {}}
REJECT: Json = {"eventType": "Reject", "reject": {"reason": "Bad content"}}
DELIVERY: Json = {"eventType": "Delivery", "delivery": {}}


def ses_event(detail: Json, form: Form, recipient: int) -> Json:
    """Return the event of a mail to one recipient; SES gives tags back as lists."""
    tags = {"form_id": [form.id], "recipient": [str(recipient)], "attempt": ["1"]}
    return {"source": "aws.ses", "detail": {**detail, "mail": {"tags": tags}}}


@dataclass
class PickyMailer(RecordingMailer):
    """Fails for some addresses, again and again."""

    errors: dict[str, Exception] = field(default_factory=dict)
    """By address."""

    def __post_init__(self) -> None:
        super().__init__()

    def send(self, mail: OutgoingMail) -> str:
        """Send, or fail."""
        if mail.to in self.errors:
            raise self.errors[mail.to]
        return super().send(mail)
