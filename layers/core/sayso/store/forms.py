"""The form record: reading, deciding, closing it, and the state of its deliveries."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from sayso.domain.errors import ConditionFailedError, ContentChangedError, FormClosedError
from sayso.domain.form import AskedForm, DeliveryState, WholeForm
from sayso.domain.run import AuditEntry
from sayso.domain.transitions import FormStatus, FormTrigger, advance_form, form_sources
from sayso.ports import Above, AnyOf, AtMost, Condition, Equals, Missing, OneOf, Put, Update
from sayso.store.codec import audit_digest, audit_item, split_changes, to_ms
from sayso.store.form_codec import (
    content_from_item,
    form_changes,
    form_from_item,
    recipient_from_item,
    recipient_item,
)
from sayso.store.keys import (
    RECIPIENT,
    audit_key,
    content_key,
    form_key,
    form_pk,
    recipient_key,
    shard_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sayso.domain.form import Decision, Form, Recipient
    from sayso.domain.ids import FormId
    from sayso.ports import Item, Table, Write
    from sayso.store.commit import Committer

RESUME_UNTOLD_AFTER = timedelta(seconds=60)
"""How long a resume message may take before the sweep tells again."""
MAIL_CLAIM = timedelta(seconds=60)
"""After this an unfinished attempt to send counts as lost, and the mail goes out again."""


class FormStore:
    """Form records in the table."""

    def __init__(self, committer: Committer) -> None:
        """Take what writes."""
        self._committer = committer

    @property
    def _table(self) -> Table:
        return self._committer.table

    def get(self, form_id: FormId) -> Form | None:
        """Return the record of a form, or None."""
        item = self._table.get(form_key(form_id))
        return None if item is None else form_from_item(item)

    def whole(self, form_id: FormId) -> WholeForm | None:
        """Return a form with content and recipients in one query, or None."""
        items = self._table.query(form_pk(form_id))
        by_sk = {item["sk"]: item for item in items}
        if "FORM" not in by_sk or "CONTENT" not in by_sk:
            return None
        recipients = [item for item in items if str(item["sk"]).startswith(RECIPIENT)]
        return WholeForm(
            form=form_from_item(by_sk["FORM"]),
            content=content_from_item(by_sk["CONTENT"]),
            recipients=tuple(recipient_from_item(item) for item in recipients),
        )

    def asked(self, form_ids: Sequence[FormId]) -> list[AskedForm]:
        """Return the forms that exist with their content, in one call for up to 50."""
        keys = [key for one in form_ids for key in (form_key(one), content_key(one))]
        items = self._table.get_many(keys)
        pairs = zip(items[::2], items[1::2], strict=True)
        return [
            AskedForm(form=form_from_item(form), content=content_from_item(content))
            for form, content in pairs
            if form is not None and content is not None
        ]

    def put_recipients(self, form_id: FormId, recipients: Sequence[Recipient], ttl: int) -> None:
        """Write recipients of a form that does not exist yet; they count only once it does."""
        self._table.put_many([recipient_item(form_id, one, ttl) for one in recipients])

    def decide(self, form: Form, decision: Decision, *, shown_digest: str, ttl: int) -> Form:
        """Accept a submission, if the form still waits, in time, with the content that was shown.

        One transaction with its audit entry. The condition names nothing that deliveries move.

        Raises:
            FormClosedError: Somebody decided first, or the time is over.
            ContentChangedError: Another content stands there than was shown.
        """
        now = decision.decided_at
        facts = {
            "action": decision.action_id,
            "recipient": decision.actor.recipient,
            "proven_by": decision.actor.proven_by,
            "shown": shown_digest,
        }
        ended = replace(_ended(form, FormTrigger.SUBMIT, now), decision=decision, end_note=None)
        when: tuple[Condition, ...] = (
            Above("deadline", to_ms(now)),
            Equals("content_digest", shown_digest),
        )
        try:
            return self._close(form, ended, FormTrigger.SUBMIT, "submitted", facts, when, ttl)
        except ConditionFailedError as error:
            raise _refusal(form, error, shown_digest, now) from error

    def close(
        self, form: Form, trigger: FormTrigger, *, now: datetime, ttl: int, note: str | None = None
    ) -> Form:
        """End a waiting form without a decision; a timeout only after its deadline.

        Raises:
            FormClosedError: It does not wait any more, or the deadline is not reached.
        """
        ended = replace(_ended(form, trigger, now), end_note=note)
        when: tuple[Condition, ...] = ()
        if trigger is FormTrigger.TIME_OUT:
            when = (AtMost("deadline", to_ms(now)),)
        try:
            return self._close(form, ended, trigger, ended.status, {}, when, ttl)
        except ConditionFailedError as error:
            status = (error.first or {}).get("status", form.status)
            raise FormClosedError(form.id, status) from error

    def _close(
        self,
        form: Form,
        ended: Form,
        trigger: FormTrigger,
        what: str,
        facts: Mapping[str, object],
        when: tuple[Condition, ...],
        ttl: int,
    ) -> Form:
        writes = self.closing(form, ended, trigger, what=what, facts=facts, when=when, ttl=ttl)
        self._committer.transact(writes)
        return ended

    def closing(
        self,
        form: Form,
        ended: Form,
        trigger: FormTrigger,
        *,
        what: str,
        facts: Mapping[str, object],
        ttl: int,
        when: tuple[Condition, ...] = (),
    ) -> list[Write]:
        """Return the writes that end a form, with its audit entry."""
        entry = AuditEntry(
            number=form.audits + 1,
            at=ended.ended_at or form.created_at,
            what=what,
            facts=facts,
            previous_digest=form.audit_digest,
        )
        ended = replace(ended, audits=entry.number, audit_digest=audit_digest(entry))
        changed, gone = split_changes(form_changes(ended))
        waiting = OneOf("status", tuple(sorted(form_sources(trigger))))
        update = Update(key=form_key(form.id), set=changed, remove=gone, when=(waiting, *when))
        item = audit_item(audit_key(form_pk(form.id), entry.number), entry, ttl)
        return [update, Put(item=item, when=(Missing("pk"),))]

    def closing_with_run(
        self, form: Form, trigger: FormTrigger, *, now: datetime, ttl: int, note: str | None
    ) -> list[Write]:
        """Return the writes that end a form because its run ended: nothing is left to tell."""
        ended = replace(_ended(form, trigger, now), end_note=note, due_at=None)
        return self.closing(form, ended, trigger, what=ended.status, facts={}, ttl=ttl)

    def told(self, form: Form, *, due_at: datetime) -> Form:
        """Note that a waiting form was told about and when the sweep is to look at it next.

        Returns:
            The form as it stands now, possibly decided meanwhile.
        """
        update = Update(
            key=form_key(form.id),
            set={"due_at": to_ms(due_at), "due_shard": shard_of(form.id)},
            when=(Equals("status", FormStatus.WAITING),),
        )
        try:
            return form_from_item(self._committer.write(update))
        except ConditionFailedError as error:
            return form_from_item(error.first) if error.first else form

    def retell(self, form: Form, *, due_at: datetime) -> bool:
        """Move the instant at which the sweep looks again; tell whether nobody was faster."""
        due: Condition = Missing("due_at")
        if form.due_at is not None:
            due = Equals("due_at", to_ms(form.due_at))
        update = Update(
            key=form_key(form.id),
            set={"due_at": to_ms(due_at)},
            add={"tells": 1},
            when=(Equals("status", form.status), due),
        )
        return self._try(update)

    def settled(self, form: Form) -> None:
        """Take an ended form out of the due-index: its run has moved on, nothing is untold."""
        update = Update(
            key=form_key(form.id),
            remove=("due_at", "due_shard"),
            when=(Equals("status", form.status),),
        )
        self._try(update)

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


def with_first_audit(form: Form, ttl: int) -> tuple[Form, Item]:
    """Return a new form with its first audit entry, and the item of that entry."""
    facts = {"run_id": form.run_id, "content": form.content_digest}
    entry = AuditEntry(number=1, at=form.created_at, what="asked", facts=facts)
    form = replace(form, audits=1, audit_digest=audit_digest(entry))
    return form, audit_item(audit_key(form_pk(form.id), 1), entry, ttl)


def _ended(form: Form, trigger: FormTrigger, now: datetime) -> Form:
    status = advance_form(FormStatus.WAITING, trigger)
    due_at = now + RESUME_UNTOLD_AFTER if status.resumes_run else None
    return replace(form, status=status, ended_at=now, due_at=due_at, tells=0)


def _refusal(
    form: Form, error: ConditionFailedError, shown_digest: str, now: datetime
) -> FormClosedError | ContentChangedError:
    stands = form_from_item(error.first) if error.first else form
    if stands.status is not FormStatus.WAITING:
        return FormClosedError(form.id, stands.status)
    if stands.deadline <= now:
        return FormClosedError(form.id, FormStatus.TIMEOUT)
    if stands.content_digest != shown_digest:
        return ContentChangedError(f"form {form.id!r} has another content than was shown")
    return FormClosedError(form.id, stands.status)
