"""Events that say where segments begin and end, for the workflow view only (DESIGN §7.1).

They are written in the transactions that make them true: a replayed segment writes none again
(I11). They carry counts, never an answer or an address: how a form ended stands in its record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sayso.domain.run import Audience, EventDraft
from sayso.domain.transitions import RunTrigger

if TYPE_CHECKING:
    from sayso.domain.run import Run
    from sayso.domain.segment import Usage

SEGMENT_STARTED: Final = "segment_started"
SEGMENT_FINISHED: Final = "segment_finished"

_NODE_STATUS: Final = {
    RunTrigger.PAUSE: "succeeded",
    RunTrigger.SUCCEED: "succeeded",
    RunTrigger.FAIL: "failed",
    RunTrigger.CANCEL: "stopped",
    RunTrigger.EXPIRE: "stopped",
}
"""How a segment ended, in the words of workflow nodes; one that asked has done its part."""


def segment_started(segment: int) -> EventDraft:
    """Return the mark of a segment that goes on after a pause."""
    data = {"segment": segment}
    return EventDraft(type=SEGMENT_STARTED, data=data, audience=Audience.WORKFLOW)


def segment_finished(run: Run, trigger: RunTrigger, usage: Usage | None) -> EventDraft:
    """Return the mark of a segment that ends.

    Args:
        run: As it is held; ``active_ms`` counts all its segments.
        trigger: What ends it.
        usage: Of all segments; None when the worker left none behind.
    """
    data = {
        "segment": run.segment,
        "status": _NODE_STATUS[trigger],
        "elapsed_ms": run.active_ms,
        "total_tokens": None if usage is None else usage.input_tokens + usage.output_tokens,
        "total_steps": None if usage is None else usage.requests,
    }
    return EventDraft(type=SEGMENT_FINISHED, data=data, audience=Audience.WORKFLOW)
