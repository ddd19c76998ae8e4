"""Error bodies of uploads: the tables of human-input §8, as tables."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from sayso.domain.uploads import MAX_UPLOADS, RemoteProblem, TokenProblem, UploadProblem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.uploads import RemoteFileError, UploadRefusedError, UploadTokenError

_TOKEN_CODE: Final = "invalid_upload_token"  # noqa: S105 - a code, no token

_TOKENS: Final[Mapping[TokenProblem, tuple[int, str]]] = MappingProxyType(
    {
        TokenProblem.MISSING: (401, "Upload token is required."),
        TokenProblem.MALFORMED: (400, "Invalid upload token."),
        TokenProblem.UNKNOWN: (403, "Upload token is invalid or expired."),
    }
)

_FILES: Final[Mapping[UploadProblem, tuple[int, str, str]]] = MappingProxyType(
    {
        UploadProblem.NO_FILE: (400, "no_file_uploaded", "Please upload your file."),
        UploadProblem.SEVERAL_FILES: (400, "too_many_files", "Only one file is allowed."),
        UploadProblem.NO_NAME: (400, "bad_request", "The specified filename does not exist."),
        UploadProblem.TOO_LARGE: (413, "file_too_large", "File size exceeded."),
        UploadProblem.TYPE: (415, "unsupported_file_type", "File type not allowed."),
        UploadProblem.BLOCKED: (
            400,
            "file_extension_blocked",
            "The file extension is blocked for security reasons.",
        ),
        # The reference takes empty files and any number of them.
        UploadProblem.EMPTY: (400, "bad_request", "The file is empty."),
        UploadProblem.TOO_MANY: (
            400,
            "too_many_files",
            f"Only {MAX_UPLOADS} files can be uploaded for one form.",
        ),
    }
)


_REMOTE: Final[Mapping[RemoteProblem, tuple[int, str]]] = MappingProxyType(
    {
        RemoteProblem.REFUSED: (400, "bad_request"),
        RemoteProblem.NOT_FOUND: (404, "remote_file_not_found"),
        RemoteProblem.ACCESS_DENIED: (400, "remote_file_access_denied"),
        RemoteProblem.UNAVAILABLE: (502, "remote_file_unavailable"),
        RemoteProblem.INVALID_RESPONSE: (502, "remote_file_invalid_response"),
    }
)


def remote_error(error: RemoteFileError) -> tuple[int, str]:
    """Return status and code of a file of the web that cannot be had."""
    return _REMOTE[error.problem]


def token_error(error: UploadTokenError) -> tuple[int, str, str]:
    """Return status, code and message of a token that is not taken."""
    status, message = _TOKENS[error.problem]
    return status, _TOKEN_CODE, message


def upload_error(error: UploadRefusedError) -> tuple[int, str, str]:
    """Return status, code and message of a file that is not taken."""
    status, code, message = _FILES[error.problem]
    return status, code, f"{message} {error.detail}".strip()
