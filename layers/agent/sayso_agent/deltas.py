"""Keeps the number of stored events small: joins deltas, and bounds what one write holds.

Works on the portable form of events alone, without the agent library. An operation and its events
are written in one transaction, and DynamoDB takes at most 100 items in one; so an operation that
shows more is shown with less detail, which the contract allows (dify-agent §14.2: leaving an event
out is always legal).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sayso.domain.run import EventDraft

MAX_DELTA_CHARS: Final = 4096
"""Deltas of one part are joined up to this length (§14), unless there would be too many."""

_JOINED_MEMBERS: Final = {
    "text": "content_delta",
    "thinking": "content_delta",
    "tool_call": "args_delta",
}
_DELTA: Final = "part_delta"
_LEAST_FIRST: Final = ((_DELTA,), ("part_start", "part_end"))
"""Kinds in the order in which they are left out: a part's end holds all that its deltas said, and
the events of a tool call hold the whole call."""


def append_joined(
    drafts: list[EventDraft], draft: EventDraft, max_chars: int = MAX_DELTA_CHARS
) -> None:
    """Append an event, or join it to the last one when both are deltas of one part.

    A model sends a delta a word; stored like that, an answer takes ten times its length.
    """
    if drafts and (both := _joined(drafts[-1].data, draft.data, max_chars)):
        drafts[-1] = replace(drafts[-1], data=both)
    else:
        drafts.append(draft)


def fitted(drafts: Sequence[EventDraft], limit: int) -> list[EventDraft]:
    """Return at most ``limit`` events in their order: all of them, or the same with less detail.

    Deltas are joined more and more; where that is not enough, events are left out, the last of
    the least telling kind first.
    """
    fit = list(drafts)
    if len(fit) <= limit:
        return fit
    max_chars, longest = MAX_DELTA_CHARS, _length(drafts)
    while len(fit) > limit:
        fit = _rejoined(fit, max_chars)
        if max_chars >= longest:
            break
        max_chars *= 2
    for kinds in _LEAST_FIRST:
        fit = _without(fit, kinds, len(fit) - limit)
    return fit[:limit]


def _rejoined(drafts: Sequence[EventDraft], max_chars: int) -> list[EventDraft]:
    joined: list[EventDraft] = []
    for draft in drafts:
        append_joined(joined, draft, max_chars)
    return joined


def _without(drafts: Sequence[EventDraft], kinds: Sequence[str], number: int) -> list[EventDraft]:
    """Leave out that many of these kinds, the last ones, as far as there are so many."""
    found = [at for at, draft in enumerate(drafts) if draft.data["event_kind"] in kinds]
    gone = set(found[max(len(found) - max(number, 0), 0) :])
    return [draft for at, draft in enumerate(drafts) if at not in gone]


def _length(drafts: Sequence[EventDraft]) -> int:
    """Return a number of characters that no joined delta can exceed."""
    return sum(
        len(part)
        for draft in drafts
        for part in draft.data.get("delta", {}).values()
        if isinstance(part, str)
    )


def _joined(first: dict[str, Any], second: dict[str, Any], max_chars: int) -> dict[str, Any] | None:
    """Return two deltas as one, None when they may not be joined."""
    if first["event_kind"] != _DELTA or second["event_kind"] != _DELTA:
        return None
    one, other = first["delta"], second["delta"]
    member = _JOINED_MEMBERS[one["part_delta_kind"]]
    rest = {key: value for key, value in one.items() if key != member}
    if first["index"] != second["index"] or rest != {k: v for k, v in other.items() if k != member}:
        return None
    start, end = one[member], other[member]
    if not isinstance(start, str) or not isinstance(end, str):
        return None
    if len(start) + len(end) > max_chars:
        return None
    return {**first, "delta": {**rest, member: start + end}}
