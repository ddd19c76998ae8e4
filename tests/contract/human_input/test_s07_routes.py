"""§7: exact bodies and codes of every route."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from support.functions import ADMIN, OPENAPI, OTHER, SERVICE
from support.human_input import (
    APPROVE,
    BACKSTAGE,
    MAIL,
    NOTE,
    REJECT,
    WEB,
    Forms,
    Json,
    error,
    node,
    path,
)

SURFACES = [("public", MAIL), ("service_api", WEB), ("openapi", WEB), ("console", BACKSTAGE)]
JSON: Json = {
    "form_content": "Refund?\n\n{{#$output.note#}}",
    "inputs": [NOTE],
    "resolved_default_values": {},
    "user_actions": [APPROVE, REJECT],
    "expiration_time": 1767733200,
}


@pytest.fixture
def forms() -> Forms:
    return Forms({"form": node(NOTE, title="Check")})


def test_s7_2_public_get(forms: Forms) -> None:
    answer = forms.get("public", MAIL, key=None)

    site = {"title": "refunds", "icon_type": None, "icon": None}
    assert answer.json == {
        **JSON,
        "site": {
            "site": site | {"icon_background": None, "icon_url": None},
            "custom_config": {"remove_webapp_brand": False, "replace_webapp_logo": None},
        },
    }
    assert answer.headers["cache-control"] == "no-store"


def test_s7_3_service_get(forms: Forms) -> None:
    assert forms.get("service_api", WEB, key=SERVICE).json == JSON


def test_s7_4_openapi_get_has_the_same_definition(forms: Forms) -> None:
    assert forms.get("openapi", WEB, key=OPENAPI).json == JSON


def test_s7_5_console_get_has_what_the_console_is_shown_besides(forms: Forms) -> None:
    assert forms.get("console", BACKSTAGE).json == {
        **JSON,
        "rendered_content": JSON["form_content"],
        "default_values": {},
        "node_title": "Check",
        "display_in_ui": True,
    }


@pytest.mark.parametrize(("surface", "kind"), SURFACES)
def test_s7_1_submit_answers_an_empty_object(surface: str, kind: Any) -> None:
    forms = Forms({"form": node(NOTE)})
    key = None if surface == "public" else ADMIN

    answer = forms.post({"note": "x"}, surface=surface, kind=kind, key=key)

    assert (answer.status, answer.body) == (200, "{}")
    assert forms.result()["values"] == {"note": "x"}


@pytest.mark.parametrize(
    ("surface", "kind", "proven_by", "user"),
    [
        ("public", MAIL, "link", None),
        ("service_api", WEB, "api_key", "u-1"),
        ("openapi", WEB, "api_key", "k1"),
        ("console", BACKSTAGE, "api_key", "k1"),
    ],
)
def test_s7_submitter_is_recorded_as_the_surface_knows_it(
    surface: str, kind: Any, proven_by: str, user: str | None
) -> None:
    forms = Forms({"form": node(NOTE)})

    forms.post({"note": "x"}, surface=surface, kind=kind)

    assert forms.form.decision is not None
    actor = forms.form.decision.actor
    assert (actor.proven_by, actor.user) == (proven_by, user)


NOT_FOUND = {
    "public": ("not_found", "Form not found"),
    "service_api": ("not_found", "Form not found"),
    "openapi": (
        "human_input_form_not_found",
        "No human-input form matches this token. It may be wrong, expired, or already submitted.",
    ),
    "console": ("not_found", "form not found"),
}


@pytest.mark.parametrize("surface", NOT_FOUND)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_s7_1_unknown_token_is_404(forms: Forms, surface: str, method: str) -> None:
    code, message = NOT_FOUND[surface]
    target = path(surface, "A" * 50)
    body = {"inputs": {}, "action": "approve"}
    if method == "POST" and surface == "openapi":
        target += ":submit"
    if surface == "service_api":
        body["user"] = "u"

    answer = forms.functions.call(method, target, json_body=body if method == "POST" else None)

    assert (answer.status, answer.json) == (404, error(code, message, 404))


@pytest.mark.parametrize(("surface", "kind"), SURFACES)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_s7_1_submitted_is_412(surface: str, kind: Any, method: str) -> None:
    forms = Forms({"form": node(NOTE)})
    forms.post({"note": "first"}, user="somebody")
    message = f"This form has already been submitted by another user, form_id={forms.form.id}"

    if method == "GET":
        answer = forms.get(surface, kind)
    else:
        answer = forms.post({"note": "second"}, surface=surface, kind=kind)

    assert answer.json == error("human_input_form_submitted", message, 412)


@pytest.mark.parametrize(("surface", "kind"), SURFACES)
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("swept", [True, False])
def test_s7_1_expired_is_412_before_and_after_the_sweep(
    surface: str, kind: Any, method: str, *, swept: bool
) -> None:
    forms = Forms({"form": node(NOTE), "timeout": 5, "timeout_unit": "minute"})
    forms.functions.clock.advance(timedelta(minutes=5))
    if swept:
        forms.functions.settle()
        assert forms.form.status == "timeout"
    expected = error(
        "human_input_form_expired", f"This form has expired, form_id={forms.form.id}", 412
    )

    if method == "GET":
        answer = forms.get(surface, kind)
    else:
        answer = forms.post({"note": "late"}, surface=surface, kind=kind)

    assert (answer.status, answer.json) == (412, expected)


@pytest.mark.parametrize(("surface", "kind"), SURFACES)
def test_s7_1_invalid_submission_is_400(surface: str, kind: Any) -> None:
    answer = Forms({"form": node(NOTE)}).post({"note": "x"}, "steal", surface=surface, kind=kind)

    assert answer.json == error("invalid_form_data", "Invalid action: steal", 400)


@pytest.mark.parametrize(("surface", "kind"), SURFACES)
@pytest.mark.parametrize("body", ["", "{", "[]", '{"inputs":{}}', '{"inputs":[],"action":"a"}'])
def test_s7_1_malformed_body_is_400(surface: str, kind: Any, body: str) -> None:
    forms = Forms({"form": node(NOTE)})
    target = path(surface, forms.token(kind)) + (":submit" if surface == "openapi" else "")

    answer = forms.functions.call(
        "POST", target, body=body, headers={"content-type": "application/json"}
    )

    assert (answer.status, answer.json["code"]) == (400, "invalid_param")


def test_s7_3_user_is_required_on_the_service_api_and_unknown_elsewhere(forms: Forms) -> None:
    body = {"inputs": {"note": ""}, "action": "approve"}

    service = forms.functions.call("POST", path("service_api", forms.token()), json_body=body)
    public = forms.functions.call(
        "POST", path("public", forms.token()), json_body=body | {"user": "u"}, key=None
    )

    assert service.json["message"] == "body.user: Field required"
    assert public.json["message"] == "body.user: Extra inputs are not permitted"


@pytest.mark.parametrize("surface", ["service_api", "openapi"])
def test_s7_3_wrong_tenant_is_404_never_403(forms: Forms, surface: str) -> None:
    assert forms.get(surface, WEB, key=OTHER).status == 404


def test_s7_4_the_app_of_the_path_has_to_be_the_keys(forms: Forms) -> None:
    target = f"/openapi/v1/apps/elsewhere/human-input-forms/{forms.token()}"

    answer = forms.functions.call("GET", target)

    assert answer.json["code"] == "human_input_form_not_found"


def test_s7_4_submission_needs_its_suffix(forms: Forms) -> None:
    body = {"inputs": {"note": "x"}, "action": "approve"}

    answer = forms.functions.call("POST", path("openapi", forms.token()), json_body=body)

    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
    assert forms.form.decision is None


def test_s7_5_wrong_workspace_is_app_not_found(forms: Forms) -> None:
    answer = forms.get("console", BACKSTAGE, key=OTHER)

    assert answer.json == error("not_found", "App not found", 404)


@pytest.mark.parametrize("surface", ["service_api", "openapi", "console"])
def test_s7_keys_are_checked_first(forms: Forms, surface: str) -> None:
    target = path(surface, forms.token())

    assert forms.functions.call("GET", target, key=None).status == 401
    assert forms.functions.call("GET", target, key="nobody").status == 401


@pytest.mark.parametrize(
    ("surface", "key"), [("service_api", OPENAPI), ("openapi", SERVICE), ("console", SERVICE)]
)
def test_s7_each_surface_wants_its_own_role(forms: Forms, surface: str, key: str) -> None:
    assert forms.get(surface, WEB, key=key).status == 403


@pytest.mark.parametrize(("surface", "kind"), SURFACES)
def test_s7_head_is_get_without_content(forms: Forms, surface: str, kind: Any) -> None:
    answer = forms.functions.call("HEAD", path(surface, forms.token(kind)))

    assert (answer.status, answer.body) == (200, "")


def test_s7_4_R_all_surfaces_show_one_definition(forms: Forms) -> None:
    shown = [forms.get(surface, kind).json for surface, kind in SURFACES]

    assert all({name: one[name] for name in JSON} == JSON for one in shown)


# --- §4.4 and §7.6, the delivery test


def try_delivery(forms: Forms, method: str = "mail", **policy: Any) -> Any:
    human_input = {"title": "Refund 17", "delivery_methods": METHODS, **forms.policy, **policy}
    body = {
        "human_input": human_input,
        "delivery_method_id": method,
        "inputs": {"order.amount": "3200"},
    }
    return forms.functions.call("POST", "/console/api/delivery-test", json_body=body)


METHODS = [
    {"type": "webapp", "id": "web"},
    {
        "type": "email",
        "id": "mail",
        "config": {
            "body": "Please [look]({{#url#}}) at {{#order.amount#}}.",
            "recipients": {"items": [{"type": "external", "email": "me@example.org"}]},
        },
    },
    {"type": "email", "id": "nobody"},
]


def test_s4_4_delivery_test_sends_the_real_mail(forms: Forms) -> None:
    before = len(forms.functions.wiring.mailer.sent)

    answer = try_delivery(forms)
    forms.functions.settle()

    (mail,) = forms.functions.wiring.mailer.sent[before:]
    assert (answer.status, answer.body) == (200, "{}")
    assert mail.to == "me@example.org"
    assert b"3200" in mail.raw


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("gone", "Delivery method not found."),
        ("web", "Delivery method does not support test send."),
        ("nobody", "No recipients configured for delivery method."),
    ],
)
def test_s4_4_delivery_test_failures_are_bad_requests(
    forms: Forms, method: str, message: str
) -> None:
    assert try_delivery(forms, method).json == error("bad_request", message, 400)
