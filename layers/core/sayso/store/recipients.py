"""Recipients of a form: how far their mails got, and whether their links still open it.

Mails move these items only, never the form's own: a decision does not race with a delivery.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from sayso.domain.errors import ConditionFailedError, ConflictError
from sayso.domain.form import DeliveryState
from sayso.domain.links import MAX_REVISION
from sayso.ports import AnyOf, AtMost, Equals, Missing, OneOf, Put, Update
from sayso.store.codec import to_ms
from sayso.store.form_codec import recipient_from_item, recipient_item
from sayso.store.keys import recipient_key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sayso.domain.form import Recipient
    from sayso.domain.ids import FormId
    from sayso.store.commit import Committer

MAIL_CLAIM = timedelta(seconds=60)
"""After this an unfinished attempt to send counts as lost, and the mail goes out again."""


class RecipientStore:
    """Recipients in the table."""

    def __init__(self, committer: Committer) -> None:
        """Take what writes."""
        self._committer = committer

    def put(self, form_id: FormId, recipients: Sequence[Recipient], ttl: int) -> None:
        """Write recipients of a form that does not exist yet; they count only once it does.

        All or none, and never over those that stand there: a worker that was replaced in the
        meantime would otherwise bring back links that were revoked, and mail everybody again.
        """
        items = [recipient_item(form_id, one, ttl) for one in recipients]
        if items:
            with suppress(ConditionFailedError):
                self._committer.transact([Put(item=one, when=(Missing("pk"),)) for one in items])

    def claim_mail(
        self, form_id: FormId, recipient: Recipient, *, now: datetime
    ) -> Recipient | None:
        """Take one attempt to send to a recipient, or None: sent, failed, or somebody is at it.

        An attempt that was claimed a minute ago and never settled is taken over: a mail may then
        come twice, never not at all (DESIGN §5 Deliver).
        """
        free = AnyOf(
            (
                Equals("state", DeliveryState.QUEUED),
                AtMost("claimed_at", to_ms(now - MAIL_CLAIM)),
            )
        )
        update = Update(
            key=recipient_key(form_id, recipient.number),
            set={"state": DeliveryState.SENDING, "claimed_at": to_ms(now)},
            add={"attempts": 1},
            when=(
                OneOf("state", (DeliveryState.QUEUED, DeliveryState.SENDING)),
                Equals("revision", recipient.revision),
                free,
            ),
        )
        try:
            return recipient_from_item(self._committer.write(update))
        except ConditionFailedError:
            return None

    def settle_mail(
        self,
        form_id: FormId,
        recipient: Recipient,
        state: DeliveryState,
        *,
        message_id: str = "",
    ) -> None:
        """Store how the attempt that ``claim_mail`` returned went; a later attempt wins."""
        update = Update(
            key=recipient_key(form_id, recipient.number),
            set={"state": state, "message_id": message_id},
            remove=("claimed_at",),
            when=(
                Equals("attempts", recipient.attempts),
                Equals("state", DeliveryState.SENDING),
            ),
        )
        self._try(update)

    def note_feedback(self, form_id: FormId, number: int, state: DeliveryState) -> bool:
        """Store what the mail service reported later about a recipient who was sent a mail."""
        may_change = (DeliveryState.SENDING, DeliveryState.SENT, DeliveryState.COMPLAINED)
        update = Update(
            key=recipient_key(form_id, number),
            set={"state": state},
            when=(OneOf("state", may_change),),
        )
        return self._try(update)

    def _try(self, update: Update) -> bool:
        try:
            self._committer.write(update)
        except ConditionFailedError:
            return False
        return True


def revoked(recipient: Recipient) -> Recipient:
    """Return a recipient whose link is another one from now on.

    A mailed person gets no new one; whoever is shown links by an API is shown the new one.

    Raises:
        ConflictError: The link was renewed too often; its token has one byte for that.
    """
    if recipient.revision >= MAX_REVISION:
        message = f"the link was revoked {recipient.revision} times, at most {MAX_REVISION - 1}"
        raise ConflictError(message)
    state = recipient.state if recipient.state is DeliveryState.NONE else DeliveryState.REVOKED
    return replace(recipient, revision=recipient.revision + 1, state=state)


def revocation(form_id: FormId, before: Recipient, after: Recipient) -> Update:
    """Return the write that puts ``after`` in the place of ``before``."""
    return Update(
        key=recipient_key(form_id, before.number),
        set={"revision": after.revision, "state": after.state},
        when=(Equals("revision", before.revision), Equals("state", before.state)),
    )
