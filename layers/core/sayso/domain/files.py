"""Checks a file that was sent as the value of a field (human-input §8.6, §9.3 to 9.5).

A file is either one that was uploaded for this very form or an address of the web. Files that
other programs uploaded elsewhere are none of a public form's business (§8.6, R).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from sayso.domain.fields import FileLimits
    from sayso.domain.uploads import Upload

FILE_TYPES: Final = ("image", "document", "audio", "video", "custom")
METHODS: Final = ("local_file", "remote_url")
MAX_URL_CHARS: Final = 2_000

Uploads = Mapping[str, "Upload"]
"""Files that were uploaded for this form, by id."""


def file_problem(value: Mapping[str, Any], limits: FileLimits, uploads: Uploads) -> str | None:
    """Return why a file is not taken, in the contract's words, or None.

    Args:
        value: ``type``, ``transfer_method`` and ``upload_file_id`` or ``url``.
        limits: Of the field.
        uploads: What was uploaded for this form.
    """
    kind, method = value.get("type"), value.get("transfer_method")
    if kind not in FILE_TYPES:
        return "unsupported file type"
    if method not in METHODS:
        return "unsupported transfer method"
    if method not in limits.methods:
        return "file is not allowed by config"
    if method == "local_file":
        return _upload_problem(str(kind), value, limits, uploads)
    extension = _extension(value.get("url"))
    if extension is None:
        return "file not found"
    return None if _is_allowed(str(kind), extension, limits) else "file is not allowed by config"


def plain_file(value: Mapping[str, Any], uploads: Uploads) -> dict[str, Any]:
    """Return a file as it is kept; it was checked before. Of an upload we tell what we know."""
    if value["transfer_method"] == "local_file":
        return uploads[value["upload_file_id"]].as_value() | {"type": value["type"]}
    return {name: value[name] for name in ("type", "transfer_method", "url")}


def _upload_problem(
    kind: str, value: Mapping[str, Any], limits: FileLimits, uploads: Uploads
) -> str | None:
    """Return why an upload is not taken. It is what it is, whatever kind the sender calls it."""
    upload_id = value.get("upload_file_id")
    upload = uploads.get(upload_id) if isinstance(upload_id, str) else None
    if upload is None:
        return "file not found"
    is_that = kind in {upload.kind, "custom"}
    if is_that and _is_allowed(kind, upload.extension, limits):
        return None
    return "file is not allowed by config"


def _extension(url: Any) -> str | None:
    """Return the ending that an address names, None for what is no address."""
    if not isinstance(url, str) or len(url) > MAX_URL_CHARS or not is_web_address(url):
        return None
    name = urlsplit(url).path.rpartition("/")[2]
    return name.rpartition(".")[2] if "." in name else ""


def _is_allowed(kind: str, extension: str, limits: FileLimits) -> bool:
    """Tell whether limits let a file pass; ``custom`` is the bucket for all other kinds (§9.5)."""
    if not limits.types or (kind in limits.types and kind != "custom"):
        return True
    if "custom" not in limits.types:
        return False
    return _bare(extension) in {_bare(one) for one in limits.extensions}


def _bare(extension: str) -> str:
    return extension.removeprefix(".").casefold()


def is_web_address(text: str) -> bool:
    """Tell whether a text is an absolute http or https address without odd characters."""
    if not text.isprintable() or any(char.isspace() for char in text):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a broken port or IPv6 literal
        return False
