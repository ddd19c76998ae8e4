"""Plays a scenario with planned faults, lets everything come to rest, and looks at what is left."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from crash.callers import Callers
from crash.checks import check_all, other_tenants_key, run_ids, stores_of
from crash.deployment import captured_output
from crash.faults import Gate, Made
from crash.scenarios import SCENARIOS, Play, Scenario
from crash.stack import Stack
from support.history import forms_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from io import StringIO

MINUTE = timedelta(minutes=1)
LONGEST = timedelta(hours=4)
AFTERWARDS = timedelta(hours=2)
"""Messages of dead workers come back after 90 minutes; they must find nothing to do."""

Plan = dict[int, str]


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of one case."""

    case: str
    struck: list[str]
    violations: list[str]
    checks: Mapping[str, int]
    calls: Mapping[int, Made]
    """What calls were made, by number."""
    lasted: timedelta
    """From the first request to the end of the last run."""
    invocations: int


@dataclass(frozen=True, kw_only=True)
class Case:
    """One scenario with its faults; its text is what a command repeats."""

    scenario: str
    plan: Plan = field(default_factory=dict)

    def __str__(self) -> str:
        """Return ``<scenario>:<call>=<kind>,…``."""
        faults = ",".join(f"{number}={kind}" for number, kind in sorted(self.plan.items()))
        return f"{self.scenario}:{faults}"

    @classmethod
    def parse(cls, text: str) -> Case:
        """Read a text that a failure printed."""
        scenario, _, faults = text.partition(":")
        pairs = (one.split("=") for one in faults.split(",") if one)
        return cls(scenario=scenario, plan={int(number): kind for number, kind in pairs})

    def run(self) -> Result:
        """Play it."""
        scenario = SCENARIOS[self.scenario]
        return play(str(self), scenario, self.plan, demands=_demands(self.plan))


def _demands(plan: Plan) -> bool:
    """Whether the scenario's own ending can be asked for: with at most one fault."""
    return len(plan) <= 1


def play(
    name: str,
    scenario: Scenario,
    plan: Plan,
    *,
    demands: bool,
    at_rest: Callable[[Play, StringIO], None] = lambda *_: None,
) -> Result:
    """Play a scenario to its end and check everything.

    Args:
        name: What a command repeats it by.
        scenario: The story.
        plan: Number of a call → kind of its fault.
        demands: Whether the run must end as the scenario says, and all questions be answered.
        at_rest: Called before the checks, with what was logged; to try the checks themselves.
    """
    gate = Gate(plan=dict(plan))
    with captured_output() as output:
        stack = Stack(gate=gate, repeat=scenario.repeat)
        gate.stack = stack
        callers = Callers(stack)
        show = Play(scenario=scenario, stack=stack, callers=callers)
        gate.rival = lambda: scenario.rival(show)
        stack.cloud.table.put_many([other_tenants_key()])
        started_at = stack.clock.now()
        scenario.cast(show)
        problems = _guarded(lambda: _come_to_rest(stack))
        gate.enabled = False
        at_rest(show, output)
        findings = check_all(stack, callers, output.getvalue(), len(gate.struck))
    if demands:
        problems += _unmet(show)
    ends = [run.updated_at for run in map(stores_of(stack).runs.get, run_ids(stack)) if run]
    return Result(
        case=name,
        struck=gate.struck,
        violations=[*problems, *stack.cloud.problems, *findings.violations],
        checks=findings.checks,
        calls=gate.trace,
        lasted=max(ends, default=started_at) - started_at,
        invocations=stack.invocations,
    )


def _guarded(act: Callable[[], None]) -> list[str]:
    """Let an assertion of the platform be a finding like any other."""
    try:
        act()
    except AssertionError as error:
        return [str(error) or repr(error)]
    return []


def _come_to_rest(stack: Stack) -> None:
    """Let time go by until all runs have ended, and then so long that nothing can come any more."""
    stores = stores_of(stack)
    end = stack.clock.now() + LONGEST
    while stack.clock.now() < end:
        stack.pass_time(MINUTE)
        runs = [stores.runs.get(run_id) for run_id in run_ids(stack)]
        ended = runs and all(run is not None and run.status.is_final for run in runs)
        if ended and stack.is_quiet_for(3 * MINUTE):
            break
    stack.dismiss()
    stack.pass_time(AFTERWARDS)


def _unmet(show: Play) -> list[str]:
    problems = []
    stores = stores_of(show.stack)
    if not show.known:
        problems.append("I7: nobody was told of a run")
    for run_id in show.known:
        run = stores.runs.get(run_id)
        if run is None or run.status not in show.scenario.ends:
            problems.append(f"I7: the run ended as {run and run.status}")
    forms = [one.form for run_id in show.known for one in forms_of(stores, run_id)]
    answered = sum(form.decision is not None for form in forms)
    if answered < show.scenario.answers:
        problems.append(f"I7: {answered} of {show.scenario.answers} questions were answered")
    return problems
