"""What calls the sweep: the minute's tick, and one-time schedules of forms and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sayso.domain.ids import FormId, RunId
from sayso.store.keys import shard_of
from sayso.usecases.sweep import sweep
from sayso.usecases.time_out import time_out_form

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sayso.usecases.tell_people import Telling

SHARE_OF_TIME = 0.85
"""A pass takes up nothing new after this share of its time; the next one goes on (DESIGN §2)."""


def tick(
    event: Mapping[str, Any], telling: Telling, remaining_seconds: Callable[[], float]
) -> None:
    """Do what one invocation asks for.

    Raises:
        RetryableError: Of a one-time schedule; the scheduler tries again.
    """
    match event:
        case {"kind": "timeout", "form_id": str(form_id)}:
            time_out_form(FormId(form_id), telling.context)
        case {"kind": "resume", "run_id": str(run_id)}:
            telling.context.queue.resume(RunId(run_id))
        case _:
            _sweep(telling, remaining_seconds)


def _sweep(telling: Telling, remaining_seconds: Callable[[], float]) -> None:
    reserve = remaining_seconds() * (1 - SHARE_OF_TIME)
    swept = sweep(
        telling,
        has_time=lambda: remaining_seconds() > reserve,
        first_shard=shard_of(telling.context.ids.token()),
    )
    telling.context.report(
        "swept", count=swept.seen, status="complete" if swept.complete else "cut"
    )
