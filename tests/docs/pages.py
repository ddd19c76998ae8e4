"""Reads the pages of the documentation: blocks, tables, links, headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.glob("**/*.md"))]
OUR_PAGES = [page for page in PAGES if page.parent.name != "decisions"]
"""Pages under the style of the docs; decisions have one of their own."""

_FENCE = re.compile(r"^```(?P<info>.*)\n(?P<text>(?:.*\n)*?)```$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[[^\]]+\]\((?P<target>[^)\s]+)\)")
_IMAGE = re.compile(r"!\[[^\]]*\]\((?P<markdown>[^)\s]+)\)|<img [^>]*src=\"(?P<html>[^\"]+)\"")
_CODE = re.compile(r"``\s?(?P<double>.+?)\s?``(?!`)|`(?P<single>[^`\n]+)`")
_CELL = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block."""

    page: Path
    number: int
    """Of its first line of text."""
    language: str
    tag: str
    """What follows the language: what a test does with the block."""
    text: str

    def __str__(self) -> str:
        """Name the block as an editor would."""
        return f"{self.page.relative_to(ROOT)}:{self.number}"


@cache
def text_of(page: Path) -> str:
    """Return a page."""
    return page.read_text()


@cache
def blocks_of(page: Path) -> tuple[Block, ...]:
    """Return the fenced blocks of a page."""
    found = []
    for match in _FENCE.finditer(text_of(page)):
        language, _, tag = match["info"].strip().partition(" ")
        number = text_of(page).count("\n", 0, match.start()) + 2
        block = Block(page=page, number=number, language=language, tag=tag, text=match["text"])
        found.append(block)
    return tuple(found)


def blocks(language: str, tag: str | None = None) -> list[Block]:
    """Return the blocks of all pages in a language, of one tag or of any."""
    every = [block for page in PAGES for block in blocks_of(page)]
    return [one for one in every if one.language == language and tag in {None, one.tag}]


def prose_of(page: Path) -> str:
    """Return a page without its fenced blocks; their lines stay, empty."""
    return _FENCE.sub(lambda match: "\n" * match[0].count("\n"), text_of(page))


def code_spans_of(text: str) -> list[str]:
    """Return what stands in backticks."""
    return [match["double"] or match["single"] for match in _CODE.finditer(text)]


def links_of(page: Path) -> list[str]:
    """Return the targets of a page's links."""
    return [match["target"] for match in _LINK.finditer(prose_of(page))]


def images_of(page: Path) -> list[str]:
    """Return the sources of a page's images."""
    return [match["markdown"] or match["html"] for match in _IMAGE.finditer(prose_of(page))]


@cache
def anchors_of(page: Path) -> frozenset[str]:
    """Return the anchors that headings make, as code hosts derive them."""
    headings = re.findall(r"^#+ (.+)$", prose_of(page), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return frozenset(heading.replace(" ", "-") for heading in plain)


def table_of(page: Path, *head: str) -> list[list[str]]:
    """Return the rows of the only table of a page with that head.

    Cells keep their backticks.
    """
    lines = prose_of(page).splitlines()
    starts = [number for number, line in enumerate(lines) if _cells(line) == list(head)]
    assert len(starts) == 1, f"{page.name} has {len(starts)} tables with the head {head}"
    rows = []
    for line in lines[starts[0] + 2 :]:
        if not line.startswith("|"):
            break
        rows.append(_cells(line))
    return rows


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in _CELL.split(line)[1:-1]]


def bare(cell: str) -> str:
    """Return a cell without backticks."""
    return cell.replace("`", "")
