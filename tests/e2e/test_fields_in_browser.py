"""Fields on a phone: Enter presses no button, and the error summary leads to what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from e2e.fields import FORM, WRONG
from e2e.scenes import scripted, somebody, to_mail
from sayso.domain.transitions import FormStatus, RunStatus
from support.segments import ask, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from e2e.stage import Stage
    from sayso.domain.ids import RunId

pytestmark = pytest.mark.e2e


@pytest.fixture
def run_id(stage: Stage) -> RunId:
    """A run that asks with the form of its policy."""
    turns = [ask(question="May I send the inspector?"), text("{{results}}")]
    run_id = stage.create(scripted(turns, human_input=to_mail(somebody(), form=FORM)))
    stage.records.wait_until(run_id, RunStatus.PAUSED)
    return run_id


@pytest.fixture
def page(stage: Stage, browser: Browser, run_id: RunId) -> Iterator[Page]:
    """Its page on a phone."""
    (form,) = stage.records.forms(run_id)
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto(stage.link_to(form))
    yield page
    page.close()


def test_enter_in_a_field_decides_nothing(stage: Stage, run_id: RunId, page: Page) -> None:
    page.get_by_label("Name").fill("Ada")
    page.get_by_label("Day").fill("2030-02-28")

    page.get_by_label("Name").press("Enter")

    expect(page.get_by_role("button", name="Go")).to_be_visible()
    (form,) = stage.records.forms(run_id)
    assert form.status is FormStatus.WAITING


def test_each_wrong_field_is_named_and_reached_from_the_summary(page: Page) -> None:
    for label, typed in WRONG.items():
        page.get_by_label(label).fill(typed)
    page.get_by_role("button", name="Go").click()

    summary = page.get_by_role("alert").get_by_role("link")
    expect(summary).to_have_text(
        [
            "Fill in “Name”",
            "Write “Mail address” as a mail address such as name@example.org",
            "Write “Map” as an address that starts with https://",
            "Change “Cost” (From 0)",
            "Write “People” as a whole number",
            "Fill in “Day”",
            "Choose an answer to “Travel by”",
        ]
    )
    for label, typed in WRONG.items():
        expect(page.get_by_label(label)).to_have_value(typed)
    for link in summary.all():
        link.click()
        target = page.url.partition("#")[2]
        expect(page.locator(f"[id='{target}']")).to_be_focused()
