"""§22: reports of the reference and cases from reading it, as far as forms and decisions go."""

from __future__ import annotations

import email
from datetime import UTC, datetime, timedelta
from email.policy import SMTP
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.errors import ServiceUnavailableError
from sayso.domain.form import FormKind
from sayso.domain.links import Link
from sayso.domain.policy import HumanInputPolicy
from sayso.domain.recipients import recipients_of
from support.agent import FakeAgent, ask_times
from support.functions import ASK, OPENAPI, OTHER, Functions, create_request
from support.history import check_run
from support.human_input import (
    BACKSTAGE,
    CONSOLE,
    MAIL,
    NOTE,
    REASON,
    WEB,
    Forms,
    Json,
    error,
    node,
    path,
)
from support.world import World

if TYPE_CHECKING:
    from sayso.domain.ids import FormId, RunId

SURFACES = [("public", MAIL), ("service_api", WEB), ("openapi", WEB), ("console", BACKSTAGE)]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("between", [True, False])
def test_B1_two_forms_answered_in_any_order_resume_once(
    order: tuple[int, int], *, between: bool
) -> None:
    world = World(FakeAgent(ask_times(2)))
    run_id = world.create()
    world.settle()
    forms = world.forms(run_id)

    for number in order:
        world.submit(forms[number])
        if between:
            world.settle()
    world.settle()

    check_run(world.context.stores, run_id)
    assert world.run(run_id).segment == 2


def test_B4_timeout_always_exits_by_its_one_name() -> None:
    forms = Forms({"form": node(NOTE), "timeout": 1, "timeout_unit": "minute"})
    forms.functions.clock.advance(timedelta(minutes=1))

    assert forms.result()["action"]["id"] == "__timeout"


def test_B7_every_surface_shows_the_same_rendered_text_and_defaults() -> None:
    content = "Pay {{#order.amount#}}?\n\n{{#$output.note#}}"
    default = {"type": "variable", "selector": ["order", "draft"], "value": ""}
    forms = Forms(
        {
            "form": node(NOTE | {"default": default}, form_content=content),
            "variables": {"order": {"amount": "3200", "draft": "As agreed"}},
        }
    )

    shown = [forms.get(surface, kind).json for surface, kind in SURFACES]

    assert {one["form_content"] for one in shown} == {"Pay 3200?\n\n{{#$output.note#}}"}
    assert all(one["resolved_default_values"] == {"note": "As agreed"} for one in shown)
    page = forms.get("page", MAIL).body
    assert "Pay 3200?" in page
    assert ">\nAs agreed</textarea>" in page


def test_B11_first_submit_is_200_and_a_retry_is_idempotent() -> None:
    forms = Forms({"form": node(NOTE)})

    assert [forms.post({"note": "x"}).status for _ in range(3)] == [200, 200, 200]


@pytest.mark.parametrize("surface", ["page", "public"])
@pytest.mark.parametrize("kind", [CONSOLE, BACKSTAGE])
def test_B17_console_and_backstage_tokens_are_404_on_the_public_form(
    surface: str, kind: Any
) -> None:
    forms = Forms({"form": node(NOTE)}, invoke_from="debugger")

    assert forms.get(surface, kind, key=None).status == 404
    assert forms.functions.post_form(forms.token(kind), action="approve", note="x").status == 404
    assert forms.form.decision is None


def test_D1_two_submits_with_different_actions_leave_one_decision_and_one_resume() -> None:
    forms = Forms({"form": node(NOTE)})

    first, second = forms.post({"note": "a"}), forms.post({"note": "b"}, "reject", user="u-2")

    assert (first.status, second.status) == (200, 412)
    messages = [m.body for m in forms.functions.wiring.queue.pop_due()]
    assert messages == [{"kind": "resume", "run_id": forms.run_id}]


def test_D1_a_submit_that_loses_after_its_read_is_told_so() -> None:
    """Both have read the form as waiting; the transaction of the second one is refused."""
    forms = Forms({"form": node(NOTE)})
    stores = forms.functions.wiring.context.stores
    read = stores.forms.whole
    pending = [lambda: forms.post({"note": "first"}, user="faster")]

    def whole_then_lose(form_id: Any) -> Any:
        found = read(form_id)
        if pending:
            pending.pop()()
        return found

    object.__setattr__(stores.forms, "whole", whole_then_lose)

    assert forms.post({"note": "second"}, "reject").status == 412
    assert forms.form.decision is not None
    assert forms.form.decision.values == {"note": "first"}


