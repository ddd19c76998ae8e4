"""Checks the invariants of DESIGN §6 on what was stored and on what clients saw."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sayso.domain.run import Face
from sayso.domain.transitions import FormStatus, RunStatus
from sayso.store.keys import AUDIT, credential_key, form_pk, run_pk

if TYPE_CHECKING:
    from sayso.domain.form import Form
    from sayso.domain.ids import RunId
    from support.world import World

TERMINAL_EVENTS = {
    RunStatus.SUCCEEDED: "run_succeeded",
    RunStatus.FAILED: "run_failed",
    RunStatus.CANCELLED: "run_cancelled",
    RunStatus.EXPIRED: "run_failed",
}


def check_run(world: World, run_id: RunId) -> None:
    """Fail with the invariant's number when one is broken. The run must have come to rest."""
    run = world.run(run_id)
    assert run.status.is_final, f"I7: the run ended, it is {run.status}"
    _check_events(world, run_id, run.status)
    _check_operations(world, run_id)
    for form in world.forms(run_id):
        _check_form(world, form)
        assert form.status.is_final, f"I6: no form of an ended run waits, {form.id}"
    _check_answers(world, run_id)
    credential = world.table.get(credential_key(run_id))
    assert credential is None, "I10: the credentials went with the run"


def _check_events(world: World, run_id: RunId, status: RunStatus) -> None:
    events = world.events(run_id)
    numbers = [event.number for event in events]
    assert numbers == list(range(1, len(events) + 1)), f"I11: numbered without gaps: {numbers}"
    terminal = [e.number for e in events if e.type in set(TERMINAL_EVENTS.values())]
    assert terminal == [len(events)], "I11: one terminal event, and nothing follows it"
    assert events[-1].type == TERMINAL_EVENTS[status], "I11: status and event agree"
    shown = [json.dumps(e.data) for e in events if e.type == "pydantic_ai_event"]
    assert len(shown) == len(set(shown)), "I11: no event is doubled"


def _check_operations(world: World, run_id: RunId) -> None:
    items = world.table.query(run_pk(run_id), prefix="JOURNAL#")
    for item in items:
        assert item["starts"] <= 3, "I2: no tool is started for ever"
    pauses = world.context.stores.runs.pauses(run_id)
    assert len({pause.id for pause in pauses}) == len(pauses), "I2: pauses are told apart"


def _check_form(world: World, form: Form) -> None:
    entries = world.table.query(form_pk(form.id), prefix=AUDIT)
    said = [str(entry["what"]) for entry in entries]
    decided = said.count("submitted")
    assert decided == (form.decision is not None), "I9: one audit entry a decision"
    assert decided <= 1, "I1: at most one decision"
    assert (form.status is FormStatus.SUBMITTED) == (form.decision is not None), "I1"
    if form.decision is not None:
        assert form.decision.decided_at < form.deadline, "I6: no decision after the deadline"


def _check_answers(world: World, run_id: RunId) -> None:
    run = world.run(run_id)
    if run.status is not RunStatus.SUCCEEDED or run.face is not Face.MANAGED:
        return
    last = world.forms(run_id)
    if not last:
        return
    pause_id = run.pause_id
    output = json.loads(world.events(run_id)[-1].data["output"])
    for form in last:
        if form.pause_id != pause_id:
            continue
        answer = output[form.tool_call_id]
        if form.decision is not None:
            assert answer["status"] == "submitted", "I3: an acknowledged answer is not lost"
            assert answer["values"] == dict(form.decision.values), "I3: nor changed"
        else:
            assert answer["status"] != "submitted", "I1: nothing was decided"
