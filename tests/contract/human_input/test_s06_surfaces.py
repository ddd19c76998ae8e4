"""§5 implicit recipients and §6: which link works where, and which token a reader is shown."""

from __future__ import annotations

import itertools

import pytest

from sayso.domain.access import Surface, surface_may
from sayso.domain.dispositions import disposition, surface_of
from sayso.domain.form import Recipient, RecipientType
from support.human_input import BACKSTAGE, CONSOLE, MAIL, NOTE, WEB, Forms, error, node

MANAGED = {"sayso-events": "managed"}
PAGE_TYPES = {WEB, MAIL, RecipientType.EMAIL_MEMBER}
ALLOWED = {
    Surface.PAGE: PAGE_TYPES,
    Surface.SERVICE_API: {WEB},
    Surface.OPENAPI: {WEB},
    Surface.CONSOLE: {CONSOLE, BACKSTAGE},
    Surface.WEB: {WEB},
}


@pytest.mark.parametrize(("surface", "kind"), [*itertools.product(Surface, RecipientType)])
def test_s6_1_each_surface_acts_on_its_recipients_only(
    surface: Surface, kind: RecipientType
) -> None:
    assert surface_may(surface, kind) is (kind in ALLOWED[surface])


SERVED = ("public", "page", "service_api", "openapi", "console")


@pytest.mark.parametrize(("surface", "kind"), [*itertools.product(SERVED, (WEB, MAIL, BACKSTAGE))])
def test_s6_1_every_route_obeys_the_table(surface: str, kind: RecipientType) -> None:
    forms = Forms({"form": node(NOTE)})
    of_table = Surface.PAGE if surface in {"public", "page"} else Surface(surface)
    refusal = 403 if surface == "openapi" else 404

    answer = forms.get(surface, kind)

    assert answer.status == (200 if kind in ALLOWED[of_table] else refusal)


def test_s6_1_openapi_says_that_the_surface_is_wrong() -> None:
    answer = Forms({"form": node(NOTE)}).get("openapi", MAIL)

    assert answer.json == {
        **error(
            "recipient_surface_mismatch",
            "This form's recipient can't be submitted via the OpenAPI surface.",
            403,
        ),
        "hint": "Action it through its channel (web app or console).",
    }


@pytest.mark.parametrize(
    ("types", "surface", "token", "channels"),
    [
        ([MAIL, BACKSTAGE], Surface.SERVICE_API, None, ["console", "email"]),
        ([WEB, MAIL, BACKSTAGE], Surface.SERVICE_API, WEB, ["console", "email"]),
        ([WEB, CONSOLE, BACKSTAGE], Surface.CONSOLE, BACKSTAGE, ["web_app"]),
        ([WEB, CONSOLE], Surface.CONSOLE, CONSOLE, ["web_app"]),
        ([WEB, CONSOLE, BACKSTAGE], None, BACKSTAGE, []),
        ([WEB, CONSOLE], None, CONSOLE, []),
        ([WEB, MAIL], None, WEB, []),
        ([MAIL], None, None, []),
        ([WEB, MAIL, BACKSTAGE], Surface.WEB, WEB, ["console", "email"]),
        ([], Surface.SERVICE_API, None, []),
    ],
)
def test_s6_3_best_token_and_other_channels(
    types: list[RecipientType],
    surface: Surface | None,
    token: RecipientType | None,
    channels: list[str],
) -> None:
    recipients = [Recipient(number=n, type=kind) for n, kind in enumerate(types, 1)]

    found = disposition(recipients, surface)

    assert (found.recipient and found.recipient.type) == token
    assert list(found.approval_channels) == channels


@pytest.mark.parametrize(
    ("invoke_from", "surface"),
    [
        ("service-api", Surface.SERVICE_API),
        ("openapi", Surface.OPENAPI),
        ("web-app", Surface.WEB),
        ("debugger", None),
        ("explore", None),
        ("trigger", None),
    ],
)
def test_s6_3_surface_follows_what_started_the_run(
    invoke_from: str, surface: Surface | None
) -> None:
    assert surface_of(invoke_from) is surface


@pytest.mark.parametrize(
    ("invoke_from", "types"),
    [
        ("service-api", [WEB, MAIL, BACKSTAGE]),
        ("debugger", [MAIL, CONSOLE, BACKSTAGE]),
        ("explore", [MAIL, CONSOLE, BACKSTAGE]),
    ],
)
def test_s5_implicit_recipients(invoke_from: str, types: list[RecipientType]) -> None:
    assert Forms(invoke_from=invoke_from).types() == types


def test_s5_explore_without_a_web_app_has_no_console_recipient() -> None:
    mail_only = {
        "delivery_methods": [
            {
                "type": "email",
                "config": {"recipients": {"items": [{"type": "external", "email": "a@b.example"}]}},
            }
        ]
    }

    assert Forms(mail_only, invoke_from="explore").types() == [MAIL, BACKSTAGE]


@pytest.mark.parametrize("invoke_from", ["debugger", "explore"])
def test_s5_runs_of_the_console_need_a_key_of_the_console(invoke_from: str) -> None:
    forms = Forms(invoke_from=invoke_from)

    refused = forms.create(authorization="Bearer service-key")

    assert refused.status == 403


def test_s5_debug_mode_mails_nobody_in_the_debugger() -> None:
    policy = {
        "delivery_methods": [
            {
                "type": "email",
                "config": {
                    "debug_mode": True,
                    "recipients": {"items": [{"type": "external", "email": "a@b.example"}]},
                },
            }
        ]
    }

    assert Forms(policy, invoke_from="debugger").types() == [CONSOLE, BACKSTAGE]
    assert Forms(policy).types() == [MAIL, BACKSTAGE]


def test_s6_2_nothing_of_a_token_is_stored() -> None:
    forms = Forms()
    stored = repr(forms.functions.wiring.table.snapshot())

    for kind in forms.types():
        assert forms.token(kind) not in stored


def test_s6_3_an_email_token_is_in_its_mail_only() -> None:
    forms = Forms()
    events = forms.functions.call("GET", f"/runs/{forms.run_id}/events", headers=MANAGED)

    assert forms.token(MAIL) not in events.body
    assert forms.token(WEB) in events.body


def test_s6_3_debugger_is_shown_the_backstage_token_without_a_page() -> None:
    forms = Forms(invoke_from="debugger")
    events = forms.functions.call("GET", f"/runs/{forms.run_id}/events", headers=MANAGED)
    question = events.json["events"][-2]["data"]

    assert question["form_token"] == forms.token(BACKSTAGE)
    assert question["form_url"] is None
    assert question["approval_channels"] == []


def test_revoked_link_is_unknown_and_the_others_still_work() -> None:
    forms = Forms({"form": node(NOTE)})
    old, other = forms.token(MAIL), forms.token(WEB)
    number = next(one.number for one in forms.whole.recipients if one.type is MAIL)

    assert forms.manage(f"recipients/{number}/revoke").status == 200

    assert forms.functions.call("GET", f"/form/{old}", key=None).status == 404
    assert forms.functions.post_form(old, action="approve", note="x").status == 404
    assert forms.functions.call("GET", f"/form/{other}", key=None).status == 200
    assert [one.state.value for one in forms.whole.recipients if one.type is MAIL] == ["revoked"]
