"""What every use case is given: stores, the queue, time, ids, and where to report events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sayso.domain.errors import RetryableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sayso.ports import Clock, IdSource, WorkQueue
    from sayso.store.stores import Stores


class Report(Protocol):
    """Takes one event for operators: a name and facts from the allow-list of observability."""

    def __call__(self, event: str, **facts: object) -> None:
        """Report the event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The part of the world that all use cases share."""

    stores: Stores
    queue: WorkQueue
    clock: Clock
    ids: IdSource
    report: Report


def tell(context: Context, message: Callable[[], None], **facts: object) -> bool:
    """Send a message about something that is committed, and say whether it went out.

    A failure is not the caller's: the record says what is untold, and the sweep tells again.
    """
    try:
        message()
    except RetryableError as error:
        context.report("untold", error=type(error).__name__, **facts)
        return False
    return True
