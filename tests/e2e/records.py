"""Reads a table and its bucket as the product itself does, through its own stores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from e2e.waiting import PATIENCE_SECONDS, eventually
from sayso.aws.credentials import PlainVault
from sayso.aws.objects import S3ObjectStore
from sayso.aws.table import DynamoTable
from sayso.store.keys import AUDIT, form_pk, run_pk
from sayso.store.stores import open_stores
from sayso.system import RandomIds

if TYPE_CHECKING:
    from sayso.domain.form import Form
    from sayso.domain.ids import RunId
    from sayso.domain.run import Run, RunEvent
    from sayso.domain.segment import OperationRecord
    from sayso.domain.transitions import RunStatus
    from sayso.ports import Item
    from sayso.store.stores import Stores
    from sayso_local.clients import Clients

ALL = 10_000
BOOKKEEPING = {"due_at", "due_shard", "tells", "attempt"}
"""What telling people, and the sweep, move by themselves."""


@dataclass(frozen=True)
class Records:
    """What is stored."""

    clients: Clients
    table: str
    bucket: str

    @cached_property
    def stores(self) -> Stores:
        """The product's stores."""
        return open_stores(
            DynamoTable(self.clients.dynamodb, self.table),
            S3ObjectStore(self.clients.s3, self.bucket),
            RandomIds(),
            PlainVault(),
            retention=timedelta(days=3),
        )

    def run(self, run_id: RunId) -> Run:
        """Return the record of a run."""
        run = self.stores.runs.get(run_id)
        assert run is not None
        return run

    def wait_until(
        self, run_id: RunId, status: RunStatus, *, seconds: float = PATIENCE_SECONDS
    ) -> Run:
        """Wait until a run has a status; one that has ended otherwise is not waited for."""

        def look() -> Run | None:
            run = self.run(run_id)
            assert run.status is status or not run.status.is_final, f"{run.status}: {run.error}"
            return run if run.status is status else None

        return eventually(f"run {run_id} to be {status}", look, seconds=seconds)

    def events(self, run_id: RunId) -> list[RunEvent]:
        """Return all events of a run as they are stored."""
        return self.stores.events.read(run_id, after=0, limit=ALL)

    def forms(self, run_id: RunId) -> list[Form]:
        """Return all forms of a run, in the order they were asked."""
        ids = [one for pause in self.stores.runs.pauses(run_id) for one in pause.forms.values()]
        forms = [self.stores.forms.get(form_id) for form_id in ids]
        return [form for form in forms if form is not None]

    def audit(self, form: Form) -> list[str]:
        """Return what the history of a form says happened."""
        entries = self.stores.table.query(form_pk(form.id), prefix=AUDIT)
        return [str(entry["what"]) for entry in entries]

    def operations(self, run_id: RunId) -> list[OperationRecord]:
        """Return the recorded operations of a run, segment by segment."""
        run = self.run(run_id)
        segments = [replace(run, segment=number + 1) for number in range(run.segment)]
        return [one for part in segments for one in self.stores.journal.load(part).values()]

    def about(self, run_id: RunId) -> list[Item]:
        """Return everything stored about a run and its forms, but for when to look at it again."""
        partitions = [run_pk(run_id), *(form_pk(form.id) for form in self.forms(run_id))]
        items = [item for one in partitions for item in self.stores.table.query(one)]
        return [{k: v for k, v in item.items() if k not in BOOKKEEPING} for item in items]

    def run_ids(self) -> set[str]:
        """Return the ids of all runs there are."""
        pages = self.clients.dynamodb.get_paginator("scan").paginate(
            TableName=self.table,
            FilterExpression="sk = :run",
            ExpressionAttributeValues={":run": {"S": "RUN"}},
        )
        return {str(item["pk"]["S"]) for page in pages for item in page["Items"]}
