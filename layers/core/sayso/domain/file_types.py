"""What a file is: by its ending, and by its first bytes, which have to agree.

A small table of our own: it is exact for the kinds that the contract knows, costs the page function
nothing to load, and says "do not know" for all else. Sources: the "File Signatures" page of the
forensics wiki, RFC 9649 (WebP), ISO 14496-12 (``ftyp``), APPNOTE.TXT (zip).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

FileKind = Literal["image", "document", "audio", "video", "custom"]

UNKNOWN_MIME_TYPE: Final = "application/octet-stream"


class FileType(NamedTuple):
    """One kind of file."""

    kind: FileKind
    mime_type: str
    container: str
    """What its first bytes show: a name of ``_SIGNATURES``, ``text``, or nothing: not checked."""


_OFFICE: Final = "application/vnd.openxmlformats-officedocument."

TYPES: Final[Mapping[str, FileType]] = MappingProxyType(
    {
        "png": FileType("image", "image/png", "png"),
        "jpg": FileType("image", "image/jpeg", "jpeg"),
        "jpeg": FileType("image", "image/jpeg", "jpeg"),
        "gif": FileType("image", "image/gif", "gif"),
        "webp": FileType("image", "image/webp", "webp"),
        "svg": FileType("image", "image/svg+xml", "text"),
        "pdf": FileType("document", "application/pdf", "pdf"),
        "txt": FileType("document", "text/plain", "text"),
        "md": FileType("document", "text/markdown", "text"),
        "mdx": FileType("document", "text/markdown", "text"),
        "markdown": FileType("document", "text/markdown", "text"),
        "html": FileType("document", "text/html", "text"),
        "htm": FileType("document", "text/html", "text"),
        "xml": FileType("document", "application/xml", "text"),
        "csv": FileType("document", "text/csv", "text"),
        "vtt": FileType("document", "text/vtt", "text"),
        "properties": FileType("document", "text/plain", "text"),
        "eml": FileType("document", "message/rfc822", "text"),
        "xls": FileType("document", "application/vnd.ms-excel", "ole"),
        "doc": FileType("document", "application/msword", "ole"),
        "ppt": FileType("document", "application/vnd.ms-powerpoint", "ole"),
        "msg": FileType("document", "application/vnd.ms-outlook", "ole"),
        "xlsx": FileType("document", _OFFICE + "spreadsheetml.sheet", "zip"),
        "docx": FileType("document", _OFFICE + "wordprocessingml.document", "zip"),
        "pptx": FileType("document", _OFFICE + "presentationml.presentation", "zip"),
        "epub": FileType("document", "application/epub+zip", "zip"),
        "mp3": FileType("audio", "audio/mpeg", "mp3"),
        "mpga": FileType("audio", "audio/mpeg", "mp3"),
        "m4a": FileType("audio", "audio/mp4", "mp4"),
        "wav": FileType("audio", "audio/wav", "wav"),
        "amr": FileType("audio", "audio/amr", "amr"),
        "mp4": FileType("video", "video/mp4", "mp4"),
        "mov": FileType("video", "video/quicktime", "mp4"),
        "mpeg": FileType("video", "video/mpeg", "mpeg"),
        "webm": FileType("video", "video/webm", "matroska"),
    }
)
"""Extension → type: those that the contract's kinds stand for."""

_SIGNATURES: Final[tuple[tuple[str, int, bytes], ...]] = (
    ("png", 0, b"\x89PNG\r\n\x1a\n"),
    ("jpeg", 0, b"\xff\xd8\xff"),
    ("gif", 0, b"GIF87a"),
    ("gif", 0, b"GIF89a"),
    ("webp", 8, b"WEBP"),
    ("wav", 8, b"WAVE"),
    ("pdf", 0, b"%PDF-"),
    ("ole", 0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    ("zip", 0, b"PK\x03\x04"),
    ("mp3", 0, b"ID3"),
    ("mp3", 0, b"\xff\xfb"),
    ("mp3", 0, b"\xff\xf3"),
    ("mp3", 0, b"\xff\xf2"),
    ("amr", 0, b"#!AMR"),
    ("mp4", 4, b"ftyp"),
    ("mp4", 4, b"moov"),
    ("mpeg", 0, b"\x00\x00\x01\xba"),
    ("mpeg", 0, b"\x00\x00\x01\xb3"),
    ("matroska", 0, b"\x1aE\xdf\xa3"),
    ("program", 0, b"MZ"),
    ("program", 0, b"\x7fELF"),
    ("program", 0, b"\xcf\xfa\xed\xfe"),
    ("program", 0, b"\xca\xfe\xba\xbe"),
    ("program", 0, b"#!/"),
)
"""Name, offset, bytes."""

_LOOKED_AT_BYTES: Final = 4096
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


def type_of(extension: str) -> FileType:
    """Return what an extension stands for; ``custom`` where the contract does not know it."""
    return TYPES.get(extension, FileType("custom", UNKNOWN_MIME_TYPE, ""))


def content_fits(extension: str, data: bytes) -> bool:
    """Tell whether a file's first bytes are what its extension says.

    Texts have no mark of their own: what holds a zero byte is none, unless it is UTF-16. Of kinds
    that the contract does not know nothing is asked but that they are no programs.
    """
    wanted = type_of(extension).container
    if wanted == "text":
        return b"\x00" not in data[:_LOOKED_AT_BYTES] or data.startswith(_UTF16_MARKS)
    seen = {name for name, offset, mark in _SIGNATURES if data.startswith(mark, offset)}
    return "program" not in seen and (not wanted or wanted in seen)