@pytest.mark.parametrize("first", ["submit", "sweep"])
def test_D2_submit_and_sweep_at_the_deadline_leave_one_terminal_state(first: str) -> None:
    forms = Forms({"form": node(NOTE), "timeout": 1, "timeout_unit": "minute"})
    early = forms.form.deadline - timedelta(milliseconds=1)
    forms.functions.clock.set(early if first == "submit" else forms.form.deadline)

    if first == "submit":
        assert forms.post({"note": "x"}).status == 200
        forms.functions.clock.set(forms.form.deadline)
        assert forms.result()["status"] == "submitted"
    else:
        assert forms.result()["status"] == "timeout"
        assert forms.post({"note": "x"}).status == 412


def test_D3_form_exists_with_its_pause_only() -> None:
    """A link is told after the pause is stored, so no answer can come before it."""
    world = World()
    run_id = world.create()
    world.settle()

    assert [form.pause_id for form in world.forms(run_id)] == [world.run(run_id).pause_id]


def test_D4_queue_down_at_submit_resumes_once_it_is_back() -> None:
    forms = Forms({"form": node(NOTE)})
    forms.functions.wiring.queue_faults.fail_next(ServiceUnavailableError("down"))

    assert forms.post({"note": "x"}).status == 200
    forms.functions.settle()
    assert forms.functions.status(forms.run_id) == "paused"
    forms.functions.clock.advance(timedelta(minutes=2))
    forms.functions.invoke("timeout_sweep", {}, 55)

    assert forms.result()["values"] == {"note": "x"}


@pytest.mark.parametrize("value", [5, {"a": 1}, ["a"], None, True])
def test_D6_paragraph_that_is_no_text_is_400(value: Any) -> None:
    answer = Forms({"form": node(NOTE)}).post({"note": value})

    assert answer.json == error(
        "invalid_form_data", "Invalid value for paragraph input 'note': expected string", 400
    )


def test_D7_select_from_a_variable_refuses_a_foreign_value() -> None:
    source = {"type": "variable", "selector": ["start", "reasons"], "value": []}
    forms = Forms(
        {
            "form": node(REASON | {"option_source": source}),
            "variables": {"start": {"reasons": ["late"]}},
        }
    )

    assert forms.post({"reason": "foreign"}).status == 400
    assert forms.post({"reason": "late"}).status == 200


def test_D8_extra_keys_are_400() -> None:
    answer = Forms({"form": node(NOTE)}).post({"note": "x", "__action_id": "approve"})

    assert answer.json == error("invalid_form_data", "Unknown input: __action_id", 400)


def test_D9_declared_field_without_placeholder_is_refused() -> None:
    forms = Forms()
    forms.policy = {"form": node() | {"inputs": [NOTE]}}

    assert forms.create().status == 422


def test_D14_deadlines_are_instants_whatever_the_zone() -> None:
    forms = Forms({"form": node(NOTE), "timeout": 1, "timeout_unit": "hour"})

    shown = forms.get().json["expiration_time"]

    assert datetime.fromtimestamp(shown, UTC) == forms.form.created_at + timedelta(hours=1)


def test_D15_global_timeout_stops_run_and_siblings_and_refuses_the_late() -> None:
    world = World(FakeAgent(ask_times(2)))
    run_id = world.create({"run_timeout_seconds": 600, "timeout": 1, "timeout_unit": "day"})
    world.settle()

    world.pass_time(timedelta(minutes=12))

    check_run(world.context.stores, run_id)
    assert {form.status.value for form in world.forms(run_id)} == {"expired"}
    assert world.run(run_id).status == "expired"


def test_D16_global_deadline_wins_over_a_longer_form() -> None:
    forms = Forms(
        {"form": node(NOTE), "timeout": 2, "timeout_unit": "hour", "run_timeout_seconds": 600}
    )

    assert forms.form.deadline - forms.form.created_at == timedelta(minutes=10)


def test_D17_email_token_on_service_api_is_404() -> None:
    assert Forms({"form": node(NOTE)}).get("service_api", MAIL).status == 404


def test_D17_other_keys_are_404_and_openapi_says_403() -> None:
    forms = Forms({"form": node(NOTE)})

    assert forms.get("service_api", WEB, key=OTHER).status == 404
    assert forms.get("openapi", MAIL, key=OPENAPI).status == 403


