"""Lets calls of the in-memory ports fail, before or after their effect.

Every in-memory port calls its ``faults`` hook twice around each operation. A failure *before*
means that nothing happened; *after* means that it happened and the answer was lost. Together they
are all that a crash or a broken connection can do to a caller.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

Moment = Literal["before", "after"]


class FaultHook(Protocol):
    """Is called around each operation; what it raises reaches the caller of the port."""

    def __call__(self, moment: Moment, operation: str) -> None:
        """Raise to let the call fail at this moment."""


def no_faults(moment: Moment, operation: str) -> None:
    """Let every call go through."""


@dataclass(frozen=True, slots=True)
class _Planned:
    error: BaseException
    moment: Moment
    operation: str | None


class Faults:
    """A hook that counts calls and fails those that a test names.

    One hook may serve several ports: its numbers then run over all their calls, in order.
    """

    def __init__(self) -> None:
        """Start with nothing planned."""
        self.calls: list[str] = []
        """Operations called so far, in order."""
        self._next: list[_Planned] = []
        self._numbered: dict[int, _Planned] = {}
        self._lock = Lock()

    def fail_next(
        self, error: BaseException, *, moment: Moment = "before", operation: str | None = None
    ) -> None:
        """Let the next call (of that operation) fail; several plans queue up.

        Args:
            error: What the caller gets. A ``BaseException`` stands for the death of the process.
            moment: Before the effect, or after it.
            operation: Name of the method, such as ``write``; None: any.
        """
        self._next.append(_Planned(error, moment, operation))

    def fail_at(self, number: int, error: BaseException, *, moment: Moment = "before") -> None:
        """Let the call of that number fail, counted from 1 over all calls since the start."""
        self._numbered[number] = _Planned(error, moment, None)

    def __call__(self, moment: Moment, operation: str) -> None:
        """Count the call and raise what is planned for it."""
        with self._lock:
            if moment == "before":
                self.calls.append(operation)
            planned = self._take(moment, operation)
        if planned:
            raise planned.error

    def _take(self, moment: Moment, operation: str) -> _Planned | None:
        numbered = self._numbered.get(len(self.calls))
        if numbered and numbered.moment == moment:
            return self._numbered.pop(len(self.calls))
        for planned in self._next:
            if planned.moment == moment and planned.operation in (None, operation):
                self._next.remove(planned)
                return planned
        return None


@contextmanager
def around(faults: FaultHook, operation: str) -> Iterator[None]:
    """Call the hook before and, when the body went through, after it."""
    faults("before", operation)
    yield
    faults("after", operation)
