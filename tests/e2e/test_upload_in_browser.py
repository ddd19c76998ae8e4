"""Files on the page, in Chromium without a script: what is taken, what is said of what is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import expect

from e2e.scenes import scripted, somebody, to_mail
from sayso.domain.transitions import FormStatus, RunStatus
from support.segments import ask, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, FilePayload, Page

    from e2e.stage import Stage
    from sayso.domain.ids import RunId

pytestmark = pytest.mark.e2e

MEGABYTE = 2**20
PNG = b"\x89PNG\r\n\x1a\n"
FORM: dict[str, Any] = {
    "title": "Damage",
    "form_content": "{{#$output.proof#}}\n\n{{#$output.photos#}}",
    "inputs": [
        {
            "type": "file",
            "output_variable_name": "proof",
            "label": "Proof",
            "required": False,
            "allowed_file_types": ["document"],
        },
        {
            "type": "file-list",
            "output_variable_name": "photos",
            "label": "Photos",
            "required": False,
            "allowed_file_types": ["image"],
            "number_limits": 1,
        },
    ],
    "user_actions": [{"id": "send", "title": "Send"}],
}


@pytest.fixture
def run_id(stage: Stage) -> RunId:
    """A run that asks for files."""
    turns = [ask(question="What happened?"), text("{{results}}")]
    run_id = stage.create(scripted(turns, human_input=to_mail(somebody(), form=FORM)))
    stage.records.wait_until(run_id, RunStatus.PAUSED)
    return run_id


@pytest.fixture
def page(stage: Stage, browser: Browser, run_id: RunId) -> Iterator[Page]:
    """Its page on a phone, scripts off."""
    (form,) = stage.records.forms(run_id)
    viewport = {"width": 360, "height": 740}
    page = browser.new_page(viewport=viewport, java_script_enabled=False)  # type: ignore[arg-type]  # as its docs
    page.goto(stage.link_to(form))
    yield page
    page.close()


def document(size: int) -> FilePayload:
    """Return a PDF of so many bytes."""
    return {"name": "proof.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-".ljust(size)}


def photo(name: str = "a.png", content: bytes = PNG) -> FilePayload:
    """Return a picture."""
    return {"name": name, "mimeType": "image/png", "buffer": content}


def send(page: Page) -> None:
    """Press the button."""
    page.get_by_role("button", name="Send").click()


@pytest.mark.parametrize("size", [1024, 39 * MEGABYTE // 10])
def test_a_file_reaches_the_model(stage: Stage, run_id: RunId, page: Page, size: int) -> None:
    page.get_by_label("Proof").set_input_files(document(size))
    send(page)

    expect(page.get_by_role("heading", level=1)).to_have_text("You chose “Send”")
    expect(page.get_by_text("proof.pdf")).to_be_visible()
    (answer,) = json.loads(json.loads(stage.output(run_id)))
    assert answer["values"]["proof"]["size"] == size


@pytest.mark.parametrize(
    ("label", "files", "words"),
    [
        ("Proof", [document(41 * MEGABYTE // 10)], "Choose a smaller file for “Proof”"),
        ("Proof", [document(0) | {"buffer": b""}], "this one is empty"),
        ("Proof", [photo()], "Choose another file for “Proof”"),
        ("Photos", [photo(content=b"%PDF-1.7")], "is not what its name says"),
        ("Photos", [photo(), photo("b.png")], "Choose fewer files for “Photos”"),
        ("Photos", [photo("a.png.exe")], "programs are not taken"),
    ],
    ids=["4.1 MB", "empty", "wrong type", "wrong content", "two for one", "program"],
)
def test_what_is_not_taken_is_explained_beside_its_field(
    stage: Stage, run_id: RunId, page: Page, label: str, files: list[FilePayload], words: str
) -> None:
    page.get_by_label(label).set_input_files(files)
    send(page)

    expect(page.get_by_role("alert").get_by_text(words)).to_be_visible()
    (form,) = stage.records.forms(run_id)
    assert form.status is FormStatus.WAITING


def test_a_file_that_was_taken_stays_when_another_has_to_be_changed(
    stage: Stage, run_id: RunId, page: Page
) -> None:
    page.get_by_label("Proof").set_input_files(document(1024))
    page.get_by_label("Photos").set_input_files([photo(), photo("b.png")])
    send(page)

    expect(page.get_by_label("proof.pdf")).to_be_checked()
    page.get_by_label("b.png").uncheck()
    send(page)

    expect(page.get_by_role("heading", level=1)).to_have_text("You chose “Send”")
    (answer,) = json.loads(json.loads(stage.output(run_id)))
    assert answer["values"]["proof"]["name"] == "proof.pdf"
    assert [one["name"] for one in answer["values"]["photos"]] == ["a.png"]


def test_axe_finds_nothing_where_a_file_was_kept_and_another_refused(
    stage: Stage, browser: Browser, run_id: RunId
) -> None:
    (form,) = stage.records.forms(run_id)
    page = browser.new_page(viewport={"width": 320, "height": 740})  # axe is a script itself
    page.goto(stage.link_to(form))
    page.get_by_label("Proof").set_input_files(document(1024))
    page.get_by_label("Photos").set_input_files([photo(), photo("b.png")])
    send(page)

    found = Axe().run(page)

    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.close()
