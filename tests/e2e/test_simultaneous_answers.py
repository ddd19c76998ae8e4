"""Answers that come in the same instant: one decision, one resume, one audit entry each time."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from e2e.extent import extent
from e2e.scenes import ACTIONS, asking, comment, filled
from e2e.web import get, send_at_once, send_one_behind_the_other, submission
from sayso.domain.transitions import FormStatus, RunStatus

if TYPE_CHECKING:
    from e2e.stage import Stage
    from sayso.domain.ids import RunId

pytestmark = pytest.mark.stack

SUBMITTERS = 32
SUBMIT_RACES = extent("SUBMIT_RACES", usual=10)
"""100 in full."""
FORM_RACES = extent("FORM_RACES", usual=12)
"""200 in full; each order is tried twice at least."""
ORDERS = list(itertools.permutations(range(3)))


def check_resumed_once(stage: Stage, run_id: RunId) -> None:
    """Look for a second resume in every record that would show one."""
    (pause,) = stage.records.stores.runs.pauses(run_id)
    assert pause.resumed_at is not None
    run = stage.records.run(run_id)
    assert (run.segment, run.epoch) == (2, 2)
    types = [event["type"] for event in stage.events(run_id)]
    assert types.count("run_paused") == 1
    assert types.count("run_succeeded") == 1
    assert types[-1] == "run_succeeded"


@pytest.mark.slow
@pytest.mark.parametrize("race", range(SUBMIT_RACES))
def test_of_many_simultaneous_answers_one_is_the_decision(stage: Stage, race: int) -> None:
    run_id = stage.create(asking(title=f"Race {race}"))
    stage.records.wait_until(run_id, RunStatus.PAUSED)
    (link,) = stage.links(run_id)
    page = get(link).text
    sent = [
        filled(page, ACTIONS[number % 2], comment(), reason="lost" if number % 3 else "goodwill")
        for number in range(SUBMITTERS)
    ]

    replies = send_at_once([submission(link, fields) for fields in sent])

    output = stage.output(run_id)
    (form,) = stage.records.forms(run_id)
    won = [number for number, reply in enumerate(replies) if reply.status == 303]
    assert [reply.status for reply in replies].count(409) == SUBMITTERS - 1
    assert len(won) == 1
    winner = sent[won[0]]
    assert form.status is FormStatus.SUBMITTED
    assert form.decision is not None
    assert form.decision.action_id == winner["action"]
    assert form.decision.values == {name: winner[name] for name in ("reason", "comment")}
    assert stage.records.audit(form) == ["asked", "submitted"]
    check_resumed_once(stage, run_id)
    assert [one["comment"] in output for one in sent].count(True) == 1
    assert winner["comment"] in output
    receipt = get(link)
    assert winner["comment"] in receipt.text
    lost = [reply.text for reply in replies if reply.status == 409]
    assert all("Already answered" in text for text in lost)


@pytest.mark.slow
@pytest.mark.parametrize("race", range(FORM_RACES))
def test_three_simultaneous_answers_in_any_order_resume_the_run_once(
    stage: Stage, race: int
) -> None:
    run_id = stage.create(asking("first", "second", "third", title=f"Race {race}"))
    stage.records.wait_until(run_id, RunStatus.PAUSED)
    links = stage.links(run_id)
    answers = [(link, filled(get(link).text, "approve", comment())) for link in links]
    in_order = [answers[number] for number in ORDERS[race % len(ORDERS)]]

    replies = send_one_behind_the_other([submission(*answer) for answer in in_order])

    output = stage.output(run_id)
    assert [reply.status for reply in replies] == [303, 303, 303]
    check_resumed_once(stage, run_id)
    assert all(fields["comment"] in output for _, fields in answers)
    for form in stage.records.forms(run_id):
        assert stage.records.audit(form) == ["asked", "submitted"]
