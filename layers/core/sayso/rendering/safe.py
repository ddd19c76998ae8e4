"""The one type that templates print without escaping.

Kept apart from the sanitiser, so that a page with stored content renders without importing it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

POLICY_VERSION: Final = 1
"""Version of allow-lists and Markdown rules. Content stored under another one is rendered anew."""


@dataclass(frozen=True, slots=True)
class RenderedHtml:
    """HTML that went through our sanitiser. Made by it, or from what it made and we stored."""

    html: str
    removed: int = 0
    """Number of invisible and direction-changing characters taken out of the source."""

    def __html__(self) -> str:
        """Return the HTML: the protocol by which Jinja2 and MarkupSafe know safe text."""
        return self.html
