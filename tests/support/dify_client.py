"""A model of the run API's own client, as dify-agent §5 describes it: strict, and quick to give up.

It speaks through ``Transport``, so that the same client drives the handlers in memory and the local
stack.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from support.dify_models import (
    CancelRunResponse,
    CreateRunResponse,
    Revision,
    RunEvent,
    RunEventsResponse,
    RunStatusResponse,
    RunStatusResponseR2,
    read_event,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

TERMINAL = frozenset({"run_succeeded", "run_failed", "run_cancelled"})
ENDED = frozenset({"succeeded", "failed", "cancelled"})
R2_CONNECTIONS = 4
"""One and three reconnects, for the whole call, never reset by progress (§5.2)."""


class HttpAnswer(Protocol):
    """What came back."""

    @property
    def status(self) -> int:
        """Status code."""

    @property
    def headers(self) -> Mapping[str, str]:
        """By lower-case name."""

    @property
    def body(self) -> str:
        """Content, decompressed."""


class Transport(Protocol):
    """Sends one request; redirects are not followed."""

    def __call__(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        body: str | None,
        query: Mapping[str, str],
    ) -> HttpAnswer:
        """Send and wait for the whole answer."""


class ClientError(Exception):
    """The client gives up; ``status`` is that of the answer."""

    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(f"HTTP {status}: {detail}")
        self.status = status
        self.detail = detail


class StreamBrokenError(Exception):
    """The stream is not one, or the reconnects are used up."""


@dataclass(kw_only=True)
class DifyClient:
    """The client of one revision."""

    transport: Transport
    revision: Revision = "r2"
    headers: Mapping[str, str] = field(default_factory=dict)
    """The caller's headers go along with every request, the API key among them."""
    wait: Callable[[float], None] = lambda _: None
    """Lets time pass between polls and reconnects."""
    connections: int = 0
    """How many streams were opened so far."""

    def create_run(self, request: Mapping[str, Any]) -> CreateRunResponse:
        """Start a run; never retried."""
        return CreateRunResponse.model_validate_json(
            self._checked("POST", "/runs", body=json.dumps(request))
        )

    def get_run(self, run_id: str) -> RunStatusResponse:
        """Return the status of a run."""
        model = RunStatusResponse if self.revision == "r1" else RunStatusResponseR2
        return model.model_validate_json(self._checked("GET", f"/runs/{_id(run_id)}"))

    def get_events(self, run_id: str, after: str = "0-0", limit: int = 100) -> RunEventsResponse:
        """Return one page; each of its events is one that this revision reads."""
        query = {"after": after, "limit": str(limit)}
        text = self._checked("GET", f"/runs/{_id(run_id)}/events", query=query)
        page = RunEventsResponse.model_validate_json(text)
        for event in page.events:
            read_event(event, self.revision)
        return page

    def all_events(self, run_id: str, limit: int = 100) -> list[dict[str, Any]]:
        """Page until a page is empty."""
        found: list[dict[str, Any]] = []
        page = self.get_events(run_id, limit=limit)
        while page.events:
            found += page.events
            assert page.next_cursor is not None
            page = self.get_events(run_id, page.next_cursor, limit)
        return found

    def wait_run(self, run_id: str, polls: int = 100) -> RunStatusResponse:
        """Poll until the run has ended; any error ends the wait."""
        for _ in range(polls):
            run = self.get_run(run_id)
            if run.status in ENDED:
                return run
            self.wait(1.0)
        raise TimeoutError(run_id)

    def cancel_run(self, run_id: str, reason: str | None = None) -> CancelRunResponse:
        """Ask for the end of a run."""
        body = json.dumps({"reason": reason, "message": None})
        text = self._checked("POST", f"/runs/{_id(run_id)}/cancel", body=body)
        return CancelRunResponse.model_validate_json(text)

    def cancel_and_wait(self, run_id: str, after: str | None = None) -> RunEvent:
        """Cancel, then stream until ``run_cancelled``; another end is an error (§5.2)."""
        self.cancel_run(run_id)
        if after is not None and self.get_run(run_id).status == "cancelled":
            after = None
        *_, last = self.stream_events(run_id, after)
        if last.type != "run_cancelled":
            message = f"the run ended with {last.type}"
            raise StreamBrokenError(message)
        return last

    def stream_events(self, run_id: str, after: str | None = None) -> Iterator[RunEvent]:
        """Yield events up to the terminal one, reconnecting as the revision does."""
        cursor = after or "0-0"
        opened = 0
        while self.revision == "r1" or opened < R2_CONNECTIONS:
            opened += 1
            self.connections += 1
            answer = self._send("GET", f"/runs/{_id(run_id)}/events/sse", query={"after": cursor})
            if 400 <= answer.status < 500:
                raise ClientError(answer.status, _detail(answer.body))
            if answer.status < 400:
                for frame in parse_frames(answer.body, self.revision):
                    event = self._event(frame)
                    cursor = event.id or cursor
                    yield event
                    if event.type in TERMINAL:
                        return
            self.wait(1.0)
        message = "SSE stream reconnect attempts exhausted"
        raise StreamBrokenError(message)

    def _event(self, frame: Mapping[str, str]) -> RunEvent:
        payload = json.loads(frame["data"])
        payload.setdefault("id", frame.get("id"))
        event = read_event(payload, self.revision)
        if frame.get("event", event.type) != event.type:
            message = f"the frame is {frame['event']!r}, its payload {event.type!r}"
            raise StreamBrokenError(message)
        return event

    def _send(
        self, method: str, path: str, body: str | None = None, query: Mapping[str, str] = {}
    ) -> HttpAnswer:
        headers = {"accept": "*/*", "accept-encoding": "gzip, deflate", **self.headers}
        if body is not None:
            headers["content-type"] = "application/json"
        return self.transport(method, path, headers=headers, body=body, query=query)

    def _checked(
        self, method: str, path: str, body: str | None = None, query: Mapping[str, str] = {}
    ) -> str:
        answer = self._send(method, path, body, query)
        if answer.status >= 400:
            raise ClientError(answer.status, _detail(answer.body))
        return answer.body


def parse_frames(text: str, revision: Revision) -> list[dict[str, str]]:
    """Return the frames of a body: only a blank line ends one, so an open last frame is lost.

    Clients of revision 1 also split at what Python takes for line ends (§5.2).
    """
    lines = text.splitlines() if revision == "r1" else re.split(r"\r\n|\n|\r", text)
    frames: list[dict[str, str]] = []
    fields: dict[str, str] = {}
    for line in lines:
        if line == "":
            if "data" in fields:
                frames.append(fields)
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            fields[name] = f"{fields['data']}\n{value}" if name == "data" in fields else value
    return frames


def _id(run_id: str) -> str:
    return quote(run_id, safe="")


def _detail(body: str) -> Any:
    """Return what the client shows of an error: ``detail``, else the whole (§2)."""
    try:
        value = json.loads(body)
    except ValueError:
        return body
    return value.get("detail", value) if isinstance(value, dict) else value
