"""Changes texts and limits of the run API's contract, one at a time, and asks the tests to notice.

Run it with the Python of the tests: ``python tests/mutants/contract_texts.py --seed 4 --count 10``.
Each change is made in a copy of the layers; the tests are those of the contract. Ends with 1 when a
change went unnoticed, with 2 when the tests are red without one.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYERS = ROOT / "layers"
MODULES = (
    "core/sayso/domain/errors.py",
    "core/sayso/domain/run.py",
    "core/sayso/http/authenticate.py",
    "core/sayso/http/create_run.py",
    "core/sayso/http/cursors.py",
    "core/sayso/http/errors.py",
    "core/sayso/http/json_body.py",
    "core/sayso/http/read_run.py",
    "core/sayso/http/run_api.py",
    "core/sayso/http/schemas.py",
    "core/sayso/http/sse.py",
    "core/sayso/usecases/read_run.py",
    "core/sayso/usecases/worker.py",
    "agent/sayso_agent/compositor.py",
    "agent/sayso_agent/failures.py",
    "agent/sayso_agent/graph.py",
    "agent/sayso_agent/protocol.py",
    "agent/sayso_agent/segment.py",
    "agent/sayso_agent/starting.py",
    "agent/sayso_agent/layers/ask_arguments.py",
    "agent/sayso_agent/layers/ask_human.py",
    "agent/sayso_agent/layers/output_schema.py",
    "agent/sayso_agent/layers/user_prompt.py",
)
"""Where the texts and limits of the contract stand."""

TESTS = (
    "tests/contract/agent_protocol",
    "tests/integration/test_handlers_create_run.py",
    "tests/integration/test_handlers_read_run.py",
    "tests/integration/test_idempotent_create.py",
    "tests/unit/agent/test_layers.py",
    "tests/unit/http",
    "tests/unit/usecases/test_active_time.py",
    "tests/unit/usecases/test_worker.py",
)
_WORD = re.compile(r"[a-z]{4,}")
_SENTENCE = re.compile(r"[A-Za-z']+ [A-Za-z']+ ")
"""What tells a text for people from a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of one place."""

    module: str
    line: int
    before: str
    after: str
    source: str
    """The whole module, changed."""

    def __str__(self) -> str:
        """Say what was changed and where."""
        return f"{self.module}:{self.line}: {self.before} -> {self.after}"


def changes_of(module: str) -> list[Change]:
    """Return every change that can be made in a module: a letter of a text, a limit plus one."""
    source = (LAYERS / module).read_text(encoding="utf-8")
    tree = ast.parse(source)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in documentation
    ]
    changes = [_change(module, source, node) for node in constants]
    return [change for change in changes if change is not None]


def _change(module: str, source: str, node: ast.Constant) -> Change | None:
    segment = ast.get_source_segment(source, node)
    if segment is None:
        return None
    if isinstance(node.value, str):
        word = _WORD.search(segment) if _SENTENCE.search(node.value) else None
        if word is None:
            return None
        letter = "x" if segment[word.end() - 1] != "x" else "y"
        changed = segment[: word.end() - 1] + letter + segment[word.end() :]
    elif isinstance(node.value, int | float) and not isinstance(node.value, bool):
        if node.value in {0, 1, -1}:
            return None
        changed = repr(node.value + 1)
    else:
        return None
    start = _offset(source, node.lineno, node.col_offset)
    return Change(
        module=module,
        line=node.lineno,
        before=segment,
        after=changed,
        source=source[:start] + changed + source[start + len(segment) :],
    )


def _offset(source: str, line: int, byte_column: int) -> int:
    """Return where a place is; the parser counts columns in bytes."""
    lines = source.splitlines(keepends=True)
    column = len(lines[line - 1].encode()[:byte_column].decode())
    return sum(len(one) for one in lines[: line - 1]) + column


def are_red(change: Change | None) -> bool:
    """Run the tests on a copy of the layers, changed in one place or not at all."""
    with tempfile.TemporaryDirectory() as folder:
        copies = Path(folder) / "layers"
        shutil.copytree(LAYERS, copies, ignore=shutil.ignore_patterns("__pycache__"))
        if change is not None:
            (copies / change.module).write_text(change.source, encoding="utf-8")
        path = os.pathsep.join([str(copies / "core"), str(copies / "agent"), str(ROOT / "local")])
        options = ["-q", "-x", "-n", "2", "-m", "not stack and not slow", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *TESTS, *options],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            check=False,
        )
    return done.returncode != 0


def main() -> int:
    """Make some changes, chosen at random, and say which of them went unnoticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10)
    arguments = parser.parse_args()
    if are_red(None):
        print("the tests fail without any change: mend them first")
        return 2
    every = [change for module in MODULES for change in changes_of(module)]
    chance = random.Random(arguments.seed)  # noqa: S311 - the same seed, the same changes
    unnoticed = 0
    print(f"{len(every)} places can be changed", flush=True)
    for change in chance.sample(every, min(arguments.count, len(every))):
        noticed = are_red(change)
        unnoticed += not noticed
        print(f"{'noticed ' if noticed else 'UNNOTICED'} {change}", flush=True)
    print(f"{arguments.count - unnoticed} of {arguments.count} changes were noticed")
    return min(unnoticed, 1)


if __name__ == "__main__":
    sys.exit(main())
