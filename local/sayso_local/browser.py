"""Answers a form page as a browser does: reads the page, fills the fields, posts, follows the answer."""

from __future__ import annotations

import http.client
import urllib.parse
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http import HTTPStatus

from sayso_local.errors import LocalStackError

VOID_BUTTON_TYPES = {"button", "reset"}


@dataclass(slots=True, kw_only=True)
class Form:
    """The form of a page."""

    action: str = ""
    values: dict[str, str] = field(default_factory=dict)
    """What a browser would send untouched, by field name."""
    choices: dict[str, list[str]] = field(default_factory=dict)
    """The values of each select and radio group."""
    texts: set[str] = field(default_factory=set)
    """The fields that take free text."""
    buttons: list[tuple[str, str]] = field(default_factory=list)
    """Name and value of each button that can be pressed, in page order."""


class _FormParser(HTMLParser):
    """Collects the first form that is posted."""

    def __init__(self) -> None:
        super().__init__()
        self.form: Form | None = None
        self._inside = False
        self._select = ""
        self._textarea = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of a form, a field or a button."""
        found = {name: value or "" for name, value in attrs}
        if tag == "form" and self.form is None and found.get("method", "").lower() == "post":
            self.form = Form(action=found.get("action", ""))
            self._inside = True
        if not self._inside or self.form is None or "disabled" in found:
            return
        match tag:
            case "input":
                self._input(self.form, found)
            case "select":
                self._select = found.get("name", "")
                self.form.choices[self._select] = []
            case "option" if self._select:
                self._option(self.form, found)
            case "textarea":
                self._textarea = found.get("name", "")
                self.form.texts.add(self._textarea)
                self.form.values[self._textarea] = ""
            case "button" if found.get("type", "submit") not in VOID_BUTTON_TYPES:
                self.form.buttons.append((found.get("name", ""), found.get("value", "")))

    def handle_data(self, data: str) -> None:
        """Keep the text that a text area holds already."""
        if self.form is not None and self._textarea:
            self.form.values[self._textarea] += data

    def handle_endtag(self, tag: str) -> None:
        """Leave a form, a select or a text area."""
        if tag == "form":
            self._inside = False
        elif tag == "select":
            self._select = ""
        elif tag == "textarea":
            self._textarea = ""

    def _input(self, form: Form, found: dict[str, str]) -> None:
        name, kind = found.get("name", ""), found.get("type", "text").lower()
        if not name:
            return
        if kind in {"radio", "checkbox"}:
            form.choices.setdefault(name, []).append(found.get("value", "on"))
            if "checked" in found:
                form.values[name] = found.get("value", "on")
            return
        form.values[name] = found.get("value", "")
        if kind not in {"hidden", "submit"}:
            form.texts.add(name)

    def _option(self, form: Form, found: dict[str, str]) -> None:
        value = found.get("value", "")
        form.choices[self._select].append(value)
        if "selected" in found:
            form.values[self._select] = value


def read_form(page: str) -> Form:
    """Return the form of a page.

    Raises:
        LocalStackError: The page has none.
    """
    parser = _FormParser()
    parser.feed(page)
    parser.close()
    if parser.form is None:
        raise LocalStackError("the page has no form to post")
    return parser.form


def fill(form: Form, *, text: str, button: str) -> dict[str, str]:
    """Return what the browser posts when a person types `text` everywhere and presses a button.

    Raises:
        LocalStackError: No button has that value.
    """
    pressed = next((name for name, value in form.buttons if value == button), None)
    if pressed is None:
        raise LocalStackError(f"the form has no button {button!r}, only {form.buttons}")
    chosen = {
        name: next((value for value in values if value), "")
        for name, values in form.choices.items()
        if not form.values.get(name)
    }
    return form.values | chosen | dict.fromkeys(form.texts, text) | {pressed: button}


def open_page(link: str) -> str:
    """Return a page.

    Raises:
        LocalStackError: It is not there.
    """
    status, _, page = _request("GET", link)
    if status != HTTPStatus.OK:
        raise LocalStackError(f"the page answered {status}, not 200")
    return page


def post(link: str, form: Form, values: dict[str, str]) -> str:
    """Post a form and return the page its 303 leads to.

    Raises:
        LocalStackError: The answer was not accepted.
    """
    status, location, _ = _request("POST", urllib.parse.urljoin(link, form.action), values)
    if status != HTTPStatus.SEE_OTHER:
        raise LocalStackError(f"the form answered {status}, not 303")
    return open_page(urllib.parse.urljoin(link, location))


def _request(method: str, link: str, values: dict[str, str] | None = None) -> tuple[int, str, str]:
    """Make one request; return status, location and page. Follows nothing."""
    address = urllib.parse.urlsplit(link)
    connection = http.client.HTTPConnection(address.netloc, timeout=30)
    try:
        body = urllib.parse.urlencode(values) if values is not None else None
        headers = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
        target = urllib.parse.urlunsplit(("", "", address.path or "/", address.query, ""))
        connection.request(method, target, body, headers)
        response = connection.getresponse()
        page = response.read().decode()
        return response.status, response.getheader("Location") or "", page
    finally:
        connection.close()
