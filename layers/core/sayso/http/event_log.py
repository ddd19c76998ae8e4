"""Reads a run's events for one reader, as wire events, up to a size that one response holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sayso.domain.ids import FormId
from sayso.domain.run import Audience
from sayso.http.projections import wire_event, wire_instant
from sayso.http.response import MAX_RESPONSE_BYTES, size_of, to_json
from sayso.usecases.read_run import read_events
from sayso.usecases.show_question import show_question

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sayso.domain.run import Run, RunEvent
    from sayso.http.projections import Profile
    from sayso.ports import Links
    from sayso.usecases.context import Context

READ_AT_ONCE: Final = 50
"""Events of one query: a page is cut by size long before, and memory is small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventReader:
    """The events of one run for one reader."""

    run: Run
    profile: Profile
    context: Context
    links: Links

    def every(self, after: int, limit: int) -> list[RunEvent]:
        """Return stored events behind a number, also those that this reader does not see."""
        return self._read(after, limit, frozenset(Audience))

    def shows(self, event: RunEvent) -> bool:
        """Tell whether this reader sees an event."""
        return event.audience in self.profile.audiences

    def _read(self, after: int, limit: int, audiences: frozenset[Audience]) -> list[RunEvent]:
        return read_events(
            self.run, after=after, limit=limit, audiences=audiences, context=self.context
        )

    def wire(self, event: RunEvent) -> dict[str, Any]:
        """Return an event as this reader sees it."""
        return wire_event(event, self.run, self.profile, self._question)

    def page(self, after: int, limit: int) -> list[dict[str, Any]]:
        """Return wire events behind a number: at most ``limit`` and 4 MB, but at least one."""
        page: list[dict[str, Any]] = []
        size = 0
        for event in self._each(after, limit):
            wire = self.wire(event)
            size += size_of(to_json(wire))
            if page and size > MAX_RESPONSE_BYTES:
                break
            page.append(wire)
        return page

    def _each(self, after: int, limit: int) -> Iterator[RunEvent]:
        while limit > 0:
            wanted = min(limit, READ_AT_ONCE)
            events = self._read(after, wanted, self.profile.audiences)
            yield from events
            if len(events) < wanted:
                return
            limit -= wanted
            after = events[-1].number

    def _question(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        found = show_question(FormId(data["form_id"]), self.context, self.links)
        if found is None:
            return data
        return {
            **data,
            "question": found.question,
            "deadline": wire_instant(found.deadline),
            "form_token": found.token,
            "form_url": found.url,
            "approval_channels": list(found.approval_channels),
        }
