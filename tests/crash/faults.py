"""Lets calls fail as planned, at the one place where all of them pass, and notes what was called."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crash.kinds import KINDS, is_write, server_error
from crash.moment import Moment
from crash.stack import ProcessKilled

if TYPE_CHECKING:
    from collections.abc import Callable

    from crash.double.wire import Call, Reply
    from crash.stack import Frame, Stack


@dataclass
class Gate:
    """Lets the planned calls fail as planned, and all others through."""

    plan: dict[int, str] = field(default_factory=dict)
    """Number of a call → kind of the fault."""
    struck: list[str] = field(default_factory=list)
    """What really happened, in order."""
    rival: Callable[[], None] = lambda: None
    """What a scenario lets happen in the middle of a call."""
    stack: Stack | None = None
    trace: dict[int, Made] = field(default_factory=dict)
    """What calls were made, by number."""
    enabled: bool = True

    def __call__(self, call: Call, carry_out: Callable[[], Reply]) -> Reply:
        """Return the answer, or raise what the caller sees of the fault."""
        assert self.stack is not None
        frame = self.stack.frames[-1]
        if frame.dead:
            raise ProcessKilled
        if call.service in frame.down:
            return server_error(call)
        name = self.plan.get(call.number, "")
        kind = KINDS.get(name)
        if not self.enabled or kind is None or not kind.applies(call, frame):
            reply = carry_out()
            self._note(call, frame, reply)
            return reply
        self._note(call, frame)
        if call.attempt == 1:
            self.struck.append(f"{name} at {call.number} {frame.function} {call.name}")
        return kind.strike(Moment(self, self.stack, frame, call, carry_out))

    def _note(self, call: Call, frame: Frame, reply: Reply | None = None) -> None:
        if call.number not in self.trace and self.enabled:
            idle = reply is not None and call.reads_an_index and b'"Items": []' in reply.body
            self.trace[call.number] = Made(call=call, frame=frame, idle=idle and frame.looked)
            frame.looked |= idle


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A call that was made, and by whom."""

    call: Call
    frame: Frame
    idle: bool
    """Whether it is one more look at an index that found nothing, like the one before it."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Faults that it can have."""
        return tuple(name for name, kind in KINDS.items() if kind.applies(self.call, self.frame))

    @property
    def decides(self) -> bool:
        """Whether it is a write on the way of a decision: submit, claim or pause."""
        return self.frame.decides and is_write(self.call, self.frame)
