"""Plain text in lines of a mail (RFC 5322 §2.1.1: 78 characters)."""

from __future__ import annotations

import textwrap
from typing import Final

LINE_CHARS: Final = 72
_LABEL_CHARS: Final = 20


def wrap_text(text: str, *, first: str = "", rest: str = "", width: int = LINE_CHARS) -> str:
    """Return text in lines of at most ``width`` characters; addresses and long words stay whole.

    Args:
        text: Its own line ends are kept.
        first: Stands before the first line.
        rest: Stands before all others.
        width: Characters of a line.
    """
    lines: list[str] = []
    for line in text.splitlines():
        lead = rest if lines else first
        lines += textwrap.wrap(
            line.strip(),
            width,
            initial_indent=lead,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [lead.rstrip()]
    return "\n".join(lines)


def beside(text: str, label: str) -> str:
    """Return text in a column beside its label."""
    return wrap_text(text, first=f"{label} ".ljust(_LABEL_CHARS), rest=" " * _LABEL_CHARS)


def quoted(text: str) -> str:
    """Return text as mail programs mark what somebody else wrote (RFC 3676 §4.5)."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
