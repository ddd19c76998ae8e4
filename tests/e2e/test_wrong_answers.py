"""Answers on the page that are wrong: the page says what to do, and nothing is decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from e2e.scenes import asking, comment, filled
from e2e.web import FORM_TYPE, Request, get, submit
from sayso.domain.transitions import RunStatus

if TYPE_CHECKING:
    from e2e.stage import Stage
    from sayso.domain.ids import RunId

pytestmark = pytest.mark.stack

MAX_BODY_BYTES = 4 * 1024 * 1024
SECRET = "never-quoted-back"
"""What somebody typed into a field."""


GOOD = {"action": "approve", "reason": "lost", "comment": SECRET}


class WrongAnswer(NamedTuple):
    """An answer that does not fit, and how the page refuses it."""

    fields: dict[str, str]
    status: int
    says: str


WRONG_ANSWERS = {
    "a missing field": WrongAnswer(
        {"action": "approve", "reason": "lost"}, 422, "There is a problem"
    ),
    "blanks only": WrongAnswer(GOOD | {"comment": " \n "}, 422, "There is a problem"),
    "a foreign field": WrongAnswer(GOOD | {"salary": "1"}, 422, "There is a problem"),
    "no action": WrongAnswer({"reason": "lost", "comment": SECRET}, 422, "There is a problem"),
    "a foreign action": WrongAnswer(GOOD | {"action": "fire"}, 422, "There is a problem"),
    "a foreign option": WrongAnswer(GOOD | {"reason": "bored"}, 422, "There is a problem"),
    "too much text": WrongAnswer(GOOD | {"comment": "x" * 20_001}, 422, "There is a problem"),
    "what was not shown": WrongAnswer(GOOD | {"form_nonce": "0" * 64}, 409, "There is a problem"),
}


@pytest.mark.parametrize("name", WRONG_ANSWERS)
def test_an_answer_that_does_not_fit_decides_nothing(
    stage: Stage, waiting: RunId, link: str, name: str
) -> None:
    wrong = WRONG_ANSWERS[name]
    before = stage.records.about(waiting)

    reply = submit(link, wrong.fields)

    assert reply.status == wrong.status
    assert wrong.says in reply.text
    assert "Approve refund" in reply.text, "the form is shown again"
    assert stage.records.about(waiting) == before


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Content-Type": "application/json"}, b'{"action": "approve"}', 400),
        ({"Content-Type": FORM_TYPE}, b"action=approve&action=refuse&reason=lost&comment=x", 400),
        ({"Content-Type": FORM_TYPE}, b"action=approve&reason=lost&comment=%ff", 400),
        ({"Content-Type": FORM_TYPE}, b"comment=" + b"x" * MAX_BODY_BYTES, 400),
        (
            {"Content-Type": FORM_TYPE, "Sec-Fetch-Site": "cross-site"},
            b"action=approve&reason=lost&comment=x",
            403,
        ),
        (
            {"Content-Type": FORM_TYPE, "Origin": "https://elsewhere.example"},
            b"action=approve&reason=lost&comment=x",
            403,
        ),
    ],
    ids=["JSON", "twice", "not UTF-8", "huge", "from another site", "of another origin"],
)
def test_a_post_that_no_page_of_ours_sends_decides_nothing(
    stage: Stage, waiting: RunId, link: str, headers: dict[str, str], body: bytes, status: int
) -> None:
    before = stage.records.about(waiting)

    reply = Request(method="POST", url=link, body=body, headers=headers).send()

    assert reply.status == status
    assert "Approve refund" in reply.text, "the form is shown again"
    assert stage.records.about(waiting) == before


def test_looking_decides_nothing(stage: Stage, waiting: RunId, link: str) -> None:
    """A mail scanner opens links, with whatever is in their query (I4)."""
    before = stage.records.about(waiting)

    looked = get(f"{link}?action=approve&reason=lost&comment=x")
    scanned = Request(method="HEAD", url=link).send()
    others = [Request(method=method, url=link).send() for method in ("PUT", "DELETE", "PATCH")]

    assert (looked.status, scanned.status, scanned.body) == (200, 200, b"")
    assert [one.status for one in others] == [405, 405, 405]
    assert stage.records.about(waiting) == before


def test_the_same_answer_sent_twice_is_one_decision_with_its_receipt(stage: Stage) -> None:
    run_id = stage.create(asking())
    stage.records.wait_until(run_id, RunStatus.PAUSED)
    (form,) = stage.records.forms(run_id)
    link = stage.link_to(form)
    fields = filled(get(link).text, "approve", comment())

    first, again = submit(link, fields), submit(link, fields)
    other = submit(link, fields | {"action": "refuse"})

    stage.records.wait_until(run_id, RunStatus.SUCCEEDED)
    assert (first.status, again.status, other.status) == (303, 303, 409)
    assert first.headers["location"] == again.headers["location"]
    assert stage.records.audit(form) == ["asked", "submitted"]
    assert stage.records.run(run_id).segment == 2
