"""Turns the stored log of a managed run into frames of a workflow (DESIGN §7.1, human-input §14).

The one builder of live, rebuilt and replayed streams: it reads the log from its beginning, and
what a reader knows already is left out afterwards. So no stream can say it differently.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from sayso.domain.ids import FormId
from sayso.http.projections import PAUSED, QUESTION, TERMINAL, message_delta
from sayso.http.workflow_forms import AskedNode
from sayso.http.workflow_frames import BEFORE_ALL, Cursor, Frame, Kind, Said, snapshot_of
from sayso.usecases.segment_marks import SEGMENT_FINISHED, SEGMENT_STARTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from sayso.domain.run import RunEvent
    from sayso.http.workflow_forms import NodeForms
    from sayso.usecases.read_workflow import Workflow

_AGENT: Final = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Agent:
    """The agent's node of one segment."""

    id: str
    started_at: datetime

    def said(self, event: str, **more: Any) -> Callable[[], Said]:
        data = {
            "id": self.id,
            "node_id": _AGENT,
            "node_type": _AGENT,
            "title": "Agent",
            "created_at": _seconds(self.started_at),
            **more,
        }
        return lambda: Said(event, {"data": data})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Totals:
    """What the run has used, as of its last mark."""

    elapsed_ms: int = 0
    total_tokens: int = 0
    total_steps: int = 0

    def updated(self, mark: Mapping[str, Any]) -> _Totals:
        """Return what a mark counts; what its worker did not leave behind stays as it was."""
        tokens, steps = mark["total_tokens"], mark["total_steps"]
        return _Totals(
            elapsed_ms=mark["elapsed_ms"],
            total_tokens=self.total_tokens if tokens is None else tokens,
            total_steps=self.total_steps if steps is None else steps,
        )

    def wire(self) -> dict[str, Any]:
        return {
            "elapsed_time": self.elapsed_ms / 1000,
            "total_tokens": self.total_tokens,
            "total_steps": self.total_steps,
        }


