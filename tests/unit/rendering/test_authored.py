"""Subject and body of a policy's author (human-input §4.3 with corrections)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.rendering import sanitise
from sayso.rendering.authored import Substitutions, authored_body, authored_subject
from sayso.rendering.content import mail_html, mail_text
from sayso.rendering.mails import ApprovalView, authored_mail
from unit.rendering.reading import Page, dangers
from unit.rendering.samples import ASK, DEADLINE, LINK, XSS

CONTENT = "Pay **now** [here](https://evil.example)"
GIVEN = Substitutions(
    link=LINK,
    content=mail_html(CONTENT),
    content_text=mail_text(CONTENT),
    names={
        "form_id": "f-1",
        "node_title": "Refund check",
        "workflow_run_id": "r-1",
        "recipient_email": "priya@halden.example",
    },
    variables={"order": {"id": "HO-17", "amount": 3200}, "user": {"says": "*hi*"}},
)
VIEW = ApprovalView(ask=ASK, deadline=DEADLINE, recipient="priya@halden.example", link=LINK)
ANCHOR = f'<a href="{LINK}">{LINK}</a>'


def saying(text: str) -> Substitutions:
    """Return substitutions whose values from outside are this text."""
    return replace(
        GIVEN,
        names=dict.fromkeys(GIVEN.names, text),
        variables={"user": {"says": text}},
        content=mail_html(text),
        content_text=mail_text(text),
    )


def test_the_contracts_example_becomes_a_mail() -> None:
    body = authored_body("Please [review]({{#url#}}) the refund of {{#order.amount#}}.", GIVEN)

    assert body.html.html == f'<p>Please <a href="{LINK}">review</a> the refund of 3200.</p>'
    assert body.text == "Please review the refund of 3200."


@pytest.mark.parametrize("placeholder", ["{{#url#}}", "{{ form_link }}", "{{form_link}}"])
def test_a_bare_link_becomes_an_anchor(placeholder: str) -> None:
    assert authored_body(placeholder, GIVEN).html.html == f"<p>{ANCHOR}</p>"


@pytest.mark.parametrize(
    ("body", "html"),
    [
        ("see{{#url#}}now", f"<p>see {ANCHOR} now</p>"),
        ("({{#url#}}).", f"<p>({ANCHOR}).</p>"),
        ("**{{#url#}}**", f"<p><strong>{ANCHOR}</strong></p>"),
        ("- {{#url#}}", f"<ul>\n<li>{ANCHOR}</li>\n</ul>"),
        ("[a](https://x.example/{{#url#}}/z)", f'<p><a href="{LINK}">a</a></p>'),
        ("[{{#url#}}]({{#url#}})", f"<p>{ANCHOR}</p>"),
        ("`{{#url#}}`", f"<p><code>{LINK}</code></p>"),
        ("<{{#url#}}>", f"<p>&lt;{ANCHOR}&gt;</p>"),
    ],
)
def test_the_link_is_whole_whatever_stands_beside_it(body: str, html: str) -> None:
    assert authored_body(body, GIVEN).html.html == html


def test_the_link_is_whole_in_a_table() -> None:
    html = authored_body("|a|b|\n|-|-|\n|x{{#url#}}|y|", GIVEN).html.html

    assert Page(html).links() == [LINK]


def test_a_bare_link_stands_on_its_own_line_of_the_text_part() -> None:
    body = authored_body("see {{#url#}} now", GIVEN)

    assert body.text == f"see\n{LINK}\nnow"
    assert body.text_has_link


def test_listed_names_become_their_values() -> None:
    names = "{{ form_id }} {{node_title}} {{ workflow_run_id }} {{ recipient_email }}"

    assert authored_body(names, GIVEN).text == "f-1 Refund check r-1 priya@halden.example"


def test_the_token_is_never_exposed_separately() -> None:
    assert authored_body("a{{ form_token }}b", GIVEN).text == "ab"
    assert authored_subject("a{{ form_token }}b", GIVEN) == "ab"


@pytest.mark.parametrize("text", ["{{ 7*7 }}", "{{ config }}", "{% raw %}", "{{ form_id|upper }}"])
def test_nothing_else_is_a_template(text: str) -> None:
    assert authored_body(text, GIVEN).text == text


def test_an_unknown_variable_is_nothing() -> None:
    assert authored_body("a{{#order.x#}}b", GIVEN).text == "ab"


def test_a_value_is_no_markdown_even_in_code() -> None:
    html = authored_body("{{#user.says#}} `{{#user.says#}}`", GIVEN).html.html

    assert html == "<p>*hi* <code>*hi*</code></p>"


def test_a_value_may_end_an_address_but_not_choose_where_it_leads() -> None:
    given = saying("a/../b?c&d")

    html = authored_body(
        "[one](https://shop.example/o/{{#user.says#}}) [two]({{#user.says#}}) "
        "[three](https://{{#user.says#}}.example/x)",
        given,
    ).html.html

    assert Page(html).links() == ["https://shop.example/o/a%2F..%2Fb%3Fc%26d"]
    assert Page(html).text == "one two three"


def test_the_content_stands_as_a_block_without_live_links() -> None:
    html = authored_body("Read:\n\n{{ form_content }}", GIVEN).html.html

    assert html == "<p>Read:</p>\n<p>Pay <strong>now</strong> here (evil.example)</p>"


def test_the_content_within_a_sentence_is_plain_text() -> None:
    html = authored_body("It says: {{ form_content }}!", GIVEN).html.html

    assert html == "<p>It says: Pay now here (evil.example)!</p>"


def test_raw_html_shows_as_text() -> None:
    assert authored_body("<b>x</b>", GIVEN).html.html == "<p>&lt;b&gt;x&lt;/b&gt;</p>"


def test_an_authors_own_links_live_and_are_told_in_the_text() -> None:
    body = authored_body("[policy](https://policy.example/p)", GIVEN)

    assert Page(body.html.html).links() == ["https://policy.example/p"]
    assert body.text == "policy (https://policy.example/p)"


def test_a_placeholder_in_a_value_is_not_expanded() -> None:
    body = authored_body("{{#user.says#}}", saying("{{#url#}} {{ form_link }} mark0z"))

    assert Page(body.html.html).links() == []
    assert body.text == "{{#url#}} {{ form_link }} mark0z"


def test_a_body_that_uses_our_marks_is_left_alone() -> None:
    assert authored_body("mark0z markq1z {{#order.id#}}", GIVEN).text == "mark0z markq1z HO-17"


@pytest.mark.parametrize("payload", XSS)
def test_no_payload_gets_through_body_or_values(payload: str) -> None:
    template = "{p}\n\n{{{{#user.says#}}}} [x]({{{{#user.says#}}}}) `{{{{#user.says#}}}}` {{{{ form_content }}}}"

    html = authored_body(template.format(p=payload), saying(payload)).html.html

    assert dangers(html) == []


@given(
    st.lists(
        st.sampled_from(
            [
                "{{#url#}}",
                "{{ form_content }}",
                "{{#user.says#}}",
                "[a](",
                ")",
                "`",
                "|",
                "\n",
                "*",
                "x",
                "<",
                "- ",
            ]
        )
    )
)
def test_any_body_is_within_the_allow_list(pieces: list[str]) -> None:
    html = authored_body("".join(pieces), GIVEN).html.html

    assert dangers(html) == []
    assert sanitise.sanitise(html, sanitise.AUTHOR) == html


@pytest.mark.parametrize(
    ("subject", "line"),
    [
        ("Refund {{#order.id#}}: {{ node_title }}", "Refund HO-17: Refund check"),
        ("a\r\nBcc: x@y.example", "a Bcc: x@y.example"),
        ("<b>bold</b>  3 < 4", "bold 3 < 4"),
        ("a\u202eb\tc", "ab c"),
        ("{{#url#}}{{ form_link }}{{ form_content }}|", "|"),
    ],
)
def test_a_subject_is_one_line_without_tags_link_and_content(subject: str, line: str) -> None:
    assert authored_subject(subject, GIVEN) == line


def test_a_subject_is_never_longer_than_150_characters() -> None:
    assert len(authored_subject("x" * 500, GIVEN)) == 150


@pytest.mark.parametrize(
    "body", ["No link here.", "`{{#url#}}`", "Please [look]({{#url#}}).", "{{#url#}}"]
)
def test_a_mail_always_has_its_link_in_both_parts(body: str) -> None:
    mail = authored_mail(VIEW, subject="", body=authored_body(body, GIVEN))

    assert LINK in Page(mail.html).links()
    assert LINK in mail.text.splitlines()
    assert mail.subject == "Refund €1,240.00? Decide by Thu 3 Dec, 17:00 CET"


def test_the_frame_adds_no_second_link_where_the_author_put_one() -> None:
    mail = authored_mail(VIEW, subject="Hi", body=authored_body("{{#url#}}", GIVEN))

    assert Page(mail.html).links() == [LINK]
    assert mail.text.count(LINK) == 1
    assert mail.subject == "Hi"
