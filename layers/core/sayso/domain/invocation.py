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
MAX_ID_CHARS: Final = 255
"""Of ids that callers bring and readers of events are shown again."""

_CONTEXT_TYPE: Final = "dify.execution_context"
_CHAT_MODE: Final = "agent_app"


def invoke_from_of(request: Mapping[str, Any]) -> str:
    """Return ``invoke_from`` of a create request, empty when it says nothing readable.

    A config may be a JSON text (dify-agent §6). What is wrong with it is for the run to say.
    """
    found = _context(request).get("invoke_from")
    return found[:MAX_CHARS] if isinstance(found, str) else ""


def acting_user_of(request: Mapping[str, Any]) -> str:
    """Return ``user_id`` of a create request, empty when it says nothing readable."""
    found = _context(request).get("user_id")
    return found[:MAX_CHARS] if isinstance(found, str) else ""


def conversation_of(request: Mapping[str, Any]) -> str:
    """Return the conversation of a run that is a chat's, empty for any other (DESIGN §7.1)."""
    context = _context(request)
    found = context.get("conversation_id")
    is_chat = context.get("agent_mode") == _CHAT_MODE and isinstance(found, str)
    return str(found)[:MAX_ID_CHARS] if is_chat else ""


def task_of(request: Mapping[str, Any]) -> str:
    """Return the task id that the request's metadata names, empty when it names none."""
    found = (request.get("metadata") or {}).get("task_id")
    return found[:MAX_ID_CHARS] if isinstance(found, str) else ""


def _context(request: Mapping[str, Any]) -> Mapping[str, Any]:
    layers = request["composition"]["layers"]
    found = (layer.get("config") for layer in layers if layer.get("type") == _CONTEXT_TYPE)
    return _config(next(found, None))


def _config(config: Any) -> Mapping[str, Any]:
    if isinstance(config, str):
        try:
            config = json.loads(config)
        except ValueError:
            return {}
    return config if isinstance(config, dict) else {}