class WorkflowView:
    """The state of a run that is read event by event."""

    def __init__(self, workflow: Workflow, forms: NodeForms) -> None:
        """Take the run, and what knows its forms."""
        self.frames: list[Frame] = []
        """All frames so far, oldest first."""
        self.last = 0
        """Number of the last event that was read."""
        self._workflow = workflow
        self._forms = forms
        self._agent: _Agent | None = None
        self._segment = 1
        self._asked: list[AskedNode] = []
        """Of the pause that stands."""
        self._questions = 0
        self._totals = _Totals()
        self._answer = ""
        self._replaced = ""
        """The answer that readers were told last."""

    @property
    def is_finished(self) -> bool:
        """Whether the last frame is the end."""
        return bool(self.frames) and self.frames[-1].kind is Kind.FINISHED

    @property
    def is_paused(self) -> bool:
        """Whether the last frame is a pause, which then still stands."""
        return bool(self.frames) and self.frames[-1].kind is Kind.PAUSED

    def snapshot(self) -> list[Frame]:
        """Return the fewest frames that tell where the run stands; the last has the log's place."""
        is_told = self._workflow.conversation_id and self._answer
        answer = self._replacement(self._answer) if is_told else None
        *before, last = snapshot_of(self.frames, answer)
        return [*before, replace(last, cursor=self.frames[-1].cursor)]

    def take(self, event: RunEvent) -> None:
        """Add the frames of the next event."""
        for part, frame in enumerate(self._frames_of(event)):
            self.frames.append(replace(frame, cursor=Cursor(event.number, part)))
        self.last = event.number

    def _frames_of(self, event: RunEvent) -> Iterator[Frame]:
        takers = {
            "run_started": self._open,
            "pydantic_ai_event": self._speak,
            SEGMENT_FINISHED: self._finish,
            QUESTION: self._ask,
            PAUSED: self._pause,
            SEGMENT_STARTED: self._resume,
            **dict.fromkeys(TERMINAL, self._end),
        }
        return takers[event.type](event)

    def _open(self, event: RunEvent) -> Iterator[Frame]:
        yield self._start("initial", event.created_at)
        if self._workflow.run.not_before is None:
            yield from self._begin(event.created_at)

    def _speak(self, event: RunEvent) -> Iterator[Frame]:
        yield from self._begin(event.created_at)
        self._answer += message_delta(event.data) or ""

    def _start(self, reason: str, at: datetime) -> Frame:
        run = self._workflow.run
        data = {
            "id": run.id,
            "workflow_id": self._workflow.workflow_id,
            "inputs": {},
            "created_at": _seconds(at),
            "reason": reason,
        }
        return _frame(Kind.STARTED, lambda: Said("workflow_started", {"data": data}))

    def _begin(self, at: datetime) -> Iterator[Frame]:
        """Start the agent's node unless it runs: one that begins later has no mark of its own."""
        if self._agent is None:
            self._agent = _Agent(id=f"{self._workflow.run.id}:{self._segment}", started_at=at)
            yield _frame(Kind.NODE_STARTED, self._agent.said("node_started"), self._agent.id)

    def _finish(self, event: RunEvent) -> Iterator[Frame]:
        self._totals = self._totals.updated(event.data)
        yield from self._tell_answer(self._answer)
        if self._agent is not None:
            spent = event.created_at - self._agent.started_at
            said = self._agent.said(
                "node_finished",
                status=event.data["status"],
                error=None,
                elapsed_time=spent.total_seconds(),
                finished_at=_seconds(event.created_at),
            )
            yield _frame(Kind.NODE_FINISHED, said, self._agent.id)
            self._agent = None

    def _tell_answer(self, answer: str) -> Iterator[Frame]:
        """Tell a chat's whole answer so far: text around a pause comes once, in order (B8)."""
        if self._workflow.conversation_id and answer != self._replaced:
            self._replaced = answer
            yield self._replacement(answer)

    def _replacement(self, answer: str) -> Frame:
        return _frame(Kind.REPLACED, lambda: Said("message_replace", {"answer": answer}))

    def _ask(self, event: RunEvent) -> Iterator[Frame]:
        self._questions += 1
        node = AskedNode(form_id=FormId(event.data["form_id"]), ordinal=self._questions)
        self._asked.append(node)
        at, forms = event.created_at, self._forms
        yield _frame(Kind.NODE_STARTED, _of(forms.started, node, at), node.form_id)
        yield _frame(Kind.NODE_ASKED, _of(forms.asked, node), node.form_id)

    def _pause(self, event: RunEvent) -> Iterator[Frame]:
        asked, totals = tuple(self._asked), self._totals
        others = [one for one in event.data["reasons"] if "form_id" not in one]

        def build() -> Said:
            reasons = self._forms.reasons(list(asked))
            data = {
                "workflow_run_id": self._workflow.run.id,
                "paused_nodes": [one["node_id"] for one in reasons],
                "outputs": {},
                "reasons": reasons + others,
                "status": "paused",
                "created_at": _seconds(event.created_at),
                **totals.wire(),
            }
            return Said("workflow_paused", {"data": data})

        yield _frame(Kind.PAUSED, build)

    def _resume(self, event: RunEvent) -> Iterator[Frame]:
        asked, self._asked = self._asked, []
        self._segment = event.data["segment"]
        at, forms = event.created_at, self._forms
        yield self._start("resumption", at)
        for node in asked:
            yield _frame(Kind.NODE_STARTED, _of(forms.started, node, at), node.form_id)
            yield _frame(Kind.NODE_CLOSED, _of(forms.closed, node), node.form_id)
            yield _frame(Kind.NODE_FINISHED, _of(forms.finished, node), node.form_id)
        yield from self._begin(at)

    def _end(self, event: RunEvent) -> Iterator[Frame]:
        output = event.data.get("output")
        is_chat = bool(self._workflow.conversation_id)
        if is_chat and not self._answer and isinstance(output, str):
            self._answer = output
        yield from self._tell_answer(self._answer)
        if is_chat:
            usage = {"total_tokens": self._totals.total_tokens}
            members = {"id": self._workflow.run.id, "metadata": {"usage": usage}, "files": []}
            yield _frame(Kind.ANSWERED, lambda: Said("message_end", members))
        asked, totals = list(self._asked), self._totals
        yield _frame(Kind.FINISHED, lambda: self._finished(event, asked, totals))

    def _finished(self, event: RunEvent, asked: list[AskedNode], totals: _Totals) -> Said:
        workflow, run = self._workflow, self._workflow.run
        status, error = _outcome(event)
        late = self._forms.late_node(asked) if event.data.get("reason") == "expired" else None
        data = {
            "id": run.id,
            "workflow_id": workflow.workflow_id,
            "status": status,
            "outputs": {"output": event.data["output"]} if status == "succeeded" else {},
            "error": f"Human input global timeout at node {late}" if late else error,
            **totals.wire(),
            "created_at": _seconds(run.created_at),
            "finished_at": _seconds(event.created_at),
            "exceptions_count": 0,
            "files": [],
        }
        return Said("workflow_finished", {"data": data})


def _outcome(event: RunEvent) -> tuple[str, str | None]:
    """Return status and error in the workflow's words (DESIGN §4)."""
    data = event.data
    match event.type:
        case "run_succeeded":
            return "succeeded", None
        case "run_cancelled":
            return "stopped", data["message"] or data["reason"]
        case _:
            return "stopped" if data["reason"] == "expired" else "failed", data["error"]


def _of(say: Callable[..., Said | None], *about: Any) -> Callable[[], Said | None]:
    return lambda: say(*about)


def _frame(kind: Kind, build: Callable[[], Said | None], node: str = "") -> Frame:
    return Frame(kind=kind, cursor=BEFORE_ALL, build=build, node=node)


def _seconds(instant: datetime) -> int:
    return int(instant.timestamp())
