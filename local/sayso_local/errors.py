"""What goes wrong when the local stack starts; each message is one line that says what to do."""

from __future__ import annotations


class LocalStackError(Exception):
    """Raised when the local stack cannot start or lost its footing; the person at the prompt acts."""
