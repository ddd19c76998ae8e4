"""Frames of the workflow view: their order, their ids, their text (human-input §14).

One stored event becomes none, one or several frames; ``<number>-<part>`` is the id of each, so
that a reader whose connection broke in between goes on with the next one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sayso.http.cursors import START
from sayso.http.invalid import InvalidRequestError, entry_of
from sayso.http.sse import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PING: Final = "event: ping\n\n"
"""An event without data, which no client dispatches (HTML standard, 9.2.6)."""

_CURSOR: Final = re.compile(r"([0-9]{1,20})(?:-([0-9]{1,20}))?")


class Kind(StrEnum):
    """What a frame says, whatever its event is called."""

    STARTED = "started"
    REPLACED = "replaced"
    NODE_STARTED = "node_started"
    NODE_ASKED = "node_asked"
    NODE_CLOSED = "node_closed"
    NODE_FINISHED = "node_finished"
    PAUSED = "paused"
    ANSWERED = "answered"
    FINISHED = "finished"


class Cursor(NamedTuple):
    """The place of a frame in the stream of its run."""

    number: int
    """Of the stored event."""
    part: int
    """Which of its frames, from 0."""


BEFORE_ALL: Final = Cursor(0, 0)


class Said(NamedTuple):
    """An event as it is sent, without its envelope."""

    event: str
    members: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One frame; it is built when it is sent, from what is true then."""

    kind: Kind
    cursor: Cursor
    build: Callable[[], Said | None]
    """None: what it is about is gone."""
    node: str = ""
    """Execution id of the node that it is about."""


def read_frame_cursor(text: str | None) -> Cursor | None:
    """Return the place behind which a reader goes on, None when it names none.

    Raises:
        InvalidRequestError: It is no cursor.
    """
    if not text:
        return None
    match = _CURSOR.fullmatch(text)
    if match is None:
        message = f"must be a cursor such as {START!r}"
        loc = ("header", "last-event-id")
        raise InvalidRequestError([entry_of("string_pattern_mismatch", loc, message, text)])
    return Cursor(int(match[1]), int(match[2] or 0))


def frame_text(event: str, wire: dict[str, Any], cursor: Cursor | None) -> str:
    """Return the text of a frame; without a cursor the reader's place stays where it was."""
    place = f"id: {cursor.number}-{cursor.part}\n" if cursor else ""
    return f"event: {event}\ndata: {one_line(wire)}\n{place}\n"


def snapshot_of(frames: list[Frame], answer: Frame | None) -> list[Frame]:
    """Return the fewest frames that tell where a run stands (human-input §15).

    They are those of the stream itself, in the contract's order: a start that is always the
    initial one, the answer so far, each node once, and a pause or an end that still stands.

    Args:
        frames: All frames so far.
        answer: The frame of a chat's answer so far; None: there is none.
    """
    nodes: dict[str, dict[Kind, Frame]] = {}
    for frame in frames:
        if frame.node:
            of_node = nodes.setdefault(frame.node, {})
            of_node.setdefault(frame.kind, frame)
    start = [frame for frame in frames if frame.kind is Kind.STARTED][:1]
    closed = [
        of_node[kind]
        for of_node in nodes.values()
        for kind in (Kind.NODE_STARTED, Kind.NODE_CLOSED, Kind.NODE_FINISHED)
        if kind in of_node
    ]
    asked = [
        of_node[Kind.NODE_ASKED]
        for of_node in nodes.values()
        if Kind.NODE_ASKED in of_node and Kind.NODE_CLOSED not in of_node
    ]
    is_paused = frames[-1].kind is Kind.PAUSED
    standing = [*asked, frames[-1]] if is_paused else []
    ends = [frame for frame in frames if frame.kind in (Kind.ANSWERED, Kind.FINISHED)]
    return [*start, *([answer] if answer else []), *closed, *standing, *ends]
