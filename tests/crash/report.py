"""What the table says, gathered case by case; the same results give the same text."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from crash.kinds import KINDS
from crash.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from crash.runner import Outcome

INVARIANTS = {
    "I1": "at most one accepted decision per form",
    "I2": "one effective resume per pause; nothing recorded is repeated",
    "I3": "an acknowledged answer is never lost or changed",
    "I4": "no decision from GET or HEAD, none that nobody sent",
    "I5": "what was decided is what was shown",
    "I6": "nothing happens after deny, expiry or cancel",
    "I7": "every run ends, by its deadline and two periods of the sweep",
    "I8": "snapshot bytes never change",
    "I9": "one audit entry a decision, in an unbroken chain",
    "I10": "no token, credential, answer or address in logs and error bodies",
    "I11": "status and last event change together; events in order, none doubled",
    "I12": "a tenant sees nothing of another one",
    "I13": "a write whose answer was lost is recognised as one's own",
}


@dataclass
class Report:
    """Counts of all cases."""

    cases: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(scenario, fault) → cases."""
    broken: Counter[tuple[str, str]] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    longest: dict[str, timedelta] = field(default_factory=lambda: defaultdict(timedelta))
    """Scenario → from the first request to the end of the last run."""
    struck: int = 0
    violations: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Count a case."""
        place = (outcome.scenario, outcome.fault)
        self.cases[place] += 1
        self.broken[place] += bool(outcome.violations)
        self.checks.update(outcome.checks)
        self.longest[outcome.scenario] = max(self.longest[outcome.scenario], outcome.lasted)
        self.struck += outcome.struck
        for violation in outcome.violations:
            self.violations.append(f"{outcome.case} {violation}")

    def total(self, scenario: str | None = None) -> int:
        """Return how many cases there are."""
        return sum(n for (name, _), n in self.cases.items() if scenario in {None, name})

    def markdown(self, undisturbed: Mapping[str, timedelta], wall: timedelta) -> str:
        """Return the page."""
        return "\n".join(self._lines(undisturbed, wall)) + "\n"

    def _lines(self, undisturbed: Mapping[str, timedelta], wall: timedelta) -> Iterator[str]:
        yield _HEAD
        yield f"**{self.total():,} cases with {self.struck:,} faults: {sum(self.broken.values())} with a violation.**"
        yield ""
        yield "## Single faults"
        yield ""
        yield from self._singles(undisturbed)
        yield ""
        yield "## Several faults at once"
        yield ""
        yield "| | cases | with a violation | longest |"
        yield "|---|---|---|---|"
        for name, meaning in _SEVERAL.items():
            broken = sum(n for (scenario, _), n in self.broken.items() if scenario == name)
            yield f"| {meaning} | {self.total(name):,} | {broken} | {_clock(self.longest[name])} |"
        yield ""
        yield "## What was checked after each case"
        yield ""
        yield "| | invariant | checks |"
        yield "|---|---|---|"
        for name, meaning in INVARIANTS.items():
            yield f"| {name} | {meaning} | {self.checks[name]:,} |"
        yield ""
        yield f"Wall time on two cores: {wall.total_seconds() / 60:.0f} minutes."

    def _singles(self, undisturbed: Mapping[str, timedelta]) -> Iterator[str]:
        yield "| fault | " + " | ".join(name.replace("_", " ") for name in SCENARIOS) + " |"
        yield "|---|" + "---|" * len(SCENARIOS)
        for kind, one in {"": None, **KINDS}.items():
            label = f"`{kind}`: {one.meaning}" if one else "none"
            cells = " | ".join(self._cell(scenario, kind) for scenario in SCENARIOS)
            yield f"| {label} | {cells} |"
        cells = " | ".join(f"{self.total(name):,}" for name in SCENARIOS)
        yield f"| **cases** | {cells} |"
        cells = " | ".join(_clock(undisturbed[name]) for name in SCENARIOS)
        yield f"| **lasts without a fault** | {cells} |"
        cells = " | ".join(_clock(self.longest[name]) for name in SCENARIOS)
        yield f"| **lasts at most** | {cells} |"

    def _cell(self, scenario: str, kind: str) -> str:
        cases, broken = self.cases[scenario, kind], self.broken[scenario, kind]
        return f"{cases} (**{broken} broken**)" if broken else str(cases or "")


def _clock(span: timedelta) -> str:
    seconds = round(span.total_seconds())
    return f"{seconds // 60}:{seconds % 60:02}"


_SEVERAL = {
    "pairs": "all pairs of faults on the way of a decision: submit, claim, pause",
    "seed": "stories by chance, one to five faults each",
}
_HEAD = """\
# The crash table

Generated by `make crash`; [reliability](reliability.md) says what it means.

Each scenario is played once without a fault, and then once for each call to AWS that its functions make and each fault that this call can have.
The functions, use cases and AWS adapters are the real ones; the services are a double in the same process, the clock is virtual.
After each case time goes by until all runs have ended, and two hours more; then everything that is stored, that clients were told and that was logged is checked.
A cell is a number of cases. Times are minutes and seconds from the first request to the end of the last run.
"""
