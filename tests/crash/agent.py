"""An agent without a model, whose script comes with the request's credentials.

It watches what the journal promises: a body that starts although its result is recorded, or
although the run has ended, is a broken invariant and is noted at once.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from sayso.domain.errors import RetryableError
from sayso.domain.run import EventDraft, Face
from sayso.domain.segment import (
    Asked,
    CancelSeen,
    Failed,
    Finished,
    Operation,
    OperationKind,
    Question,
    SegmentResult,
    SliceEnded,
)
from sayso.domain.transitions import RunStatus
from sayso.ports import Key
from sayso.store.keys import journal_prefix, run_key, run_pk
from support.agent import question_args

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sayso.domain.segment import SegmentWork
    from sayso.ports import Clock, Item, SegmentJournal
    from sayso.testing.table import MemoryTable
    from sayso.usecases.worker import LeasedRun

SECRET_SCRIPT_MARK = "script-that-no-log-may-hold"
_RENEWAL = timedelta(seconds=15)
_SESSION: dict[str, Any] = {"schema_version": 1, "layers": []}


class _Body(NamedTuple):
    """What an operation does."""

    kind: OperationKind
    name: str
    seconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a worker was given for one segment."""

    run_id: str
    segment: int
    snapshot: bytes | None
    answers: Mapping[str, Any] | None


@dataclass
class ScriptAgent:
    """Implements ``AgentRunner``.

    A script is a list of segments of steps: ``model <name> [seconds]``, ``tool <name> [seconds]``,
    ``ask <number>``, ``finish``.
    """

    table: MemoryTable
    """Looked at, past all faults."""
    clock: Clock
    pass_time: Callable[[timedelta], None]
    """Lets all happen that happens while a body runs."""
    seen: list[Seen] = field(default_factory=list)
    bodies: Counter[str] = field(default_factory=Counter)
    """``<run>:<segment>:<operation>`` → how often its body ran."""
    recorded: Counter[str] = field(default_factory=Counter)
    """The same → how often its result was recorded."""
    broken: list[str] = field(default_factory=list)
    """Invariants that were seen to be broken."""
    checks: int = 0

    def check(self, work: SegmentWork) -> None:
        """Refuse nothing."""
        assert work.answers is None or work.snapshot is not None

    async def run(self, work: SegmentWork, journal: SegmentJournal) -> SegmentResult:
        """Carry out the segment's steps; finished operations are not repeated."""
        self.seen.append(
            Seen(
                run_id=work.run_id,
                segment=work.segment,
                snapshot=work.snapshot,
                answers=work.answers,
            )
        )
        script = script_of(work.request)
        if script is None:  # a worker that slept until the run had ended
            return Failed(error="the credentials are gone")
        done = json.loads(work.snapshot)["done"] if work.snapshot else 0
        room: int = script.get("slice", 1_000)
        for step in script["segments"][done]:
            match step.split():
                case [("model" | "tool") as kind, name, *seconds]:
                    body = _Body(OperationKind(kind), name, *map(int, seconds))
                    room -= await self._do(body, work, journal, room)
                case [kind, *count]:
                    return self._end(kind, count, work, done + 1)
        raise AssertionError("a script's segment ends with ask or finish")

    async def _do(self, body: _Body, work: SegmentWork, journal: SegmentJournal, room: int) -> int:
        name = body.name
        operation = Operation(
            kind=body.kind, name=name, tool_call_id="-", occurrence=1, digest=name
        )
        record = journal.records.get(operation.key)
        if record is not None and record.is_finished:
            return 0
        if room == 0:
            raise SliceEnded(name)
        if body.kind is OperationKind.TOOL:
            await journal.mark_started(operation)
        identity = f"{work.run_id}:{work.segment}:{name}"
        self._look(operation, work, journal)
        self.bodies[identity] += 1
        await self._take(body.seconds, cast("LeasedRun", journal))
        event = EventDraft(type="pydantic_ai_event", data={"operation": identity})
        await journal.record(operation, {"value": name}, [event])
        self.recorded[identity] += 1
        return 1

    async def _take(self, seconds: int, journal: LeasedRun) -> None:
        """Let time pass in a body, with what ``LeasedRun.keep`` does meanwhile by the real clock."""
        end = self.clock.now() + timedelta(seconds=seconds)
        while self.clock.now() < end:
            await asyncio.to_thread(self.pass_time, min(_RENEWAL, end - self.clock.now()))
            journal._check_time()
            try:
                held = await journal._renew(self.clock.now() + 3 * _RENEWAL)
            except RetryableError:
                continue
            if held.cancel is not None:
                message = "the run is to be cancelled"
                raise CancelSeen(message)

    def _look(self, operation: Operation, work: SegmentWork, journal: SegmentJournal) -> None:
        """Check that this body may run now, unless a worker was replaced without knowing it."""
        run = self._item(run_key(work.run_id))
        epoch = cast("LeasedRun", journal).run.epoch
        self.checks += 1
        if run.get("epoch") != epoch:
            if operation.kind is OperationKind.TOOL:
                self.broken.append("I2: a tool started without the lease")
            return
        if run.get("status") != RunStatus.RUNNING:
            self.broken.append(f"I6: {operation.name} ran in a run that is {run.get('status')}")
        sk = journal_prefix(work.segment) + operation.key
        if {"outcome", "outcome_key"} & self._item(Key(run_pk(work.run_id), sk)).keys():
            self.broken.append(f"I2: {operation.name} ran although its result was recorded")

    def _item(self, key: Key) -> Item:
        return self.table.get(key) or {}

    def _end(self, kind: str, count: list[str], work: SegmentWork, done: int) -> SegmentResult:
        if kind == "finish":
            return Finished(output=json.dumps(work.answers), session_snapshot=_SESSION)
        questions = [
            Question(
                tool_call_id=f"call_{number}",
                tool_name="ask_human",
                args=question_args(number),
                metadata={},
            )
            for number in range(int(count[0]))
        ]
        # Attempts differ in their bytes, as times make those of the real agent differ.
        document = {"done": done, "attempt": len(self.seen)}
        snapshot = json.dumps(document).encode() if work.face is Face.MANAGED else b""
        return Asked(questions=questions, snapshot=snapshot, session_snapshot=_SESSION)


def script_of(request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the script, which stands where a model's credentials do; None when they are gone."""
    credentials = request["composition"]["layers"][0]["config"]["credentials"]
    if "script" not in credentials:
        return None
    script: dict[str, Any] = json.loads(credentials["script"])
    assert script["mark"] == SECRET_SCRIPT_MARK
    return script


def scripted_request(segments: list[list[str]], **script: Any) -> dict[str, Any]:
    """Return a create request that brings a script."""
    text = json.dumps({"segments": segments, "mark": SECRET_SCRIPT_MARK, **script})
    layer = {"name": "llm", "type": "dify.plugin.llm", "config": {"credentials": {"script": text}}}
    return {"composition": {"schema_version": 1, "layers": [layer]}}
