"""The JSON form routes and ``$default`` through their handler (human-input §7, dify-agent §2)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sayso.domain.access import ApiKey, Role
from sayso.domain.ids import AppId
from sayso.domain.transitions import FormStatus
from support.functions import ADMIN, OPENAPI, OTHER, SERVICE, TENANT, Functions


def asked(**members: Any) -> tuple[Functions, str, str]:
    """Return functions with one waiting form, the web app's token and the form's id."""
    functions = Functions()
    run_id = functions.paused_run(**members)
    return functions, functions.token(run_id, recipient=1), functions.form(run_id).form.id


def path(token: str) -> str:
    return f"/v1/form/human_input/{token}"


def status_of(functions: Functions, token: str) -> FormStatus:
    form = functions.wiring.context.stores.forms.get(functions.wiring.links.verify(token).form_id)
    assert form is not None
    return form.status


ANSWER: dict[str, Any] = {
    "inputs": {"comment": "Fine", "reason": "late"},
    "action": "approve",
    "user": "end-user-7",
}


@pytest.mark.parametrize("key", [ADMIN, SERVICE])
def test_a_program_gets_the_definition_in_the_contracts_shape(key: str) -> None:
    functions, token, _ = asked()

    answer = functions.call("GET", path(token), key=key)

    assert answer.status == 200
    assert answer.json == {
        "form_content": (
            "Refund order 17?\n\nThe amount is **3200**.\n\n"
            "Comment\n\n{{#$output.comment#}}\n\nReason *\n\n{{#$output.reason#}}"
        ),
        "inputs": [
            {
                "type": "paragraph",
                "output_variable_name": "comment",
                "default": {"type": "constant", "selector": [], "value": "Looks fine."},
            },
            {
                "type": "select",
                "output_variable_name": "reason",
                "option_source": {"type": "constant", "selector": [], "value": ["late", "bad"]},
            },
        ],
        "resolved_default_values": {"comment": "Looks fine."},
        "user_actions": [
            {"id": "approve", "title": "Approve", "button_style": "primary"},
            {"id": "deny", "title": "Deny", "button_style": "accent"},
        ],
        "expiration_time": 1767733200,
    }


def test_head_is_get_without_content() -> None:
    functions, token, _ = asked()

    head = functions.call("HEAD", path(token))

    assert (head.status, head.body) == (200, "")


def test_a_program_answers_and_its_end_user_is_recorded() -> None:
    functions, token, _ = asked()

    answer = functions.call("POST", path(token), key=SERVICE, json_body=ANSWER)

    assert (answer.status, answer.body) == (200, "{}")
    form = functions.wiring.context.stores.forms.get(functions.wiring.links.verify(token).form_id)
    assert form is not None
    assert form.decision is not None
    assert form.decision.actor.user == "end-user-7"
    assert form.decision.actor.proven_by == "api_key"


def test_a_decided_form_is_412_on_both_methods() -> None:
    functions, token, form_id = asked()
    functions.call("POST", path(token), json_body=ANSWER)
    body = {
        "code": "human_input_form_submitted",
        "message": f"This form has already been submitted by another user, form_id={form_id}",
        "status": 412,
    }

    get = functions.call("GET", path(token))
    post = functions.call("POST", path(token), json_body={**ANSWER, "action": "deny"})

    assert (get.status, get.json) == (412, body)
    assert (post.status, post.json) == (412, body)


def test_a_form_past_its_deadline_is_412_before_the_sweep_has_seen_it() -> None:
    functions, token, form_id = asked(timeout=5, timeout_unit="second")
    functions.clock.advance(timedelta(seconds=5))
    body = {
        "code": "human_input_form_expired",
        "message": f"This form has expired, form_id={form_id}",
        "status": 412,
    }

    get = functions.call("GET", path(token))
    post = functions.call("POST", path(token), json_body=ANSWER)

    assert (get.status, get.json) == (412, body)
    assert (post.status, post.json) == (412, body)


def test_the_link_of_a_mailed_person_does_not_work_here() -> None:
    functions = Functions()
    token = functions.token(functions.paused_run(), recipient=2)

    assert functions.call("GET", path(token)).json == {
        "code": "not_found",
        "message": "Form not found",
        "status": 404,
    }


def test_a_form_of_another_tenant_or_app_is_unknown() -> None:
    functions, token, _ = asked()
    functions.wiring.directory.keys["elsewhere"] = ApiKey(
        id="k", tenant=TENANT, app=AppId("elsewhere"), role=Role.SERVICE
    )

    for key in (OTHER, "elsewhere"):
        assert functions.call("GET", path(token), key=key).status == 404
        assert functions.call("POST", path(token), key=key, json_body=ANSWER).status == 404

    assert status_of(functions, token) is FormStatus.WAITING


@pytest.mark.parametrize("token", ["x", "ünïcode", "🤖", "A" * 50, "%00"])
def test_an_unknown_token_is_404_without_being_echoed(token: str) -> None:
    answer = Functions().call("GET", path(token))

    assert (answer.status, answer.json["message"]) == (404, "Form not found")


@pytest.mark.parametrize(
    ("key", "status", "code", "message"),
    [
        (None, 401, "unauthorized", "missing authorization header"),
        ("nobody", 401, "unauthorized", "invalid bearer token"),
        (
            OPENAPI,
            403,
            "forbidden",
            "a key of role 'openapi' may not use 'POST /v1/form/human_input/{form_token}'",
        ),
    ],
)
def test_the_key_is_checked_before_anything_else(
    key: str | None, status: int, code: str, message: str
) -> None:
    answer = Functions().call("POST", path("x"), key=key, body="{broken")

    assert answer.json == {"code": code, "message": message, "status": status}
    assert answer.status == status
    assert ("www-authenticate" in answer.headers) is (status == 401)


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"action": "steal"}, "invalid_form_data", "Invalid action: steal"),
        ({"inputs": {}}, "invalid_form_data", "Missing required inputs: reason"),
        (
            {"inputs": {"reason": "late", "x": 1}},
            "invalid_form_data",
            "Unknown input: x",
        ),
        (
            {"inputs": {"reason": 5}},
            "invalid_form_data",
            "Invalid value for select input 'reason': expected string",
        ),
        (
            {"inputs": {"reason": "foreign"}},
            "invalid_form_data",
            "Invalid value for select input 'reason': foreign",
        ),
        ({"user": ""}, "invalid_param", "body.user: String should have at least 1 character"),
        ({"extra": 1}, "invalid_param", "body.extra: Extra inputs are not permitted"),
        ({"inputs": []}, "invalid_param", "body.inputs: Input should be a valid dictionary"),
    ],
)
def test_an_answer_that_does_not_fit_is_400_and_decides_nothing(
    change: dict[str, Any], code: str, message: str
) -> None:
    functions, token, _ = asked()

    answer = functions.call("POST", path(token), json_body={**ANSWER, **change})

    assert answer.json == {"code": code, "message": message, "status": 400}
    assert status_of(functions, token) is FormStatus.WAITING


def test_an_answer_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    functions, token, _ = asked()
    caplog.clear()

    functions.call("POST", path(token), json_body={**ANSWER, "inputs": {"reason": "tell-nobody"}})

    logged = str([vars(record) for record in caplog.records])
    assert "ValidationError" in logged
    assert "tell-nobody" not in logged
    assert token not in logged


@pytest.mark.parametrize(
    "target", ["/", "/nothing", "/runs/", "/runs/1/2/3/4", "/sandbox/files/list"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_an_unknown_path_is_404(method: str, target: str) -> None:
    answer = Functions().call(method, target, key=None)

    assert (answer.status, answer.json) == (404, {"detail": "Not Found"})


@pytest.mark.parametrize(
    ("method", "target", "allow"),
    [
        ("GET", "/runs", "POST"),
        ("PUT", "/runs/1", "GET, HEAD"),
        ("POST", "/runs/1/events", "GET, HEAD"),
        ("DELETE", "/form/x", "GET, HEAD, POST"),
        ("OPTIONS", "/v1/form/human_input/x", "GET, HEAD, POST"),
    ],
)
def test_a_known_path_with_another_method_is_405(method: str, target: str, allow: str) -> None:
    answer = Functions().call(method, target, key=None)

    assert (answer.status, answer.json) == (405, {"detail": "Method Not Allowed"})
    assert answer.headers["allow"] == allow
