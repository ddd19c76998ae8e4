"""The approver's pages: decision first, no script, everything from outside escaped."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

import pytest

from sayso.domain.errors import FieldIssue
from sayso.rendering import pages
from sayso.rendering.views import (
    ActionView,
    AnsweredView,
    AskView,
    CancelledView,
    DecisionView,
    ExpiredView,
    FormView,
    LineView,
    OptionView,
    ParagraphView,
    RateLimitedView,
    ReceiptView,
    SelectView,
    TypedView,
    UndeliverableView,
    ValueView,
)
from unit.rendering.reading import Page
from unit.rendering.samples import ASK, DEADLINE, DECISION, FORM, LINK, NOTE, NOW, TYPED, XSS

if TYPE_CHECKING:
    from collections.abc import Callable

NONCE = "n0nce"


def all_pages(ask: AskView, typed: TypedView, decision: DecisionView) -> dict[str, str]:
    """Return every page made of these values."""
    values = typed.values
    return {
        "form": pages.form_page(replace(FORM, ask=ask), nonce=NONCE),
        "form with errors": pages.form_page(
            replace(FORM, ask=ask), nonce=NONCE, issues=[FieldIssue("note", "missing", "")]
        ),
        "receipt": pages.receipt_page(
            ReceiptView(ask=ask, decision=decision, values=values, digest="ab"), nonce=NONCE
        ),
        "answered": pages.answered_page(
            AnsweredView(ask=ask, decision=decision, typed=typed), nonce=NONCE
        ),
        "expired": pages.expired_page(
            ExpiredView(ask=ask, deadline=DEADLINE, typed=typed, typed_at=DEADLINE), nonce=NONCE
        ),
        "cancelled": pages.cancelled_page(
            CancelledView(ask=ask, at=NOW, note="Stopped.", typed=typed), nonce=NONCE
        ),
        "undeliverable": pages.undeliverable_page(
            UndeliverableView(ask=ask, typed=typed), nonce=NONCE
        ),
        "unknown": pages.unknown_page(nonce=NONCE),
        "too many requests": pages.rate_limited_page(
            RateLimitedView(now=NOW, retry_at=NOW + timedelta(seconds=40)), nonce=NONCE
        ),
        "server error": pages.server_error_page(nonce=NONCE),
    }


ALL = all_pages(ASK, TYPED, DECISION)
each_page = pytest.mark.parametrize("html", ALL.values(), ids=ALL.keys())


@each_page
def test_a_page_is_one_document_with_one_heading_and_one_main(html: str) -> None:
    page = Page(html)

    assert html.startswith("<!doctype html>")
    assert page.unbalanced == []
    assert page.all("html") == [{"lang": "en", "dir": "ltr"}]
    assert len(page.all("h1")) == len(page.all("main")) == len(page.all("title")) == 1


@each_page
def test_a_page_runs_and_loads_nothing(html: str) -> None:
    page = Page(html)

    assert page.all("script") == page.all("link") == page.all("img") == page.all("iframe") == []
    attributes = [name for _, attrs in page.elements for name in attrs]
    assert not [name for name in attributes if name.startswith("on") or name in {"style", "src"}]
    assert page.all("style") == [{"nonce": NONCE}]
    assert not re.search(r"url\(|@import|expression\(", html)


@each_page
def test_headings_are_in_order(html: str) -> None:
    levels = [int(tag[1]) for tag, _ in Page(html).elements if re.fullmatch(r"h[1-6]", tag)]
    after_main = levels[levels.index(1) :]

    assert all(later <= earlier + 1 for earlier, later in itertools.pairwise(after_main))


@each_page
def test_ids_are_unique_and_references_lead_somewhere(html: str) -> None:
    elements = [attrs for _, attrs in Page(html).elements]
    ids = [attrs["id"] for attrs in elements if "id" in attrs]
    wanted = [
        one
        for attrs in elements
        for name in ("for", "aria-labelledby", "aria-describedby")
        for one in attrs.get(name, "").split()
    ] + [link[1:] for link in Page(html).links() if link.startswith("#")]

    assert len(ids) == len(set(ids))
    assert set(wanted) <= set(ids)


@each_page
def test_a_page_tells_search_engines_and_other_sites_nothing(html: str) -> None:
    metas = {meta.get("name"): meta.get("content") for meta in Page(html).all("meta")}

    assert metas["robots"] == "noindex, nofollow"
    assert metas["referrer"] == "no-referrer"


@pytest.mark.parametrize("payload", XSS)
def test_nothing_from_outside_becomes_markup(payload: str) -> None:
    values = (ValueView(label=payload, text=payload),)
    ask = replace(ASK, question=payload, more=payload, asker=payload, workspace=payload)
    hostile = all_pages(
        replace(ask, reference=payload),
        TypedView(action=payload, values=values),
        DecisionView(action=payload, at=NOW, by=payload),
    )

    for name, html in hostile.items():
        plain = [tag for tag, _ in Page(ALL[name]).elements]
        assert [tag for tag, _ in Page(html).elements] == plain, name


@pytest.mark.parametrize("payload", XSS)
def test_no_field_or_button_becomes_markup(payload: str) -> None:
    def form(text: str) -> str:
        view = replace(
            FORM,
            parts=(
                ParagraphView(name="p", label=text, initial=text, hint=text),
                SelectView(name="s", label=text, options=(OptionView(value=text, label=text),)),
            ),
            actions=(ActionView(id=text, label=text),),
            silence=text,
            started_by=text,
            recipient=text,
            form_nonce=text,
        )
        issues = [FieldIssue("p", "missing", text), FieldIssue(text, "unknown", text)]
        return pages.form_page(view, nonce=NONCE, values={"p": text, "s": text}, issues=issues)

    plain, hostile = Page(form("word")), Page(form(payload))

    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in plain.elements]
    assert [set(attrs) for _, attrs in hostile.elements] == [
        set(attrs) for _, attrs in plain.elements
    ]


def test_the_question_comes_before_deadline_content_fields_and_buttons() -> None:
    html = pages.form_page(FORM, nonce=NONCE)
    order = [
        "Refund €1,240.00?</h1>",
        "Decide by",
        "If nobody answers",
        "Who asks",
        "7K4M-29QD",
        "Please <strong>look</strong>.",
        "<textarea",
        "<select",
        "Approve refund",
    ]

    places = [html.index(text) for text in order]

    assert places == sorted(places)


def test_the_deadline_is_told_in_the_readers_zone_in_utc_and_as_time_left() -> None:
    text = " ".join(Page(pages.form_page(FORM, nonce=NONCE)).text.split())

    assert "Thursday 3 December 2026, 17:00 CET 16:00 UTC, 1 day 4 hours from now" in text


def test_the_answer_goes_to_the_address_of_the_page() -> None:
    (form,) = Page(pages.form_page(FORM, nonce=NONCE)).all("form")

    assert form == {"method": "post", "novalidate": ""}


def test_the_first_button_is_disabled_so_that_enter_in_a_field_decides_nothing() -> None:
    buttons = Page(pages.form_page(FORM, nonce=NONCE)).all("button")

    assert buttons[0] == {"type": "submit", "disabled": "", "hidden": ""}
    assert not any("disabled" in button for button in buttons[1:])


def test_destructive_buttons_come_last() -> None:
    buttons = Page(pages.form_page(FORM, nonce=NONCE)).all("button")

    assert [button.get("value") for button in buttons] == [None, "approve", "refuse"]


def test_the_form_nonce_is_sent_only_when_there_is_one() -> None:
    without = Page(pages.form_page(FORM, nonce=NONCE)).all("input")
    (field,) = Page(pages.form_page(replace(FORM, form_nonce="f1"), nonce=NONCE)).all("input")

    assert without == []
    assert field == {"type": "hidden", "name": "form_nonce", "value": "f1"}


def test_a_field_starts_with_its_initial_value_and_keeps_what_was_typed() -> None:
    fresh = pages.form_page(FORM, nonce=NONCE)
    again = pages.form_page(FORM, nonce=NONCE, values={"note": "\nmine", "payout": "voucher"})

    assert ">\nDear customer</textarea>" in fresh
    assert ">\n\nmine</textarea>" in again
    assert [one["value"] for one in Page(again).all("option") if "selected" in one] == ["voucher"]


def test_optional_fields_are_marked_and_required_ones_are_required() -> None:
    view = replace(FORM, parts=(NOTE, replace(NOTE, name="more", required=False)))

    page = Page(pages.form_page(view, nonce=NONCE))

    assert ["required" in area for area in page.all("textarea")] == [True, False]
    assert page.text.count("(optional)") == 1


@pytest.mark.parametrize("name", ["action", "form_nonce"])
def test_a_field_named_like_a_control_of_the_page_gets_another_name(name: str) -> None:
    page = Page(pages.form_page(replace(FORM, parts=(replace(NOTE, name=name),)), nonce=NONCE))

    assert page.all("textarea")[0]["name"] == f"field.{name}" == pages.control_name(name)


def test_errors_are_summed_up_first_in_page_order_and_linked_to_their_fields() -> None:
    issues = [
        FieldIssue("action", "invalid_action", ""),
        FieldIssue("payout", "missing", ""),
        FieldIssue("note", "missing", ""),
    ]

    html = pages.form_page(FORM, nonce=NONCE, issues=issues)
    page = Page(html)

    assert "<title>Error: Refund €1,240.00? \N{EN DASH} Sayso</title>" in html
    summary = next(attrs for _, attrs in page.elements if attrs.get("role") == "alert")
    assert "autofocus" in summary
    assert summary["tabindex"] == "-1"
    assert [link for link in page.links() if link != "#decide"] == [
        "#field-note",
        "#field-payout",
    ]
    assert "Press one of the buttons below" in page.text
    assert html.index('role="alert"') < html.index("<h1")


def test_a_wrong_field_is_tied_to_its_hint_and_error() -> None:
    page = Page(pages.form_page(FORM, nonce=NONCE, issues=[FieldIssue("note", "too_long", "")]))

    (area,) = page.all("textarea")
    assert area["aria-invalid"] == "true"
    assert area["aria-describedby"] == "field-note-hint field-note-error"
    assert page.text.count("Shorten “Note”") == 2


@pytest.mark.parametrize(
    ("keyboard", "words"), [("numeric", "as a whole number"), ("decimal", "as a number such as 12")]
)
def test_no_example_of_a_number_is_one_that_the_field_refuses(
    keyboard: Literal["numeric", "decimal"], words: str
) -> None:
    people = LineView(name="people", label="People", keyboard=keyboard)
    issues = [FieldIssue("people", "not_a_number", "")]

    html = pages.form_page(replace(FORM, parts=(people,)), nonce=NONCE, issues=issues)

    assert f"Write “People” {words}" in html


def test_an_issue_of_no_field_on_the_page_still_shows() -> None:
    html = pages.form_page(FORM, nonce=NONCE, issues=[FieldIssue("ghost", "unknown", "")])

    assert "Open the link in your mail again" in html


def test_removed_characters_are_told() -> None:
    html = pages.form_page(replace(FORM, removed=2), nonce=NONCE)

    assert "2 invisible characters were taken out" in html


def test_a_second_stretch_of_agent_text_has_a_label_of_its_own() -> None:
    view = replace(FORM, parts=(FORM.parts[0], NOTE, FORM.parts[0]))

    text = Page(pages.form_page(view, nonce=NONCE)).text

    assert "Written by Refund bot. Check it before you rely on it." in text
    assert "Written by Refund bot (2)" in text


def test_the_unknown_page_is_the_same_every_time() -> None:
    assert pages.unknown_page(nonce="a") == pages.unknown_page(nonce="a")
    assert pages.unknown_page(nonce="a").replace('"a"', '"b"') == pages.unknown_page(nonce="b")


@pytest.mark.parametrize("name", ["unknown", "too many requests", "server error"])
def test_pages_without_a_valid_link_know_nothing_of_the_form(name: str) -> None:
    text = Page(ALL[name]).text

    assert not any(secret in text for secret in ("Refund", "Halden", "7K4M", "Nowak"))


@pytest.mark.parametrize("name", ["answered", "expired", "cancelled", "undeliverable"])
def test_a_late_answer_is_given_back(name: str) -> None:
    text = Page(ALL[name]).text

    assert "typed text" in text
    assert "Not taken" in text


def test_a_decider_who_is_not_to_be_shown_is_not() -> None:
    view = AnsweredView(ask=ASK, decision=replace(DECISION, by=""))

    text = Page(pages.answered_page(view, nonce=NONCE)).text

    assert "Somebody else was first" in text
    assert "Approve refund" in text


def test_a_receipt_says_who_what_and_when() -> None:
    text = " ".join(Page(ALL["receipt"]).text.split())

    assert "You chose “Approve refund”" in text
    assert "By Tomasz Nowak, Wednesday 2 December 2026, 13:00 CET" in text
    assert "7K4M-29QD" in text


def test_no_page_shows_the_link() -> None:
    assert not any(LINK in html for html in ALL.values())


@pytest.mark.parametrize(
    "make",
    [
        lambda ask: FormView(ask=ask, deadline=DEADLINE, now=NOW, actions=FORM.actions),
        lambda ask: replace(FORM, ask=ask, recipient="Priya Raman"),
    ],
)
def test_a_form_without_a_workspace_reads_well(make: Callable[[AskView], FormView]) -> None:
    html = pages.form_page(make(replace(ASK, workspace="", more="")), nonce=NONCE)

    assert "for ." not in Page(html).text
    assert "Sent by Sayso" in Page(html).text
