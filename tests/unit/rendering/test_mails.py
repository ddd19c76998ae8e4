"""Mails: one link, two readable parts, nothing of the model's that lives."""

from __future__ import annotations

import email
import email.policy
import re
from dataclasses import replace
from email.message import EmailMessage

import pytest

from sayso.rendering.content import mail_html, mail_text
from sayso.rendering.mails import ApprovalView, MailTriple, approval_mail
from sayso.rendering.message import build_message
from unit.rendering.reading import Page
from unit.rendering.samples import ASK, DEADLINE, LINK, XSS

CONTENT = "Please [look](https://evil.example/x) at **this**: https://evil.example"
VIEW = ApprovalView(
    ask=ASK,
    deadline=DEADLINE,
    recipient="priya@halden.example",
    link=LINK,
    content=mail_html(CONTENT),
    content_text=mail_text(CONTENT),
)


def view_of(text: str) -> ApprovalView:
    """Return a view whose every string from outside is this text."""
    ask = replace(ASK, question=text, more=text, asker=text, workspace=text)
    return replace(
        VIEW,
        ask=ask,
        content=mail_html(text),
        content_text=mail_text(text),
        silence=text,
        started_by=text,
    )


def parsed(raw: bytes) -> EmailMessage:
    """Return the message as a mail program reads it."""
    return email.message_from_bytes(raw, _class=EmailMessage, policy=email.policy.default)


def message(mail: MailTriple | None = None, **changes: str) -> EmailMessage:
    """Return a built message, read back."""
    given = {
        "sender": "Sayso <approve@halden.example>",
        "recipient": "p@x.example",
        "thread": "f-1",
    }
    return parsed(build_message(mail or approval_mail(VIEW), **{**given, **changes}))  # type: ignore[arg-type]


def test_the_subject_says_what_and_until_when() -> None:
    assert approval_mail(VIEW).subject == "Refund €1,240.00? Decide by Thu 3 Dec, 17:00 CET"


def test_a_long_question_leaves_room_for_the_deadline() -> None:
    subject = approval_mail(view_of("word " * 200)).subject

    assert len(subject) <= 150
    assert subject.endswith("… Decide by Thu 3 Dec, 17:00 CET")


@pytest.mark.parametrize("text", ["a\r\nBcc: x@y.example", "a\nb", "a\u2028b", "a\u202eb\x00"])
def test_a_subject_is_one_line_of_visible_text(text: str) -> None:
    subject = approval_mail(view_of(text)).subject

    assert subject.isprintable()


def test_the_text_part_can_be_acted_upon_alone() -> None:
    text = approval_mail(VIEW).text

    assert "Refund €1,240.00?" in text
    assert "Thursday 3 December 2026, 17:00 CET (16:00 UTC)" in text
    assert LINK in text.splitlines()
    assert text.count("://") == 1


def test_lines_of_the_text_part_are_short_but_for_the_link() -> None:
    text = approval_mail(view_of("word " * 100)).text

    assert max(len(line) for line in text.splitlines() if line != LINK) <= 78


def test_the_html_part_leads_to_one_address() -> None:
    page = Page(approval_mail(VIEW).html)

    assert set(page.links()) == {LINK}
    assert page.all("img") == page.all("script") == []
    assert "look (evil.example) at this: evil.example" in page.text


def test_a_mail_without_content_says_nothing_of_the_agents() -> None:
    mail = approval_mail(replace(VIEW, content=None))

    assert "Written by" not in mail.text + mail.html


@pytest.mark.parametrize("payload", XSS)
def test_nothing_from_outside_lives_in_a_mail(payload: str) -> None:
    mail = approval_mail(view_of(payload))
    page = Page(mail.html)

    assert set(page.links()) == {LINK}
    assert page.all("script") == page.all("img") == page.all("svg") == page.all("iframe") == []
    assert not [name for _, attrs in page.elements for name in attrs if name.startswith("on")]
    assert re.findall(r"\w+://\S+", mail.text) == [LINK]


def test_a_mail_stays_small() -> None:
    content = "word " * 20_000

    html = approval_mail(replace(VIEW, content=mail_html(content))).html

    assert len(html.encode()) < 60_000


def test_the_message_offers_text_first_and_html_as_the_better_alternative() -> None:
    made = message()

    assert made.get_content_type() == "multipart/alternative"
    assert [part.get_content_type() for part in made.iter_parts()] == ["text/plain", "text/html"]
    text, html = (part.get_content().replace("\r\n", "\n") for part in made.iter_parts())
    mail = approval_mail(VIEW)
    assert (text, html) == (mail.text, mail.html)


def test_the_message_is_seven_bit_in_short_lines() -> None:
    raw = build_message(
        MailTriple(subject="ü" * 150, text="ü" * 3000, html="ü" * 3000),
        sender="approve@halden.example",
        recipient="p@x.example",
        thread="f-1",
    )

    assert raw.isascii()
    assert max(len(line) for line in raw.split(b"\r\n")) <= 78


def test_the_headers_name_sender_recipient_and_thread() -> None:
    made = message(reply_to="Help <help@halden.example>")

    assert made["From"] == "Sayso <approve@halden.example>"
    assert made["To"] == "p@x.example"
    assert made["Reply-To"] == "Help <help@halden.example>"
    assert made["References"] == "<form.f-1@halden.example>"
    assert made["Auto-Submitted"] == "auto-generated"
    assert made["X-Priority"] is None


def test_only_an_urgent_mail_is_marked() -> None:
    assert message(urgency="high")["X-Priority"] == "1"


def test_references_are_never_encoded_however_long() -> None:
    sender = f"a@{'d' * 60}.{'e' * 60}.example"

    raw = build_message(
        approval_mail(VIEW), sender=sender, recipient="p@x.example", thread="f" * 36
    )

    assert f"References: <form.{'f' * 36}@{sender[2:]}>\r\n".encode() in raw


@pytest.mark.parametrize(
    "address",
    [
        "",
        "nobody",
        "a@b\r\nBcc: c@d",
        "a@b, c@d",
        "<>",
        "a b@c",
        "ü@x.example",
        "@b",
        "a@",
        "a@b\x00",
    ],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="mail address"):
        message(recipient=address)
