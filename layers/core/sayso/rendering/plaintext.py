"""Markdown tokens as plain text, for the text part of a mail: readable and wrapped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sayso.rendering.links import dead_link, restyle_links, text_of
from sayso.rendering.markdown import MAX_MARKDOWN_CHARS, parse
from sayso.rendering.plain import without_links
from sayso.rendering.textwrapping import LINE_CHARS, wrap_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

_WIDTH: Final = LINE_CHARS - 2
"""Leaves room for the sign of a quotation."""


def render_text(markdown: str, *, limit: int = MAX_MARKDOWN_CHARS) -> str:
    """Return what a model wrote as plain text without anything a mail program makes a link of."""
    tokens, _removed = parse(markdown, limit=limit)
    for token in tokens:
        if token.children is not None:
            token.children = restyle_links(token.children, dead_link)
    return without_links(tokens_as_text(tokens))


def tokens_as_text(tokens: Sequence[Token]) -> str:
    """Return tokens as plain text in lines of at most 70 characters.

    Paragraphs stand apart, items of tight lists together; tables become one line a row.
    """
    writer = _Writer()
    for token in tokens:
        writer.take(token)
    return "\n".join(writer.lines)


class _Writer:
    """Takes tokens one after another."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._leads: list[str] = []
        self._numbers: list[int | None] = []
        self._marker = ""
        self._gap = False
        self._fresh = True
        self._cells: list[str] | None = None

    def take(self, token: Token) -> None:
        """Take one token of the block structure."""
        match token.type:
            case "inline" if self._cells is not None:
                self._cells.append(text_of(token.children or []))
            case "inline":
                self._write(_lines_of(token.children or []))
            case "fence" | "code_block":
                self._gap = True
                self._write(token.content.rstrip("\n"), wrap=False)
            case "plain":
                self._gap = True
                self._write(token.content, wrap=False)
            case "hr":
                self._gap = True
                self._write("---")
            case _ if token.nesting == 1:
                self._open(token)
            case _:
                self._close(token)

    def _open(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                number = int(token.attrGet("start") or 1)
                self._numbers.append(number if token.tag == "ol" else None)
                self._gap = len(self._numbers) == 1 and not self._fresh
            case "list_item_open":
                self._marker = self._next_marker()
                self._leads.append(" " * len(self._marker))
            case "blockquote_open":
                self._end_block()
                self._leads.append("> ")
            case "tr_open":
                self._cells = []
            case "paragraph_open" | "heading_open" | "table_open" if not token.hidden:
                self._gap = self._gap or not (self._marker or self._fresh)
            case _:
                pass

    def _close(self, token: Token) -> None:
        match token.type:
            case "bullet_list_close" | "ordered_list_close":
                self._numbers.pop()
            case "list_item_close":
                self._leads.pop()
                self._marker = ""
            case "blockquote_close":
                self._leads.pop()
            case "tr_close":
                cells, self._cells = self._cells or [], None
                self._write(" | ".join(cells))
            case _:
                pass

    def _next_marker(self) -> str:
        number = self._numbers[-1]
        if number is None:
            return "- "
        self._numbers[-1] = number + 1
        return f"{number}. "

    def _write(self, text: str, *, wrap: bool = True) -> None:
        rest = "".join(self._leads)
        first = rest[: len(rest) - len(self._marker)] + self._marker
        if self._gap:
            self._end_block()
        if wrap:
            self.lines += wrap_text(text, first=first, rest=rest, width=_WIDTH).split("\n")
        else:
            self.lines += [f"{rest}{line}".rstrip() for line in text.split("\n")]
        self._marker, self._gap, self._fresh = "", False, False

    def _end_block(self) -> None:
        if not self._fresh:
            self.lines.append("".join(self._leads).rstrip())
        self._gap, self._fresh = False, True


def _lines_of(children: Sequence[Token]) -> str:
    breaks = {"softbreak": " ", "hardbreak": "\n"}
    return "".join(breaks.get(child.type, child.content) for child in children)
