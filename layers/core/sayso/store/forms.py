"""The form record: reading, deciding, closing it, and the state of its deliveries."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from sayso.domain.errors import (
    ConditionFailedError,
    ConflictError,
    ContentChangedError,
    FormClosedError,
    MovedOnError,
)
from sayso.domain.form import AskedForm, WholeForm
from sayso.domain.transitions import FormStatus, FormTrigger, advance_form, form_sources
from sayso.ports import Above, AtMost, Condition, Equals, Missing, OneOf, Put, Update
from sayso.store.codec import to_ms
from sayso.store.form_codec import (
    content_from_item,
    form_changes,
    form_from_item,
    recipient_from_item,
    recipient_item,
)
from sayso.store.form_history import Entry, audited, form_puts
from sayso.store.keys import RECIPIENT, content_key, form_key, form_pk, shard_of
from sayso.store.recipients import revocation, revoked
from sayso.store.uploads import uploads_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sayso.domain.form import Decision, Form, Recipient
    from sayso.domain.ids import FormId
    from sayso.ports import Table, Write
    from sayso.store.commit import Committer

RESUME_UNTOLD_AFTER = timedelta(seconds=60)
"""How long a resume message may take before the sweep tells again."""

_NO_FACTS: Final[Mapping[str, object]] = MappingProxyType({})


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
            uploads=uploads_in(items),
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

    def create(self, whole: WholeForm, ttl: int) -> None:
        """Write a form that belongs to no pause, with its recipients and first audit entry.

        Raises:
            ConditionFailedError: There is a form of this id.
        """
        recipients = [recipient_item(whole.form.id, one, ttl) for one in whole.recipients]
        writes = form_puts(whole.form, whole.content, ttl)
        self._committer.transact([*writes, *(Put(item=item) for item in recipients)])

    def decide(self, form: Form, decision: Decision, *, shown_digest: str, ttl: int) -> Form:
        """Accept a submission, if the form still waits, in time, with the content that was shown.

        One transaction with its audit entry. The condition names nothing that deliveries move.

        Raises:
            FormClosedError: Somebody decided first, or the time is over.
            ContentChangedError: Another content stands there than was shown.
            MovedOnError: The form has another history by now; read it again.
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
        writes = _closing(form, ended, FormTrigger.SUBMIT, facts=facts, when=when, ttl=ttl)
        try:
            self._committer.transact(writes)
        except ConditionFailedError as error:
            raise _refusal(form, error, now, shown_digest) from error
        return ended

    def close(
        self,
        form: Form,
        trigger: FormTrigger,
        *,
        now: datetime,
        ttl: int,
        note: str | None = None,
        facts: Mapping[str, object] = _NO_FACTS,
    ) -> Form:
        """End a waiting form without a decision; a timeout only after its deadline.

        Raises:
            FormClosedError: It does not wait any more, or the deadline is not reached.
            MovedOnError: The form has another history by now; read it again.
        """
        ended = replace(_ended(form, trigger, now), end_note=note)
        when: tuple[Condition, ...] = ()
        if trigger is FormTrigger.TIME_OUT:
            when = (AtMost("deadline", to_ms(now)),)
        writes = _closing(form, ended, trigger, facts=facts, when=when, ttl=ttl)
        try:
            self._committer.transact(writes)
        except ConditionFailedError as error:
            raise _refusal(form, error) from error
        return ended

    def extend(self, form: Form, deadline: datetime, *, by: str, now: datetime, ttl: int) -> Form:
        """Move the deadline of a form that waits, and let the sweep tell about it anew.

        Raises:
            FormClosedError: It does not wait any more, or its time is over.
            MovedOnError: The form has another history by now; read it again.
        """
        facts = {"from": to_ms(form.deadline), "to": to_ms(deadline), "by": by}
        writes = audited(
            form,
            Entry(at=now, what="extended", facts=facts, ttl=ttl),
            changes={
                "deadline": to_ms(deadline),
                "due_at": to_ms(now),
                "due_shard": shard_of(form.id),
                "tells": 0,
            },
            when=(Equals("status", FormStatus.WAITING), Above("deadline", to_ms(now))),
        )
        try:
            self._committer.transact(writes)
        except ConditionFailedError as error:
            raise _refusal(form, error, now) from error
        return replace(form, deadline=deadline, due_at=now, tells=0)

    def revoke(
        self, form: Form, recipient: Recipient, *, by: str, now: datetime, ttl: int
    ) -> Recipient:
        """Give a recipient's link a new revision, so that the old one is unknown from now on.

        Raises:
            MovedOnError: Form or recipient changed meanwhile; read them again.
        """
        facts = {"recipient": recipient.number, "revision": recipient.revision, "by": by}
        writes = audited(
            form, Entry(at=now, what="revoked", facts=facts, ttl=ttl), changes={}, when=()
        )
        renewed = revoked(recipient)
        try:
            self._committer.transact([*writes, revocation(form.id, recipient, renewed)])
        except ConditionFailedError as error:
            message = f"form {form.id!r} has moved on, read it again"
            raise MovedOnError(message) from error
        return renewed

    def closing_with_run(
        self, form: Form, trigger: FormTrigger, *, now: datetime, ttl: int, note: str | None
    ) -> list[Write]:
        """Return the writes that end a form because its run ended: nothing is left to tell."""
        ended = replace(_ended(form, trigger, now), end_note=note, due_at=None)
        return _closing(form, ended, trigger, facts={}, ttl=ttl)

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

    def _try(self, update: Update) -> bool:
        try:
            self._committer.write(update)
        except ConditionFailedError:
            return False
        return True


def _closing(
    form: Form,
    ended: Form,
    trigger: FormTrigger,
    *,
    facts: Mapping[str, object],
    ttl: int,
    when: tuple[Condition, ...] = (),
) -> list[Write]:
    """Return the writes that end a form, with its audit entry."""
    waiting = OneOf("status", tuple(sorted(form_sources(trigger))))
    at = ended.ended_at or form.created_at
    entry = Entry(at=at, what=ended.status, facts=facts, ttl=ttl)
    return audited(form, entry, changes=form_changes(ended), when=(waiting, *when))


def _ended(form: Form, trigger: FormTrigger, now: datetime) -> Form:
    ended = replace(form, status=advance_form(FormStatus.WAITING, trigger), ended_at=now, tells=0)
    return replace(ended, due_at=now + RESUME_UNTOLD_AFTER if ended.resumes_run else None)


def _refusal(
    form: Form,
    error: ConditionFailedError,
    now: datetime | None = None,
    shown_digest: str | None = None,
) -> ConflictError:
    """Return why a change of a waiting form was refused, judged by what stands there.

    Args:
        form: As it was read.
        error: With the form's item, if that was the reason.
        now: Given where the deadline had to lie ahead.
        shown_digest: Given where the content had to be what was shown.
    """
    stands = form_from_item(error.items[0]) if error.items and error.items[0] else form
    if stands.status is not FormStatus.WAITING:
        return FormClosedError(form.id, stands.status)
    if now is not None and stands.deadline <= now:
        return FormClosedError(form.id, FormStatus.TIMEOUT)
    if shown_digest is not None and stands.content_digest != shown_digest:
        return ContentChangedError(f"form {form.id!r} has another content than was shown")
    return MovedOnError(f"form {form.id!r} has moved on, read it again")
