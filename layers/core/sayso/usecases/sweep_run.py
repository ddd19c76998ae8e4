"""What the sweep does with a run that is due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.domain.run import PauseReason
from sayso.domain.transitions import RunStatus
from sayso.usecases.backoff import next_look
from sayso.usecases.context import tell
from sayso.usecases.ending import expire_run
from sayso.usecases.load_forms import load_forms
from sayso.usecases.remove_run import remove_run

if TYPE_CHECKING:
    from sayso.domain.ids import RunId
    from sayso.domain.run import Run
    from sayso.usecases.context import Context
    from sayso.usecases.tell_people import Telling


def look_at_run(run_id: RunId, telling: Telling) -> None:
    """Expire, take over, tell again, or remove a run, whichever is due. Harmless when repeated."""
    context = telling.context
    run = context.stores.runs.get(run_id)
    now = context.clock.now()
    if run is None or run.due_at is None or run.due_at > now:
        return
    if run.status.is_final:
        remove_run(run, context)
    elif run.deadline <= now and not _must_resume(run, context):
        expire_run(run, context)
    elif run.status is RunStatus.RUNNING:
        _tell_worker(run, context)
    else:
        _tell_paused(run, context)


def _tell_worker(run: Run, context: Context) -> None:
    """Queue a run that nobody works on: lost start, lost slice, or a worker that died."""
    now = context.clock.now()
    if run.lease is not None and run.lease.until > now:
        return
    if context.stores.runs.retell(run, due_at=now + next_look(run.tells)):
        first = run.segment == 1 and run.epoch == 0
        message = context.queue.start if first else context.queue.continue_
        tell(context, lambda: message(run.id), run_id=run.id)
        context.report("run_retold", run_id=run.id, attempt=run.tells + 1)


def _tell_paused(run: Run, context: Context) -> None:
    """Wake a run whose wait is over; each form looks after its own telling."""
    now = context.clock.now()
    if context.stores.runs.retell(run, due_at=min(now + next_look(run.tells), run.deadline)):
        tell(context, lambda: context.queue.resume(run.id), run_id=run.id)


def _must_resume(run: Run, context: Context) -> bool:
    """Tell whether a run past its deadline is resumed all the same: its pause is decided.

    Unless resuming was refused with a reason: then it expires, and the audit says so.
    """
    if run.status is not RunStatus.PAUSED or run.pause_id is None or run.refusal is not None:
        return False
    pause = context.stores.runs.pause(run.id, run.pause_id)
    if pause is None or pause.reason is not PauseReason.HUMAN_INPUT_REQUIRED:
        return False
    forms = load_forms(pause, context)
    return len(forms) == len(pause.forms) and all(whole.form.status.resumes_run for whole in forms)
