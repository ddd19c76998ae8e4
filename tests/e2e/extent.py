"""How much is tried: a tenth when all tests run, everything when a variable asks for it."""

from __future__ import annotations

import os


def extent(variable: str, *, usual: int) -> int:
    """Return the number that a variable of the environment names, or the usual one."""
    return int(os.environ.get(variable, usual))
