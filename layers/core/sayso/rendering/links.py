"""Links in Markdown tokens: where they lead, and how each profile shows them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from markdown_it.token import Token

from sayso.rendering.i18n import _
from sayso.rendering.sanitise import LINK_REL

_HOST: Final = re.compile(r"[a-z0-9.-]+(?::\d+)?|\[[0-9a-f:.]+\](?::\d+)?", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"[^\s@<>]+@[^\s@<>]+")


@dataclass(frozen=True, slots=True)
class Target:
    """Where a link leads."""

    href: str
    title: str
    host: str
    """What people must see of it: the host, or the mail address."""


LinkStyle = Callable[[Target, list[Token]], list[Token]]
"""Makes tokens of a link from its target and the tokens of its text."""


def target_of(href: str, title: str = "") -> Target | None:
    """Return where a link leads, or None when it may not be a link.

    Only absolute http, https and mailto addresses may, and only those whose host can be shown as it
    is: no user name before the host, since that reads like a host itself (RFC 3986 §7.6).
    """
    try:
        parts = urlsplit(href)
    except ValueError:
        return None
    if parts.scheme == "mailto" and _ADDRESS.fullmatch(address := unquote(parts.path)):
        return Target(href, title, address)
    if parts.scheme in {"http", "https"} and _HOST.fullmatch(parts.netloc):
        return Target(href, title, parts.netloc)
    return None


def restyle_links(children: Sequence[Token], style: LinkStyle) -> list[Token]:
    """Return inline tokens whose links and images are made by ``style``.

    Images become links to themselves: nothing is fetched when a page or mail is opened. Links that
    may not be links leave their text. Markdown does not nest links, so one level is enough.
    """
    shown: list[Token] = []
    opened: Token | None = None
    inside: list[Token] = []
    for token in children:
        if token.type == "link_open":
            opened, inside = token, []
        elif token.type == "link_close" and opened is not None:
            shown += _link(opened, "href", inside, style)
            opened = None
        elif token.type == "image":
            text = [text_token(token.content or _("picture"))]
            if opened is None:
                shown += _link(token, "src", text, style)
            else:
                inside += text
        else:
            (shown if opened is None else inside).append(token)
    return shown


def _link(token: Token, attribute: str, inside: list[Token], style: LinkStyle) -> list[Token]:
    title = str(token.attrGet("title") or "")
    target = target_of(str(token.attrGet(attribute) or ""), title)
    return inside if target is None else style(target, inside)


def page_link(target: Target, inside: list[Token]) -> list[Token]:
    """Return a live link with its host behind it: nothing hides behind a nice word."""
    if not text_of(inside).strip():
        return live_link(target, [text_token(target.host)], rel=LINK_REL)
    link = live_link(target, inside, rel=LINK_REL)
    if text_of(inside) in {target.href, target.host}:
        return link
    host = [
        Token("host_open", "span", 1, attrs={"class": "host"}),
        text_token(f"({target.host})"),
        Token("host_close", "span", -1),
    ]
    return [*link, text_token(" "), *host]


def dead_link(target: Target, inside: list[Token]) -> list[Token]:
    """Return the link's text and its host as text: in mails model text has no live links."""
    text = text_of(inside).strip()
    if not text:
        return [text_token(target.host)]
    return inside if text.startswith(target.host) else [*inside, text_token(f" ({target.host})")]


def author_link(target: Target, inside: list[Token]) -> list[Token]:
    """Return a live link as the author wrote it (human-input §4.3)."""
    return live_link(target, inside or [text_token(target.host)])


def live_link(target: Target, inside: list[Token], *, rel: str = "") -> list[Token]:
    """Return the tokens of an anchor."""
    attrs: dict[str, str | int | float] = {"href": target.href}
    if target.title:
        attrs["title"] = target.title
    if rel:
        attrs["rel"] = rel
    opening = Token("link_open", "a", 1, attrs=attrs)
    return [opening, *inside, Token("link_close", "a", -1)]


def text_token(text: str) -> Token:
    """Return a token of plain text; rendering escapes it."""
    return Token("text", "", 0, content=text)


def text_of(tokens: Sequence[Token]) -> str:
    """Return the plain text of inline tokens, on one line."""
    breaks = {"softbreak", "hardbreak"}
    return "".join(" " if token.type in breaks else token.content for token in tokens)
