"""Run a segment: first start, continuation after an answer or a wait, next slice (DESIGN §5).

Called by queue messages. A message that meets a live lease or an ended run is acknowledged by
returning: the record is the truth. Only infrastructure errors leave as ``RetryableError``.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sayso.domain.ask_result import ask_result
from sayso.domain.errors import PermanentError, RetryableError
from sayso.domain.run import Face
from sayso.domain.segment import (
    CancelSeen,
    Failed,
    JournalMismatch,
    JournalUnavailable,
    LeaseLost,
    OperationKind,
    SegmentWork,
    SliceEnded,
)
from sayso.usecases.commit_segment import commit_cancelled, commit_result
from sayso.usecases.context import Context, tell
from sayso.usecases.load_forms import load_forms
from sayso.usecases.pause_run import Asking, pause_until
from sayso.usecases.worker import LeasedRun

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import timedelta

    from sayso.domain.form import WholeForm
    from sayso.domain.ids import RunId
    from sayso.domain.run import Pause, Run
    from sayso.domain.segment import OperationRecord, SegmentResult
    from sayso.ports import AgentRunner
    from sayso.store.stores import Stores

MAX_DEATHS = 3
"""Workers that may die in one model call before the run fails (issue: three deaths)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """What a worker needs beyond the common context."""

    context: Context
    agent: AgentRunner
    asking: Asking
    lease: timedelta
    remaining_seconds: Callable[[], float]


def run_segment(run_id: RunId, shop: Workshop) -> None:
    """Claim a running run and work on its current segment.

    Raises:
        RetryableError: Infrastructure failed; the message is to come again.
    """
    context = shop.context
    owner = context.ids.token()
    run = context.stores.runs.claim(run_id, owner=owner, now=context.clock.now(), lease=shop.lease)
    if run is None:
        context.report("nothing_to_claim", run_id=run_id)
        return
    if run.not_before is not None and run.segment == 1 and run.not_before > context.clock.now():
        with contextlib.suppress(LeaseLost, CancelSeen):
            pause_until(run, run.not_before, shop.asking)
        return
    pause = context.stores.runs.pause(run_id, run.pause_id) if run.pause_id else None
    forms = load_forms(pause, context)
    work_on(run, pause, forms, shop)


def work_on(run: Run, pause: Pause | None, forms: list[WholeForm], shop: Workshop) -> None:
    """Work on a claimed run to the end of the segment, the slice, or a loss of the lease."""
    context = shop.context
    records = context.stores.journal.load(run)
    if failed := _too_many_deaths(run, records):
        commit_result(run, failed, shop.asking)
        return
    try:
        work = segment_work(run, pause, forms, context.stores, shop.remaining_seconds)
        work = replace(work, request=context.stores.requests.unlock(run, work.request))
    except PermanentError as error:
        commit_result(run, Failed(error=str(error), reason="resume_failed"), shop.asking)
        return
    asyncio.run(_work(LeasedRun(run, records, context, shop.lease), work, shop))


async def _work(held: LeasedRun, work: SegmentWork, shop: Workshop) -> None:
    try:
        result = await _under_lease(held, work, shop)
    except LeaseLost:
        shop.context.report("lease_lost", run_id=held.run.id)
    except CancelSeen:
        await asyncio.to_thread(commit_cancelled, held.run, shop.asking)
    except SliceEnded:
        await asyncio.to_thread(_hand_over, held.run, shop.context)
    except JournalUnavailable as stop:
        message = str(stop)
        raise RetryableError(message) from stop
    except JournalMismatch as stop:
        failed = Failed(error=str(stop), reason="journal_mismatch")
        await asyncio.to_thread(commit_result, held.run, failed, shop.asking)
    else:
        await asyncio.to_thread(commit_result, held.run, result, shop.asking)


async def _under_lease(held: LeasedRun, work: SegmentWork, shop: Workshop) -> SegmentResult:
    task = asyncio.ensure_future(shop.agent.run(work, held))
    keeper = asyncio.ensure_future(held.keep(task))
    try:
        return await task
    except asyncio.CancelledError:
        if held.stop is None:
            raise
        raise held.stop from None
    finally:
        keeper.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await keeper


def _hand_over(run: Run, context: Context) -> None:
    """End a slice: nothing shows outside; another invocation goes on."""
    try:
        context.stores.runs.release(run, now=context.clock.now())
    except LeaseLost:
        return
    tell(context, lambda: context.queue.continue_(run.id), run_id=run.id)
    context.report("slice_ended", run_id=run.id)


def segment_work(
    run: Run,
    pause: Pause | None,
    forms: list[WholeForm] | None,
    stores: Stores,
    remaining_seconds: Callable[[], float],
) -> SegmentWork:
    """Return what the agent gets for the run's current segment.

    Args:
        run: The run.
        pause: The pause it goes on from.
        forms: Its ended forms, all of them; None when the answers are not to be looked at.
        stores: Where request and snapshot are.
        remaining_seconds: Time until the platform stops this worker.

    Raises:
        PermanentError: Request or snapshot are gone or corrupt.
    """
    request, digest = stores.requests.load(run)
    snapshot = None
    if pause is not None and pause.snapshot is not None:
        snapshot = stores.documents.get(pause.snapshot)
    return SegmentWork(
        run_id=run.id,
        tenant=run.tenant,
        app=run.app,
        face=run.face,
        segment=run.segment,
        request=request,
        request_digest=digest,
        snapshot=snapshot,
        answers=None if snapshot is None or forms is None else _answers(pause, forms),
        max_questions=1 if run.face is Face.PROTOCOL else MAX_QUESTIONS_PER_TURN,
        questions_left=max(0, MAX_QUESTIONS_PER_RUN - run.questions),
        remaining_seconds=remaining_seconds,
    )


MAX_QUESTIONS_PER_TURN = 10
"""Questions in one model turn (DESIGN §3 Limits)."""
MAX_QUESTIONS_PER_RUN = 20
"""Questions a run may ask (DESIGN §3 Limits)."""


def _answers(pause: Pause | None, forms: list[WholeForm]) -> Mapping[str, Any]:
    by_id = {whole.form.id: whole for whole in forms}
    calls = pause.forms.items() if pause else ()
    return {
        call: ask_result(by_id[form_id].form, by_id[form_id].content.definition)
        for call, form_id in calls
    }


def _too_many_deaths(run: Run, records: Mapping[str, OperationRecord]) -> Failed | None:
    """Fail a run whose workers keep dying outside of a tool: tools have their own count."""
    in_tool = any(
        record.operation.kind is OperationKind.TOOL and not record.is_finished
        for record in records.values()
    )
    if run.deaths < MAX_DEATHS or in_tool:
        return None
    return Failed(
        error=f"the worker died {run.deaths} times in one model call",
        reason="worker_died",
    )
