"""§4: attempts of each recipient, what the mail service reports, and the texts of mails."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from email import message_from_bytes, policy
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.errors import MailNotAcceptedError, MailRefusedError
from sayso.domain.transitions import FormStatus
from sayso.usecases.deliver import MAX_ATTEMPTS
from support.functions import DOMAIN, QUESTION, Functions, MemoryWiring, sqs_event
from support.human_input import MAIL, WEBAPP, Forms, Json, error
from support.mail_events import (
    BOUNCE,
    COMPLAINT,
    DELIVERY,
    OUT_OF_OFFICE,
    REJECT,
    SUPPRESSED,
    UNDETERMINED,
    PickyMailer,
    ses_event,
)

if TYPE_CHECKING:
    from sayso.ports import OutgoingMail

A, B, C = "a@example.org", "b@example.org", "c@example.org"
MINUTE = timedelta(minutes=1)


def email(*addresses: str, **config: Any) -> Json:
    items = [{"type": "external", "email": one} for one in addresses]
    return {"type": "email", "id": "mail", "config": {"recipients": {"items": items}, **config}}


def mailed(*addresses: str, also: tuple[Json, ...] = (), **config: Any) -> Forms:
    """Return a run that asks these people by mail."""
    return Forms({"delivery_methods": [email(*addresses, **config), *also]})


def picky(errors: dict[str, Exception], *addresses: str) -> tuple[Forms, PickyMailer]:
    """Return a run whose mail service fails for some addresses."""
    wiring = MemoryWiring()
    mailer = wiring.mailer = PickyMailer(errors=errors)
    forms = Forms({"delivery_methods": [email(*addresses)]}, functions=Functions(wiring))
    return forms, mailer


def report(forms: Forms, detail: Json, recipient: int) -> None:
    """Let SES report something about a recipient."""
    body = json.dumps(ses_event(detail, forms.form, recipient))
    answer = forms.functions.invoke("deliver", sqs_event("deliveries", body))
    assert answer == {"batchItemFailures": []}


def states(forms: Forms) -> list[str]:
    return [one.state.value for one in forms.whole.recipients if one.address]


def minutes(forms: Forms, number: int) -> None:
    """Let time pass with a sweep and all deliveries a minute."""
    for _ in range(number):
        forms.functions.clock.advance(MINUTE)
        forms.functions.invoke("timeout_sweep", {}, 55)
        forms.functions.settle()


def part(mail: OutgoingMail, kind: str) -> str:
    found = message_from_bytes(mail.raw, policy=policy.default).get_body((kind,))
    assert found is not None
    return str(found.get_content())


# --- attempts


def test_s4_3_R_each_mail_is_tagged_with_form_recipient_and_attempt() -> None:
    forms = mailed(A, B)

    assert [dict(one.tags) for one in forms.functions.wiring.mailer.sent] == [
        {"form_id": forms.form.id, "recipient": str(number), "attempt": "1"} for number in (1, 2)
    ]


def test_D11_a_refused_address_stops_nobody() -> None:
    forms, mailer = picky({B: MailRefusedError("no")}, A, B, C)

    assert [one.to for one in mailer.sent] == [A, C]
    assert states(forms) == ["sent", "failed", "sent"]
    assert forms.form.status is FormStatus.WAITING


def test_D11_an_address_that_no_header_can_hold_stops_nobody() -> None:
    wiring = MemoryWiring()
    wiring.settings = replace(wiring.settings, default_approvers=("ä@example.org", B))

    forms = Forms({"delivery_methods": None}, functions=Functions(wiring))

    assert states(forms) == ["failed", "sent"]


def test_s4_3_R_what_is_not_accepted_is_tried_again_for_that_recipient_only() -> None:
    forms, mailer = picky({B: MailNotAcceptedError("later")}, A, B, C)
    assert set(states(forms)) == {"sent", "queued"}

    mailer.errors.clear()
    minutes(forms, 6)

    assert states(forms) == ["sent", "sent", "sent"]
    assert sorted(one.to for one in mailer.sent) == [A, B, C]
    assert forms.whole.recipients[1].attempts > 1


def test_s4_3_R_attempts_end_and_then_the_form_is_unavailable() -> None:
    forms, _ = picky({A: MailNotAcceptedError("later")}, A)

    minutes(forms, 120)

    assert forms.whole.recipients[0].attempts == MAX_ATTEMPTS
    assert states(forms) == ["failed"]
    assert forms.result()["status"] == "unavailable"


def test_s4_3_R_everybody_refused_is_unavailable_without_waiting() -> None:
    forms, _ = picky(dict.fromkeys((A, B), MailRefusedError("no")), A, B)

    assert forms.result()["status"] == "unavailable"


def test_D10_told_again_or_paused_again_a_form_is_mailed_once() -> None:
    asks = [{"calls": [{"name": "ask_human", "args": QUESTION, "id": "c"}]}] * 2
    functions = Functions()
    run_id = functions.create(
        [*asks, {"text": "done"}], human_input={"delivery_methods": [email(A)]}
    )
    functions.settle()
    first = functions.form(run_id).form
    for _ in range(3):
        functions.wiring.context.queue.mail([first.id])
        functions.settle()
        functions.clock.advance(10 * MINUTE)
        functions.invoke("timeout_sweep", {}, 55)
    functions.settle()

    functions.post_form(functions.token(run_id, 1), action="approve", reason="late", comment="x")
    functions.settle()

    sent = [one.tags["form_id"] for one in functions.wiring.mailer.sent]
    assert sent[0] == first.id
    assert len(sent) == len(set(sent)) == 2


# --- what the mail service reports


@pytest.mark.parametrize(
    ("detail", "state"),
    [
        (BOUNCE, "bounced"),
        (SUPPRESSED, "bounced"),
        (COMPLAINT, "complained"),
        (REJECT, "failed"),
        (OUT_OF_OFFICE, "sent"),
        (UNDETERMINED, "sent"),
        (DELIVERY, "sent"),
    ],
)
def test_s4_3_R_reports_move_the_state_of_their_recipient(detail: Json, state: str) -> None:
    forms = mailed(A, B)

    report(forms, detail, 1)

    assert states(forms) == [state, "sent"]
    assert forms.form.status is FormStatus.WAITING


def test_s4_3_R_the_others_are_asked_until_the_last_one_bounces() -> None:
    forms = mailed(A, B, C)
    for number in (1, 2):
        report(forms, BOUNCE, number)
    assert forms.form.status.value == "waiting"

    report(forms, SUPPRESSED, 3)

    assert forms.form.status.value == "undeliverable"
    assert forms.result()["status"] == "unavailable"


def test_s4_3_R_who_can_answer_by_the_web_app_keeps_the_form_open() -> None:
    forms = mailed(A, also=(WEBAPP,))

    report(forms, BOUNCE, 1)

    assert forms.form.status is FormStatus.WAITING
    assert forms.post({"comment": "x", "reason": "late"}).status == 200


def test_a_late_bounce_does_not_touch_a_decision() -> None:
    forms = mailed(A)
    forms.page(kind=MAIL, action="approve", reason="late", comment="x")

    report(forms, BOUNCE, 1)

    assert forms.form.status is FormStatus.SUBMITTED
    assert forms.result()["status"] == "submitted"


def test_a_report_that_comes_twice_changes_nothing_more() -> None:
    forms = mailed(A)
    report(forms, BOUNCE, 1)
    ended = forms.form

    report(forms, BOUNCE, 1)

    assert forms.form == ended


@pytest.mark.parametrize(
    "tags", [{}, {"form_id": ["unknown"], "recipient": ["1"]}, {"form_id": ["x"], "recipient": []}]
)
def test_reports_of_mails_that_are_not_ours_are_left_alone(tags: Json) -> None:
    forms = mailed(A)
    event = {"source": "aws.ses", "detail": {**BOUNCE, "mail": {"tags": tags}}}

    answer = forms.functions.invoke("deliver", sqs_event("deliveries", json.dumps(event)))

    assert answer == {"batchItemFailures": []}
    assert states(forms) == ["sent"]


def test_no_address_is_reported_with_a_bounce() -> None:
    forms = mailed(A)

    report(forms, BOUNCE, 1)

    assert A not in repr(forms.functions.wiring.reports)


# --- texts


def authored(body: str = "", subject: str = "", **variables: Any) -> tuple[Forms, OutgoingMail]:
    """Return a run with a mail in the author's words, and the mail."""
    methods = [email(A, body=body, subject=subject)]
    forms = Forms({"delivery_methods": methods, "variables": variables})
    return forms, forms.functions.wiring.mailer.sent[0]


