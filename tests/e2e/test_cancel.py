"""A run is cancelled while its worker waits for a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from e2e.models import model_server
from e2e.scenes import openai, to_api
from e2e.waiting import eventually
from sayso.domain.transitions import RunStatus

if TYPE_CHECKING:
    from e2e.stage import Stage

pytestmark = pytest.mark.stack


def test_a_cancel_interrupts_a_model_call(stage: Stage) -> None:
    """The model never answers; the worker sees the wish when it renews its lease."""
    with model_server(held=True) as model:
        run_id = stage.create(openai(model.url, human_input=to_api()))
        eventually("the model to be asked", lambda: model.calls)

        cancelled = stage.call("POST", f"/runs/{run_id}/cancel", {"reason": "user", "message": "m"})
        again = stage.call("POST", f"/runs/{run_id}/cancel", {"reason": "other"})
        run = stage.records.wait_until(run_id, RunStatus.CANCELLED)

    events = stage.events(run_id)
    assert (cancelled.status, again.status) == (200, 200)
    assert cancelled.json == {"run_id": run_id, "status": "cancelled"}
    assert [event["type"] for event in events] == ["run_started", "run_cancelled"]
    assert events[-1]["data"] == {"reason": "user", "message": "m"}
    assert run.lease is None
    assert stage.records.forms(run_id) == []
