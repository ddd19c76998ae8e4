"""Reads ``multipart/form-data`` (RFC 7578), as browsers and programs send files.

The body is cut at its delimiter, which by definition occurs in no part (RFC 2046 §5.1.1), so that
content stays byte for byte what it was. The parser of ``email`` would take a part that is a mail
apart, decode what calls itself base64 and go through megabytes line by line; the heads of the parts,
where quoting is hard, are its business.
"""

from __future__ import annotations

from email.message import Message
from email.parser import HeaderParser
from typing import TYPE_CHECKING, Final, NamedTuple

from sayso.domain.errors import FieldIssue, ValidationError

if TYPE_CHECKING:
    from sayso.http.request import HttpRequest

MULTIPART: Final = "multipart/form-data"
MAX_PARTS: Final = 250
_MAX_HEAD_BYTES: Final = 8 * 1024
_MAX_BOUNDARY_CHARS: Final = 70


class Part(NamedTuple):
    """One control of a form."""

    name: str
    filename: str | None
    """None: no file. Browsers send an empty one for a control that was left alone."""
    content: bytes


def is_multipart(request: HttpRequest) -> bool:
    """Tell whether a request says that its body is of this type."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == MULTIPART


def read_parts(request: HttpRequest) -> list[Part]:
    """Return the parts of a body in their order.

    Raises:
        ValidationError: It is not of this type, cut off, or has parts without end.
    """
    if not is_multipart(request):
        raise _unreadable()
    boundary = _boundary(request.headers["content-type"])
    # The first delimiter has no line before it.
    pieces = (b"\r\n" + request.body_bytes()).split(b"\r\n--" + boundary, MAX_PARTS + 1)
    # One piece is before the parts, one behind; with too many parts the last does not end the body.
    if len(pieces) == 1 or not pieces[-1].startswith(b"--"):
        raise _unreadable()
    return [_part(piece) for piece in pieces[1:-1]]


def _boundary(content_type: str) -> bytes:
    message = Message()
    message["content-type"] = content_type.replace("\r", " ").replace("\n", " ")
    boundary = message.get_boundary("")
    if not 0 < len(boundary) <= _MAX_BOUNDARY_CHARS or not boundary.isascii():
        raise _unreadable()
    return boundary.encode()


def _part(piece: bytes) -> Part:
    """Read one part: rest of the delimiter's line, head, empty line, content."""
    padding, line_end, rest = piece.partition(b"\r\n")
    head, gap, content = rest.partition(b"\r\n\r\n")
    if padding.strip(b" \t") or not line_end or not gap or len(head) > _MAX_HEAD_BYTES:
        raise _unreadable()
    try:
        headers = HeaderParser().parsestr(head.decode())
    except UnicodeDecodeError:
        raise _unreadable() from None
    if headers.get_content_disposition() != "form-data":
        raise _unreadable()
    name = headers.get_param("name", header="content-disposition")
    filename = headers.get_param("filename", header="content-disposition")
    if not isinstance(name, str) or not name:
        raise _unreadable()
    return Part(_unescaped(name), _text(filename), content)


def _text(parameter: object) -> str | None:
    """Return a parameter; one in the form of RFC 2231 is a triple, which RFC 7578 does not allow."""
    if parameter is None:
        return None
    return _unescaped(parameter) if isinstance(parameter, str) else ""


def _unescaped(value: str) -> str:
    """Undo what browsers do to a name (HTML standard, "multipart/form-data encoding algorithm")."""
    return value.replace("%0D", "\r").replace("%0A", "\n").replace("%22", '"')


def _unreadable() -> ValidationError:
    message = f"expected {MULTIPART} of at most {MAX_PARTS} parts"
    return ValidationError(message, [FieldIssue("", "unreadable", message)])
