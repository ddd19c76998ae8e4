"""Answers never wait behind new runs, however many of these are queued."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from e2e.extent import extent
from e2e.models import ModelServer, model_server
from e2e.scenes import asking, comment, filled, openai
from e2e.waiting import eventually
from e2e.web import get, submit
from sayso.domain.transitions import RunStatus

if TYPE_CHECKING:
    from e2e.stage import Stage
    from sayso.domain.ids import RunId

pytestmark = pytest.mark.stack

QUEUED_STARTS = extent("QUEUED_STARTS", usual=30)
"""300 in full."""
STARTS_AT_ONCE = 2
"""Workers of the queue of starts on the local stack."""
ANSWERS = 5
MODEL_SECONDS = 1.0
ALLOWED = 4


@pytest.mark.slow
def test_hardly_a_start_begins_between_an_answer_and_its_resume(stage: Stage) -> None:
    """A start shows itself when it calls its model, which can be soon after it began.

    So at most one start of each worker has begun without having shown itself yet.
    """
    waiting = [stage.create(asking()) for _ in range(ANSWERS + 1)]
    for run_id in waiting:
        stage.records.wait_until(run_id, RunStatus.PAUSED)
    with model_server(held=True) as model:
        starts = [stage.create(openai(model.url)) for _ in range(STARTS_AT_ONCE)]
        eventually("all workers of starts to be busy", lambda: len(model.calls) == STARTS_AT_ONCE)
        starts += [stage.create(openai(model.url)) for _ in range(QUEUED_STARTS)]
        begun_meanwhile(stage, waiting[0], model)  # lets a worker for answers get warm
        model.seconds = MODEL_SECONDS
        model.gate.set()

        begun = [begun_meanwhile(stage, run_id, model) for run_id in waiting[1:]]

        queued = len(starts) - len(model.calls)
        model.seconds = 0
        for run_id in starts:
            stage.records.wait_until(run_id, RunStatus.SUCCEEDED)
    assert queued >= QUEUED_STARTS / 2, "starts were queued during all answers"
    assert max(begun) + STARTS_AT_ONCE <= ALLOWED, begun


def begun_meanwhile(stage: Stage, run_id: RunId, model: ModelServer) -> int:
    """Answer a run; count the starts that showed themselves until the answer's resume claim."""
    (link,) = stage.links(run_id)
    assert submit(link, filled(get(link).text, "approve", comment())).status == 303
    stage.records.wait_until(run_id, RunStatus.SUCCEEDED)
    (form,) = stage.records.forms(run_id)
    (pause,) = stage.records.stores.runs.pauses(run_id)
    assert form.decision is not None
    assert pause.resumed_at is not None
    answered_at, resumed_at = form.decision.decided_at.timestamp(), pause.resumed_at.timestamp()
    return sum(answered_at <= call <= resumed_at for call in model.calls)
