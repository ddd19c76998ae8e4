"""Files as browsers and programs send them, and small files of every common kind."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, NamedTuple

from support.functions import DOMAIN, http_event
from support.human_input import MAIL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from support.functions import Answer, Functions
    from support.human_input import Forms

BOUNDARY = "----WebKitFormBoundary7MA4YWxkTrZu0gW"
UPLOAD = "/api/form/human_input/files/upload"

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
PDF = b"%PDF-1.7\r\n--not a boundary\r\n\x00\xff"
PROOF: dict[str, Any] = {
    "type": "file",
    "output_variable_name": "proof",
    "allowed_file_types": [],
    "allowed_file_extensions": [],
    "allowed_file_upload_methods": ["local_file", "remote_url"],
}
PHOTOS: dict[str, Any] = {
    **PROOF,
    "type": "file-list",
    "output_variable_name": "photos",
    "allowed_file_types": ["image"],
    "number_limits": 2,
}


class Sent(NamedTuple):
    """One part of a multipart body; without a file name a text."""

    name: str
    content: bytes
    filename: str | None = None


def multipart(parts: Sequence[Sent], boundary: str = BOUNDARY) -> bytes:
    """Return a body."""
    lines = b""
    for part in parts:
        head = f'Content-Disposition: form-data; name="{part.name}"'
        if part.filename is not None:
            head += f'; filename="{part.filename}"\r\nContent-Type: application/octet-stream'
        lines += f"--{boundary}\r\n{head}\r\n\r\n".encode() + part.content + b"\r\n"
    return lines + f"--{boundary}--\r\n".encode()


def post_multipart(
    functions: Functions, path: str, parts: Sequence[Sent], **headers: str
) -> Answer:
    """Send parts through the gateway, which writes such bodies in base64."""
    sent = {
        "host": DOMAIN,
        "content-type": f"multipart/form-data; boundary={BOUNDARY}",
        "sec-fetch-site": "same-origin",
        **headers,
    }
    function, event = http_event("POST", path, headers=sent, body="", query={})
    event["body"] = base64.b64encode(multipart(parts)).decode()
    event["isBase64Encoded"] = True
    return functions.answer(functions.invoke(function, event))


def upload_token(forms: Forms) -> str:
    """Return an upload token of the mailed person."""
    path = f"/api/form/human_input/{forms.token(MAIL)}/upload-token"
    answer = forms.functions.call("POST", path, key=None)
    assert answer.status == 200, answer.body
    token: str = answer.json["upload_token"]
    return token


def upload(forms: Forms, name: str, content: bytes, token: str | None = None) -> Answer:
    """Upload one file."""
    bearer = f"Bearer {token or upload_token(forms)}"
    return post_multipart(
        forms.functions, UPLOAD, [Sent("file", content, name)], authorization=bearer
    )
