"""Commits how a segment ended: the run's end, or its pause."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never

from sayso.domain.errors import MovedOnError
from sayso.domain.policy import HumanInputPolicy
from sayso.domain.run import NO_FAILURE, CancelIntent, EventDraft, Face, Failure
from sayso.domain.segment import (
    NOTHING_LEFT,
    Asked,
    CancelSeen,
    Failed,
    Finished,
    LeaseLost,
    Left,
)
from sayso.domain.transitions import RunTrigger
from sayso.store.leases import NO_CANCEL
from sayso.usecases.ending import (
    cancelled,
    end_run,
    terminal_cancelled,
    terminal_failed,
    wire_usage,
)
from sayso.usecases.pause_run import pause_for_people

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.run import Run
    from sayso.domain.segment import SegmentResult
    from sayso.usecases.pause_run import Asking


def commit_result(
    run: Run, result: SegmentResult, asking: Asking, policy: Mapping[str, Any]
) -> None:
    """Commit the result of a segment under the lease of ``run``; ``policy`` says whom to ask.

    After an accepted cancel neither success nor failure can win (dify-agent §13): the end that
    is written then is the cancel's.
    """
    try:
        _commit(run, result, asking, policy)
    except CancelSeen:
        commit_cancelled(run, asking, _left_by(result))
    except LeaseLost:
        asking.context.report("lease_lost", run_id=run.id)
    except MovedOnError:
        _after_conflict(run, asking, _left_by(result))


def _commit(run: Run, result: SegmentResult, asking: Asking, policy: Mapping[str, Any]) -> None:
    match result:
        case Finished():
            data = _succeeded(run, result, output=result.output)
            _end(run, RunTrigger.SUCCEED, asking, result, data)
        case Asked() if run.face is Face.PROTOCOL:
            data = _succeeded(run, result, deferred_tool_call=_deferred(result))
            _end(run, RunTrigger.SUCCEED, asking, result, data)
        case Asked():
            pause_for_people(run, result, asking, HumanInputPolicy.model_validate(policy))
        case Failed():
            failure = Failure(
                error=result.error, reason=result.reason, error_type=result.error_type
            )
            _end(run, RunTrigger.FAIL, asking, result, terminal_failed(result, run), failure)
        case _:
            assert_never(result)


def _end(
    run: Run,
    trigger: RunTrigger,
    asking: Asking,
    result: SegmentResult,
    terminal: EventDraft,
    failure: Failure = NO_FAILURE,
) -> None:
    end_run(
        run,
        trigger,
        asking.context,
        events=[*result.events, terminal],
        failure=failure,
        usage=result.usage,
        also=(NO_CANCEL,),
    )


def _succeeded(run: Run, result: Finished | Asked, **outcome: Any) -> EventDraft:
    data = {
        **outcome,
        "session_snapshot": result.session_snapshot,
        "usage": wire_usage(result.usage, run),
    }
    return EventDraft(type="run_succeeded", data=data)


def _deferred(result: Asked) -> dict[str, Any]:
    question = result.questions[0]
    return {
        "tool_call_id": question.tool_call_id,
        "tool_name": question.tool_name,
        "args": dict(question.args),
        "metadata": dict(question.metadata),
    }


def commit_cancelled(run: Run, asking: Asking, left: Left = NOTHING_LEFT) -> None:
    """Write the end that a cancel intent asked for, under the lease of ``run``."""
    context = asking.context
    current = context.stores.runs.get(run.id)
    if current is None or current.epoch != run.epoch or current.status.is_final:
        context.report("lease_lost", run_id=run.id)
        return
    intent = current.cancel or CancelIntent(reason=None, message=None)
    current = replace(current, active_ms=run.active_ms)
    try:
        end_run(
            current,
            RunTrigger.CANCEL,
            context,
            events=[terminal_cancelled(intent, current, left)],
            failure=cancelled(intent),
            usage=left.usage,
        )
    except MovedOnError:
        context.report("lease_lost", run_id=run.id)


def _left_by(result: SegmentResult) -> Left:
    return Left(session_snapshot=result.session_snapshot, usage=result.usage)


def _after_conflict(run: Run, asking: Asking, left: Left) -> None:
    current = asking.context.stores.runs.get(run.id)
    if current is not None and current.epoch == run.epoch and current.cancel is not None:
        commit_cancelled(run, asking, left)
    else:
        asking.context.report("lease_lost", run_id=run.id)
