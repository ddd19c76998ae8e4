"""The main job in a real browser: mail, link, form, receipt, and the run goes on with the answer."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from e2e.scenes import ANSWER_SHOWN, comment, questions, scripted, somebody, to_mail
from e2e.waiting import eventually
from sayso.domain.transitions import RunStatus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page, ViewportSize

    from e2e.stage import Stage
    from sayso.domain.ids import RunId

pytestmark = pytest.mark.e2e

PHONE: ViewportSize = {"width": 360, "height": 740}
MAX_TAB_STOPS = 30


@contextmanager
def phone(browser: Browser, *, scripts: bool = True) -> Iterator[Page]:
    """A page on a phone."""
    with browser.new_context(
        viewport=PHONE, java_script_enabled=scripts, has_touch=True
    ) as context:
        yield context.new_page()


def asked_by_mail(stage: Stage) -> tuple[RunId, str]:
    """Start a run that asks a person by mail; return it and the link of the mail."""
    address = somebody()
    run_id = stage.create(
        scripted([questions("call_1"), ANSWER_SHOWN], human_input=to_mail(address))
    )
    eventually("the run to pause", lambda: status(stage, run_id) == "paused")
    return run_id, stage.mailed_link(address)


def status(stage: Stage, run_id: RunId) -> str:
    """Return a run's status as a program polls it."""
    return str(stage.call("GET", f"/runs/{run_id}").json["status"])


def check_run_goes_on_with(stage: Stage, run_id: RunId, said: str) -> None:
    """Wait until the run has ended, as a program would, and look for what the person wrote."""
    eventually("the run to end", lambda: status(stage, run_id) == "succeeded")
    assert said in stage.output(run_id)


@pytest.mark.parametrize("scripts", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_an_answer_from_a_phone_reaches_the_result(
    stage: Stage, browser: Browser, scripts: bool
) -> None:
    run_id, link = asked_by_mail(stage)
    said = comment()

    with phone(browser, scripts=scripts) as page:
        page.goto(link)
        expect(page.get_by_role("heading", level=1)).to_have_text(
            "Refund 1,240.00 EUR to Marta Oliveira?"
        )
        page.get_by_label("Reason").select_option(label="Goodwill")
        page.get_by_label("Comment").fill(said)
        with page.expect_response(lambda one: one.request.method == "POST") as answered:
            page.get_by_role("button", name="Approve refund").click()

        assert answered.value.status == 303
        assert page.url == link
        expect(page.get_by_role("heading", level=1)).to_have_text("You chose “Approve refund”")
        expect(page.get_by_text(said)).to_be_visible()
        expect(page.get_by_text("Goodwill")).to_be_visible()
    check_run_goes_on_with(stage, run_id, said)


def test_an_answer_can_be_given_by_keyboard_alone(stage: Stage, browser: Browser) -> None:
    run_id, link = asked_by_mail(stage)
    said = comment()

    with phone(browser) as page:
        page.goto(link)
        tab_to(page, page.get_by_label("Reason"))
        page.keyboard.press("L")  # the option that begins so
        tab_to(page, page.get_by_label("Comment"))
        page.keyboard.type(said)
        tab_to(page, page.get_by_role("button", name="Approve refund"))
        page.keyboard.press("Enter")

        expect(page.get_by_role("heading", level=1)).to_have_text("You chose “Approve refund”")
        expect(page.get_by_text("Lost parcel")).to_be_visible()
    check_run_goes_on_with(stage, run_id, said)


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until the control has the focus."""
    for _ in range(MAX_TAB_STOPS):
        page.keyboard.press("Tab")
        if wanted.evaluate("one => one === document.activeElement"):
            return
    message = f"Tab never came to {wanted}"
    raise AssertionError(message)


@pytest.mark.parametrize("scripts", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_a_missing_answer_is_named_and_what_was_typed_stays(
    stage: Stage, browser: Browser, scripts: bool
) -> None:
    run_id, link = asked_by_mail(stage)

    with phone(browser, scripts=scripts) as page:
        page.goto(link)
        page.get_by_label("Reason").select_option("goodwill")
        with page.expect_response(lambda one: one.request.method == "POST") as refused:
            page.get_by_role("button", name="Approve refund").click()

        assert refused.value.status == 422
        expect(page).to_have_title(re.compile("^Error: "))
        summary = page.get_by_role("alert")
        expect(summary).to_contain_text("Nothing was decided")
        expect(page.get_by_label("Reason")).to_have_value("goodwill")
        summary.get_by_role("link").click()
        assert page.url.endswith("#field-comment")
        said = comment()
        page.get_by_label("Comment").fill(said)
        page.get_by_role("button", name="Approve refund").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("You chose “Approve refund”")
    check_run_goes_on_with(stage, run_id, said)


def test_the_error_summary_has_the_focus_and_leads_to_the_field(
    stage: Stage, browser: Browser
) -> None:
    _, link = asked_by_mail(stage)

    with phone(browser) as page:
        page.goto(link)
        page.get_by_role("button", name="Refuse").click()

        expect(page.get_by_role("alert")).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.get_by_label("Reason")).to_be_focused()


def test_who_answers_second_sees_the_first_decision_and_gets_the_own_text_back(
    stage: Stage, browser: Browser
) -> None:
    first, second = somebody(), somebody()
    run_id = stage.create(
        scripted([questions("call_1"), ANSWER_SHOWN], human_input=to_mail(first, second))
    )
    said, unheard = comment(), comment()

    with phone(browser) as page, phone(browser) as other:
        for one, address, text in ((page, first, said), (other, second, unheard)):
            one.goto(stage.mailed_link(address))
            one.get_by_label("Reason").select_option("lost")
            one.get_by_label("Comment").fill(text)
        page.get_by_role("button", name="Approve refund").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("You chose “Approve refund”")
        other.get_by_role("button", name="Refuse").click()

        expect(other.get_by_role("heading", level=1)).to_have_text("Already answered")
        expect(other.get_by_text(unheard)).to_be_visible()
        expect(other.get_by_text(said)).to_have_count(0)
    check_run_goes_on_with(stage, run_id, said)
    stage.records.wait_until(run_id, RunStatus.SUCCEEDED)
    assert unheard not in stage.output(run_id)
