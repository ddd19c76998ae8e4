"""Ends runs: status, terminal event, audit and the closing of waiting forms in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sayso.domain.run import AuditEntry, EventDraft
from sayso.domain.transitions import FormStatus, FormTrigger, RunStatus, RunTrigger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sayso.domain.run import CancelIntent, Run
    from sayso.domain.segment import Failed
    from sayso.ports import Condition, Write
    from sayso.usecases.context import Context

_CLOSING = {
    RunTrigger.CANCEL: (FormTrigger.CANCEL, "The run was cancelled."),
    RunTrigger.EXPIRE: (FormTrigger.EXPIRE, "The run's time was over."),
}


def end_run(
    run: Run,
    trigger: RunTrigger,
    context: Context,
    *,
    events: Sequence[EventDraft],
    error: str | None = None,
    reason: str | None = None,
    also: tuple[Condition, ...] = (),
) -> Run:
    """End a run; forms that still wait end with it.

    Raises:
        MovedOnError: The run or a form has moved on; read again.
    """
    now = context.clock.now()
    ended = context.stores.runs.end(
        run,
        trigger,
        now=now,
        events=events,
        error=error,
        reason=reason,
        audit=AuditEntry(number=run.audits + 1, at=now, what=trigger, facts={"reason": reason}),
        closing=_closing(run, trigger, context),
        also=also,
    )
    context.report("run_ended", run_id=run.id, status=ended.status)
    return ended


def terminal_cancelled(intent: CancelIntent) -> EventDraft:
    """Return the terminal event of a cancelled run."""
    return EventDraft(
        type="run_cancelled",
        data={"reason": intent.reason, "message": intent.message},
    )


def terminal_failed(failed: Failed) -> EventDraft:
    """Return the terminal event of a failed run, with the R2 extras that readers may ask for."""
    data: dict[str, Any] = {"error": failed.error, "reason": failed.reason}
    data["error_type"] = failed.error_type
    data["session_snapshot"] = failed.session_snapshot
    return EventDraft(type="run_failed", data=data)


def _closing(run: Run, trigger: RunTrigger, context: Context) -> list[Write]:
    if run.status is not RunStatus.PAUSED or run.pause_id is None:
        return []
    pause = context.stores.runs.pause(run.id, run.pause_id)
    form_trigger, note = _CLOSING[trigger]
    now, ttl = context.clock.now(), context.stores.runs.ttl(run)
    writes: list[Write] = []
    for form_id in pause.forms.values() if pause else ():
        form = context.stores.forms.get(form_id)
        if form is not None and form.status is FormStatus.WAITING:
            writes += context.stores.forms.closing_with_run(
                form, form_trigger, now=now, ttl=ttl, note=note
            )
    return writes
