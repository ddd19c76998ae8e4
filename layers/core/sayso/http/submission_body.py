"""Reads the body of a submission on any JSON surface (human-input §7.1, §7.3, §7.4).

By hand, not by a model: the page function takes it too and starts without pydantic. Entries are
those that a model would give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sayso.domain.access import Surface
from sayso.http.invalid import Entry, InvalidRequestError, entry_of
from sayso.http.json_body import read_json
from sayso.usecases.submit_form import Submission

if TYPE_CHECKING:
    from sayso.http.request import HttpRequest

MAX_NAME_CHARS: Final = 255

_MORE_MEMBERS: Final = {Surface.SERVICE_API: "user", Surface.OPENAPI: "files"}


def read_submission(
    request: HttpRequest, surface: Surface, *, user: str | None = None
) -> Submission:
    """Return what a program sent.

    Args:
        request: The request.
        surface: On which one; each has its own members.
        user: Who is recorded; on the service API the body says.

    Raises:
        BodyTooLargeError: Over 4 MB.
        InvalidRequestError: No JSON, or not of this shape.
    """
    body = read_json(request)
    if not isinstance(body, dict):
        message = "Input should be a valid dictionary or object to extract fields from"
        raise InvalidRequestError([entry_of("model_attributes_type", ["body"], message, body)])
    known = {"inputs", "action", _MORE_MEMBERS.get(surface, "action")}
    entries = [_inputs(body), _text(body, "action"), *_more(body, surface)]
    entries += [_extra(name, body) for name in body if name not in known]
    if found := [entry for entry in entries if entry is not None]:
        raise InvalidRequestError(found)
    named = body["user"] if surface is Surface.SERVICE_API else user
    return Submission(action=body["action"], values=body["inputs"], user=named)


def _more(body: dict[str, Any], surface: Surface) -> list[Entry | None]:
    """Check what only one surface has: who answers, and files beside the inputs."""
    if surface is Surface.SERVICE_API:
        return [_text(body, "user", at_least=1)]
    if surface is Surface.OPENAPI and body.get("files"):
        message = "files are given as values of inputs"
        return [entry_of("value_error", ["body", "files"], message, None)]
    return []


def _inputs(body: dict[str, Any]) -> Entry | None:
    if "inputs" not in body:
        return entry_of("missing", ["body", "inputs"], "Field required", None)
    if not isinstance(body["inputs"], dict):
        message = "Input should be a valid dictionary"
        return entry_of("dict_type", ["body", "inputs"], message, body["inputs"])
    return None


def _text(body: dict[str, Any], name: str, *, at_least: int = 0) -> Entry | None:
    value, loc = body.get(name), ["body", name]
    if name not in body:
        return entry_of("missing", loc, "Field required", None)
    if not isinstance(value, str):
        return entry_of("string_type", loc, "Input should be a valid string", value)
    if len(value) < at_least:
        message = f"String should have at least {at_least} character"
        return entry_of("string_too_short", loc, message, value, min_length=at_least)
    if len(value) > MAX_NAME_CHARS:
        message = f"String should have at most {MAX_NAME_CHARS} characters"
        return entry_of("string_too_long", loc, message, value, max_length=MAX_NAME_CHARS)
    return None


def _extra(name: str, body: dict[str, Any]) -> Entry:
    message = "Extra inputs are not permitted"
    return entry_of("extra_forbidden", ["body", name[:MAX_NAME_CHARS]], message, body[name])
