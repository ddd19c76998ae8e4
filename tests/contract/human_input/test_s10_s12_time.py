"""§10 to §12: states, pausing and resuming, timeouts; what operators may do to time."""

from __future__ import annotations

import itertools
import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.errors import ServiceUnavailableError
from sayso.store.codec import digest_of, to_json
from sayso.store.keys import AUDIT, form_pk
from support.functions import OTHER, SERVICE
from support.human_input import BACKSTAGE, MAIL, NOTE, Forms, node

if TYPE_CHECKING:
    from sayso.domain.form import Form

SHORT: dict[str, Any] = {"form": node(NOTE), "timeout": 10, "timeout_unit": "minute"}


def seconds(instant: datetime) -> int:
    return int(instant.timestamp())


def sweep(forms: Forms) -> None:
    forms.functions.invoke("timeout_sweep", {}, 55)
    forms.functions.settle()


def history(forms: Forms, form: Form) -> list[dict[str, Any]]:
    return forms.functions.wiring.table.query(form_pk(form.id), prefix=AUDIT)


# --- §10


def test_s10_submit_leads_to_submitted() -> None:
    forms = Forms(SHORT)

    forms.post({"note": "x"})

    assert forms.form.status == "submitted"


def test_s10_node_deadline_leads_to_timeout_and_a_result() -> None:
    forms = Forms(SHORT)
    forms.functions.clock.advance(timedelta(minutes=10))

    told = forms.result()

    assert forms.form.status == "timeout"
    assert (told["status"], told["action"]["id"], told["values"]) == ("timeout", "__timeout", {})


@pytest.mark.parametrize("end", ["answer", "timeout", "withdraw"])
def test_s10_terminal_states_never_change(end: str) -> None:
    forms = Forms(SHORT)
    if end == "answer":
        forms.post({"note": "x"})
    elif end == "timeout":
        forms.functions.clock.advance(timedelta(minutes=10))
        forms.functions.settle()
    else:
        forms.manage("withdraw", {})
    before = forms.form

    forms.post({"note": "y"}, "reject")
    forms.manage("withdraw", {"reason": "again"})
    forms.manage("extend", {"deadline": seconds(before.deadline) + 60})
    sweep(forms)

    assert forms.form.status == before.status
    assert forms.form.decision == before.decision
    assert forms.form.end_note == before.end_note


# --- extend


@pytest.mark.parametrize("as_text", [False, True])
def test_extend_moves_the_deadline_and_its_schedule(*, as_text: bool) -> None:
    forms = Forms(SHORT)
    later = forms.form.deadline + timedelta(hours=2)

    answer = forms.manage("extend", {"deadline": later.isoformat() if as_text else seconds(later)})
    forms.functions.clock.advance(timedelta(minutes=1))
    sweep(forms)
    forms.functions.clock.advance(timedelta(minutes=10))
    sweep(forms)

    assert answer.json == {
        "form_id": forms.form.id,
        "status": "waiting",
        "expiration_time": seconds(later),
    }
    assert forms.form.status == "waiting"
    assert forms.get().json["expiration_time"] == seconds(later)
    forms.functions.clock.set(later)
    assert forms.result()["status"] == "timeout"


def test_extend_is_an_entry_of_the_history_that_names_the_one_before() -> None:
    forms = Forms(SHORT)
    forms.manage("extend", {"deadline": seconds(forms.form.deadline) + 60})
    forms.post({"note": "x"})

    entries = history(forms, forms.form)

    assert [entry["what"] for entry in entries] == ["asked", "extended", "submitted"]
    for number, (before, entry) in enumerate(itertools.pairwise(entries), 1):
        said = [
            number,
            before["at"],
            before["what"],
            json.loads(before["facts"]),
            before["previous"],
        ]
        assert entry["previous"] == digest_of(to_json(said).encode())


@pytest.mark.parametrize(
    ("shift", "status"),
    [(timedelta(0), 200), (timedelta(seconds=-1), 422), (timedelta(days=30), 422)],
)
def test_extend_only_to_a_later_instant_within_the_run(shift: timedelta, status: int) -> None:
    forms = Forms(SHORT)
    deadline = forms.form.deadline

    answer = forms.manage("extend", {"deadline": seconds(deadline + shift)})

    assert answer.status == status
    assert forms.form.deadline == deadline
    if status == 422:
        assert answer.headers["content-type"] == "application/problem+json"


