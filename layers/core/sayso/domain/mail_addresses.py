"""What counts as a mail address, wherever one is given: by a request, a person, a setting."""

from __future__ import annotations

import re
from typing import Final

_ADDRESS: Final = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}")
"""Plain addresses only: no quotes, comments or names (RFC 5321 §4.1.2 without its rarities), and
ASCII before the at sign, since SES takes nothing else there (developer guide, SMTPUTF8)."""


def is_mail_address(text: str) -> bool:
    """Tell whether a text is one plain mail address; nothing is looked up."""
    return _ADDRESS.fullmatch(text) is not None
