"""Read a run and its events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.domain.errors import NotFoundError

if TYPE_CHECKING:
    from sayso.domain.ids import RunId, TenantId
    from sayso.domain.run import Audience, Run, RunEvent
    from sayso.usecases.context import Context


def read_run(run_id: RunId, tenant: TenantId, context: Context) -> Run:
    """Return a run of the tenant.

    A run whose retention is over is gone, whether or not it was deleted yet.

    Raises:
        NotFoundError: No such run of this tenant.
    """
    run = context.stores.runs.get(run_id)
    over = (
        run is not None
        and run.status.is_final
        and run.due_at is not None
        and run.due_at <= context.clock.now()
    )
    if run is None or run.tenant != tenant or over:
        message = "run not found"
        raise NotFoundError(message)
    return run


def read_events(
    run: Run, *, after: int, limit: int, audiences: frozenset[Audience], context: Context
) -> list[RunEvent]:
    """Return the events behind a number that the reader may see, at most ``limit``.

    Pages on over events that the reader does not see, so that an empty page means the end.
    """
    seen: list[RunEvent] = []
    while len(seen) < limit:
        page = context.stores.events.read(run.id, after=after, limit=limit)
        seen += [event for event in page if event.audience in audiences]
        if len(page) < limit:
            break
        after = page[-1].number
    return seen[:limit]
