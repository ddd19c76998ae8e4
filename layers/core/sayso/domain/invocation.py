"""What started a run, as its execution context says (dify-agent §7.2): never who may do what.

``invoke_from`` picks the surface on which a run's readers answer and its implicit recipients
(DESIGN decision 3).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

DEBUGGER: Final = "debugger"
TRIED_OUT: Final = frozenset({"debugger", "explore"})
"""Runs of somebody who tries the agent out in the console: they need a console key."""
MAX_CHARS: Final = 64

_CONTEXT_TYPE: Final = "dify.execution_context"


def invoke_from_of(request: Mapping[str, Any]) -> str:
    """Return ``invoke_from`` of a create request, empty when it says nothing readable."""
    return _member("invoke_from", request)


def acting_user_of(request: Mapping[str, Any]) -> str:
    """Return ``user_id`` of a create request, empty when it says nothing readable."""
    return _member("user_id", request)


def _member(name: str, request: Mapping[str, Any]) -> str:
    """Return a text of the execution context.

    A config may be a JSON text (dify-agent §6). What is wrong with it is for the run to say.
    """
    for layer in request["composition"]["layers"]:
        if layer.get("type") == _CONTEXT_TYPE:
            found = _config(layer.get("config")).get(name)
            return found[:MAX_CHARS] if isinstance(found, str) else ""
    return ""


def _config(config: Any) -> Mapping[str, Any]:
    if isinstance(config, str):
        try:
            config = json.loads(config)
        except ValueError:
            return {}
    return config if isinstance(config, dict) else {}
