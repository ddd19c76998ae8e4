"""Read a managed run as a workflow: who may, and what its envelope says (DESIGN §7.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sayso.domain.errors import NotFoundError, PermanentError
from sayso.domain.invocation import conversation_of, task_of
from sayso.domain.run import Audience, Face
from sayso.store.codec import digest_of, to_json
from sayso.usecases.read_run import read_events, read_run

if TYPE_CHECKING:
    from sayso.domain.form import WholeForm
    from sayso.domain.ids import AppId, FormId, RunId, TenantId
    from sayso.domain.run import Run, RunEvent
    from sayso.usecases.context import Context

READ_AT_ONCE: Final = 500
"""Events of one query; the table cuts it at 1 MB itself (DynamoDB limit)."""
_EVERYBODY: Final = frozenset(Audience)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """A run and what its events are wrapped in."""

    run: Run
    workflow_id: str
    """Digest of the composition: what ran, whatever it was called."""
    task_id: str
    """Stays the same in every stream of the run, whichever segment it shows."""
    conversation_id: str
    """Empty: no chat."""


def read_workflow(run_id: RunId, tenant: TenantId, app: AppId | None, context: Context) -> Workflow:
    """Return a managed run of the tenant, and of the app unless every app may be seen.

    Raises:
        NotFoundError: There is none. A protocol run is none: it ends with its question.
    """
    run = read_run(run_id, tenant, context)
    if run.face is not Face.MANAGED or app not in (None, run.app):
        message = "run not found"
        raise NotFoundError(message)
    request = context.stores.requests.plain(run)
    return Workflow(
        run=run,
        workflow_id=digest_of(to_json(request["composition"]).encode()),
        task_id=task_of(request) or run.id,
        conversation_id=conversation_of(request),
    )


def read_log(run: Run, after: int, context: Context) -> list[RunEvent]:
    """Return all stored events of a run behind a number, whoever they are for."""
    found: list[RunEvent] = []
    while True:
        page = read_events(
            run, after=after, limit=READ_AT_ONCE, audiences=_EVERYBODY, context=context
        )
        found += page
        if len(page) < READ_AT_ONCE:
            return found
        after = page[-1].number


def read_form(form_id: FormId, run: Run, context: Context) -> WholeForm | None:
    """Return a form of a run, None when it is gone: readers are shown the rest (§15).

    Raises:
        PermanentError: It is another run's; no event may be built from it (human-input B19).
    """
    whole = context.stores.forms.whole(form_id)
    if whole is not None and (whole.form.run_id, whole.form.tenant) != (run.id, run.tenant):
        message = f"form {form_id!r} belongs to another run than {run.id!r}"
        raise PermanentError(message)
    return whole
