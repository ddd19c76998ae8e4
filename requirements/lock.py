"""Compile the hashed requirement files from pyproject.toml, or check that they still match it.

Each file is for one environment or layer; the agent layer has one for each choice of a model
provider, and is built from those that are chosen. All are universal (any platform, Python 3.11 and
later) and name no package index. The layers are constrained by the project's own file, so that
the tests run with exactly what is shipped, and so that the files of the agent layer agree. A file's first lines carry a digest of the inputs;
`--check` compares it without asking an index, so it gives the same answer offline and tomorrow.

Run by `make lock` and `make check`; needs uv on PATH or as the first argument of `--uv`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON_FLOOR = "3.11"
HEADER = "# Compiled from pyproject.toml by `make lock`; do not edit.\n# inputs: sha256:{digest}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """One requirement file and what it is compiled from."""

    path: str
    """The file, relative to the repository."""
    project: bool = False
    """Whether the project's own dependencies belong to it."""
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    constraint: str | None = None
    """A file written earlier whose versions hold here too."""
    without: str | None = None
    """A file written earlier whose packages are left out here."""


PROVIDERS = ("openai", "anthropic", "bedrock", "gemini")


def agent_lock(provider: str) -> Lock:
    """Return what is in the agent layer for one provider; the first is what it holds by default."""
    suffix = "" if provider == PROVIDERS[0] else f"-{provider}"
    return Lock(
        path=f"layers/agent/requirements{suffix}.txt",
        project=True,
        extras=("agent", f"agent-{provider}"),
        constraint="requirements/dev.txt",
        without="layers/core/requirements.txt",
    )


LOCKS = (
    Lock(
        path="requirements/dev.txt",
        project=True,
        extras=("agent", *(f"agent-{provider}" for provider in PROVIDERS)),
        groups=("dev",),
    ),
    Lock(path="requirements/uv.txt", groups=("uv",), constraint="requirements/dev.txt"),
    Lock(path="requirements/emulator.txt", groups=("emulator",)),
    Lock(path="requirements/sam.txt", groups=("sam",)),
    Lock(path="layers/core/requirements.txt", project=True, constraint="requirements/dev.txt"),
    *(agent_lock(provider) for provider in PROVIDERS),
)


def main() -> int:
    """Write or check all files; 0 when all is well, 1 when a file has drifted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="change nothing, fail on drift")
    parser.add_argument("--upgrade", action="store_true", help="take the newest allowed versions")
    parser.add_argument("--uv", default="uv", help="the uv program")
    options = parser.parse_args()
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    if options.check:
        return report_drift(pyproject)
    for lock in LOCKS:
        compile_lock(lock, pyproject, uv=options.uv, upgrade=options.upgrade)
        print(f"compiled {lock.path}")
    return 0


def report_drift(pyproject: dict[str, object]) -> int:
    """Print each file whose inputs have changed since it was compiled."""
    drifted = [lock.path for lock in LOCKS if inputs_digest(lock, pyproject) != stored_digest(lock)]
    for path in drifted:
        print(f"{path} does not match pyproject.toml: run `make lock`", file=sys.stderr)
    return 1 if drifted else 0


def compile_lock(lock: Lock, pyproject: dict[str, object], *, uv: str, upgrade: bool) -> None:
    """Compile one file in place; versions already in it are kept unless `upgrade`."""
    command = [uv, "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-header"]
    command += ["--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    command += ["--python-version", PYTHON_FLOOR, "--output-file", lock.path]
    command += ["pyproject.toml"] if lock.project else []
    command += [f"--extra={extra}" for extra in lock.extras]
    command += [f"--group={group}" for group in lock.groups]
    command += [f"--constraints={lock.constraint}"] if lock.constraint else []
    command += [f"--no-emit-package={name}" for name in package_names(lock.without)]
    command += ["--upgrade"] if upgrade else []
    subprocess.run(command, cwd=ROOT, check=True)
    body = (ROOT / lock.path).read_text()
    header = HEADER.format(digest=inputs_digest(lock, pyproject))
    (ROOT / lock.path).write_text(header + body)


def inputs_digest(lock: Lock, pyproject: dict[str, object]) -> str:
    """Digest everything in pyproject.toml that decides the content of this file."""
    project, groups = pyproject["project"], pyproject["dependency-groups"]
    assert isinstance(project, dict)
    assert isinstance(groups, dict)
    inputs: dict[str, object] = {"python": project["requires-python"]}
    if lock.project:
        inputs["dependencies"] = project["dependencies"]
    for extra in lock.extras:
        inputs[f"extra {extra}"] = project["optional-dependencies"][extra]
    for group in lock.groups:
        inputs[f"group {group}"] = expand(group, groups)
    canonical = json.dumps(inputs, sort_keys=True).encode()
    return hashlib.sha256(canonical).hexdigest()


def expand(group: str, groups: dict[str, list[str | dict[str, str]]]) -> list[str]:
    """Return a group's requirements with included groups in place."""
    found: list[str] = []
    for entry in groups[group]:
        found += [entry] if isinstance(entry, str) else expand(entry["include-group"], groups)
    return found


def stored_digest(lock: Lock) -> str | None:
    """Return the digest in a file's header, or None when there is no such file or header."""
    path = ROOT / lock.path
    text = path.read_text() if path.exists() else ""
    match = re.search(r"^# inputs: sha256:([0-9a-f]{64})$", text, re.MULTILINE)
    return match[1] if match else None


def package_names(path: str | None) -> list[str]:
    """Return the packages a requirement file pins."""
    if path is None:
        return []
    return re.findall(r"^([A-Za-z0-9._-]+)==", (ROOT / path).read_text(), re.MULTILINE)


if __name__ == "__main__":
    sys.exit(main())
