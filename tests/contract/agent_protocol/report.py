"""Prints how much of the run API's contract is held by tests: section, rows, passed.

Run it with the Python of the tests; further arguments go to pytest. A row is a test, with all its
parameters; its section stands at the start of its name, as in ``test_s14_2_…``.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

import pytest

_SECTION = re.compile(r"test_s(\d+)(?:_(\d+))?_")


class Tally:
    """Counts the outcomes of tests by section; a plugin of pytest."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int, int], set[str]] = defaultdict(set)
        self.failed: dict[tuple[int, int], set[str]] = defaultdict(set)
        self.cases: dict[tuple[int, int], int] = defaultdict(int)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the outcome of one phase of one test."""
        row = report.nodeid.rpartition("::")[2].partition("[")[0]
        match = _SECTION.match(row)
        if match is None:
            return
        # §18 numbers its quirks: they are rows of one table.
        section = (int(match[1]), 0 if match[1] == "18" else int(match[2] or 0))
        if report.when == "call":
            self.rows[section].add(row)
            self.cases[section] += 1
        if report.failed:
            self.rows[section].add(row)
            self.failed[section].add(row)

    def table(self) -> str:
        """Return the table, with a line for the whole."""
        lines = [f"{'section':>8}  {'rows':>5}  {'passed':>6}  {'cases':>6}"]
        total = [0, 0, 0]
        for section in sorted(self.rows):
            name = f"{section[0]}.{section[1]}" if section[1] else str(section[0])
            rows = len(self.rows[section])
            numbers = [rows, rows - len(self.failed[section]), self.cases[section]]
            total = [sum(pair) for pair in zip(total, numbers, strict=True)]
            lines.append(f"{name:>8}  {numbers[0]:>5}  {numbers[1]:>6}  {numbers[2]:>6}")
        lines.append(f"{'all':>8}  {total[0]:>5}  {total[1]:>6}  {total[2]:>6}")
        return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Run the suite and print the table; the exit status is pytest's."""
    tally = Tally()
    folder = str(Path(__file__).parent)
    status = pytest.main([folder, "-q", "--no-header", "-p", "no:xdist", *arguments], [tally])
    print(f"\ndify-agent, held by tests:\n{tally.table()}")
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