def test_D20_three_rounds_make_three_forms_and_three_answers() -> None:
    functions = Functions()
    turns: list[Json] = [{"calls": [{**ASK[0]["calls"][0], "id": "again"}]}] * 3
    script: list[Json] = [*turns, {"text": "{{results}}"}]
    policy = {"title": "Loop", "delivery_methods": [{"type": "webapp"}], "form": node(NOTE)}
    request = create_request(script, human_input=policy)
    run_id = functions.call("POST", "/runs", json_body=request).json["run_id"]
    seen = []

    for number in range(3):
        functions.settle()
        form_id = waiting(functions, run_id)
        seen.append(form_id)
        link = Link(form_id=form_id, recipient=1, revision=1)
        token = functions.wiring.links.sign(link)
        body = {"inputs": {"note": str(number)}, "action": "approve"}
        answer = functions.call("POST", path("public", token), key=None, json_body=body)
        assert answer.status == 200
    functions.settle()

    assert len(set(seen)) == 3
    assert functions.status(run_id) == "succeeded"


def waiting(functions: Functions, run_id: RunId) -> FormId:
    """Return the form of the pause that a run is in."""
    stores = functions.wiring.context.stores
    run = stores.runs.get(run_id)
    assert run is not None
    assert run.pause_id is not None
    pause = stores.runs.pause(run_id, run.pause_id)
    assert pause is not None
    return next(iter(pause.forms.values()))


def _tried(forms: Forms, **policy: Json) -> str:
    """Try a delivery and return the link of its mail."""
    body = {
        "human_input": {"delivery_methods": [forms_email()], "form": node(NOTE), **policy},
        "delivery_method_id": "mail",
    }
    answer = forms.functions.call("POST", "/console/api/delivery-test", json_body=body)
    assert answer.status == 200, answer.body
    forms.functions.settle()
    mail = email.message_from_bytes(forms.functions.wiring.mailer.sent[-1].raw, policy=SMTP)
    body_text = mail.get_body(("plain",))
    assert body_text is not None
    return str(body_text.get_content()).partition("/form/")[2][:50]


def forms_email() -> Json:
    items = [{"type": "external", "email": "me@example.org"}]
    return {"type": "email", "id": "mail", "config": {"recipients": {"items": items}}}


def test_D22_answer_to_a_delivery_test_resumes_nothing() -> None:
    forms = Forms()
    token = _tried(forms)

    answer = forms.functions.post_form(token, action="approve", note="x")

    assert answer.status == 303
    assert forms.functions.wiring.queue.pop_due() == []
    link = forms.functions.wiring.links.verify(token)
    form = forms.functions.wiring.context.stores.forms.get(link.form_id)
    assert form is not None
    assert (form.kind, form.status) == (FormKind.DELIVERY_TEST, "submitted")
    assert form.due_at is None
    assert forms.functions.status(forms.run_id) == "paused"


def test_D22_delivery_test_times_out_like_any_form() -> None:
    forms = Forms()
    token = _tried(forms)
    forms.functions.clock.advance(timedelta(hours=36))
    forms.functions.invoke("timeout_sweep", {}, 55)
    forms.functions.settle()

    link = forms.functions.wiring.links.verify(token)
    form = forms.functions.wiring.context.stores.forms.get(link.form_id)
    assert form is not None
    assert (form.status, form.due_at) == ("timeout", None)


def test_D23_one_person_in_two_spellings_is_one_recipient() -> None:
    methods = [
        {
            "type": "email",
            "config": {"recipients": {"items": [{"type": "external", "email": address}]}},
        }
        for address in ("CFO@example.org", "cfo@EXAMPLE.org")
    ]
    policy = HumanInputPolicy.model_validate({"delivery_methods": methods})

    assert [one.type for one in recipients_of(policy, ()).recipients] == [MAIL, BACKSTAGE]


def test_D24_missing_variable_is_empty_with_a_warning_and_no_selector_shows() -> None:
    forms = Forms({"form": node(NOTE, form_content="To {{#start.who#}}!\n\n{{#$output.note#}}")})

    assert forms.get().json["form_content"] == "To !\n\n{{#$output.note#}}"
    assert forms.whole.content.warnings == ("start.who",)
    assert ("unknown_variables", {"form_id": forms.form.id, "count": 1}) in (
        forms.functions.wiring.reports
    )
