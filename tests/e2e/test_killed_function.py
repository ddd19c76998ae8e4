"""The emulator's own worker of the function ``resume`` is killed while it calls a model."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from e2e.models import model_server
from e2e.processes import environment_of, is_running, process_of_port
from e2e.scenes import comment, filled, openai, to_api
from e2e.waiting import eventually
from e2e.web import get, submit
from sayso.domain.transitions import RunStatus

if TYPE_CHECKING:
    from e2e.stage import Stage
    from sayso.domain.ids import RunId

pytestmark = pytest.mark.stack


@pytest.mark.slow
def test_a_run_ends_though_its_worker_was_killed_with_the_answer_in_its_hands(
    stage: Stage,
) -> None:
    said = comment()
    with model_server() as model:
        run_id = stage.create(openai(model.url, human_input=to_api()))
        stage.records.wait_until(run_id, RunStatus.PAUSED)
        (link,) = stage.links(run_id)
        model.gate.clear()
        answered = submit(link, filled(get(link).text, "approve", said))
        eventually("the model to be asked with the answer", lambda: len(model.calls) == 2)

        worker = process_of_port(model.ports[1])
        function = environment_of(worker)["AWS_LAMBDA_FUNCTION_NAME"]
        os.kill(worker, signal.SIGKILL)
        eventually("the worker to be gone", lambda: not is_running(worker))
        model.gate.set()
        take_over(stage, run_id)
        output = stage.output(run_id)

    assert answered.status == 303
    assert function == stage.stack.deployment.outputs["ResumeFunctionName"]
    assert said in output
    assert len(model.calls) == 3, "the first call is never repeated, the second was not finished"
    run = stage.records.run(run_id)
    assert (run.segment, run.epoch) == (2, 3)
    (form,) = stage.records.forms(run_id)
    assert stage.records.audit(form) == ["asked", "submitted"]


def take_over(stage: Stage, run_id: RunId) -> None:
    """Wait until the run is overdue, then let the sweep find it."""

    def is_overdue() -> bool:
        due_at = stage.records.run(run_id).due_at
        return due_at is not None and due_at <= datetime.now(UTC)

    assert stage.records.run(run_id).status is RunStatus.RUNNING
    eventually("the run to be overdue", is_overdue, every=0.2)
    stage.sweep()
