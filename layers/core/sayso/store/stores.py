"""All stores over one table and one bucket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sayso.store.commit import Committer
from sayso.store.events import EventLog
from sayso.store.forms import FormStore
from sayso.store.journal import JournalStore
from sayso.store.members import MemberStore
from sayso.store.objects import Documents
from sayso.store.pauses import PauseStore
from sayso.store.recipients import RecipientStore
from sayso.store.requests import RequestStore
from sayso.store.runs import RunStore
from sayso.store.uploads import UploadStore

if TYPE_CHECKING:
    from datetime import timedelta

    from sayso.ports import CredentialVault, IdSource, ObjectStore, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """What the use cases read and write."""

    table: Table
    runs: RunStore
    requests: RequestStore
    events: EventLog
    journal: JournalStore
    pauses: PauseStore
    forms: FormStore
    recipients: RecipientStore
    members: MemberStore
    documents: Documents
    uploads: UploadStore


def open_stores(
    table: Table,
    objects: ObjectStore,
    ids: IdSource,
    vault: CredentialVault,
    *,
    retention: timedelta,
) -> Stores:
    """Return all stores; ended runs stay readable for ``retention``."""
    committer = Committer(table, ids)
    documents = Documents(objects)
    events = EventLog(table, documents)
    runs = RunStore(committer, events, retention=retention)
    return Stores(
        table=table,
        runs=runs,
        requests=RequestStore(table, documents, vault),
        events=events,
        journal=JournalStore(committer, events, documents, runs),
        pauses=PauseStore(committer, events, runs),
        forms=FormStore(committer),
        recipients=RecipientStore(committer),
        members=MemberStore(committer),
        documents=documents,
        uploads=UploadStore(committer, objects),
    )
