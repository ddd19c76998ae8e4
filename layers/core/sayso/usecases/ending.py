"""Ends runs: status, terminal event, audit and the closing of waiting forms in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sayso.domain.errors import MovedOnError
from sayso.domain.run import NO_FAILURE, AuditEntry, EventDraft, Face, Failure
from sayso.domain.segment import NOTHING_LEFT, Failed, Left
from sayso.domain.transitions import FormStatus, FormTrigger, RunStatus, RunTrigger
from sayso.usecases.segment_marks import segment_finished

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sayso.domain.run import CancelIntent, Run
    from sayso.domain.segment import Usage
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
    failure: Failure = NO_FAILURE,
    usage: Usage | None = None,
    also: tuple[Condition, ...] = (),
) -> Run:
    """End a run; forms that still wait end with it.

    Args:
        run: As it was read or is held.
        trigger: What ends it.
        context: What every use case has.
        events: What is still to be said; the terminal event last.
        failure: Why it did not succeed.
        usage: What its worker has used, if that is known.
        also: More conditions on the run.

    Raises:
        MovedOnError: The run or a form has moved on; read again.
    """
    now = context.clock.now()
    if run.face is Face.MANAGED and run.status is RunStatus.RUNNING:
        *before, terminal = events
        events = [*before, segment_finished(run, trigger, usage), terminal]
    ended = context.stores.runs.end(
        run,
        trigger,
        now=now,
        events=events,
        failure=failure,
        audit=AuditEntry(
            number=run.audits + 1, at=now, what=trigger, facts={"reason": failure.reason}
        ),
        closing=_closing(run, trigger, now, context),
        also=also,
    )
    context.report("run_ended", run_id=run.id, status=ended.status)
    return ended


def expire_run(run: Run, context: Context, left: Left = NOTHING_LEFT) -> None:
    """End a run whose deadline has passed; whoever moved it on meanwhile was faster."""
    error = "the run's deadline passed"
    if run.refusal is not None:
        error = f"the run's deadline passed; resuming was refused: {run.refusal}"
    failed = Failed(
        error=error,
        reason="expired",
        session_snapshot=left.session_snapshot,
        usage=left.usage,
    )
    try:
        end_run(
            run,
            RunTrigger.EXPIRE,
            context,
            events=[terminal_failed(failed, run)],
            failure=Failure(error=error, reason="expired"),
            usage=left.usage,
        )
    except MovedOnError:
        context.report("run_moved_on", run_id=run.id)


def cancelled(intent: CancelIntent) -> Failure:
    """Return what a cancelled run shows as its error: message, else reason (dify-agent §13)."""
    return Failure(error=intent.message or intent.reason)


def terminal_cancelled(intent: CancelIntent, run: Run, left: Left = NOTHING_LEFT) -> EventDraft:
    """Return the terminal event of a cancelled run, with the R2 extras that readers may ask for."""
    data = {"reason": intent.reason, "message": intent.message, **_extras(left, run)}
    return EventDraft(type="run_cancelled", data=data)


def terminal_failed(failed: Failed, run: Run) -> EventDraft:
    """Return the terminal event of a failed run, with the R2 extras that readers may ask for."""
    left = Left(session_snapshot=failed.session_snapshot, usage=failed.usage)
    data = {
        "error": failed.error,
        "reason": failed.reason,
        "error_type": failed.error_type,
        **_extras(left, run),
    }
    return EventDraft(type="run_failed", data=data)


def wire_usage(usage: Usage, run: Run) -> dict[str, Any]:
    """Return what a run used, as readers of R2 see it (dify-agent §14).

    Prices and times of single tokens are not known here, so their members are left out.
    """
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "currency": "USD",
        "latency": run.active_ms / 1000,
    }


def _extras(left: Left, run: Run) -> dict[str, Any]:
    return {
        "session_snapshot": left.session_snapshot,
        "usage": None if left.usage is None else wire_usage(left.usage, run),
    }


def _closing(run: Run, trigger: RunTrigger, now: datetime, context: Context) -> list[Write]:
    if run.status is not RunStatus.PAUSED or run.pause_id is None:
        return []
    pause = context.stores.runs.pause(run.id, run.pause_id)
    form_trigger, note = _CLOSING[trigger]
    ttl = context.stores.runs.ttl(run)
    writes: list[Write] = []
    for form_id in pause.forms.values() if pause else ():
        form = context.stores.forms.get(form_id)
        if form is not None and form.status is FormStatus.WAITING:
            writes += context.stores.forms.closing_with_run(
                form, form_trigger, now=now, ttl=ttl, note=note
            )
    return writes
