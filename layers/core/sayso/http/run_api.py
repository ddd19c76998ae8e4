"""What the routes of the run API share."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from sayso.domain.errors import NotFoundError
from sayso.domain.ids import RunId, parse_uuid
from sayso.http.errors import run_api_error
from sayso.http.keyed_api import KeyedApi

if TYPE_CHECKING:
    from collections.abc import Callable

    from sayso.domain.errors import AppError
    from sayso.http.response import HttpResponse
    from sayso.ports import Directory

_RUN_NOT_FOUND = "run not found"


def run_api(
    directory: Directory, word_error: Callable[[AppError], HttpResponse] = run_api_error
) -> KeyedApi:
    """Return a resolver that words errors as the run API does, unless told otherwise."""
    unknown = NotFoundError(_RUN_NOT_FOUND)
    return KeyedApi(directory, word_error=word_error, unknown=unknown)


def run_id_of(text: str) -> RunId:
    """Return the run id that a path holds, perhaps percent-encoded.

    Raises:
        NotFoundError: No run can have such an id, so no table is asked.
    """
    decoded = unquote(text)
    if parse_uuid(decoded) is None:
        raise NotFoundError(_RUN_NOT_FOUND)
    return RunId(decoded)
