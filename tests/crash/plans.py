"""Which cases there are: all single faults, all pairs on the way of a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crash.cases import Case
from crash.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crash.cases import Result

DECIDING = "managed"
"""The scenario whose pairs of faults are tried."""
_PAIRED = ("crash_before", "crash_after", "conflict", "lost", "unknown", "twin")


def undisturbed() -> dict[str, Result]:
    """Return each scenario played without a fault."""
    return {name: Case(scenario=name).run() for name in SCENARIOS}


def singles(undisturbed: Result) -> Iterator[Case]:
    """Yield each call of a scenario with each fault that it can have."""
    name = undisturbed.case.partition(":")[0]
    for number, made in undisturbed.calls.items():
        if not made.idle:
            for kind in made.kinds:
                yield Case(scenario=name, plan={number: kind})


def firsts(undisturbed: Result) -> Iterator[Case]:
    """Yield the first faults of all pairs."""
    for number, made in undisturbed.calls.items():
        if made.decides:
            for kind in _paired(made.kinds):
                yield Case(scenario=DECIDING, plan={number: kind})


def pairs(first: Case, result: Result) -> Iterator[Case]:
    """Yield a first fault with each later one on the way of the decision, as it goes after it."""
    ((struck, _),) = first.plan.items()
    for number, made in result.calls.items():
        if made.decides and number > struck:
            for kind in _paired(made.kinds):
                yield Case(scenario=first.scenario, plan={**first.plan, number: kind})


def _paired(kinds: tuple[str, ...]) -> list[str]:
    return [kind for kind in kinds if kind in _PAIRED]
