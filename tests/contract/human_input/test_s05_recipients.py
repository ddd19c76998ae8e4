"""§5: who is asked, by name, by address or all together; who is one person; who is nobody."""

from __future__ import annotations

from email import message_from_bytes, policy
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.form import DeliveryState
from sayso.usecases.invite import MAX_MAILS_PER_RUN
from support.functions import OTHER, QUESTION, Functions
from support.human_input import BACKSTAGE, CONSOLE, MAIL, WEB, Forms, Json
from support.human_input import MEMBER as ASKED_BY_ID

if TYPE_CHECKING:
    from sayso.ports import OutgoingMail

PRIYA: Json = {
    "name": "Priya Nair",
    "address": "priya@example.org",
    "time_zone": "Europe/Berlin",
    "groups": ["finance"],
    "language": "en",
}
TOMASZ: Json = {"name": "Tomasz Nowak", "address": "tomasz@example.org"}


def directory(**members: Json) -> Functions:
    """Return functions whose tenant has these members."""
    functions = Functions()
    for name, member in members.items():
        put(functions, name, member)
    return functions


def put(functions: Functions, member_id: str, member: Json, **call: Any) -> None:
    path = f"/console/api/members/{member_id}"
    answer = functions.call("PUT", path, json_body=member, **call)
    assert answer.status == 200, answer.body


def mail_to(*items: Json, **config: Any) -> Json:
    """Return an e-mail method."""
    recipients = {"items": list(items), **config.pop("recipients", {})}
    return {"type": "email", "config": {"recipients": recipients, **config}}


def member(member_id: str) -> Json:
    return {"type": "member", "reference_id": member_id}


def external(address: str) -> Json:
    return {"type": "external", "email": address}


def asked(functions: Functions, *methods: Json, **more: Any) -> Forms:
    """Return a run that asks by these methods."""
    return Forms({"delivery_methods": list(methods)}, functions=functions, **more)


def addresses(forms: Forms) -> list[str]:
    return [one.address for one in forms.whole.recipients if one.address]


def text_of(mail: OutgoingMail) -> str:
    """Return the text part of a mail."""
    part = message_from_bytes(mail.raw, policy=policy.default).get_body(("plain",))
    assert part is not None
    return str(part.get_content())


def test_s5_a_member_is_asked_by_id_and_known_by_name() -> None:
    forms = asked(directory(priya=PRIYA), mail_to(member("priya")))

    one, backstage = forms.whole.recipients
    assert (one.type, one.member, one.name) == (ASKED_BY_ID, "priya", "Priya Nair")
    assert backstage.type is BACKSTAGE
    assert one.state is DeliveryState.SENT


@pytest.mark.parametrize("named", [member("priya"), {"type": "member", "user_id": "priya"}])
def test_s4_1_the_old_name_of_the_id_is_read(named: Json) -> None:
    assert addresses(asked(directory(priya=PRIYA), mail_to(named))) == ["priya@example.org"]


def test_s4_1_an_alias_counts_only_without_the_new_name() -> None:
    both = {"type": "member", "reference_id": "priya", "user_id": "tomasz"}

    forms = asked(directory(priya=PRIYA, tomasz=TOMASZ), mail_to(both))

    assert addresses(forms) == ["priya@example.org"]


@pytest.mark.parametrize("name", ["include_bound_group", "whole_workspace"])
def test_s5_the_group_is_every_active_member(name: str) -> None:
    functions = directory(priya=PRIYA, tomasz=TOMASZ, gone={**TOMASZ, "active": False})

    forms = asked(functions, mail_to(external("cfo@example.org"), recipients={name: True}))

    assert addresses(forms) == ["priya@example.org", "tomasz@example.org", "cfo@example.org"]


def test_s5_members_come_before_addresses() -> None:
    forms = asked(directory(priya=PRIYA), mail_to(external("cfo@example.org"), member("priya")))

    assert addresses(forms) == ["priya@example.org", "cfo@example.org"]


def test_s5_R_unknown_foreign_and_inactive_ids_are_dropped_and_noted() -> None:
    functions = directory(priya=PRIYA, gone={**TOMASZ, "active": False})
    put(functions, "stranger", TOMASZ, key=OTHER)
    ids = ("nobody", "stranger", "gone", "other#stranger", "priya")

    forms = asked(functions, mail_to(*map(member, ids)))

    assert addresses(forms) == ["priya@example.org"]
    assert forms.whole.content.unknown_members == ids[:-1]
    noted = {"form_id": forms.form.id, "count": 4}
    assert ("unknown_members", noted) in functions.wiring.reports


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (external("Priya@Example.org"), member("priya")),
        (member("priya"), external("PRIYA@example.org")),
    ],
)
def test_D23_a_member_and_the_same_address_are_one_recipient(first: Json, second: Json) -> None:
    forms = asked(directory(priya=PRIYA), mail_to(first), mail_to(second))

    assert [(one.type, one.name) for one in forms.whole.recipients] == [
        (ASKED_BY_ID, "Priya Nair"),
        (BACKSTAGE, ""),
    ]


