"""Answers of programs that are wrong: the contract's error, and nothing is decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from e2e.scenes import Json, asking, comment, filled
from e2e.stage import token_of
from e2e.web import get, submit
from sayso.domain.transitions import FormStatus, RunStatus

if TYPE_CHECKING:
    from e2e.stage import Stage
    from sayso.domain.ids import RunId

pytestmark = pytest.mark.stack

MAX_BODY_BYTES = 4 * 1024 * 1024
SECRET = "never-quoted-back"
"""What somebody typed into a field."""


ANSWER: Json = {
    "inputs": {"reason": "lost", "comment": SECRET},
    "action": "approve",
    "user": "somebody",
}
DATA, SHAPE = "invalid_form_data", "invalid_param"
WRONG_API_ANSWERS: dict[str, tuple[object, str, str]] = {
    "a missing field": (
        ANSWER | {"inputs": {"reason": "lost"}},
        DATA,
        "Missing required inputs: comment",
    ),
    "a foreign field": (
        ANSWER | {"inputs": {"reason": "lost", "comment": "c", "salary": "1"}},
        DATA,
        "Unknown input: salary",
    ),
    "a field of another type": (
        ANSWER | {"inputs": {"reason": "lost", "comment": 5}},
        DATA,
        "Invalid value for paragraph input 'comment': expected string",
    ),
    "a foreign option": (
        ANSWER | {"inputs": {"reason": "bored", "comment": "c"}},
        DATA,
        "Invalid value for select input 'reason': bored",
    ),
    "a foreign action": (ANSWER | {"action": "fire"}, DATA, "Invalid action: fire"),
    "an unknown member": (ANSWER | {"surprise": 1}, SHAPE, "body.surprise: Extra inputs"),
    "nobody": ({k: v for k, v in ANSWER.items() if k != "user"}, SHAPE, "body.user: Field"),
    "fields of another type": (ANSWER | {"inputs": []}, SHAPE, "body.inputs: Input should be"),
    "half of a document": (b"{", SHAPE, "body.1: JSON decode error"),
    "a list": ([], SHAPE, "body: Input should be"),
}


@pytest.mark.parametrize("name", WRONG_API_ANSWERS)
def test_a_programs_answer_that_does_not_fit_decides_nothing(
    stage: Stage, waiting: RunId, link: str, name: str
) -> None:
    body, code, message = WRONG_API_ANSWERS[name]
    before = stage.records.about(waiting)

    reply = stage.call("POST", f"/v1/form/human_input/{token_of(link)}", body)

    assert (reply.status, reply.json["status"], reply.json["code"]) == (400, 400, code)
    assert reply.json["message"].startswith(message)
    assert SECRET not in reply.text
    assert stage.records.about(waiting) == before


def test_a_program_that_comes_second_is_told_so(stage: Stage) -> None:
    run_id = stage.create(asking())
    stage.records.wait_until(run_id, RunStatus.PAUSED)
    (form,) = stage.records.forms(run_id)
    path = f"/v1/form/human_input/{token_of(stage.link_to(form))}"

    first, again = stage.call("POST", path, ANSWER), stage.call("POST", path, ANSWER)
    second = stage.call("POST", path, ANSWER | {"action": "refuse"})
    stage.records.wait_until(run_id, RunStatus.SUCCEEDED)
    looked = stage.call("GET", path)

    assert [first.status, again.status] == [200, 200]
    for reply in (second, looked):
        assert (reply.status, reply.json["code"]) == (412, "human_input_form_submitted")
    assert stage.records.audit(form) == ["asked", "submitted"]


def test_answers_after_a_cancel_meet_the_closed_form(stage: Stage) -> None:
    run_id = stage.create(asking())
    stage.records.wait_until(run_id, RunStatus.PAUSED)
    (form,) = stage.records.forms(run_id)
    link = stage.link_to(form)
    fields = filled(get(link).text, "approve", comment())
    assert stage.call("POST", f"/runs/{run_id}/cancel", {"reason": "enough"}).status == 200
    before = stage.records.about(run_id)

    page, api = (
        submit(link, fields),
        stage.call("POST", f"/v1/form/human_input/{token_of(link)}", ANSWER),
    )

    assert (page.status, api.status) == (410, 412)
    assert "This question is no longer open" in page.text
    assert fields["comment"] in page.text
    assert api.json["code"] == "human_input_form_expired"
    assert stage.records.about(run_id) == before
    (form,) = stage.records.forms(run_id)
    assert form.status is FormStatus.CANCELLED
