"""The mail and every page of its link: readable for all, in both colour schemes, on any screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

# The package has no types.
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import expect

from e2e.fields import FORM, WRONG
from e2e.scenes import ANSWER_SHOWN, comment, filled, scripted, somebody, to_mail
from e2e.waiting import eventually
from e2e.web import get, submit
from sayso.domain.transitions import RunStatus
from support.segments import ask

if TYPE_CHECKING:
    from typing import Literal

    from playwright.sync_api import Browser, Page

    from e2e.stage import Stage
    from sayso.domain.form import Form
    from sayso.domain.ids import RunId

pytestmark = pytest.mark.e2e

EVERYTHING: dict[str, Any] = {
    "title": "Refund HO-10482",
    "question": "Refund 1,240.00 EUR to Marta Oliveira, or send the parcel again?",
    "markdown": (
        "# What happened\n\nThe parcel of **HO-10482** was lost, says"
        " [the carrier](https://carrier.example/track/HO-10482?a-very-long=" + "x" * 80 + ").\n\n"
        "| Item | Paid | Limit without a person |\n|---|--:|--:|\n"
        "| Coat | 1,180.00 EUR | 200.00 EUR |\n| Shipping | 60.00 EUR | 200.00 EUR |\n\n"
        "1. one\n2. two\n   - three\n\n> Quoted: “It never came.”\n\n"
        '```json\n{"order": "HO-10482", "history": "' + "y" * 120 + '"}\n```\n\n'
        "A word without end: " + "z" * 100 + "\n\n---\n\nDecide, please: {{field:comment}}"
    ),
    "fields": [
        {
            "type": "select",
            "name": "reason",
            "label": "Reason for the books",
            "required": True,
            "options": [
                {"value": "lost", "label": "Lost parcel"},
                {"value": "goodwill", "label": "Goodwill " + "g" * 60},
            ],
        },
        {
            "type": "paragraph",
            "name": "comment",
            "label": "Comment",
            "placeholder": "What the customer should be told",
            "required": True,
        },
        {"type": "paragraph", "name": "note", "label": "Note for colleagues"},
    ],
    "actions": [
        {"id": "approve", "label": "Approve refund", "style": "primary"},
        {"id": "again", "label": "Send again"},
        {"id": "refuse", "label": "Refuse", "style": "destructive"},
    ],
}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PAGES = (
    "mail",
    "form",
    "errors",
    "fields",
    "wrong fields",
    "receipt",
    "answered",
    "too late",
    "expired",
    "cancelled",
    "unknown",
)


@dataclass(frozen=True, kw_only=True)
class Links:
    """A link to each state that a form can be in."""

    open: str
    fields: str
    """Of a form with every kind of field."""
    decided: str
    """Of the person who decided."""
    second: str
    """Of another person of the same form."""
    expired: str
    cancelled: str
    mail: str
    """The HTML of a mail."""

    @property
    def unknown(self) -> str:
        """A link that somebody has cut."""
        return self.open[:-1]


@pytest.fixture(scope="module")
def links(stage: Stage) -> Links:
    """One form in each state."""
    expiring = start(stage, timeout=1, timeout_unit="second")
    decided, cancelled, waiting = (asked(stage, start(stage)) for _ in range(3))
    link = stage.link_to(decided)
    answered = submit(link, filled(get(link).text, "approve", comment()))
    assert answered.status == 303
    assert stage.call("POST", f"/runs/{cancelled.run_id}/cancel", {}).status == 200
    expired = asked(stage, expiring)
    stage.records.wait_until(expiring, RunStatus.SUCCEEDED)
    address = somebody()
    start(stage, address)
    return Links(
        mail=stage.mail_to(address)["html"],
        open=stage.link_to(waiting),
        fields=stage.link_to(asked(stage, start(stage, form=FORM))),
        decided=link,
        second=stage.link_to(decided, recipient=2),
        expired=stage.link_to(expired),
        cancelled=stage.link_to(cancelled),
    )


def start(stage: Stage, *addresses: str, **policy: Any) -> RunId:
    """Start a run that asks people, two unless told, with everything a question may hold."""
    turns = [ask("call_1", **EVERYTHING), ANSWER_SHOWN]
    people = to_mail(*(addresses or (somebody(), somebody())), **policy)
    return stage.create(scripted(turns, human_input=people))


def asked(stage: Stage, run_id: RunId) -> Form:
    """Wait until the run has asked."""
    (form,) = eventually("the run to ask", lambda: stage.records.forms(run_id))
    return form


class Pages:
    """The pages, each opened once; what the browser complains about is kept."""

    def __init__(self, browser: Browser, links: Links) -> None:
        self._browser = browser
        self._links = links
        self._opened: dict[str, Page] = {}
        self.complaints: dict[str, list[str]] = {}

    def show(self, name: str) -> Page:
        """Return a page, as it looks on a phone at first."""
        if name not in self._opened:
            self._opened[name] = self._open(name)
        return self._opened[name]

    def _open(self, name: str) -> Page:
        # Without motion, so that no colour is caught on its way to another.
        page = self._browser.new_page(
            viewport={"width": 360, "height": 740}, reduced_motion="reduce"
        )
        heard = self.complaints.setdefault(name, [])
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("console", lambda message: heard.append(message.text))
        if name == "mail":
            page.set_content(self._links.mail)
            return page
        page.goto(self._address(name))
        match name:
            case "errors":
                press(page, "Approve refund")
                page.get_by_role("alert").wait_for()
            case "wrong fields":
                for label, typed in WRONG.items():
                    page.get_by_label(label).fill(typed)
                press(page, "Go")
                page.get_by_role("alert").wait_for()
            case "too late":
                send_too_late(page, self._links.second)
            case _:
                pass
        return page

    def _address(self, name: str) -> str:
        links = self._links
        return {
            "fields": links.fields,
            "wrong fields": links.fields,
            "receipt": links.decided,
            "answered": links.second,
            "expired": links.expired,
            "cancelled": links.cancelled,
            "unknown": links.unknown,
        }.get(name, links.open)


def press(page: Page, name: str) -> None:
    """Press a button."""
    page.get_by_role("button", name=name).click()


def send_too_late(page: Page, link: str) -> None:
    """Send an answer as from a page that was opened before another answer was taken."""
    page.get_by_label("Reason").select_option("lost")
    page.get_by_label("Comment").fill("Too late, it seems")
    page.evaluate("link => { document.forms[0].action = link }", link)
    press(page, "Approve refund")
    page.get_by_text("What you typed was not sent").wait_for()


@pytest.fixture(scope="module")
def pages(browser: Browser, links: Links) -> Pages:
    """The pages of all states."""
    return Pages(browser, links)


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_in_either_colour_scheme(pages: Pages, name: str) -> None:
    page = pages.show(name)

    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        results = Axe().run(page)

        assert results.violations_count == 0, f"{scheme}: {results.generate_report()}"


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_wider_than_the_screen(pages: Pages, name: str) -> None:
    """WCAG 1.4.10: no scrolling in two directions at 320 px; wide tables scroll by themselves."""
    page = pages.show(name)

    for width in (320, 360, 1280):
        page.set_viewport_size({"width": width, "height": 740})

        assert page.evaluate("document.scrollingElement.scrollWidth") <= width


@pytest.mark.parametrize("name", PAGES)
def test_the_browser_has_nothing_to_complain_about(pages: Pages, name: str) -> None:
    """No breach of the content policy, no error; a status that says why is none."""
    pages.show(name)

    breaches = [one for one in pages.complaints[name] if "responded with a status" not in one]
    assert breaches == []


def test_paper_says_nothing_of_buttons(pages: Pages) -> None:
    page = pages.show("form")

    page.emulate_media(media="print")

    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("button")).to_have_count(0)
    expect(page.get_by_text("Nothing happens until you press")).to_be_hidden()
    page.emulate_media(media="screen")
