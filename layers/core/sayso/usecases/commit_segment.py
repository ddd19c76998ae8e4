"""Commits how a segment ended: the run's end, or its pause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from sayso.domain.errors import MovedOnError
from sayso.domain.policy import HumanInputPolicy
from sayso.domain.run import CancelIntent, EventDraft, Face
from sayso.domain.segment import Asked, CancelSeen, Failed, Finished, LeaseLost
from sayso.domain.transitions import RunTrigger
from sayso.store.runs import NO_CANCEL
from sayso.usecases.ending import end_run, terminal_cancelled, terminal_failed
from sayso.usecases.pause_run import pause_for_people

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
        commit_cancelled(run, asking)
    except LeaseLost:
        asking.context.report("lease_lost", run_id=run.id)
    except MovedOnError:
        _after_conflict(run, asking)


def _commit(run: Run, result: SegmentResult, asking: Asking, policy: Mapping[str, Any]) -> None:
    match result:
        case Finished():
            data = _succeeded(result, output=result.output)
            _end(run, RunTrigger.SUCCEED, asking, [*result.events, data])
        case Asked() if run.face is Face.PROTOCOL:
            data = _succeeded(result, deferred_tool_call=_deferred(result))
            _end(run, RunTrigger.SUCCEED, asking, [*result.events, data])
        case Asked():
            pause_for_people(run, result, asking, HumanInputPolicy.model_validate(policy))
        case Failed():
            events = [*result.events, terminal_failed(result)]
            _end(run, RunTrigger.FAIL, asking, events, result.error, result.reason)
        case _:
            assert_never(result)


def _end(
    run: Run,
    trigger: RunTrigger,
    asking: Asking,
    events: Sequence[EventDraft],
    error: str | None = None,
    reason: str | None = None,
) -> None:
    end_run(
        run,
        trigger,
        asking.context,
        events=events,
        error=error,
        reason=reason,
        also=(NO_CANCEL,),
    )


def _succeeded(result: Finished | Asked, **outcome: Any) -> EventDraft:
    usage = result.usage
    data = {
        **outcome,
        "session_snapshot": result.session_snapshot,
        "usage": {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
        },
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


def commit_cancelled(run: Run, asking: Asking) -> None:
    """Write the end that a cancel intent asked for, under the lease of ``run``."""
    context = asking.context
    current = context.stores.runs.get(run.id)
    if current is None or current.epoch != run.epoch or current.status.is_final:
        context.report("lease_lost", run_id=run.id)
        return
    intent = current.cancel or CancelIntent(reason=None, message=None)
    try:
        end_run(
            current,
            RunTrigger.CANCEL,
            context,
            events=[terminal_cancelled(intent)],
            error=intent.message or intent.reason,
        )
    except MovedOnError:
        context.report("lease_lost", run_id=run.id)


def _after_conflict(run: Run, asking: Asking) -> None:
    current = asking.context.stores.runs.get(run.id)
    if current is not None and current.epoch == run.epoch and current.cancel is not None:
        commit_cancelled(run, asking)
    else:
        asking.context.report("lease_lost", run_id=run.id)
