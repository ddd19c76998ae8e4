"""Remove an ended run after its retention: objects first, then items, the run record last.

A crash in between leaves the run record in the due-index, so the next pass goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.ports import Key
from sayso.store.keys import form_pk, run_key, run_pk

if TYPE_CHECKING:
    from sayso.domain.ids import FormId
    from sayso.domain.run import Run
    from sayso.usecases.context import Context


def remove_run(run: Run, context: Context) -> None:
    """Delete all that is stored of an ended run and its forms. Harmless when repeated."""
    stores = context.stores
    stores.documents.delete_all(run.tenant, run.id)
    items = stores.table.query(run_pk(run.id))
    for form_id in _forms_of(run, context):
        stores.uploads.delete_all(run.tenant, form_id)
        stores.table.delete_many(_keys(stores.table.query(form_pk(form_id))))
    record = run_key(run.id)
    stores.table.delete_many([key for key in _keys(items) if key != record])
    stores.table.delete_many([record])
    context.report("run_removed", run_id=run.id)


def _forms_of(run: Run, context: Context) -> list[FormId]:
    return [
        form_id for pause in context.stores.runs.pauses(run.id) for form_id in pause.forms.values()
    ]


def _keys(items: list[dict[str, object]]) -> list[Key]:
    return [Key(str(item["pk"]), str(item["sk"])) for item in items]
