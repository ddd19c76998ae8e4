"""Reads the JSON body of a request, with the contract's entries for what is none (dify-agent §2).

What passes can be stored and sent on: bounded depth, no NaN, no text that UTF-8 cannot say.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final, NoReturn

from sayso.domain.errors import CallerError
from sayso.http.invalid import MASK, InvalidRequestError, entry_of

if TYPE_CHECKING:
    from sayso.http.request import HttpRequest

MAX_BODY_BYTES: Final = 4 * 1024 * 1024
MAX_DEPTH: Final = 100


class BodyTooLargeError(CallerError):
    """The body is larger than we take (413). The caller sends less."""

    def __init__(self, size_bytes: int) -> None:
        """Say what came and what is allowed."""
        super().__init__(f"request body is too large: {size_bytes} bytes, at most {MAX_BODY_BYTES}")


def read_json(request: HttpRequest) -> Any:
    """Return the JSON of a body.

    Raises:
        BodyTooLargeError: Over 4 MB, as the event carries it.
        InvalidRequestError: Missing, not JSON, or not JSON that can be kept.
    """
    if request.encoded_body_bytes > MAX_BODY_BYTES:
        raise BodyTooLargeError(request.encoded_body_bytes)
    raw = request.body_bytes()
    if not raw:
        raise InvalidRequestError([entry_of("missing", ["body"], "Field required", None)])
    if not _says_json(request.headers.get("content-type", "")):
        # As FastAPI, which then takes the body for a text; that may hold credentials.
        message = "Input should be a valid dictionary or object to extract fields from"
        raise InvalidRequestError([entry_of("model_attributes_type", ["body"], message, MASK)])
    value = _parse(raw)
    _check(value, 1)
    return value


def _says_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return not kind or kind == "application/json" or kind.endswith("+json")


def _parse(raw: bytes) -> Any:
    try:
        return json.loads(raw.decode(), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise _not_json(error.pos, error.msg) from None
    except UnicodeDecodeError as error:
        raise _not_json(error.start, "not UTF-8") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:  # a constant, or an integer of too many digits
        raise _not_json(0, str(error)) from None


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise ValueError(message)


def _not_json(offset: int, reason: str) -> InvalidRequestError:
    return InvalidRequestError(
        [entry_of("json_invalid", ["body", offset], "JSON decode error", {}, error=reason)]
    )


def _too_deep() -> InvalidRequestError:
    message = f"JSON should be nested at most {MAX_DEPTH} levels deep"
    return InvalidRequestError([entry_of("too_deep", ["body"], message, {}, max_depth=MAX_DEPTH)])


def _check(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _too_deep()
    match value:
        case str():
            _check_text(value)
        case float() if not math.isfinite(value):
            raise _not_json(0, "a number is out of range")
        case list():
            for member in value:
                _check(member, depth + 1)
        case dict():
            for name, member in value.items():
                _check_text(name)
                _check(member, depth + 1)


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _not_json(error.start, "half of a surrogate pair") from None
