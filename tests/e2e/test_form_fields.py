"""Forms that a request defines, in Chromium: every kind of field, errors, races, revoked links."""

from __future__ import annotations

import json
import urllib.parse
from typing import TYPE_CHECKING, Any

import pytest

# The package has no types.
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import expect

from e2e.scenes import ANSWER_SHOWN, scripted, somebody, to_mail
from e2e.waiting import eventually
from support.segments import ask

if TYPE_CHECKING:
    from typing import Literal

    from playwright.sync_api import Browser, Page

    from e2e.stage import Stage
    from sayso.domain.form import Form
    from sayso.domain.ids import RunId

pytestmark = pytest.mark.e2e

OPTIONS = {"type": "constant", "value": ["warehouse", "invoice", "account"]}
INPUTS: list[dict[str, Any]] = [
    {"type": "paragraph", "output_variable_name": "note", "required": True},
    {"type": "text", "output_variable_name": "order", "pattern": "HO-\\d{5}", "required": True},
    {"type": "number", "output_variable_name": "fee", "minimum": 0, "maximum": 15},
    {"type": "integer", "output_variable_name": "pieces", "required": True},
    {"type": "boolean", "output_variable_name": "tell", "label": "Tell the customer?"},
    {"type": "date", "output_variable_name": "until", "earliest": "2026-01-01"},
    {"type": "email", "output_variable_name": "copy"},
    {"type": "url", "output_variable_name": "source"},
    {"type": "select", "output_variable_name": "way", "option_source": OPTIONS},
    {
        "type": "multi-select",
        "output_variable_name": "checked",
        "option_source": OPTIONS,
        "option_labels": {"invoice": "The amount matches the invoice"},
        "min_choices": 1,
        "required": True,
    },
]
FORM = {
    "title": "Refund HO-10482",
    "form_content": "\n\n".join(
        f"{{{{#$output.{one['output_variable_name']}#}}}}" for one in INPUTS
    ),
    "inputs": INPUTS,
    "user_actions": [
        {"id": "approve", "title": "Approve", "button_style": "primary"},
        {"id": "reject", "title": "Reject", "button_style": "destructive", "required_inputs": []},
    ],
}
ANSWER = {
    "note": "Two lines,\nas typed",
    "order": "HO-10482",
    "fee": 2.5,
    "pieces": 3,
    "tell": True,
    "until": "2026-12-31",
    "copy": "a@b.example",
    "source": "https://b.example/x?y=1",
    "way": "invoice",
    "checked": ["warehouse", "invoice"],
}


def asked(stage: Stage, *, people: int = 1) -> tuple[RunId, Form, list[str]]:
    """Start a run whose policy has the form; return run, form and a link for each person."""
    turns = [ask("call_1", question="May I?", fields=[], actions=[]), ANSWER_SHOWN]
    policy = to_mail(*(somebody() for _ in range(people)), form=FORM)
    run_id = stage.create(scripted(turns, human_input=policy))
    (form,) = eventually("the run to ask", lambda: stage.records.forms(run_id))
    return run_id, form, [stage.link_to(form, recipient=n + 1) for n in range(people)]


def fill_in(page: Page) -> None:
    """Fill in every field as a person does."""
    page.get_by_label("Note").fill("Two lines,\nas typed")
    page.get_by_label("Order").fill("HO-10482")
    page.get_by_label("Fee").fill("2.5")
    page.get_by_label("Pieces").fill("3")
    page.get_by_role("group", name="Tell the customer?").get_by_label("Yes").check()
    page.get_by_label("Until").fill("2026-12-31")
    page.get_by_label("Copy").fill("a@b.example")
    page.get_by_label("Source").fill("https://b.example/x?y=1")
    page.get_by_label("Way").select_option("invoice")
    boxes = page.get_by_role("group", name="Checked")
    boxes.get_by_label("warehouse").check()
    boxes.get_by_label("The amount matches the invoice").check()


def test_every_kind_of_field_reaches_the_model_as_it_was_filled_in(
    stage: Stage, browser: Browser
) -> None:
    run_id, _, (link,) = asked(stage)
    page = browser.new_page(java_script_enabled=False)
    page.goto(link)

    fill_in(page)
    page.get_by_role("button", name="Approve").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("You chose “Approve”")
    expect(page.get_by_text("The amount matches the invoice")).to_be_visible()
    output = stage.output(run_id)
    told = json.loads(json.loads(output).removeprefix("The person has decided: "))
    assert told[0]["values"] == ANSWER


