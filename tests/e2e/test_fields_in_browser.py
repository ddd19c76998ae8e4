"""Every kind of field that the form of a policy may have, filled in on a phone."""

from __future__ import annotations

import json
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


def test_what_is_typed_into_any_field_reaches_the_model_in_its_type(
    stage: Stage, run_id: RunId, page: Page
) -> None:
    page.get_by_label("Name").fill("Ada")
    page.get_by_label("Reason").fill("A crack,\nsays the tenant.")
    page.get_by_label("Mail address").fill("ada@example.org")
    page.get_by_label("Map").fill("https://maps.example.org/17")
    page.get_by_label("Cost").fill("12.50")
    page.get_by_label("People").fill("2")
    page.get_by_label("Day").fill("2030-02-28")
    page.get_by_label("Yes").check()
    page.get_by_label("Travel by").select_option(label="Car")
    page.get_by_label("Boots").check()
    page.get_by_label("Papers").check()
    page.get_by_role("button", name="Go").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("You chose “Go”")
    for shown in ("Ada", "12.5", "Car", "Boots", "Papers"):
        expect(page.get_by_text(shown).first).to_be_visible()
    (answer,) = json.loads(json.loads(stage.output(run_id)))
    assert answer["values"] == {
        "who": "Ada",
        "why": "A crack,\nsays the tenant.",
        "mail": "ada@example.org",
        "map": "https://maps.example.org/17",
        "cost": 12.5,
        "people": 2,
        "day": "2030-02-28",
        "again": True,
        "by": "car",
        "bring": ["boots", "papers"],
    }


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
