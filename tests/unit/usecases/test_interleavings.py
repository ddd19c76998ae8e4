"""Any interleaving of submit, sweep, resume, cancel, deadline and death breaks no invariant.

While one use case runs, others run between any two of its calls to the table or the queue, and
any process may die there. Afterwards time goes by until everything has come to rest.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sayso.domain.errors import AppError
from sayso.domain.transitions import FormStatus, RunStatus
from support.agent import Do, End, FakeAgent, Step
from support.history import check_run
from support.world import Killed, World

if TYPE_CHECKING:
    from sayso.domain.form import Form
    from sayso.domain.ids import RunId
    from sayso.testing.faults import Moment

EXAMPLES = int(os.environ.get("INTERLEAVINGS", "500"))
SCRIPT: tuple[tuple[Step, ...], ...] = (
    (Do("m1"), End("ask", 2)),
    (Do("m2"), End("ask", 1)),
    (Do("m3"), End("finish")),
)
ACTIONS = (
    "deliver first",
    "deliver last",
    "deliver twice",
    "lose",
    "approve first",
    "refuse first",
    "approve last",
    "sweep",
    "cancel",
    "wait 1 s",
    "wait 1 min",
    "wait to the deadline",
)
actions = st.sampled_from(ACTIONS)
interruptions = st.dictionaries(
    st.integers(1, 12),
    st.one_of(actions, st.sampled_from(("die before", "die after", "take over"))),
    max_size=3,
)
steps = st.lists(st.tuples(actions, interruptions), max_size=12)


@dataclass
class Scheduler:
    """The fault hook: carries out planned actions between the calls of another one."""

    plan: dict[int, str] = field(default_factory=dict)
    calls: int = 0
    game: Game | None = None
    nested: bool = False

    def __call__(self, moment: Moment, operation: str) -> None:
        """Interrupt the call if that is planned."""
        if self.nested or self.game is None:
            return
        if moment == "before":
            self.calls += 1
        planned = self.plan.get(self.calls, "")
        if planned.startswith("die"):
            if planned == f"die {moment}":
                del self.plan[self.calls]
                raise Killed(operation)
        elif planned and moment == "before":
            del self.plan[self.calls]
            self.nested = True
            try:
                self.game.act(planned)
            finally:
                self.nested = False


class Game:
    """A world with one run, and clients that remember what they were told."""

    def __init__(self) -> None:
        self.scheduler = Scheduler()
        self.world = World(FakeAgent(SCRIPT), faults=self.scheduler)
        self.accepted: dict[str, set[str]] = {}
        """Form → actions whose submission was acknowledged."""
        policy = {
            "delivery_methods": [{"type": "webapp"}],
            "timeout": 10,
            "timeout_unit": "minute",
            "run_timeout_seconds": 3600,
        }
        self.run_id: RunId = self.world.create(policy)
        self.world.settle()
        self.scheduler.game = self

    def step(self, action: str, plan: dict[int, str]) -> None:
        """Carry out an action, interrupted as planned."""
        self.scheduler.plan = dict(plan)
        self.scheduler.calls = 0
        with contextlib.suppress(Killed):
            self.act(action)
        self.scheduler.plan = {}

    def act(self, action: str) -> None:
        """Carry out an action; clients live with the errors that are meant for them."""
        world = self.world
        match action.split():
            case ["deliver", which]:
                self._deliver(which)
            case ["lose"]:
                world.queue.drop()
            case [("approve" | "refuse") as choice, which]:
                self._submit(choice, which)
            case ["sweep"]:
                world.sweep()
            case ["take", "over"]:
                world.pass_time(timedelta(minutes=3))
            case ["cancel"]:
                with contextlib.suppress(AppError):
                    world.cancel(self.run_id)
            case ["wait", "1", "s"]:
                world.clock.advance(timedelta(seconds=1))
            case ["wait", "1", "min"]:
                world.clock.advance(timedelta(minutes=1))
            case _:
                world.clock.advance(timedelta(minutes=10))

    def _deliver(self, which: str) -> None:
        messages = self.world.queue.pop_due()
        if not messages:
            return
        chosen = messages.pop(-1 if which == "last" else 0)
        self.world.queue.put_back(*messages)
        if which == "twice":
            self.world.queue.put_back(chosen)
        self.world.handle(chosen)

    def _submit(self, choice: str, which: str) -> None:
        forms = self.world.forms(self.run_id)
        if not forms:
            return
        form: Form = forms[-1 if which == "last" else 0]
        with contextlib.suppress(AppError):
            decided = self.world.submit(form, choice, comment=f"{choice} it")
            assert decided.status is FormStatus.SUBMITTED
            self.accepted.setdefault(form.id, set()).add(choice)

    def come_to_rest(self) -> None:
        """Let time go by until the run has ended and two sweeps more."""
        self.scheduler.game = None
        for _ in range(90):
            self.world.pass_time(timedelta(minutes=1))
            if self.world.run(self.run_id).status.is_final:
                break
        self.world.pass_time(timedelta(minutes=2))

    def check(self) -> None:
        """Check what was stored and what clients were told."""
        check_run(self.world.context.stores, self.run_id)
        for form in self.world.forms(self.run_id):
            told = self.accepted.get(form.id, set())
            assert len(told) <= 1, "I1: two clients were told that their decision counts"
            if told:
                assert form.decision is not None, "I3: an acknowledged answer was lost"
                assert form.decision.action_id in told, "I3: another answer counts than was told"
        executed = self.world.agent.executed
        if self.world.run(self.run_id).status is RunStatus.SUCCEEDED:
            assert len(executed) == 3, "every operation ran"


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(steps)
def test_any_interleaving_ends_right(steps: list[tuple[str, dict[int, str]]]) -> None:
    game = Game()

    for action, plan in steps:
        game.step(action, plan)
    game.come_to_rest()

    game.check()