def test_mistakes_are_listed_with_links_and_everything_typed_is_kept(
    stage: Stage, browser: Browser
) -> None:
    _, _, (link,) = asked(stage)
    page = browser.new_page()
    page.goto(link)
    fill_in(page)
    page.get_by_label("Order").fill("10482")
    page.get_by_label("Fee").fill("2,5")
    for box in page.get_by_role("group", name="Checked").get_by_role("checkbox").all():
        box.uncheck()

    page.get_by_role("button", name="Approve").click()

    summary = page.get_by_role("alert")
    expect(summary.get_by_role("listitem")).to_have_text(
        [
            "Write “Order” in the form asked for",
            "Write “Fee” as a number such as 12 or 12.5",
            "Choose an answer to “Checked”",
        ]
    )
    expect(page.get_by_label("Order")).to_have_value("10482")
    expect(page.get_by_label("Fee")).to_have_value("2,5")
    expect(page.get_by_label("Note")).to_have_value("Two lines,\nas typed")
    expect(page.get_by_label("Yes")).to_be_checked()
    assert page.get_by_role("checkbox", checked=True).count() == 0
    summary.get_by_role("link", name="Choose an answer to “Checked”").click()
    expect(page.get_by_label("warehouse")).to_be_focused()


def test_an_action_without_required_fields_takes_an_empty_form(
    stage: Stage, browser: Browser
) -> None:
    _, form, (link,) = asked(stage)
    page = browser.new_page(java_script_enabled=False)
    page.goto(link)

    page.get_by_role("button", name="Reject").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("You chose “Reject”")
    assert stage.records.forms(form.run_id)[0].status == "submitted"


def test_of_two_approvers_the_second_is_told_who_was_first(stage: Stage, browser: Browser) -> None:
    run_id, _, (first, second) = asked(stage, people=2)
    faster, slower = browser.new_page(), browser.new_page()
    for page, link in ((faster, first), (slower, second)):
        page.goto(link)
        fill_in(page)
    slower.get_by_label("Note").fill("My own words")

    faster.get_by_role("button", name="Approve").click()
    expect(faster.get_by_text("Your decision is recorded")).to_be_visible()
    slower.get_by_role("button", name="Reject").click()

    expect(slower.get_by_role("heading", level=1)).to_have_text("Already answered")
    expect(slower.get_by_text("was first")).to_be_visible()
    expect(slower.get_by_text("My own words")).to_be_visible()
    assert '"approve' in stage.output(run_id).replace("\\", "")


def test_a_link_that_is_revoked_while_its_page_is_open_decides_nothing(
    stage: Stage, browser: Browser
) -> None:
    run_id, form, (revoked, other) = asked(stage, people=2)
    page = browser.new_page()
    page.goto(revoked)
    fill_in(page)

    target = f"/console/api/forms/{form.id}/recipients/1/revoke"
    assert stage.call("POST", target, {}).status == 200
    page.get_by_role("button", name="Approve").click()

    expect(page.get_by_role("heading", level=1)).not_to_contain_text("Approve")
    assert stage.records.forms(run_id)[0].status == "waiting"
    page.goto(other)
    expect(page.get_by_role("button", name="Approve")).to_be_visible()


def test_form_routes_of_all_surfaces_are_served_by_the_gateway(stage: Stage) -> None:
    _, form, (link,) = asked(stage)
    token = urllib.parse.urlsplit(link).path.rpartition("/")[2]
    answer = {"inputs": ANSWER, "action": "approve"}

    public = stage.call("GET", f"/api/form/human_input/{token}")
    openapi = stage.call(
        "POST", f"/openapi/v1/apps/default/human-input-forms/{token}:submit", answer
    )
    extended = stage.call(
        "POST",
        f"/console/api/forms/{form.id}/extend",
        {"deadline": int(form.deadline.timestamp()) + 60},
    )
    submitted = stage.call("POST", f"/api/form/human_input/{token}", answer)

    assert public.json["expiration_time"] == int(form.deadline.timestamp())
    assert (openapi.status, openapi.json["code"]) == (403, "recipient_surface_mismatch")
    assert extended.json["expiration_time"] == int(form.deadline.timestamp()) + 60
    assert (submitted.status, submitted.text) == (200, "{}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_kind_of_field_is_usable_for_everybody(
    stage: Stage, browser: Browser, scheme: Literal["light", "dark"]
) -> None:
    _, _, (link,) = asked(stage)
    page = browser.new_page(color_scheme=scheme, viewport={"width": 320, "height": 800})
    page.goto(link)
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("alert")).to_be_visible()

    violations = Axe().run(page).response["violations"]

    assert [one["id"] for one in violations] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
