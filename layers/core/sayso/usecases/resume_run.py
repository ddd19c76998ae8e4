"""Resume a paused run once all its forms have ended, exactly once (DESIGN §5 Resume)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.domain.errors import MovedOnError, SnapshotCorruptError, SnapshotRefusedError
from sayso.domain.run import AuditEntry, PauseReason
from sayso.domain.transitions import RunStatus
from sayso.usecases.load_forms import load_forms
from sayso.usecases.prepare import prepare
from sayso.usecases.run_segment import run_segment, work_on
from sayso.usecases.segment_marks import segment_started

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sayso.domain.form import AskedForm
    from sayso.domain.ids import RunId
    from sayso.domain.run import Pause, Run
    from sayso.usecases.prepare import Prepared
    from sayso.usecases.run_segment import Workshop


def resume_run(run_id: RunId, shop: Workshop) -> None:
    """Go on with a run, whatever it waits for, if that has come.

    A run that is running already is worked on unless somebody holds it; one whose forms are not
    all decided, or that has ended, is left alone.

    Raises:
        RetryableError: Infrastructure failed; the message is to come again.
    """
    context = shop.context
    run = context.stores.runs.get(run_id)
    if run is None:
        return
    if run.status is RunStatus.RUNNING:
        run_segment(run_id, shop)
        return
    if run.status is RunStatus.PAUSED:
        try:
            _resume_paused(run, shop)
        except (SnapshotRefusedError, SnapshotCorruptError) as error:
            _note_refusal(run, str(error), shop)


def _resume_paused(run: Run, shop: Workshop) -> None:
    context = shop.context
    request, pause = context.stores.requests.load(run)
    forms = load_forms(pause, context)
    if pause is None or not _is_over(run, pause, forms, shop):
        context.report("not_yet_decided", run_id=run.id)
        return
    prepared = prepare(run, request, pause, forms, context.stores, shop.remaining_seconds)
    # The code looks at the snapshot before the answers are consumed.
    shop.agent.check(prepared.work)
    _claim(run, pause, prepared, shop)


def _claim(run: Run, pause: Pause, prepared: Prepared, shop: Workshop) -> None:
    context = shop.context
    now = context.clock.now()
    try:
        resumed = context.stores.pauses.resume(
            run,
            pause,
            [segment_started(run.segment + 1)],
            owner=context.ids.token(),
            now=now,
            lease=shop.lease,
        )
    except MovedOnError:
        context.report("nothing_to_claim", run_id=run.id)
        return
    context.report("run_resumed", run_id=run.id)
    work_on(resumed, prepared, {}, shop)


def _is_over(run: Run, pause: Pause, forms: Sequence[AskedForm], shop: Workshop) -> bool:
    if pause.reason is PauseReason.SCHEDULED_PAUSE:
        return run.not_before is None or run.not_before <= shop.context.clock.now()
    return len(forms) == len(pause.forms) and all(one.form.status.resumes_run for one in forms)


def _note_refusal(run: Run, refusal: str, shop: Workshop) -> None:
    context = shop.context
    if run.refusal == refusal:
        return
    audit = AuditEntry(
        number=run.audits + 1,
        at=context.clock.now(),
        what="resume_refused",
        facts={"reason": refusal},
    )
    try:
        context.stores.runs.refuse(run, refusal, audit)
    except MovedOnError:
        return
    context.report("resume_refused", run_id=run.id)
