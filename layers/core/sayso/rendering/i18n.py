"""Words for people go through here, so that catalogues can be added without touching a sentence.

English is the source language; without a catalogue the sentence is its own translation.
"""

from __future__ import annotations

from gettext import NullTranslations
from typing import Final

TRANSLATIONS: Final = NullTranslations()


def _(message: str) -> str:
    """Return the message in the reader's language."""
    return TRANSLATIONS.gettext(message)


def ngettext(singular: str, plural: str, count: int) -> str:
    """Return the form of the message that fits the count."""
    return TRANSLATIONS.ngettext(singular, plural, count)
