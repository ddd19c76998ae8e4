"""An agent without a model: each segment is a list of operations and an end."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from sayso.domain.errors import SnapshotRefusedError
from sayso.domain.run import EventDraft
from sayso.domain.segment import (
    Asked,
    Failed,
    Finished,
    Operation,
    OperationKind,
    Question,
    SegmentResult,
    SliceEnded,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sayso.domain.segment import SegmentWork
    from sayso.ports import SegmentJournal


@dataclass(frozen=True, slots=True)
class Do:
    """One operation."""

    name: str
    kind: OperationKind = OperationKind.MODEL


@dataclass(frozen=True, slots=True)
class End:
    """How a segment ends."""

    kind: Literal["ask", "finish", "fail"]
    questions: int = 1


Step = Do | End

ASK_THEN_FINISH: tuple[tuple[Step, ...], ...] = (
    (Do("m1"), Do("t1", OperationKind.TOOL), End("ask")),
    (Do("m2"), End("finish")),
)


def ask_times(questions: int) -> tuple[tuple[Step, ...], ...]:
    """Return a script that asks that many questions at once and then finishes."""
    return ((Do("m1"), End("ask", questions)), (Do("m2"), End("finish")))


@dataclass
class FakeAgent:
    """Implements ``AgentRunner``; its output is the JSON of the last answers."""

    script: Sequence[Sequence[Step]] = ASK_THEN_FINISH
    executed: Counter[str] = field(default_factory=Counter)
    """``<run>:<segment>:<operation>`` → how often its body ran."""
    segments: list[tuple[str, int]] = field(default_factory=list)
    """Run and segment of each call of ``run``."""
    before: Callable[[str], None] = lambda _: None
    """Called with the name before the body of an operation."""
    refuses: str | None = None
    operations_per_slice: int = 1_000

    def check(self, work: SegmentWork) -> None:
        """Refuse when told to."""
        if self.refuses:
            raise SnapshotRefusedError(self.refuses)
        assert work.answers is None or work.snapshot is not None

    async def run(self, work: SegmentWork, journal: SegmentJournal) -> SegmentResult:
        """Carry out the segment's steps; finished operations are not repeated."""
        self.segments.append((work.run_id, work.segment))
        room = self.operations_per_slice
        done = json.loads(work.snapshot)["done"] if work.snapshot else 0
        for step in self.script[done]:
            if isinstance(step, End):
                return self._end(step, work, done + 1)
            if await self._do(step, work, journal, room):
                room -= 1
        raise AssertionError("a script's segment ends with an End")

    async def _do(self, step: Do, work: SegmentWork, journal: SegmentJournal, room: int) -> bool:
        operation = Operation(
            kind=step.kind, name=step.name, tool_call_id="-", occurrence=1, digest=step.name
        )
        record = journal.records.get(operation.key)
        if record is not None and record.is_finished:
            return False
        if room == 0:
            raise SliceEnded(step.name)
        if step.kind is OperationKind.TOOL:
            await journal.mark_started(operation)
        self.before(step.name)
        self.executed[f"{work.run_id}:{work.segment}:{step.name}"] += 1
        event = EventDraft(type="pydantic_ai_event", data={"operation": step.name})
        await journal.record(operation, {"value": step.name}, [event])
        return True

    def _end(self, end: End, work: SegmentWork, done: int) -> SegmentResult:
        session = {"schema_version": 1, "layers": []}
        if end.kind == "fail":
            return Failed(error="it broke", reason=None)
        if end.kind == "finish":
            return Finished(output=json.dumps(work.answers), session_snapshot=session)
        questions = [
            Question(
                tool_call_id=f"call_{work.segment}_{number}",
                tool_name="ask_human",
                args=question_args(number),
                metadata={},
            )
            for number in range(end.questions)
        ]
        document = json.dumps({"done": done}).encode()
        return Asked(questions=questions, snapshot=document, session_snapshot=session)


def question_args(number: int = 0) -> dict[str, Any]:
    """Return normalised arguments of one question with a text field and two buttons."""
    return {
        "title": None,
        "question": f"Go on with {number}?",
        "markdown": "Some **facts**.",
        "fields": [
            {
                "name": "comment",
                "label": "Comment",
                "required": False,
                "type": "paragraph",
                "placeholder": None,
                "default": None,
            }
        ],
        "actions": [
            {"id": "approve", "label": "Approve", "style": "primary"},
            {"id": "refuse", "label": "Refuse", "style": "destructive"},
        ],
        "urgency": "normal",
    }
