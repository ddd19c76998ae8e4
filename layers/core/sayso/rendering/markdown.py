"""Markdown to sanitised HTML, once, when a form is made (DESIGN decision 11).

Order: length cap, invisible characters out, Markdown with raw HTML off, links and blocks as the
profile wants them, allow-list. Source text is never lost in silence: HTML shows as text, and what
is cut is said.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt

from sayso.rendering import blocks, links, sanitise
from sayso.rendering.i18n import _
from sayso.rendering.plain import strip_invisible, without_links
from sayso.rendering.safe import RenderedHtml

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from markdown_it.token import Token

MAX_MARKDOWN_CHARS: Final = 100_000
"""Rendering stays linear and under three seconds up to here, whatever is in it."""

_CODE: Final = frozenset({"code_inline", "code_block", "fence"})


@dataclass(frozen=True, slots=True)
class Profile:
    """How a kind of reader gets Markdown."""

    allowed: sanitise.AllowList
    link: links.LinkStyle
    lay_out: Callable[[Sequence[Token], blocks.RegionNames], Sequence[Token]]
    text: Callable[[str], str] = str
    """What happens to every stretch of text and code."""


def _page_layout(tokens: Sequence[Token], names: blocks.RegionNames) -> Sequence[Token]:
    blocks.page_headings(tokens)
    return blocks.page_tables(tokens, names)


def _mail_layout(tokens: Sequence[Token], _names: blocks.RegionNames) -> Sequence[Token]:
    blocks.mail_headings(tokens)
    blocks.mail_tables(tokens)
    return tokens


PAGE: Final = Profile(sanitise.PAGE, links.page_link, _page_layout)
"""On the page: headings from h3, wide tables scroll, links live and with their host."""

MAIL: Final = Profile(sanitise.MAIL, links.dead_link, _mail_layout, without_links)
"""What a model wrote, in a mail: no live links."""

AUTHOR: Final = Profile(sanitise.AUTHOR, links.author_link, _mail_layout)
"""A mail body that the author of a policy wrote."""


@functools.cache
def parser() -> MarkdownIt:
    """Return the Markdown parser: CommonMark and tables, raw HTML off, bare addresses not linked.

    No strike-through: the mail's allow-list has no tag for it, and a struck sentence that reads as
    a plain one says the opposite.
    """
    return MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")


def render_markdown(
    text: str,
    profile: Profile = PAGE,
    *,
    names: blocks.RegionNames | None = None,
    limit: int = MAX_MARKDOWN_CHARS,
) -> RenderedHtml:
    """Return Markdown as sanitised HTML.

    Args:
        text: Untrusted.
        profile: ``PAGE``, ``MAIL`` or ``AUTHOR``.
        names: Names of regions taken so far on the same page.
        limit: Characters that are read; a longer text is cut at a paragraph and says so.
    """
    tokens, removed = parse(text, limit=limit)
    return render_tokens(tokens, profile, names=names, removed=removed)


def parse(text: str, *, limit: int = MAX_MARKDOWN_CHARS) -> tuple[list[Token], int]:
    """Return the tokens of a Markdown text and the number of characters removed from it."""
    visible, removed = strip_invisible(shorten(text, limit))
    return blocks.without_empty_heads(parser().parse(visible)), removed


def shorten(text: str, limit: int) -> str:
    """Cut a text that is too long, at an empty line where there is one near, and say so."""
    if len(text) <= limit:
        return text
    end = text.rfind("\n\n", limit // 2, limit)
    note = _("[The text goes on. Only the beginning is shown here.]")
    return f"{text[: end if end > 0 else limit]}\n\n{note}"


def render_tokens(
    tokens: Sequence[Token],
    profile: Profile,
    *,
    names: blocks.RegionNames | None = None,
    removed: int = 0,
) -> RenderedHtml:
    """Return tokens as sanitised HTML. Changes the tokens."""
    for token in tokens:
        if token.children is not None:
            for child in token.children:
                _restate(child, profile)
            token.children = links.restyle_links(token.children, profile.link)
        _restate(token, profile)
    laid_out = profile.lay_out(tokens, names or blocks.RegionNames())
    html = parser().renderer.render(laid_out, parser().options, {})
    return RenderedHtml(sanitise.sanitise(html, profile.allowed).strip(), removed)


def _restate(token: Token, profile: Profile) -> None:
    if token.type in _CODE or token.type in {"text", "image"}:
        token.content = profile.text(token.content)
