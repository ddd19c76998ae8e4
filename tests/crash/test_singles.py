"""Whatever goes wrong once, every scenario ends right (DESIGN §6)."""

from __future__ import annotations

import os
import zlib
from functools import cache
from typing import TYPE_CHECKING

import pytest

from crash.cases import Case
from crash.plans import singles
from crash.runner import result_of
from crash.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crash.cases import Result

_SHARE = int(os.environ.get("CRASH_SHARE", "8"))
"""Of the faults that are not deaths, and in long scenarios of all, every n-th is played here;
``make crash`` plays all."""
_ALWAYS = {"crash_before", "crash_after"}
_LONG = {"repause", "three_forms", "global_deadline", "two_asks", "duplicates"}


@cache
def alone(scenario: str) -> Result:
    """Return a scenario as it goes without a fault; it tells what calls there are."""
    return Case(scenario=scenario).run()


def cases_of(scenario: str) -> list[Case]:
    """Return the cases that are played here: the same ones every time."""
    return [case for case in singles(alone(scenario)) if _is_played(case)]


def _is_played(case: Case) -> bool:
    (kind,) = case.plan.values()
    if kind in _ALWAYS and case.scenario not in _LONG:
        return True
    return zlib.crc32(str(case).encode()) % _SHARE == 0


def play(cases: Iterable[Case]) -> list[str]:
    """Return the commands that show what is broken."""
    return [
        f"make crash CASE='{case}'  # {violation}"
        for case in cases
        for violation in result_of(str(case)).violations
    ]


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nothing_is_broken_without_a_fault(scenario: str) -> None:
    assert alone(scenario).violations == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_whatever_goes_wrong_once_the_scenario_ends_right(scenario: str, part: int) -> None:
    broken = play(cases_of(scenario)[part::4])

    assert broken == []
