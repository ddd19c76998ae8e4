"""The content of a form: Markdown with places for fields, rendered for page and mail at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sayso.domain.form import FieldBlock, HtmlBlock
from sayso.domain.placeholders import FieldPlaceholder, Text, split_content
from sayso.ports import RenderedContent
from sayso.rendering.blocks import RegionNames
from sayso.rendering.markdown import MAIL, MAX_MARKDOWN_CHARS, PAGE, render_markdown, shorten
from sayso.rendering.plaintext import render_text
from sayso.rendering.safe import POLICY_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sayso.domain.form import ContentBlock
    from sayso.domain.placeholders import ContentPart
    from sayso.rendering.safe import RenderedHtml

MAIL_CHARS: Final = 8_000
"""How much of the content goes into a mail; the page shows the rest. Gmail cuts mails at 102 KB."""


class MarkdownContentRenderer:
    """The port ``ContentRenderer``."""

    def render(self, content: str, field_names: Sequence[str]) -> RenderedContent:
        """Return the content for page and mail; fields that do not occur follow at the end."""
        return RenderedContent(
            blocks=render_blocks(content, field_names),
            mail_html=mail_html(content).html,
            sanitiser_version=POLICY_VERSION,
        )


def render_blocks(content: str, field_names: Sequence[str]) -> tuple[ContentBlock, ...]:
    """Return stretches of HTML and fields in page order.

    A placeholder of an unknown field is nothing, and so is the second one of the same field: a page
    must not have two controls of one name. Fields without a placeholder follow at the end.
    """
    parts = split_content(shorten(content, MAX_MARKDOWN_CHARS))
    return tuple(_blocks(parts, dict.fromkeys(field_names)))


def _blocks(parts: Iterable[ContentPart], waiting: dict[str, None]) -> Iterable[ContentBlock]:
    names = RegionNames()
    for part in parts:
        match part:
            case Text(text) if html := render_markdown(text, PAGE, names=names).html:
                yield HtmlBlock(html=html)
            case FieldPlaceholder(name) if name in waiting:
                del waiting[name]
                yield FieldBlock(name=name)
    for name in waiting:
        yield FieldBlock(name=name)


def mail_html(content: str) -> RenderedHtml:
    """Return the content as HTML for a mail, without fields."""
    return render_markdown(_without_fields(content), MAIL, limit=MAIL_CHARS)


def mail_text(content: str) -> str:
    """Return the content as plain text for a mail."""
    return render_text(_without_fields(content), limit=MAIL_CHARS)


def _without_fields(content: str) -> str:
    texts = [part.text for part in split_content(content) if isinstance(part, Text)]
    return "\n\n".join(texts)
