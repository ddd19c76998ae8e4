"""A client of workflow events: reads bodies as browsers do and keeps the state that it shows.

It knows what human-input §14 and §15 promise and nothing of ours: forms are keyed by ``form_id``,
nodes by their execution id, and what came last counts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.functions import Functions

Json = dict[str, Any]

_CLOSED = {"human_input_form_filled": "filled", "human_input_form_timeout": "timeout"}


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One event that a browser would dispatch."""

    event: str
    wire: Json
    id: str
    """Empty: the frame brought none."""

    @property
    def data(self) -> Json:
        """What the event says."""
        data: Json = self.wire["data"]
        return data


def read_frames(body: str) -> Iterator[Frame]:
    """Yield the events of a body; what is cut off at its end is no event (HTML standard, 9.2.6)."""
    for block in body.split("\n\n")[:-1]:
        fields = dict(line.split(": ", 1) for line in block.splitlines())
        if "data" in fields:
            wire = json.loads(fields["data"])
            assert fields["event"] == wire["event"]
            yield Frame(event=fields["event"], wire=wire, id=fields.get("id", ""))


@dataclass(kw_only=True)
class State:
    """What a client shows."""

    status: str = ""
    outputs: Json = field(default_factory=dict)
    error: str | None = None
    answer: str = ""
    nodes: dict[str, Json] = field(default_factory=dict)
    forms: dict[str, Json] = field(default_factory=dict)
    task_ids: set[str] = field(default_factory=set)

    def take(self, frame: Frame) -> None:
        """Show an event."""
        self.task_ids.add(frame.wire["task_id"])
        match frame.event:
            case "workflow_started":
                self.status = "running"
            case "workflow_paused":
                self.status = "paused"
            case "node_started" | "node_finished":
                self.nodes[frame.data["id"]] = {
                    "node": frame.data["node_id"],
                    "title": frame.data["title"],
                    "status": frame.data.get("status", "running"),
                }
            case "human_input_required":
                self.forms[frame.data["form_id"]] = {"is": "waiting", **frame.data}
            case "human_input_form_filled" | "human_input_form_timeout":
                self.forms[frame.data["form_id"]] = {"is": _CLOSED[frame.event], **frame.data}
            case "message_replace":
                self.answer = frame.wire["answer"]
            case "workflow_finished":
                self.status = frame.data["status"]
                self.outputs, self.error = frame.data["outputs"], frame.data["error"]


@dataclass(kw_only=True)
class WorkflowClient:
    """One reader of one run."""

    functions: Functions
    run_id: str
    key: str
    path: str = "/v1/workflow/{run_id}/events"
    query: dict[str, str] = field(default_factory=dict)
    state: State = field(default_factory=State)
    frames: list[Frame] = field(default_factory=list)
    last_id: str = ""

    def body(self) -> str:
        """Connect, as a browser does that comes back, and return the whole body."""
        headers = {"Last-Event-ID": self.last_id} if self.last_id else {}
        path = self.path.format(run_id=self.run_id)
        answer = self.functions.call(
            "GET", path, key=self.key, headers=headers, query={"user": "u", **self.query}
        )
        assert answer.status == 200, answer.body
        return answer.body

    def connect(self, chars: int | None = None) -> list[str]:
        """Read a body, or its first characters when the connection breaks, and show its events."""
        seen = list(read_frames(self.body()[:chars]))
        for frame in seen:
            self.state.take(frame)
            self.last_id = frame.id or self.last_id
        self.frames += seen
        return [frame.event for frame in seen]

    def reload(self) -> None:
        """Forget everything, as a page does that is loaded again."""
        self.state, self.last_id = State(), ""

    def of(self, event: str) -> list[Json]:
        """Return the data of all events of a type that were seen."""
        return [frame.data for frame in self.frames if frame.event == event]
