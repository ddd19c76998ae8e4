"""Uploads by programs that hold a link (human-input §8): a token, then files that carry it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sayso.domain.access import Surface
from sayso.domain.errors import ValidationError
from sayso.domain.files import MAX_URL_CHARS
from sayso.domain.uploads import (
    MAX_UPLOAD_BYTES,
    RemoteFileError,
    TokenProblem,
    UploadProblem,
    UploadRefusedError,
    UploadTokenError,
    too_large,
)
from sayso.http.invalid import InvalidRequestError, entry_of
from sayso.http.json_body import read_json
from sayso.http.multipart import read_parts
from sayso.http.response import HttpResponse, json_response
from sayso.http.upload_errors import remote_error
from sayso.usecases.open_form import FormAccess
from sayso.usecases.upload_file import issue_upload_token, open_upload, store_upload

if TYPE_CHECKING:
    from sayso.domain.uploads import Upload
    from sayso.http.page import PagePorts
    from sayso.http.request import HttpRequest

_FILE: Final = "file"
"""Name of the one part."""
_AROUND_BYTES: Final = 64 * 1024
"""Heads and delimiters around a file of the largest size."""


def issue_token(request: HttpRequest, ports: PagePorts) -> HttpResponse:
    """Answer ``POST …/{form_token}/upload-token``."""
    access = FormAccess(
        token=request.path_parameters.get("form_token", ""),
        surface=Surface.PAGE,
        address=request.address,
    )
    token = issue_upload_token(access, ports.context, ports.links, ports.limiter)
    expires_at = int(token.expires_at.timestamp())
    return json_response(200, {"upload_token": token.text, "expires_at": expires_at})


def upload(request: HttpRequest, ports: PagePorts) -> HttpResponse:
    """Answer ``POST …/files/upload``."""
    opened = open_upload(_token(request), ports.context, ports.links)
    name, data = _only_file(request)
    stored = store_upload(opened, name, data, ports.context)
    return json_response(201, upload_json(stored))


def upload_remote(request: HttpRequest, ports: PagePorts) -> HttpResponse:
    """Answer ``POST …/files/remote-upload``."""
    opened = open_upload(_token(request), ports.context, ports.links)
    body = read_json(request)
    url = body.get("url") if isinstance(body, dict) else None
    if not isinstance(url, str):
        message = "Input should be a valid string"
        raise InvalidRequestError([entry_of("string_type", ["body", "url"], message, None)])
    try:
        file = ports.remote_files.fetch(url)
    except RemoteFileError as error:
        status, code = remote_error(error)
        message = f"Failed to fetch file from {url[:MAX_URL_CHARS]}: {error.detail}"
        return json_response(status, {"code": code, "message": message, "status": status})
    stored = store_upload(opened, file.name, file.data, ports.context)
    # The reference signs an address of its own; we serve no files, so this is the one given.
    return json_response(201, upload_json(stored) | {"url": url})


def upload_json(stored: Upload) -> dict[str, Any]:
    """Return what a program is told of its file; a link has no account to name as creator."""
    return {
        "id": stored.id,
        "name": stored.name,
        "size": stored.size_bytes,
        "extension": stored.extension,
        "mime_type": stored.mime_type,
        "created_by": None,
        "created_at": int(stored.created_at.timestamp()),
    }


def _token(request: HttpRequest) -> str:
    """Return the upload token, in the contract's order of checks (§8.2)."""
    scheme, _, token = request.headers.get("authorization", "").strip().partition(" ")
    token = token.strip()
    if not token or " " in token:
        raise UploadTokenError(TokenProblem.MISSING)
    if scheme.lower() != "bearer":
        raise UploadTokenError(TokenProblem.MALFORMED)
    return token


def _only_file(request: HttpRequest) -> tuple[str, bytes]:
    """Return name and content of the one part called ``file``.

    Raises:
        UploadRefusedError: There is none, another one besides, or it is too large or has no name.
    """
    size = len(request.body_bytes())
    if size > MAX_UPLOAD_BYTES + _AROUND_BYTES:
        raise too_large(size)
    try:
        parts = read_parts(request)
    except ValidationError as error:
        raise UploadRefusedError(UploadProblem.NO_FILE) from error
    files = [part for part in parts if part.name == _FILE]
    if not files:
        raise UploadRefusedError(UploadProblem.NO_FILE)
    if len(files) > 1 or sum(part.filename is not None for part in parts) > 1:
        raise UploadRefusedError(UploadProblem.SEVERAL_FILES)
    (part,) = files
    if not part.filename:
        raise UploadRefusedError(UploadProblem.NO_NAME)
    return part.filename, part.content
