"""From records to pages and mails."""

from __future__ import annotations

import email
import email.policy
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from email.message import EmailMessage
from typing import Any

import pytest

from sayso.domain.fields import Option, ParagraphInput, SelectInput
from sayso.domain.form import (
    Action,
    Actor,
    ButtonStyle,
    Decision,
    Form,
    FormContent,
    FormDefinition,
    Recipient,
    RecipientType,
    WholeForm,
)
from sayso.domain.ids import AppId, FormId, PauseId, RunId, TenantId, reference_of
from sayso.domain.transitions import FormStatus
from sayso.rendering.content import MarkdownContentRenderer
from sayso.rendering.from_domain import typed_view
from sayso.rendering.mailer import ApprovalMails
from sayso.rendering.states import ended_page, opened_page
from unit.rendering.reading import Page
from unit.rendering.samples import DEADLINE, LINK, NOW

FORM_ID = FormId("6a1f5f0e-5d0c-5c9b-9d5b-0a6c3a5e7b11")
DEFINITION = FormDefinition(
    title="Refund 17",
    question="Pay\u202e it?",
    content="Look **here**. {{#$output.reason#}} Bye.",
    inputs=(
        ParagraphInput(name="note", label="Note", placeholder="What for?", default="Because"),
        SelectInput(
            name="reason",
            label="Reason",
            options=(Option(value="l", label="Late"), Option(value="d", label="Damaged")),
            required=True,
        ),
    ),
    actions=(Action(id="yes", label="Yes, pay", style=ButtonStyle.PRIMARY),),
)
RENDERED = MarkdownContentRenderer().render(DEFINITION.content, ["note", "reason"])
PRIYA = Recipient(
    number=1, type=RecipientType.EMAIL_EXTERNAL, address="priya@halden.example", attempts=2
)
TOMASZ = replace(PRIYA, number=2, address="tomasz@halden.example")
DECISION = Decision(
    action_id="yes",
    action_label="Yes, pay",
    values={"note": "fine", "reason": "d"},
    actor=Actor(recipient=1, proven_by="link", name="Priya Raman"),
    decided_at=NOW,
)


def whole(
    status: FormStatus = FormStatus.WAITING,
    decision: Decision | None = None,
    **content: Any,
) -> WholeForm:
    """Return a form in a state."""
    form = Form(
        id=FORM_ID,
        run_id=RunId("r-1"),
        pause_id=PauseId("p-1"),
        segment=1,
        tool_call_id="c",
        tool_name="ask_human",
        tenant=TenantId("t"),
        app=AppId("a"),
        status=status,
        created_at=NOW,
        deadline=DEADLINE,
        content_digest="ab" * 32,
        decision=decision,
        ended_at=NOW,
        end_note="The run was stopped.",
    )
    stored = FormContent(
        definition=DEFINITION,
        blocks=RENDERED.blocks,
        mail_html=RENDERED.mail_html,
        sanitiser_version=RENDERED.sanitiser_version,
        digest="ab" * 32,
        asked_by="Refund bot",
    )
    return WholeForm(form=form, content=replace(stored, **content), recipients=(PRIYA, TOMASZ))


def text_of(html: str) -> str:
    """Return the text of a page on one line."""
    return " ".join(Page(html).text.split())


def test_an_open_form_shows_question_content_fields_and_buttons() -> None:
    html = opened_page(whole(), PRIYA, now=NOW, nonce="n", workspace="Halden")
    page = Page(html)

    text = text_of(html)
    assert "Refund bot asks Pay it? Refund 17" in text
    assert reference_of(FORM_ID) in text
    assert "What for?" in text
    assert [area["name"] for area in page.all("textarea")] == ["note"]
    assert ">\nBecause</textarea>" in html
    assert [one["value"] for one in page.all("option")] == ["", "l", "d"]
    assert html.index("<select") < html.index("Bye.") < html.index("<textarea")
    assert "Sent by Sayso to priya@halden.example, for Halden." in text


def test_content_of_older_rules_is_rendered_anew() -> None:
    old = whole(blocks=(), sanitiser_version=0)

    assert "<strong>here</strong>" in opened_page(old, PRIYA, now=NOW, nonce="n")


