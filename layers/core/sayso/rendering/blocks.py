"""Block structure in Markdown tokens: headings and tables, as page and mail need them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from markdown_it.token import Token

from sayso.rendering.links import text_of
from sayso.rendering.plain import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FIRST_LEVEL: Final = 3
_LAST_LEVEL: Final = 4
_NAME_CHARS: Final = 80


class RegionNames:
    """Names of scrolling regions, each once on a page (WCAG 2.4.6; axe ``landmark-unique``)."""

    def __init__(self) -> None:
        """Start with no name taken."""
        self._taken: set[str] = set()

    def take(self, wanted: str) -> str:
        """Return the wanted name, numbered when it is taken already."""
        wanted = one_line(wanted, limit=_NAME_CHARS) or "\N{EM DASH}"
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted} ({number})"
        self._taken.add(name)
        return name


def page_headings(tokens: Iterable[Token]) -> None:
    """Renumber headings from h3 on without a gap, in place.

    The page owns h1 and h2, and the order of headings must hold whatever was written (WCAG 1.3.1).
    """
    outer: list[int] = []
    for token in tokens:
        if token.type == "heading_open":
            level = int(token.tag[1:])
            outer = [one for one in outer if one < level] + [level]
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(_FIRST_LEVEL + len(outer) - 1, _LAST_LEVEL)}"


def mail_headings(tokens: Iterable[Token]) -> None:
    """Turn headings into bold paragraphs, in place: the mail's list has no heading tags."""
    heading = False
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = "p"
            heading = token.type == "heading_open"
        elif token.type == "inline" and heading:
            bold = Token("strong_open", "strong", 1), Token("strong_close", "strong", -1)
            token.children = [bold[0], *(token.children or []), bold[1]]


def without_empty_heads(tokens: Sequence[Token]) -> list[Token]:
    """Leave out table heads whose cells are all empty.

    Markdown has no table without a head, so writers leave it blank; shown, it is a gap, and a
    heading that says nothing (WCAG 1.3.1; axe ``empty-table-header``).
    """
    kept: list[Token] = []
    for token in tokens:
        kept.append(token)
        if token.type == "thead_close":
            start = max(i for i, one in enumerate(kept) if one.type == "thead_open")
            cells = (one for one in kept[start:] if one.type == "inline")
            if not any(text_of(cell.children or []).strip() for cell in cells):
                del kept[start:]
    return kept


def page_tables(tokens: Sequence[Token], names: RegionNames) -> list[Token]:
    """Wrap tables in a region that scrolls and takes the focus, so that no page is ever wider.

    It is named by the heading above, else by the table's own column heads.
    """
    shown: list[Token] = []
    heading = ""
    for index, token in enumerate(tokens):
        if token.type == "inline" and tokens[index - 1].type == "heading_open":
            heading = text_of(token.children or [])
        if token.type in {"th_open", "td_open"}:
            _page_cell(token)
        if token.type == "table_open":
            shown.append(_region(names.take(heading or _column_heads(tokens[index:]))))
        shown.append(token)
        if token.type == "table_close":
            shown.append(Token("region_close", "div", -1, block=True))
    return shown


def mail_tables(tokens: Iterable[Token]) -> None:
    """Say alignment by attribute, in place: the mail's list has no styles."""
    for token in tokens:
        if token.type in {"th_open", "td_open"} and (side := _alignment(token)):
            token.attrs = {"align": side}


def _region(name: str) -> Token:
    attrs: dict[str, str | int | float] = {
        "class": "scroll",
        "role": "region",
        "aria-label": name,
        "tabindex": "0",
    }
    return Token("region_open", "div", 1, attrs=attrs, block=True)


def _page_cell(token: Token) -> None:
    attrs: dict[str, str | int | float] = {}
    if token.type == "th_open":
        attrs["scope"] = "col"
    if _alignment(token) == "right":
        attrs["class"] = "num"
    token.attrs = attrs


def _alignment(token: Token) -> str:
    style = str(token.attrGet("style") or "")
    return style.removeprefix("text-align:")


def _column_heads(table: Sequence[Token]) -> str:
    heads: list[str] = []
    for before, token in itertools.pairwise(table):
        if token.type == "thead_close":
            break
        if before.type == "th_open":
            heads.append(text_of(token.children or []))
    return ", ".join(head for head in heads if head.strip())
