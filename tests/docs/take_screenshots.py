"""Takes the pictures of the README from the running product: `.venv/bin/python tests/docs/take_screenshots.py`.

Starts a local stack of its own, answers the sample's question in Debian's Chromium at the width of a
phone, and stops everything again.
"""

from __future__ import annotations

import copy
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from playwright.sync_api import sync_playwright

from sayso_local.api import Api, form_link, wait_for
from sayso_local.places import find_places
from sayso_local.sample import create_request, scripted_model
from sayso_local.stack import running_stack

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from sayso_local.cfn import JsonObject

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"
PHONE = {"width": 390, "height": 844}
ASKED_BY = "Refund bot"
COMMENT = "Carrier's letter is on file."


def main() -> int:
    """Write the pictures."""
    with running_stack(find_places(), port=0, parameters={}) as stack, sync_playwright() as engine:
        api = Api(stack)
        api.create_run(_request())
        mail = wait_for("the mail", lambda: next(iter(api.mails()), None))
        browser = engine.chromium.launch(executable_path=shutil.which("chromium"))
        # Playwright's own type of a viewport is private.
        page = browser.new_page(viewport=PHONE, device_scale_factor=2)  # type: ignore[arg-type]
        _take_mail(page, mail)
        _take_form(page, str(form_link(mail)))
        browser.close()
    return 0


def _request() -> dict[str, object]:
    request = copy.deepcopy(create_request(scripted_model()))
    # The sample's policy is an object.
    cast("dict[str, object]", request["human_input"])["asked_by"] = ASKED_BY
    return request


def _take_mail(page: Page, mail: JsonObject) -> None:
    page.set_content(str(mail["html"]))
    _take(page, "mail")


def _take_form(page: Page, link: str) -> None:
    page.goto(link)
    _take(page, "form")
    page.get_by_label("Reason for the books").select_option("lost")
    page.get_by_label("Comment").fill(COMMENT)
    page.get_by_role("button", name="Approve refund").scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    _take(page, "decision")
    page.get_by_role("button", name="Approve refund").click()
    page.wait_for_load_state()
    page.evaluate("scrollTo(0, 0)")
    _take(page, "receipt")


def _take(page: Page, name: str) -> None:
    page.evaluate("document.activeElement.blur()")
    page.screenshot(path=FOLDER / f"{name}.png", animations="disabled")


if __name__ == "__main__":
    sys.exit(main())