@pytest.mark.parametrize(
    "body",
    [
        "before{{#url#}}after",
        "你好{{#url#}}请点击",
        "({{#url#}}).",
        "- one {{#url#}}, two",
        "| a | b |\n|---|---|\n| x{{#url#}}y | z |",
        "**{{#url#}}**",
        "[review]({{#url#}})now",
    ],
)
def test_B12_the_link_is_whole_whatever_stands_beside_it(body: str) -> None:
    forms, mail = authored(body)

    link = f"https://{DOMAIN}/form/{forms.token(MAIL)}"
    assert set(re.findall(r'href="([^"]*)"', part(mail, "html"))) == {link}
    assert link in part(mail, "plain").splitlines()
    assert forms.functions.call("GET", f"/form/{forms.token(MAIL)}", key=None).status == 200


@pytest.mark.parametrize(
    ("setting", "base"), [("", f"https://{DOMAIN}"), ("https://say.example", "https://say.example")]
)
def test_B13_links_are_absolute_with_and_without_a_setting(setting: str, base: str) -> None:
    wiring = MemoryWiring()
    wiring.settings = replace(wiring.settings, public_base_url=setting)

    forms = Forms({"delivery_methods": [email(A)]}, functions=Functions(wiring))

    assert f"{base}/form/{forms.token(MAIL)}" in part(wiring.mailer.sent[0], "plain").splitlines()


