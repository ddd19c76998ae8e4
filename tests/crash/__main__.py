"""``make crash``: play everything and write the table, or play one case again."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from crash.plans import DECIDING, singles, undisturbed
from crash.report import Report
from crash.runner import Order, pair_orders, play_all, result_of, seed_orders
from support.template import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crash.cases import Result

TABLE = ROOT / "docs" / "reliability-table.md"
_MOST_SHOWN = 20
_SHOWN_EVERY = 500


def main() -> int:
    """Return 0 when no invariant is broken."""
    options = _options()
    if options.case:
        return _again(options.case)
    began = time.monotonic()
    alone = undisturbed()
    report = Report()
    for outcome in play_all(_orders(alone, options.seeds), options.workers):
        report.add(outcome)
        if report.total() % _SHOWN_EVERY == 0:
            print(f"{report.total():,} cases", file=sys.stderr, flush=True)
        for violation in outcome.violations:
            print(f"make crash CASE='{outcome.case}'  # {violation.strip()[-300:]}", flush=True)
    wall = timedelta(seconds=time.monotonic() - began)
    lasts = {name: result.lasted for name, result in alone.items()}
    options.table.write_text(report.markdown(lasts, wall))
    print(
        f"{report.total():,} cases, {report.struck:,} faults, {len(report.violations)} violations,"
        f" {wall.total_seconds():.0f} s; written to {options.table}"
    )
    return 1 if report.violations else 0


def _orders(alone: dict[str, Result], seeds: int) -> Iterator[Order]:
    undisturbed = (Order(case=f"{name}:", kind="single") for name in alone)
    cases = chain.from_iterable(singles(result) for result in alone.values())
    single = (Order(case=str(case), kind="single") for case in cases)
    # Orders of pairs are long: first, so that no process works alone in the end.
    return chain(pair_orders(alone[DECIDING]), undisturbed, single, seed_orders(range(seeds)))


def _again(text: str) -> int:
    """Play one case and say what happened in it."""
    result = result_of(text)
    for number, made in result.calls.items():
        print(f"{number:4} {made.frame.function} {made.call.name}")
    print("faults:", "; ".join(result.struck) or "none")
    for violation in result.violations[:_MOST_SHOWN]:
        print("broken:", violation)
    print(f"lasted {result.lasted}, {sum(result.checks.values())} checks")
    return 1 if result.violations else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make crash", description=__doc__)
    parser.add_argument("--case", default="", help="play one case or seed and print its calls")
    parser.add_argument("--seeds", type=int, default=2000, help="how many stories by chance")
    parser.add_argument("--workers", type=int, default=2, help="how many processes")
    parser.add_argument("--table", type=Path, default=TABLE, help="where the table goes")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
