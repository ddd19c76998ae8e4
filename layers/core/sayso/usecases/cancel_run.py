"""Stop a run (dify-agent §13 Cancel): at once when nobody works on it, else by an intent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.domain.errors import MovedOnError, RunFinishedError
from sayso.domain.run import shown_status
from sayso.domain.transitions import RunStatus, RunTrigger
from sayso.usecases.ending import cancelled, end_run, terminal_cancelled
from sayso.usecases.read_run import read_run

if TYPE_CHECKING:
    from sayso.domain.ids import RunId, TenantId
    from sayso.domain.run import CancelIntent, Run
    from sayso.usecases.context import Context

_TRIES = 8


def cancel_run(run_id: RunId, tenant: TenantId, intent: CancelIntent, context: Context) -> None:
    """Cancel a run. Answered at once; called twice, the first reason stands.

    Raises:
        NotFoundError: No such run of this tenant.
        RunFinishedError: It has succeeded, failed or expired.
        MovedOnError: It kept moving while we tried; try again.
    """
    for _ in range(_TRIES):
        run = read_run(run_id, tenant, context)
        try:
            if _cancel(run, intent, context):
                return
        except MovedOnError:
            continue
    message = f"run {run_id!r} keeps moving, try again"
    raise MovedOnError(message)


def _cancel(run: Run, intent: CancelIntent, context: Context) -> bool:
    if run.status is RunStatus.CANCELLED or run.cancel is not None:
        return True
    if run.status.is_final:
        raise RunFinishedError(shown_status(run).value)
    now = context.clock.now()
    if run.lease is not None and run.lease.until > now:
        context.stores.runs.ask_to_cancel(run, intent, now=now)
    else:
        end_run(
            run,
            RunTrigger.CANCEL,
            context,
            events=[terminal_cancelled(intent, run)],
            failure=cancelled(intent),
        )
    return True
