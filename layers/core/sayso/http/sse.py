"""Server-sent events of a run, as one complete body (dify-agent §4, DESIGN §7).

The gateway does not stream. So a reader of a running run is held until the run ends or pauses, or
25 s are over, and then gets everything behind its cursor at once: clients of the second revision
open four connections in all and give up after 30 s of silence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sayso.domain.transitions import RunStatus
from sayso.http.event_log import READ_AT_ONCE
from sayso.http.projections import PAUSED, TERMINAL
from sayso.http.response import MAX_RESPONSE_BYTES, size_of, to_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from sayso.domain.run import RunEvent
    from sayso.http.event_log import EventReader

HOLD_SECONDS: Final = 25.0
RESERVE_SECONDS: Final = 3.0
"""What is kept of the function's time for building and sending the body."""
QUERY_SECONDS: Final = 1.0
PAUSED_RETRY_MS: Final = 15_000
"""People take their time: how long a reader of a paused run should wait (HTML standard, 9.2)."""

STREAM_HEADERS: Final = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
}
KEEPALIVE: Final = ": keepalive\n\n"
_LINE_ENDS: Final = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})
"""Python's own line splitters take these for line ends, and so do clients of revision 1 (§4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How a reader is held."""

    remaining_seconds: Callable[[], float]
    """Time until the platform stops this function."""
    sleep: Callable[[float], None]


def frame_of(event: dict[str, Any]) -> str:
    """Return one event as a frame: id, type, data on one line, blank line (§4)."""
    return f"id: {event['id']}\nevent: {event['type']}\ndata: {one_line(event)}\n\n"


def one_line(event: dict[str, Any]) -> str:
    """Return an event as JSON that every client reads as one line."""
    return to_json(event).translate(_LINE_ENDS)


def event_stream(reader: EventReader, after: int, patience: Patience) -> str:
    """Return the body: what follows the cursor, once there is nothing more to wait for.

    Ends behind the terminal event. A cursor that already excludes it is held open like upstream
    holds it: closing at once would make clients come back at once (§4).
    """
    frames = _Frames(reader)
    frames.take_from(after)
    waited = 0.0
    while not frames.is_complete and may_wait(waited, patience):
        patience.sleep(QUERY_SECONDS)
        waited += QUERY_SECONDS
        if not reader.run.status.is_final:
            frames.take_from(frames.last or after)
    return frames.body()


def may_wait(waited: float, patience: Patience) -> bool:
    """Tell whether a reader that was held so long may be held for another query."""
    left = patience.remaining_seconds() - RESERVE_SECONDS
    return waited < HOLD_SECONDS and left > QUERY_SECONDS


class _Frames:
    """The frames that were read so far."""

    def __init__(self, reader: EventReader) -> None:
        self.last = 0
        """Number of the last event that was read."""
        self._reader = reader
        self._frames: list[str] = []
        self._size = 0
        self._full = False
        self._ended = False
        self._paused = reader.run.status is RunStatus.PAUSED

    @property
    def is_complete(self) -> bool:
        """Whether nothing is to be waited for."""
        return self._full or self._ended or self._paused

    def take_from(self, after: int) -> None:
        """Read on behind a number, up to the terminal event or the size of a response."""
        while not (self._full or self._ended):
            events = self._reader.every(after, READ_AT_ONCE)
            for event in events:
                self._take(event)
            if len(events) < READ_AT_ONCE:
                return
            after = self.last

    def _take(self, event: RunEvent) -> None:
        if self._full or self._ended:
            return
        if self._reader.shows(event):
            frame = frame_of(self._reader.wire(event))
            self._size += size_of(frame)
            if self._frames and self._size > MAX_RESPONSE_BYTES:
                self._full = True
                return
            self._frames.append(frame)
        self.last = event.number
        self._ended = event.type in TERMINAL
        self._paused = event.type == PAUSED

    def body(self) -> str:
        """Return all frames; a comment when there are none, so that no answer is silent."""
        retry = f"retry: {PAUSED_RETRY_MS}\n\n" if self._paused and not self._ended else ""
        return retry + ("".join(self._frames) or KEEPALIVE)