def test_extend_after_the_deadline_is_too_late() -> None:
    forms = Forms(SHORT)
    forms.functions.clock.advance(timedelta(minutes=10))

    answer = forms.manage("extend", {"deadline": seconds(forms.form.deadline) + 60})

    assert answer.status == 412
    assert answer.json["type"] == "urn:problem-type:sayso:form-closed"


@pytest.mark.parametrize("verb", ["extend", "withdraw", "recipients/1/revoke"])
def test_operators_need_a_console_key_of_the_same_tenant(verb: str) -> None:
    forms = Forms(SHORT)
    body = {"deadline": seconds(forms.form.deadline) + 60} if verb == "extend" else {}

    assert forms.manage(verb, body, key=None).status == 401
    assert forms.manage(verb, body, key=SERVICE).status == 403
    assert forms.manage(verb, body, key=OTHER).status == 404
    assert len(history(forms, forms.form)) == 1


@pytest.mark.parametrize("body", [{}, {"deadline": "soon"}, {"deadline": 1, "x": 1}])
def test_extend_reads_its_body_strictly(body: dict[str, Any]) -> None:
    assert Forms(SHORT).manage("extend", body).status == 422


# --- withdraw


def test_withdrawn_form_is_cancelled_and_the_run_goes_on() -> None:
    forms = Forms(SHORT)

    answer = forms.manage("withdraw", {"reason": "No longer needed"})

    assert answer.json["status"] == "cancelled"
    told = forms.result()
    assert (told["status"], told["message"]) == ("cancelled", "No longer needed")
    assert forms.get().json["code"] == "human_input_form_expired"
    assert "No longer needed" in forms.get("page", MAIL).body


def test_withdraw_twice_is_once() -> None:
    forms = Forms(SHORT)

    assert forms.manage("withdraw").status == 200
    assert forms.manage("withdraw").status == 200

    assert [entry["what"] for entry in history(forms, forms.form)] == ["asked", "cancelled"]


def test_withdraw_after_an_answer_is_refused() -> None:
    forms = Forms(SHORT)
    forms.post({"note": "x"})

    assert forms.manage("withdraw").status == 412
    assert forms.result()["status"] == "submitted"


# --- revoke


def test_revoke_of_an_unknown_recipient_is_404() -> None:
    forms = Forms(SHORT)

    assert forms.manage("recipients/99/revoke").status == 404
    assert forms.manage("recipients/x/revoke").status == 404


def test_revoked_api_link_is_replaced_for_who_is_shown_links() -> None:
    forms = Forms(SHORT)
    old = forms.token()

    forms.manage("recipients/1/revoke")

    assert forms.token() != old
    assert forms.get().status == 200
    assert forms.functions.call("GET", f"/v1/form/human_input/{old}").status == 404


# --- §11, §12


def test_s11_2_answer_resumes_the_run_through_every_surface() -> None:
    for surface, kind in (("public", MAIL), ("console", BACKSTAGE)):
        forms = Forms(SHORT)
        forms.post({"note": "x"}, surface=surface, kind=kind)
        assert forms.result()["values"] == {"note": "x"}


def test_s12_the_runs_own_deadline_wins_and_ends_everything() -> None:
    """The five gaps of §12: per run, with an event, siblings closed, nothing left to resume."""
    forms = Forms({**SHORT, "run_timeout_seconds": 300})
    forms.functions.clock.advance(timedelta(seconds=300))

    sweep(forms)

    assert forms.form.status == "expired"
    events = forms.functions.call("GET", f"/runs/{forms.run_id}/events").json["events"]
    assert (events[-1]["type"], events[-1]["data"]["reason"]) == ("run_failed", "expired")
    assert forms.post({"note": "x"}).status == 412


def test_s12_a_lost_resume_after_a_timeout_is_asked_for_again() -> None:
    forms = Forms(SHORT)
    forms.functions.clock.advance(timedelta(minutes=10))
    forms.functions.wiring.queue_faults.fail_next(ServiceUnavailableError("down"))
    sweep(forms)

    forms.functions.clock.advance(timedelta(minutes=2))
    sweep(forms)

    assert forms.result()["status"] == "timeout"
