"""What an operation is to the journal, and how its body is carried out.

Knows nothing of the agent library, like ``journal``.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from sayso.domain.run import EventDraft
    from sayso.domain.segment import OperationKind

live_events: ContextVar[list[EventDraft] | None] = ContextVar("live_events", default=None)
"""Where the events of the running operation are collected; None outside of operations."""


class GivenUpError(Exception):
    """An operation has a failed outcome; the text is what the model is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An operation as the agent library asks for it."""

    kind: OperationKind
    name: str
    digest: str
    tool_call_id: str = "-"
    max_starts: int = 0
    """How often the body may be started without a result; 0: starts are not counted."""
    limit_seconds: float | None = None
    """How long the body may take; None: as long as the worker lives."""


async def carry_out(
    body: Callable[[], Awaitable[Any]], events: list[EventDraft], *, limit_seconds: float | None
) -> dict[str, Any]:
    """Return the outcome of a body, as it is recorded.

    A body that takes too long is stopped at its next ``await``, and has failed: it would hold up
    the worker until that dies, and every worker after it.

    Args:
        body: Returns a JSON value. Its exceptions pass, except ``GivenUpError``.
        events: Takes the events that the body shows.
        limit_seconds: How long it may take; None: for ever.
    """
    token = live_events.set(events)
    limit = asyncio.timeout(limit_seconds)
    try:
        async with limit:
            return {"value": await body()}
    except GivenUpError as error:
        return {"failed": str(error)}
    except TimeoutError:
        if not limit.expired():  # it is an error of the body
            raise
        return {"failed": _too_long(limit_seconds)}
    finally:
        live_events.reset(token)


def _too_long(limit_seconds: float | None) -> str:
    return (
        f"The call did not end within {limit_seconds:g} seconds and was stopped; whether it took"
        " effect is unknown."
    )
