"""Deadlines on the real clock: a question that nobody answers."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from e2e.scenes import asking, filled
from e2e.waiting import eventually
from e2e.web import get, submit
from sayso.domain.transitions import FormStatus, RunStatus

if TYPE_CHECKING:
    from e2e.stage import Stage

pytestmark = pytest.mark.stack

PROMISED = timedelta(seconds=10)


@pytest.mark.slow
def test_the_model_learns_within_seconds_that_nobody_answered(stage: Stage) -> None:
    run_id = stage.create(asking(timeout=5, timeout_unit="second"))
    (form,) = eventually("the run to ask", lambda: stage.records.forms(run_id))
    link = stage.link_to(form)
    in_time = get(link)

    output = stage.output(run_id)

    run = stage.records.run(run_id)
    assert '"status": "timeout"' in output.replace("\\", "")
    assert form.deadline - form.created_at == timedelta(seconds=5)
    assert form.deadline <= run.updated_at <= form.deadline + PROMISED
    before = stage.records.about(run_id)
    page, late = get(link), submit(link, filled(in_time.text, "approve", "too late"))
    assert (page.status, late.status) == (200, 410)
    for one in (page, late):
        assert "The time to answer is over" in one.text
    assert "too late" in late.text, "what was typed is given back"
    assert stage.records.about(run_id) == before
    (form,) = stage.records.forms(run_id)
    assert form.status is FormStatus.TIMEOUT
    assert stage.records.audit(form) == ["asked", "timeout"]


def test_a_run_past_its_own_deadline_ends_and_closes_its_question(stage: Stage) -> None:
    run_id = stage.create(asking(run_timeout_seconds=3))
    (form,) = eventually("the run to ask", lambda: stage.records.forms(run_id))

    def is_over() -> bool:
        stage.sweep()
        return stage.records.run(run_id).status is RunStatus.EXPIRED

    eventually("the run to expire", is_over, every=0.5)

    (form,) = stage.records.forms(run_id)
    assert form.status is FormStatus.EXPIRED
    last = stage.events(run_id)[-1]
    assert (last["type"], last["data"]["reason"]) == ("run_failed", "expired")
    assert "The time to answer is over" in get(stage.link_to(form)).text
