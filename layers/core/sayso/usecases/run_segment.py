"""Run a segment: first start, continuation after an answer or a wait, next slice (DESIGN §5).

Called by queue messages. A message that meets a live lease or an ended run is acknowledged by
returning: the record is the truth. Only infrastructure errors leave as ``RetryableError``.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sayso.domain.errors import PermanentError, RetryableError
from sayso.domain.segment import (
    ActiveTimeOver,
    CancelSeen,
    Failed,
    JournalMismatch,
    JournalUnavailable,
    LeaseLost,
    OperationKind,
    RunDeadlinePassed,
    SliceEnded,
)
from sayso.usecases.commit_segment import commit_cancelled, commit_result
from sayso.usecases.context import Context, tell
from sayso.usecases.ending import expire_run
from sayso.usecases.load_forms import load_forms
from sayso.usecases.pause_run import Asking, pause_until
from sayso.usecases.prepare import prepare
from sayso.usecases.worker import LeasedRun

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sayso.domain.ids import RunId
    from sayso.domain.run import Run
    from sayso.domain.segment import OperationRecord, SegmentResult, SegmentWork
    from sayso.ports import AgentRunner
    from sayso.usecases.prepare import Prepared

LIMIT_EXCEEDED = "agent_run_limit_exceeded"
"""``error_type`` of a run that a limit ended (dify-agent §13)."""
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
    max_active: timedelta = timedelta(hours=1)
    """How long a run may be worked on, all segments together (dify-agent §13)."""


def run_segment(run_id: RunId, shop: Workshop) -> None:
    """Claim a running run and work on its current segment.

    Raises:
        RetryableError: Infrastructure failed; the message is to come again.
    """
    context = shop.context
    owner = context.ids.token()
    run = context.stores.runs.claim(run_id, owner=owner, now=context.clock.now(), lease=shop.lease)
    now = context.clock.now()
    if run is None:
        context.report("nothing_to_claim", run_id=run_id)
    elif run.deadline <= now:
        expire_run(run, context)
    elif run.not_before is not None and run.segment == 1 and run.not_before > now:
        with contextlib.suppress(LeaseLost, CancelSeen):
            pause_until(run, run.not_before, shop.asking)
    else:
        _take_up(run, shop)


def _take_up(run: Run, shop: Workshop) -> None:
    """Work on a claimed run from what is stored of it."""
    context = shop.context
    first = run.epoch == 1
    records = {} if first else context.stores.journal.load(run)
    if failed := _too_many_deaths(run, records):
        commit_result(run, failed, shop.asking, {})
        return
    try:
        request, pause = context.stores.requests.load(run)
        forms = load_forms(pause, context)
        prepared = prepare(run, request, pause, forms, context.stores, shop.remaining_seconds)
    except PermanentError as error:
        commit_result(run, _unready(error), shop.asking, {})
    else:
        work_on(run, prepared, records, shop)


def work_on(
    run: Run, prepared: Prepared, records: Mapping[str, OperationRecord], shop: Workshop
) -> None:
    """Work on a claimed run to the end of the segment, the slice, or a loss of the lease.

    Args:
        run: The run, its lease ours.
        prepared: What the agent gets.
        records: What earlier workers recorded of this segment.
        shop: What a worker needs.

    Raises:
        RetryableError: Infrastructure failed; the message is to come again.
    """
    context, policy = shop.context, prepared.policy()
    try:
        work = prepared.unlocked(run, context.stores)
    except PermanentError as error:
        commit_result(run, _unready(error), shop.asking, policy)
    else:
        held = LeasedRun(run, records, context, lease=shop.lease, max_active=shop.max_active)
        asyncio.run(_work(held, replace(work, leave=held.leave), policy, shop))


def _unready(error: PermanentError) -> Failed:
    return Failed(error=str(error), reason="resume_failed")


async def _work(
    held: LeasedRun, work: SegmentWork, policy: Mapping[str, Any], shop: Workshop
) -> None:
    try:
        result = await _under_lease(held, work, shop)
    except LeaseLost:
        shop.context.report("lease_lost", run_id=held.run.id)
    except CancelSeen:
        await asyncio.to_thread(commit_cancelled, held.run, shop.asking, held.left)
    except SliceEnded:
        await asyncio.to_thread(_hand_over, held.run, shop.context)
    except JournalUnavailable as stop:
        message = str(stop)
        raise RetryableError(message) from stop
    except RunDeadlinePassed:
        await asyncio.to_thread(expire_run, held.run, shop.context, held.left)
    except ActiveTimeOver as stop:
        failed = Failed(
            error=str(stop),
            error_type=LIMIT_EXCEEDED,
            session_snapshot=held.left.session_snapshot,
            usage=held.left.usage,
        )
        await asyncio.to_thread(commit_result, held.run, failed, shop.asking, policy)
    except JournalMismatch as stop:
        failed = Failed(error=str(stop), reason="journal_mismatch")
        await asyncio.to_thread(commit_result, held.run, failed, shop.asking, policy)
    else:
        await asyncio.to_thread(commit_result, held.run, result, shop.asking, policy)


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
