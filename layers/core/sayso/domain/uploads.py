"""One file that was uploaded for one form, and what is taken as such (human-input §8).

Nobody is trusted: not the name, not the ending, not the media type that came along. Ids follow from
form, name and content, so that a repeated upload is the same one.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from sayso.domain.errors import CallerError
from sayso.domain.file_names import clean_name, extension_of, is_blocked
from sayso.domain.file_types import content_fits, type_of
from sayso.domain.ids import UploadId

if TYPE_CHECKING:
    from datetime import datetime

    from sayso.domain.file_types import FileKind
    from sayso.domain.ids import FormId

MAX_UPLOAD_BYTES: Final = 4 * 1024 * 1024
"""What goes through a function: its request may have 6 MB, a third of which is base64 (Lambda
quotas)."""
MAX_UPLOADS: Final = 100
"""Of one form; it can ask for fifty files in one field, and people change their minds."""

_NAMESPACE: Final = uuid.UUID("2f7d3c61-7f0b-5d4e-8a56-3f6c1d9f4e02")


class UploadProblem(StrEnum):
    """Why a file is not taken."""

    NO_FILE = "no_file"
    SEVERAL_FILES = "several_files"
    NO_NAME = "no_name"
    EMPTY = "empty"
    TOO_LARGE = "too_large"
    BLOCKED = "blocked"
    TYPE = "type"
    TOO_MANY = "too_many"


class UploadRefusedError(CallerError):
    """A file is not taken; ``problem`` says why. Whoever sends it picks another."""

    def __init__(self, problem: UploadProblem, detail: str = "") -> None:
        """Keep the reason; never the name or the content."""
        super().__init__(detail or f"the file is refused: {problem.value}")
        self.problem = problem
        self.detail = detail


class TokenProblem(StrEnum):
    """Why an upload token is not taken."""

    MISSING = "missing"
    MALFORMED = "malformed"
    UNKNOWN = "unknown"


class UploadTokenError(CallerError):
    """An upload came without a token that is good; ``problem`` says why. The caller gets one."""

    def __init__(self, problem: TokenProblem) -> None:
        """Keep the reason."""
        super().__init__(f"the upload token is {problem.value}")
        self.problem = problem


class RemoteProblem(StrEnum):
    """Why a file of the web cannot be had."""

    REFUSED = "refused"
    NOT_FOUND = "not_found"
    ACCESS_DENIED = "access_denied"
    UNAVAILABLE = "unavailable"
    INVALID_RESPONSE = "invalid_response"


class RemoteFileError(CallerError):
    """A file of the web cannot be had; ``problem`` says why. Whoever names it picks another."""

    def __init__(self, problem: RemoteProblem, detail: str) -> None:
        """Keep the reason; never the address, which may hold a secret."""
        super().__init__(detail)
        self.problem = problem
        self.detail = detail


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """A file that was fetched."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """The record of one stored file."""

    id: UploadId
    name: str
    """Cleaned; for people."""
    size_bytes: int
    mime_type: str
    """What the extension stands for, never what a client said."""
    extension: str
    kind: FileKind
    digest: str
    """SHA-256, hex."""
    created_at: datetime
    recipient: int
    """Number of the recipient through whose link it came."""

    def as_value(self) -> dict[str, Any]:
        """Return the file as the value of a field: what the decision keeps and the model reads."""
        return {
            "type": self.kind,
            "transfer_method": "local_file",
            "upload_file_id": self.id,
            "name": self.name,
            "size": self.size_bytes,
            "mime_type": self.mime_type,
            "sha256": self.digest,
        }


def check_upload(
    form_id: FormId, name: str, data: bytes, *, recipient: int, now: datetime
) -> Upload:
    """Return the record of a file that may be stored.

    Raises:
        UploadRefusedError: Without a name, empty, too large, blocked, or not what its name says.
    """
    clean = clean_name(name)
    if not clean:
        raise UploadRefusedError(UploadProblem.NO_NAME)
    if is_blocked(clean):
        raise UploadRefusedError(UploadProblem.BLOCKED)
    if not data:
        raise UploadRefusedError(UploadProblem.EMPTY)
    if len(data) > MAX_UPLOAD_BYTES:
        raise too_large(len(data))
    extension = extension_of(clean)
    if not content_fits(extension, data):
        raise UploadRefusedError(UploadProblem.TYPE)
    file_type, digest = type_of(extension), hashlib.sha256(data).hexdigest()
    return Upload(
        id=UploadId(str(uuid.uuid5(_NAMESPACE, f"{form_id}/{digest}/{clean}"))),
        name=clean,
        size_bytes=len(data),
        mime_type=file_type.mime_type,
        extension=extension,
        kind=file_type.kind,
        digest=digest,
        created_at=now,
        recipient=recipient,
    )


def too_large(size_bytes: int) -> UploadRefusedError:
    """Return the error of a file that is too large."""
    detail = f"{size_bytes} bytes, at most {MAX_UPLOAD_BYTES}"
    return UploadRefusedError(UploadProblem.TOO_LARGE, detail)