def test_D12_values_are_inert() -> None:
    value = "{{ form_token }} {{#url#}} {{ 7*7 }} <b>bold</b> **strong** [x](https://evil.example)"

    forms, mail = authored("Amount: {{#order.note#}} {{#url#}}", order={"note": value})

    html, text = part(mail, "html"), part(mail, "plain")
    assert "{{ form_token }} {{#url#}} {{ 7*7 }} &lt;b&gt;bold&lt;/b&gt; **strong**" in html
    assert (html.count("href="), text.count(forms.token(MAIL))) == (1, 1)
    assert "evil.example)" not in re.findall(r'href="([^"]*)"', html)


@pytest.mark.parametrize(
    ("subject", "line"),
    [
        ("Refund\r\nBcc: evil@example.org", "Refund Bcc: evil@example.org"),
        ("<b>Refund</b>  17", "Refund 17"),
        ("Refund {{#order.id#}} of {{ node_title }}", "Refund 17 of Refund 17"),
        ("{{#order.none#}}Refund", "Refund"),
        ("Refund {{ form_token }}{{#url#}}", "Refund"),
    ],
)
def test_D13_a_subject_is_one_clean_line(subject: str, line: str) -> None:
    _, mail = authored(subject=subject, order={"id": "17"})

    message = message_from_bytes(mail.raw, policy=policy.default)
    assert message["Subject"] == line
    assert message["Bcc"] is None


def test_s4_3_listed_names_are_filled_and_no_others() -> None:
    body = "{{ form_id }}|{{ workflow_run_id }}|{{ recipient_email }}|{{ form_token }}|{{ other }}"

    forms, mail = authored(body)

    shown = f"{forms.form.id}|{forms.run_id}|{A}||{{{{ other }}}}"
    assert shown in part(mail, "html")


def test_s4_3_R_raw_html_shows_and_what_is_not_allowed_is_taken_out() -> None:
    _, mail = authored("# Head\n\n<script>x</script> ![i](https://x.example/i.png) | {{#url#}}")

    html = part(mail, "html")
    assert "&lt;script&gt;x&lt;/script&gt;" in html
    assert "<img" not in html


# --- §4.4, the delivery test

TEST = "/console/api/delivery-test"
METHODS = [
    WEBAPP,
    email(A),
    {**email(), "id": "nobody"},
    {**email(A, debug_mode=True), "id": "debug"},
]


def trying(method: str = "mail", functions: Functions | None = None, **policy_members: Any) -> Any:
    body = {
        "human_input": {"title": "T", "delivery_methods": METHODS, **policy_members},
        "delivery_method_id": method,
        "inputs": {},
    }
    return (functions or Functions()).call("POST", TEST, json_body=body)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("gone", "Delivery method not found."),
        ("web", "Delivery method does not support test send."),
        ("nobody", "No recipients configured for delivery method."),
        ("debug", "No recipients configured for delivery method."),
    ],
)
def test_s4_4_failures_are_bad_requests_in_these_words(method: str, message: str) -> None:
    assert trying(method).json == error("bad_request", message, 400)


@pytest.mark.parametrize("method", ["mail", "nobody"])
def test_s4_4_without_a_sender_the_mail_client_is_not_initialized(method: str) -> None:
    wiring = MemoryWiring()
    wiring.settings = replace(wiring.settings, sender_address="")

    answer = trying(method, Functions(wiring))

    assert answer.json == error("bad_request", "Mail client is not initialized.", 400)


def test_s4_4_another_type_of_node_is_refused() -> None:
    node = {"type": "llm", "user_actions": [{"id": "ok", "title": "OK"}]}

    answer = trying("mail", form=node)

    assert answer.json == error("bad_request", "Node type must be human-input.", 400)


def test_s4_4_what_was_refused_left_nothing_behind() -> None:
    functions = Functions()

    for method in ("gone", "web", "nobody"):
        trying(method, functions)

    assert functions.wiring.table.snapshot() == {}


def test_s4_4_a_test_mails_a_member_through_the_real_renderer() -> None:
    functions = Functions()
    functions.call(
        "PUT", "/console/api/members/priya", json_body={"name": "Priya Nair", "address": B}
    )
    method = {
        **email(),
        "config": {"recipients": {"items": [{"type": "member", "user_id": "priya"}]}},
    }

    answer = trying("mail", functions, delivery_methods=[method])
    functions.settle()

    (mail,) = functions.wiring.mailer.sent
    assert (answer.status, answer.body, mail.to) == (200, "{}", B)
    assert "Priya Nair" in part(mail, "plain")
