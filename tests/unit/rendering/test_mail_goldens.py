"""Whole mails as files that a browser opens; somebody reads them before they change.

To change one, delete its file: the test writes it anew and fails until it runs again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sayso.rendering.authored import Substitutions, authored_body, authored_subject
from sayso.rendering.content import mail_html, mail_text
from sayso.rendering.mails import ApprovalView, MailTriple, approval_mail, authored_mail
from unit.rendering.samples import ASK, DEADLINE, LINK

GOLDENS = Path(__file__).with_name("goldens")
CONTENT = """The parcel was **lost** on the way, see https://tracking.example/1.

| Item | Price |
|:-----|------:|
| Tent | 1,240 |

- <script>alert(1)</script>
- [a link](https://evil.example)
"""
VIEW = ApprovalView(
    ask=ASK,
    deadline=DEADLINE,
    recipient="Priya Nair",
    link=LINK,
    content=mail_html(CONTENT),
    content_text=mail_text(CONTENT),
)
BODY = """Hello {{ recipient_email }},

glued{{#url#}}on both sides, and in a list:

- {{#url#}}, please

| Order | Link |
|---|---|
| {{#order.id#}} | see{{#url#}}now |

{{ form_content }}

Note: {{#order.note#}}
"""


def ours() -> MailTriple:
    return approval_mail(VIEW)


def authors() -> MailTriple:
    given = Substitutions(
        link=LINK,
        content=mail_html(CONTENT),
        content_text=mail_text(CONTENT),
        names={"recipient_email": "priya@halden.example"},
        variables={"order": {"id": "17", "note": "{{ form_token }} <b>bold</b> {{#url#}}"}},
    )
    subject = authored_subject("Refund {{#order.id#}}\r\n<b>now</b>", given)
    return authored_mail(VIEW, subject=subject, body=authored_body(BODY, given))


MAILS = {"ours": ours, "authors": authors}
ENDINGS = {"subject": "subject.txt", "text": "txt", "html": "html"}


@pytest.mark.parametrize("name", MAILS)
@pytest.mark.parametrize("part", ENDINGS)
def test_a_mail_is_as_it_was_read(name: str, part: str) -> None:
    made = getattr(MAILS[name](), part).rstrip("\n") + "\n"
    path = GOLDENS / f"{name}.{ENDINGS[part]}"

    if not path.exists():
        path.write_text(made, encoding="utf-8")
        pytest.fail(f"{path.name} was missing and is written: read it")
    assert made == path.read_text(encoding="utf-8")
