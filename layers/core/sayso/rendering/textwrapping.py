"""Plain text in lines of a mail (RFC 5322 §2.1.1: 78 characters)."""

from __future__ import annotations

import textwrap
from typing import Final

LINE_CHARS: Final = 72


def wrap_text(text: str, *, first: str = "", rest: str = "") -> str:
    """Return text in lines of at most 72 characters; addresses and long words stay whole.

    Args:
        text: Its own line ends are kept.
        first: Stands before the first line.
        rest: Stands before all others.
    """
    lines: list[str] = []
    for line in text.splitlines():
        lead = rest if lines else first
        lines += textwrap.wrap(
            line,
            LINE_CHARS,
            initial_indent=lead,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [lead.rstrip()]
    return "\n".join(lines)
