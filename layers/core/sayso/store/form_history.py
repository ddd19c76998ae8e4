"""The history of a form: one entry for each change, each with the digest of the one before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sayso.domain.run import AuditEntry
from sayso.ports import Condition, Equals, Missing, Put, Update
from sayso.store.codec import audit_digest, audit_item, split_changes
from sayso.store.form_codec import content_item, form_item
from sayso.store.keys import audit_key, form_key, form_pk

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sayso.domain.form import Form, FormContent
    from sayso.ports import Write


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What an audit entry says, before it has its place in the history."""

    at: datetime
    what: str
    facts: Mapping[str, object]
    """Never an answer or an address."""
    ttl: int


_NET = timedelta(days=400)


def audit_ttl(form: Form) -> int:
    """Return the epoch second from which the table may drop an entry: no run is kept so long."""
    return int((form.deadline + _NET).timestamp())


def begun(form: Form) -> Form:
    """Return a new form as it is stored: its history begins with its first entry."""
    return replace(form, audits=1, audit_digest=audit_digest(_first_entry(form)))


def _first_entry(form: Form) -> AuditEntry:
    facts = {"run_id": form.run_id, "content": form.content_digest}
    return AuditEntry(number=1, at=form.created_at, what="asked", facts=facts)


def form_puts(form: Form, content: FormContent, ttl: int) -> list[Write]:
    """Return the writes that make a form, with its first audit entry."""
    form = begun(form)
    audit = audit_item(audit_key(form_pk(form.id), 1), _first_entry(form), ttl)
    new = (Missing("pk"),)
    return [
        Put(item=form_item(form) | {"ttl": ttl}, when=new),
        Put(item=content_item(form.id, content) | {"ttl": ttl}, when=new),
        Put(item=audit, when=new),
    ]


def audited(
    form: Form, entry: Entry, *, changes: Mapping[str, Any], when: tuple[Condition, ...]
) -> list[Write]:
    """Return writes that change a form and add to its history.

    The number of entries is part of the condition: two changes that were read at the same time
    cannot both be written.
    """
    audit = AuditEntry(
        number=form.audits + 1,
        at=entry.at,
        what=entry.what,
        facts=entry.facts,
        previous_digest=form.audit_digest,
    )
    chain = {"audits": audit.number, "audit_digest": audit_digest(audit)}
    changed, gone = split_changes({**changes, **chain})
    same = Equals("audits", form.audits)
    update = Update(key=form_key(form.id), set=changed, remove=gone, when=(*when, same))
    item = audit_item(audit_key(form_pk(form.id), audit.number), audit, entry.ttl)
    return [update, Put(item=item, when=(Missing("pk"),))]