def test_s5_blank_addresses_are_skipped() -> None:
    assert addresses(asked(directory(), mail_to(external(" "), external("a@example.org")))) == [
        "a@example.org"
    ]


def test_s5_webapp_is_one_recipient() -> None:
    assert asked(directory(), {"type": "webapp"}).types() == [WEB, BACKSTAGE]


@pytest.mark.parametrize("method", [mail_to(), mail_to(external("")), mail_to(member("nobody"))])
def test_s5_R_a_form_that_reaches_nobody_is_unavailable_at_once(method: Json) -> None:
    forms = asked(directory(), method)

    assert forms.form.status.value == "undeliverable"
    assert forms.result()["status"] == "unavailable"


def test_s4_1_debug_mode_mails_only_who_tries_it_out() -> None:
    method = mail_to(external("cfo@example.org"), member("tomasz"), debug_mode=True)
    functions = directory(priya=PRIYA, tomasz=TOMASZ)

    forms = asked(functions, method, invoke_from="debugger", user_id="priya")

    assert addresses(forms) == ["priya@example.org"]
    assert forms.types() == [ASKED_BY_ID, CONSOLE, BACKSTAGE]


@pytest.mark.parametrize("user_id", [None, "nobody"])
def test_s4_1_debug_mode_mails_nobody_when_who_debugs_is_unknown(user_id: str | None) -> None:
    method = mail_to(external("cfo@example.org"), debug_mode=True)

    forms = asked(directory(), method, invoke_from="debugger", user_id=user_id)

    assert forms.types() == [CONSOLE, BACKSTAGE]


@pytest.mark.parametrize(
    ("invoke_from", "debug_mode"), [("service-api", True), ("explore", True), ("debugger", False)]
)
def test_s4_1_other_runs_mail_everybody(invoke_from: str, debug_mode: bool) -> None:
    method = mail_to(external("cfo@example.org"), debug_mode=debug_mode)

    forms = asked(directory(priya=PRIYA), method, invoke_from=invoke_from, user_id="priya")

    assert addresses(forms) == ["cfo@example.org"]


def test_s5_unknown_members_of_recipients_are_refused() -> None:
    method = mail_to(recipients={"everybody": True})

    answer = Functions().call(
        "POST",
        "/runs",
        json_body={"composition": {}, "human_input": {"delivery_methods": [method]}},
    )

    assert answer.status == 422


def test_a_member_reads_the_deadline_in_their_own_zone_and_in_utc() -> None:
    forms = asked(directory(priya=PRIYA), mail_to(member("priya"), external("cfo@example.org")))

    texts = [text_of(one) for one in forms.functions.wiring.mailer.sent]
    page = forms.functions.call("GET", f"/form/{forms.token(ASKED_BY_ID)}", key=None).body
    assert "22:00 CET (21:00 UTC)" in texts[0].replace("\n", " ")
    assert "Priya Nair" in texts[0]
    assert "21:00 UTC" in texts[1]
    assert "CET" not in texts[1]
    assert "22:00 CET" in page
    assert "Priya Nair" in page


def test_who_decided_is_the_members_name() -> None:
    forms = asked(directory(priya=PRIYA), mail_to(member("priya"), external("cfo@example.org")))
    forms.page(kind=ASKED_BY_ID, action="approve", comment="ok", reason="late")

    assert forms.form.decision is not None
    assert forms.form.decision.actor.name == "Priya Nair"
    late = forms.functions.call("GET", f"/form/{forms.token(MAIL)}", key=None).body
    assert "Priya Nair" in late
    assert "priya@example.org" not in late


def test_limit_of_a_form_leaves_out_the_rest_and_says_so() -> None:
    people = {f"p{n}": {"name": f"P{n}", "address": f"p{n}@example.org"} for n in range(55)}
    functions = directory(**people)

    forms = asked(functions, mail_to(recipients={"include_bound_group": True}))

    assert len(addresses(forms)) == 50
    left_out = [
        facts for event, facts in functions.wiring.reports if event == "recipients_left_out"
    ]
    assert left_out == [{"run_id": forms.run_id, "count": 1}]


def test_limit_of_a_run_mails_nobody_beyond_it_and_tells_the_model() -> None:
    items = [external(f"p{number}@example.org") for number in range(50)]
    asks = [{"name": "ask_human", "args": QUESTION, "id": f"call_{n}"} for n in range(5)]
    functions = Functions()

    run_id = functions.create(
        [{"calls": asks}, {"text": "{{results}}"}],
        human_input={"delivery_methods": [mail_to(*items)]},
    )
    functions.settle()

    assert len(functions.wiring.mailer.sent) == MAX_MAILS_PER_RUN == 200
    assert functions.form(run_id).form.status.value == "undeliverable"
    over = [facts for event, facts in functions.wiring.reports if event == "mails_over_limit"]
    assert over == [{"run_id": run_id, "count": 50}]