def test_a_form_past_its_deadline_is_over_before_anything_says_so() -> None:
    html = opened_page(whole(), PRIYA, now=DEADLINE, nonce="n")

    assert "The time to answer is over" in html


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (FormStatus.TIMEOUT, "Refund bot was told that the time ran out"),
        (FormStatus.EXPIRED, "Refund bot does not go on"),
        (FormStatus.CANCELLED, "The run was stopped."),
        (FormStatus.UNDELIVERABLE, "This question is handled elsewhere"),
    ],
)
def test_each_end_has_its_page(status: FormStatus, words: str) -> None:
    assert words in text_of(opened_page(whole(status), PRIYA, now=NOW, nonce="n"))


def test_who_decided_sees_the_receipt_with_labels_instead_of_values() -> None:
    text = text_of(opened_page(whole(FormStatus.SUBMITTED, DECISION), PRIYA, now=NOW, nonce="n"))

    assert "You chose “Yes, pay”" in text
    assert "Note fine Reason Damaged" in text
    assert "ab" * 32 in text


def test_everybody_else_sees_who_was_first() -> None:
    text = text_of(opened_page(whole(FormStatus.SUBMITTED, DECISION), TOMASZ, now=NOW, nonce="n"))

    assert "Priya Raman was first" in text
    assert "fine" not in text


def test_the_loser_of_a_race_gets_back_what_was_typed() -> None:
    typed = typed_view(DEFINITION, "yes", {"note": "mine", "reason": "l", "ghost": "x"})

    html = ended_page(whole(FormStatus.SUBMITTED, DECISION), TOMASZ, nonce="n", typed=typed)

    assert "Note mine Reason Late Your decision Yes, pay Not taken" in text_of(html)


def test_a_late_answer_is_told_how_late_it_was() -> None:
    typed = typed_view(DEFINITION, "gone", {"note": "mine"})

    html = ended_page(
        whole(), PRIYA, nonce="n", typed=typed, typed_at=DEADLINE + timedelta(minutes=4)
    )

    assert "Your answer came 4 minutes later and was not taken." in text_of(html)


def mail(form: WholeForm) -> tuple[EmailMessage, str, str]:
    """Return the mail of a form: message, text, HTML."""
    mails = ApprovalMails(sender="approve@halden.example", workspace="Halden")
    made = mails.approval_mail(form, recipient=1, link=LINK, now=NOW)
    message = email.message_from_bytes(made.raw, _class=EmailMessage, policy=email.policy.default)
    text, html = (part.get_content() for part in message.iter_parts())
    return message, text.replace("\r\n", "\n"), html


def test_a_mail_goes_to_its_recipient_and_its_tags_come_back_with_bounces() -> None:
    mails = ApprovalMails(sender="approve@halden.example")

    made = mails.approval_mail(whole(), recipient=1, link=LINK, now=NOW)

    assert made.to == "priya@halden.example"
    assert made.tags == {"form_id": FORM_ID, "recipient": "1", "attempt": "2"}


def test_a_mail_asks_in_our_words_unless_the_author_wrote_some() -> None:
    message, text, html = mail(whole())

    assert message["Subject"].startswith("Pay it? Decide by Thu 3 Dec")
    assert "> Look here." in text
    assert "<strong>here</strong>" in html
    assert message["References"] == f"<form.{FORM_ID}@halden.example>"


def test_an_authors_subject_and_body_replace_ours() -> None:
    own = {
        "subject": "{{ node_title }}: {{#order.id#}}",
        "body": "Run {{ workflow_run_id }}:\n\n{{ form_content }}",
        "variables": {"order": {"id": "HO-17"}},
    }

    message, text, html = mail(whole(mail=own))

    assert message["Subject"] == "Refund 17: HO-17"
    assert text.startswith("Run r-1:\n\nLook here.")
    assert LINK in text.splitlines()
    assert LINK in Page(html).links()


def test_an_authors_subject_alone_stands_above_our_words() -> None:
    message, text, _html = mail(whole(mail={"subject": "Please look", "body": ""}))

    assert message["Subject"] == "Please look"
    assert "Pay it?" in text


def test_a_recipient_that_is_not_there_is_refused() -> None:
    mails = ApprovalMails(sender="approve@halden.example")

    with pytest.raises(ValueError, match="no recipient 9"):
        mails.approval_mail(whole(), recipient=9, link=LINK, now=NOW)


def test_pages_render_without_sanitiser_markdown_parser_and_pydantic() -> None:
    """The page function must start fast (DESIGN §9)."""
    code = (
        "import sys, sayso.rendering.states, sayso.rendering.mails;"
        "print([name for name in ('bleach', 'markdown_it', 'pydantic', 'botocore')"
        " if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
