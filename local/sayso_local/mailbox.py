"""The mailbox page: every mail the local stack sent, in the look of the product's own pages.

A mail's HTML is shown in a sandboxed frame without scripts; its links open a window of their own, free of
the sandbox, as a click in a mail program would.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sayso_local.mails import Mail

CONTENT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "form-action 'none'; frame-ancestors 'none'"
)
LINKS_OPEN_OUTSIDE = '<base target="_blank">'
SHEETS = ("css/tokens.css", "css/page.css")


def render_mailbox(mails: Sequence[Mail], *, selected: str | None, as_text: bool) -> str:
    """Return the page; the newest mail is open unless `selected` names another."""
    newest_first = list(reversed(mails))
    opened = next((mail for mail in newest_first if mail.id == selected), None)
    if opened is None and newest_first:
        opened = newest_first[0]
    return (
        _environment()
        .get_template("mailbox.html")
        .render(
            mails=newest_first,
            opened=opened,
            as_text=as_text or (opened is not None and not opened.html),
            document=LINKS_OPEN_OUTSIDE + opened.html if opened else "",
            style=_style(),
        )
    )


@cache
def _environment() -> jinja2.Environment:
    """Our own page, and the product's partials."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([Path(__file__).parent, _product_templates()]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _style() -> str:
    """The product's sheets and the few rules that only the mailbox needs."""
    sheets = [_product_templates() / name for name in SHEETS]
    sheets.append(Path(__file__).with_name("mailbox.css"))
    return "\n".join(sheet.read_text() for sheet in sheets)


def _product_templates() -> Path:
    """Where the product's templates and sheets stand."""
    return Path(str(files("sayso.rendering"))) / "templates"
