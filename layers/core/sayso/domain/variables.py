"""What placeholders and selectors of a managed run see (DESIGN §7.1).

The request's own variables, and two names that are ours: ``run`` (``id``, ``title``) and ``ask``,
what the model asks. Everything is known when the form is made and resolved then, once.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

RESERVED: Final = frozenset({"run", "ask"})
_ASKED: Final = ("title", "question", "markdown", "urgency")
NOTHING_ASKED: Final[Mapping[str, Any]] = MappingProxyType(dict.fromkeys(_ASKED, ""))
"""Stands for the model's words where a form is looked at before it asks."""


def visible_variables(
    own: Mapping[str, Any], *, run_id: str, title: str, asked: Mapping[str, Any]
) -> dict[str, Any]:
    """Return all variables of one question.

    Args:
        own: ``human_input.variables``.
        run_id: The run.
        title: What the run is called towards people.
        asked: Normalised ``AskHumanToolArgs``; its fields and actions are no variables.
    """
    ask = {name: asked.get(name) or "" for name in _ASKED}
    return {**own, "run": {"id": run_id, "title": title}, "ask": ask}


def nested(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return variables by node; a name such as ``order.id`` or ``#order.id#`` is a path."""
    variables: dict[str, Any] = {}
    for name, value in given.items():
        holder = variables
        *outer, last = name.strip("#").split(".")
        for part in outer:
            inner = holder.get(part)
            holder[part] = inner = dict(inner) if isinstance(inner, dict) else {}
            holder = inner
        holder[last] = value
    return variables
