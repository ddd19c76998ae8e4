"""Names of uploaded files: made safe to show and to store, and what their endings say.

A name comes from somebody's disk, or from somebody who means harm. It is never part of a path: the
object is called after its upload id.
"""

from __future__ import annotations

import unicodedata
from typing import Final

MAX_NAME_CHARS: Final = 150

# fmt: off
BLOCKED_EXTENSIONS: Final = frozenset({
    "app", "apk", "appx", "bat", "bin", "cmd", "com", "cpl", "deb", "dll", "dmg", "elf", "exe",
    "gadget", "hta", "iso", "jar", "js", "jse", "lnk", "msc", "msi", "msp", "mst", "pif", "pkg",
    "ps1", "psm1", "reg", "rpm", "scf", "scr", "sh", "so", "sys", "url", "vb", "vbe", "vbs", "wsf",
    "wsh", "xpi",
})
# fmt: on
"""What a double click would run on one system or another (OWASP file upload cheat sheet; the list
of attachments that Outlook blocks)."""
_ALSO_OF_HOSTS: Final = frozenset({"app", "com", "sh", "so"})
"""Endings that stand inside harmless names, such as ``invoice example.com.pdf``."""

_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""Controls, direction marks, halves of surrogate pairs, line ends: they make names lie."""
_FORBIDDEN: Final = frozenset('<>:"|?*')
"""Characters that no file may have on Windows, where whoever gets the file may store it."""


def clean_name(name: str) -> str:
    """Return a file's name as it is shown and stored; empty when nothing of it is left.

    Only the last step of a path counts, with either separator: some browsers send paths.
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    plain = "".join(
        "_" if char in _FORBIDDEN else char
        for char in unicodedata.normalize("NFC", last)
        if unicodedata.category(char) not in _HIDDEN_CATEGORIES
    )
    words = " ".join(plain.split()).strip(". ")
    if len(words) <= MAX_NAME_CHARS:
        return words
    stem, dot, extension = words.rpartition(".")
    if not dot or len(extension) > MAX_NAME_CHARS // 2:
        return words[:MAX_NAME_CHARS]
    return f"{stem[: MAX_NAME_CHARS - len(extension) - 1]}.{extension}"


def extension_of(name: str) -> str:
    """Return the ending of a clean name without its dot, lower-case; empty when it has none."""
    stem, _, extension = name.rpartition(".")
    return extension.casefold() if stem else ""


def is_blocked(name: str) -> bool:
    """Tell whether a name says, or hides, that the file is a program: ``x.exe``, ``x.exe.pdf``."""
    *inner, last = (part.strip().casefold() for part in name.split(".")[1:] or [""])
    if last in BLOCKED_EXTENSIONS:
        return True
    return bool(inner) and inner[-1] in BLOCKED_EXTENSIONS - _ALSO_OF_HOSTS
