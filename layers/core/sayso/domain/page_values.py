"""Reads what the page's controls send, which is text only, as values of the fields' kinds.

What cannot be read stays as it was typed: the check then says what is wrong, and the page shows it
again. A select, a date or a number that was left alone has no value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.fields import FormInput
    from sayso.domain.files import Uploads
    from sayso.domain.form import FormDefinition

_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,16}(\.[0-9]{1,15})?")
"""A dot only: ``1,240`` is a thousand to one reader and little more than one to another."""
_YES_NO: Final = {"true": True, "false": False}
_LISTS: Final = frozenset({"multi-select", "file-list"})
FILE_KINDS: Final = frozenset({"file", "file-list"})


def page_values(
    definition: FormDefinition, typed: Mapping[str, Any], uploads: Uploads
) -> Mapping[str, Any]:
    """Return the values that a page sent; names of no field stay, so that they are refused.

    Args:
        definition: The form that was shown.
        typed: Field name → text, or a list of texts where a control came several times.
        uploads: Files that were stored for this form; the page names them by their ids.
    """
    typed = with_files(definition, typed, uploads)
    fields = {one.name: one for one in definition.inputs}
    values = {
        name: _value(fields[name], text) if name in fields else text for name, text in typed.items()
    }
    # Boxes of which none is ticked send nothing at all.
    boxes: dict[str, Any] = {one.name: [] for one in definition.inputs if one.kind in _LISTS}
    return boxes | values


def with_files(
    definition: FormDefinition, typed: Mapping[str, Any], uploads: Uploads
) -> dict[str, Any]:
    """Return what a page sent with values of files in the place of their ids."""
    values = dict(typed)
    for field in definition.inputs:
        if field.kind in FILE_KINDS and field.name in typed:
            ids = typed[field.name]
            texts = [one for one in (ids if isinstance(ids, list) else [ids]) if one]
            files = [_file(one, uploads) for one in texts]
            is_one = field.kind == "file" and len(files) <= 1
            values[field.name] = next(iter(files), None) if is_one else files
    return values


def _file(upload_id: str, uploads: Uploads) -> dict[str, Any]:
    upload = uploads.get(upload_id)
    if upload is not None:
        return upload.as_value()
    return {"type": "custom", "transfer_method": "local_file", "upload_file_id": upload_id}


def _value(field: FormInput, typed: Any) -> Any:
    if field.kind in _LISTS:
        return typed if isinstance(typed, list) else [typed]
    if not isinstance(typed, str):
        return typed
    match field.kind:
        case "number" | "integer":
            return _number(typed.strip())
        case "boolean":
            return _YES_NO.get(typed, typed or None)
        case "select" | "date":
            return typed or None
        case _:
            return typed


def _number(text: str) -> Any:
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        return text
    return float(text) if "." in text else int(text)
