"""Placeholders in form content and mail texts (human-input §3.4).

Two kinds: ``{{#node.part#}}`` stands for a run variable and is replaced once, when the form is
made; ``{{#$output.name#}}`` marks the place of a field and stays until the answer is in. Whatever a
value brings along is text: it can be neither a variable nor a field afterwards. Anything that does
not fit the grammar is ordinary text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_PART: Final = r"[A-Za-z_][A-Za-z0-9_]{0,29}"
VARIABLE_PATTERN: Final = re.compile(rf"\{{\{{#([A-Za-z0-9_]{{1,50}}(?:\.{_PART}){{1,10}})#\}}\}}")
FIELD_PATTERN: Final = re.compile(rf"\{{\{{#\$output\.({_PART})#\}}\}}")

MAX_VALUE_CHARS: Final = 20_000
"""Longest text of one variable in a mail."""

_NO_KINDS: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Text:
    """A stretch of content between two fields."""

    text: str


@dataclass(frozen=True, slots=True)
class FieldPlaceholder:
    """The place of a field."""

    name: str


ContentPart = Text | FieldPlaceholder


def split_content(text: str) -> tuple[ContentPart, ...]:
    """Split content at its field placeholders, keeping the order. Empty stretches are left out."""
    return tuple(_parts(text))


def _parts(text: str) -> Iterator[ContentPart]:
    end = 0
    for match in FIELD_PATTERN.finditer(text):
        if match.start() > end:
            yield Text(text[end : match.start()])
        yield FieldPlaceholder(match[1])
        end = match.end()
    if end < len(text):
        yield Text(text[end:])


def substitute_variables(text: str, variables: Mapping[str, object]) -> tuple[str, list[str]]:
    """Replace every run variable by its value, in one pass.

    A value's own ``{{#`` is spread to ``{{ #``, so that it is neither expanded nor taken for a
    field later.

    Args:
        text: Content or mail text.
        variables: Nested JSON; a placeholder's first part names the node, the rest a path in it.

    Returns:
        The text, and the unknown variables in order, each once. These are replaced by nothing; the
        reference leaves their bare names standing.
    """
    missing: dict[str, None] = {}

    def replace(match: re.Match[str]) -> str:
        found, value = look_up(match[1], variables)
        if not found:
            missing[match[1]] = None
        return value.replace("{{#", "{{ #")

    return VARIABLE_PATTERN.sub(replace, text), list(missing)


def look_up(path: str, variables: Mapping[str, object]) -> tuple[bool, str]:
    """Return whether a dotted path leads to a value, and the value as text."""
    found, value = find(path, variables)
    return found, as_text(value)


def find(path: str, variables: Mapping[str, object]) -> tuple[bool, object]:
    """Return whether a dotted path leads to a value, and the value, None where there is none."""
    value: object = variables
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return False, None
        value = value[part]
    return True, value


def fill_fields(
    text: str, values: Mapping[str, object], *, kinds: Mapping[str, str] = _NO_KINDS
) -> str:
    """Replace every field placeholder by what was answered, in one pass.

    Args:
        text: Content whose variables are already substituted.
        values: Field name → accepted value.
        kinds: Field name → kind, needed for ``file`` and ``file-list`` only: files are named by
            their number, never by their content.

    Returns:
        The text. A field without a value becomes nothing.
    """

    def replace(match: re.Match[str]) -> str:
        value = values.get(match[1])
        kind = kinds.get(match[1])
        if value is None:
            return ""
        if kind == "file":
            return "[file]"
        if kind == "file-list" and isinstance(value, Sequence):
            return f"[{len(value)} files]"
        return as_text(value)

    return FIELD_PATTERN.sub(replace, text)


def mentioned(variables: Mapping[str, object], *texts: str) -> dict[str, Any]:
    """Return only those variables that texts ask for, nested as they were, as inert text.

    What is stored beside a form is then bounded by the texts, not by the request.
    """
    kept: dict[str, Any] = {}
    for path in dict.fromkeys(path for text in texts for path in VARIABLE_PATTERN.findall(text)):
        found, value = look_up(path, variables)
        if not found:
            continue
        holder = kept
        *outer, last = path.split(".")
        for part in outer:
            inner = holder.setdefault(part, {})
            if not isinstance(inner, dict):  # a part that is asked for as a whole, too
                break
            holder = inner
        else:
            holder[last] = value[:MAX_VALUE_CHARS]
    return kept


def as_text(value: object) -> str:
    """Return a JSON value as people read it: text as it is, null as nothing, the rest as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
