"""Plain text that somebody else wrote: without what cannot be seen, on one line, without links.

Invisible and direction-changing characters can make a text read differently from what it is, or
carry words to a model that no person sees (Unicode TR 36, CVE-2021-42574). Pure, light to import.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_LINE_BREAKS: Final = re.compile("\r\n?|[\u0085\u2028\u2029]")

_INVISIBLE: Final = re.compile(
    "["
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u3164\ufeff\uffa0"  # shown as nothing
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # change the direction of text
    "\u2060-\u2065\u206a-\u206f\ufe00-\ufe0d\ufff0-\ufffb"
    "\ufdd0-\ufdef\ufffe\uffff"  # not characters at all
    "\ud800-\udfff"  # halves of surrogate pairs, which UTF-8 cannot hold
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]"
)

_JOINERS: Final = re.compile("[\u200c\u200d\ufe0e\ufe0f]")
"""Needed by emoji and by scripts such as Persian and Hindi; elsewhere shown as nothing."""

_SCRIPT_CATEGORIES: Final = frozenset({"Lo", "Mn", "Mc", "So", "Sk"})

_LINK_SCHEMES: Final = re.compile(r"\b(?:(?:https?|ftps?|wss?|file)://+|mailto:)", re.IGNORECASE)

_TAGS: Final = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->", re.DOTALL)


def strip_invisible(text: str) -> tuple[str, int]:
    """Remove what cannot be seen or turns text around; end lines with a line feed.

    Returns:
        The text and the number of characters removed.
    """
    lines = _LINE_BREAKS.sub("\n", text)
    visible = _INVISIBLE.sub("", lines)
    kept = _JOINERS.sub(_joiner_in_its_place, visible)
    return kept, len(lines) - len(kept)


def _joiner_in_its_place(match: re.Match[str]) -> str:
    """Keep a joiner behind an emoji, a sign or a letter of a script without cases."""
    before = match.string[match.start() - 1] if match.start() else " "
    if match[0] in "\ufe0e\ufe0f":
        return match[0] if before.isprintable() and not before.isalpha() and before != " " else ""
    fits = before in "\ufe0e\ufe0f" or unicodedata.category(before) in _SCRIPT_CATEGORIES
    return match[0] if fits else ""


def one_line(text: str, *, limit: int | None = None) -> str:
    """Return visible text on one line, white space collapsed.

    Args:
        text: Anything.
        limit: Most characters to keep, an ellipsis included.
    """
    line = " ".join(strip_invisible(text)[0].split())
    if limit is not None and len(line) > limit:
        return line[: limit - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    return line


def without_tags(text: str) -> str:
    """Take out what looks like an HTML tag (human-input §4.3, subjects)."""
    return _TAGS.sub("", text)


def without_links(text: str) -> str:
    """Take the scheme off every address, so that a mail program makes no link of it."""
    return _LINK_SCHEMES.sub("", text)
