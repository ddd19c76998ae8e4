"""Plays cases in several processes and gathers what came of them."""

from __future__ import annotations

import multiprocessing
import traceback
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from crash.cases import Case
from crash.chances import play_seed
from crash.plans import firsts, pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crash.cases import Result

_CHUNK = 8


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What the table needs to know of a case."""

    case: str
    scenario: str
    fault: str
    violations: list[str]
    struck: int = 0
    checks: Mapping[str, int] = field(default_factory=dict)
    lasted: timedelta = timedelta()


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a process is to play."""

    case: str
    """Text of a case, or ``seed:<number>``."""
    kind: str
    """``single``, ``pairs`` (all with this first fault) or ``seed``."""


def result_of(text: str) -> Result:
    """Play what a failure printed: a case or a seed."""
    if text.startswith("seed:"):
        return play_seed(int(text.removeprefix("seed:")))
    return Case.parse(text).run()


def play_all(orders: Iterable[Order], workers: int) -> Iterator[Outcome]:
    """Play everything; the order of the outcomes is that of the orders."""
    orders = list(orders)
    if workers == 1:
        for order in orders:
            yield from _play(order)
        return
    # Not forked: a forked child would share locks with threads that it does not have.
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        for outcomes in pool.imap(_play, orders, chunksize=_CHUNK):
            yield from outcomes


def _play(order: Order) -> list[Outcome]:
    try:
        if order.kind != "pairs":
            result = result_of(order.case)
            fault = ",".join(Case.parse(order.case).plan.values()) if order.kind == "single" else ""
            scenario = order.case.partition(":")[0]
            return [_outcome(result, scenario, fault)]
        case = Case.parse(order.case)
        after = pairs(case, case.run())
        return [_outcome(one.run(), "pairs", "") for one in after]
    except Exception:  # noqa: BLE001 - one broken case must not hide the others
        text = traceback.format_exc()
        return [Outcome(case=order.case, scenario=order.kind, fault="", violations=[text])]


def _outcome(result: Result, scenario: str, fault: str) -> Outcome:
    return Outcome(
        case=result.case,
        scenario=scenario,
        fault=fault,
        violations=result.violations,
        struck=len(result.struck),
        checks=result.checks,
        lasted=result.lasted,
    )


def pair_orders(undisturbed: Result) -> Iterator[Order]:
    """Yield what plays all pairs, first fault by first fault."""
    for case in firsts(undisturbed):
        yield Order(case=str(case), kind="pairs")


def seed_orders(seeds: range) -> Iterator[Order]:
    """Yield what plays seeds."""
    for seed in seeds:
        yield Order(case=f"seed:{seed}", kind="seed")
