"""Messages of the queue ``deliveries``: mails to send, and what SES says became of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sayso.domain.errors import PermanentError
from sayso.domain.form import DeliveryState
from sayso.domain.ids import FormId
from sayso.usecases.deliver import deliver_form, note_feedback

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.usecases.deliver import Post


def deliver(body: str, post: Post) -> None:
    """Do what one message asks for.

    Raises:
        RetryableError: The message is to come again.
        PermanentError: Not one of our messages; a person finds it among the dead letters.
    """
    match json.loads(body):
        case {"kind": "mail", "form_id": str(form_id)}:
            deliver_form(FormId(form_id), post)
        case {"source": "aws.ses", "detail": dict(detail)}:
            _note(detail, post)
        case _:
            message = "expected a message of kind mail, or an event of SES"
            raise PermanentError(message)


def _note(detail: Mapping[str, Any], post: Post) -> None:
    """Store what an event says about one recipient; mails that are not ours are left alone."""
    state = state_of(detail)
    tags = detail.get("mail", {}).get("tags", {})
    match tags:
        case {"form_id": [str(form_id)], "recipient": [str(number)]} if number.isdecimal():
            if state is not None:
                note_feedback(FormId(form_id), int(number), state, post.context)


def state_of(detail: Mapping[str, Any]) -> DeliveryState | None:
    """Return what an event means for the recipient, None when nothing changes.

    Only a permanent bounce says that an address does not exist; a transient one may be an
    out-of-office answer (SES developer guide, "event data in EventBridge", bounce types).
    """
    match detail:
        case {"eventType": "Bounce", "bounce": {"bounceType": "Permanent"}}:
            return DeliveryState.BOUNCED
        case {"eventType": "Complaint"}:
            return DeliveryState.COMPLAINED
        case {"eventType": "Reject"}:
            return DeliveryState.FAILED
        case _:
            return None
