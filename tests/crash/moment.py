"""A call that is about to fail, and what can be done to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import ReadTimeoutError

from crash.stack import ProcessKilled

if TYPE_CHECKING:
    from collections.abc import Callable

    from crash.double.wire import Call, Reply
    from crash.faults import Gate
    from crash.stack import Frame, Stack


@dataclass(frozen=True, slots=True)
class Moment:
    """A call that is about to fail."""

    gate: Gate
    stack: Stack
    frame: Frame
    call: Call
    carry_out: Callable[[], Reply]

    def kill(self) -> ProcessKilled:
        """Return the death of the process: it makes no other call."""
        self.frame.dead = True
        return ProcessKilled()

    def no_answer(self) -> ReadTimeoutError:
        """Return what botocore sees when an answer is lost."""
        return ReadTimeoutError(endpoint_url=self.call.service)

    def meanwhile(self, act: Callable[[], None]) -> Reply:
        """Let something else happen first, once, and not inside another such thing."""
        if self.call.attempt == 1 and len(self.stack.frames) == 1:
            act()
        return self.carry_out()
