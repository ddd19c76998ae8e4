"""Makes tables and diagrams of the docs from the code they describe.

The docs hold the text, so that they read well without any tool; tests compare. When one of them is
red, run `.venv/bin/python tests/docs/tables.py` and copy what it prints.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from sayso.domain.transitions import FORM_TABLE, RUN_TABLE, FormStatus, RunStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

State = TypeVar("State", bound=StrEnum)
Trigger = TypeVar("Trigger", bound=StrEnum)


def state_diagram(table: Mapping[tuple[State, Trigger], State], first: State) -> str:
    """Return a state table as a Mermaid diagram."""
    reached = list(dict.fromkeys([first, *table.values()]))
    moving = {source for source, _ in table}
    lines = ["stateDiagram-v2", f"    [*] --> {first}"]
    lines += [f"    {source} --> {target} : {why}" for (source, why), target in table.items()]
    lines += [f"    {state} --> [*]" for state in reached if state not in moving]
    return "\n".join(lines)


def state_rows(table: Mapping[tuple[State, Trigger], State]) -> list[list[str]]:
    """Return a state table as rows of a Markdown table."""
    return [[_code(source), _code(why), _code(target)] for (source, why), target in table.items()]


def _code(value: StrEnum) -> str:
    return f"`{value}`"


def as_markdown(rows: Iterable[Iterable[str]]) -> str:
    """Return rows as lines of a Markdown table, without its head."""
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


RUN_DIAGRAM = state_diagram(RUN_TABLE, RunStatus.RUNNING)
FORM_DIAGRAM = state_diagram(FORM_TABLE, FormStatus.WAITING)


def main() -> int:
    """Print what the docs should hold."""
    print(RUN_DIAGRAM, as_markdown(state_rows(RUN_TABLE)), sep="\n\n", end="\n\n")
    print(FORM_DIAGRAM, as_markdown(state_rows(FORM_TABLE)), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
