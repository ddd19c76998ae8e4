"""The platform around our functions: gateway, queues, schedules, the minute's tick, and time.

Everything happens in one thread of thought: while a call is under way, others may be carried out
inside it, so that every order of calls can be made, again and again the same.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from crash.agent import ScriptAgent
from crash.deployment import CLIENTS, SECRETS, Processes
from crash.double.cloud import Cloud
from sayso.store.codec import from_ms
from sayso.testing.clock import FixedClock
from support.functions import Functions, Invocation, http_event, sqs_event

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from crash.double.cloud import Gate
    from crash.double.others import Message
    from support.functions import Answer

    Actor = Iterator[timedelta]

MINUTE = timedelta(minutes=1)
_SECONDS = {"resume": 900, "deliver": 60, "timeout_sweep": 55, "read_run": 29}
_HIDDEN = {"resume": timedelta(seconds=5400), "deliver": timedelta(seconds=360)}
_RECEIVES = {"resume": 3, "deliver": 5}
_FIRES = 10
_MOST_STEPS = 20_000


class ProcessKilled(BaseException):
    """The death of a process: nobody catches it."""


class InvocationDiedError(Exception):
    """An invocation came to no end."""


@dataclass
class Frame:
    """One invocation under way."""

    function: str
    event: Mapping[str, Any]
    dead: bool = False
    down: set[str] = field(default_factory=set)
    """Services that do not answer this invocation any more."""
    looked: bool = False
    """Whether it has looked at an index in vain."""

    @property
    def decides(self) -> bool:
        """Whether a person's answer is taken here, or a run pauses or resumes."""
        posts = "POST" in str(self.event.get("routeKey"))
        return self.function == "resume" or (self.function == "submit_form" and posts)


@dataclass
class Stack:
    """One stack, from its deployment on."""

    gate: Gate | None = None
    clock: FixedClock = field(default_factory=FixedClock)
    frames: list[Frame] = field(default_factory=list)
    invocations: int = 0
    repeat: int = 1
    """How often each queue message is handled although the worker succeeded."""

    def __post_init__(self) -> None:
        self.cloud = Cloud(self.clock, SECRETS)
        if self.gate is not None:
            self.cloud.gate = self.gate
        self.agent = ScriptAgent(self.cloud.table, self.clock, self.pass_time)
        self._processes = Processes(self.clock, self.agent)
        self._actors: list[tuple[datetime, int, Actor]] = []
        self._joined = 0
        self._last_tick = self.clock.now()
        self._steps = 0
        CLIENTS.cloud = self.cloud

    # --- invocations ---

    def invoke(self, function: str, event: Mapping[str, Any]) -> Any:
        """Invoke a function.

        Raises:
            InvocationDiedError: Its process did.
            Exception: What its handler raised.
        """
        seconds = _SECONDS.get(function, 10)
        ends_at = self.clock.now() + timedelta(seconds=seconds)
        frame, busy = Frame(function=function, event=event), len(self.frames)
        self.frames.append(frame)
        self.invocations += 1
        try:
            handler = self._processes.handler(function, busy)
            returned = handler(
                json.loads(json.dumps(event)), Invocation(clock=self.clock, ends_at=ends_at)
            )
        except ProcessKilled:
            self._processes.kill(function, busy)
            raise InvocationDiedError(function) from None
        finally:
            assert self.frames.pop() is frame
        if frame.dead:  # it died in a thread whose end nobody waited for
            self._processes.kill(function, busy)
            raise InvocationDiedError(function)
        return returned

    def request(self, method: str, path: str, **parts: Any) -> Answer | None:
        """Send a request as a client does; None: no answer of ours came back."""
        function, event = http_event(
            method,
            path,
            headers={"host": "api.example.org", **parts.get("headers", {})},
            body=parts.get("body"),
            query={},
        )
        try:
            return Functions.answer(self.invoke(function, event))
        except InvocationDiedError:
            return None

    # --- time ---

    def join(self, actor: Actor) -> None:
        """Let somebody act from now on; what he yields is how long he waits."""
        self._joined += 1
        self._actors.append((self.clock.now(), self._joined, actor))

    def pass_time(self, span: timedelta) -> None:
        """Let time go by; whatever becomes due in it happens."""
        end = self.clock.now() + span
        self.work()
        while (next_at := self._next_at()) is not None and next_at <= end:
            self.clock.set(max(next_at, self.clock.now()))
            self.work()
        if self.clock.now() < end:
            self.clock.set(end)

    def work(self) -> None:
        """Do all that is due now."""
        while self._step():
            self._steps += 1
            assert self._steps < _MOST_STEPS, "I7: the stack does not come to rest"

    def is_quiet_for(self, span: timedelta) -> bool:
        """Tell whether nothing will happen for a while but what people do by themselves."""
        next_at = min(self._services(), default=None)
        return next_at is None or next_at >= self.clock.now() + span

    def dismiss(self) -> None:
        """Let nobody act any more."""
        self._actors.clear()

    def _step(self) -> bool:
        now = self.clock.now()
        if message := self.cloud.queues.receive():
            self._deliver(message)
        elif schedule := self.cloud.schedules.fire(now):
            try:
                self.invoke("timeout_sweep", json.loads(schedule.input))
            except Exception:  # noqa: BLE001 - the scheduler tries again, whatever it was
                if schedule.tries < _FIRES:
                    self.cloud.schedules.waiting.append(replace(schedule, at=now + MINUTE))
        elif (tick := self._next_tick()) is not None and tick <= now:
            self._last_tick = now
            self.tick()
        else:
            return self._let_act(now)
        return True

    def tick(self) -> None:
        """Let the minute's sweep run; the next one is a minute later, however it went."""
        with suppress(Exception):
            self.invoke("timeout_sweep", {"source": "aws.scheduler"})

    def _deliver(self, message: Message) -> None:
        function = "deliver" if message.queue == "deliveries" else "resume"
        event = sqs_event(message.queue, message.body)
        failures: list[object] = [message]
        with suppress(Exception):  # the message comes again, whatever it was
            for _ in range(self.repeat):
                failures = self.invoke(function, event)["batchItemFailures"]
        if failures:
            self.cloud.queues.give_back(message, _HIDDEN[function], _RECEIVES[function])

    def _let_act(self, now: datetime) -> bool:
        due = [one for one in self._actors if one[0] <= now]
        if not due:
            return False
        _, number, actor = first = min(due, key=lambda one: one[:2])
        self._actors.remove(first)  # while he acts, nobody else lets him act
        wait = next(actor, None)
        if wait is not None:
            self._actors.append((self.clock.now() + wait, number, actor))
        return True

    def _next_at(self) -> datetime | None:
        return min([*self._services(), *(one[0] for one in self._actors)], default=None)

    def _services(self) -> list[datetime]:
        """Return when queues, schedules and sweep will do something."""
        instants = [one.visible_at for one in self.cloud.queues.messages]
        instants += [one.at for one in self.cloud.schedules.waiting]
        tick = self._next_tick()
        return instants if tick is None else [*instants, tick]

    def _next_tick(self) -> datetime | None:
        """Return the next whole minute at which a sweep finds something; the others change nothing."""
        due_at = self.cloud.table.next_due_at()
        if due_at is None:
            return None
        wanted = max(from_ms(due_at), self._last_tick + timedelta(milliseconds=1))
        whole = wanted.replace(second=0, microsecond=0)
        return whole if whole == wanted else whole + MINUTE
