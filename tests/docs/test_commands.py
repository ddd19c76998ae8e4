"""Commands that the docs name exist, and take the options that the docs give them."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest

from docs.pages import DOCS, PAGES, ROOT, bare, blocks, code_spans_of, prose_of, table_of
from sayso_cli.main import _parser as sayso_parser
from sayso_local.main import parse as parse_sayso_local
from support.template import TEMPLATE, section

if TYPE_CHECKING:
    from docs.pages import Block

MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z0-9-]+):", MAKEFILE, re.MULTILINE))
VARIABLES = set(re.findall(r"^([A-Z]+) \?=", MAKEFILE, re.MULTILINE))
SAMCONFIG = tomllib.loads((ROOT / "samconfig.toml").read_text())
SHELL = blocks("sh")
ASSIGNMENT = re.compile(r"[A-Z_]+=")


def _commands() -> list[list[str]]:
    """Return all commands of shell blocks and of the text, as words."""
    lines = [line for block in SHELL for line in block.text.splitlines()]
    lines += [span for page in PAGES for span in code_spans_of(prose_of(page))]
    names = ("make", "sayso", ".venv", ".ci/", "aws", "sam ")
    return [shlex.split(line) for line in lines if line.startswith(names) and "…" not in line]


def _is_whole(call: list[str]) -> bool:
    """Tell a command from the mere name of one, such as ``sayso dlq``."""
    return bool(call) and call not in (["dlq"], ["members"])


COMMANDS = _commands()


def _of(program: str) -> list[list[str]]:
    """Return the arguments of every call of a program."""
    return [rest for first, *rest in COMMANDS if first.rpartition("/")[2] == program]


def test_every_make_target_exists() -> None:
    words = [word for call in _of("make") for word in call]
    set_here = {word.partition("=")[0] for word in words if ASSIGNMENT.match(word)}

    assert {word for word in words if not ASSIGNMENT.match(word)} <= TARGETS
    assert set_here <= VARIABLES
    assert {"run", "demo", "test", "build"} <= set(words)


def test_sayso_takes_the_arguments_that_the_docs_give() -> None:
    calls = [call for call in _of("sayso") if _is_whole(call)]

    for call in calls:
        sayso_parser().parse_args(call)
    assert {"preflight", "dlq"} <= {call[0] for call in calls}


def test_sayso_local_takes_the_arguments_that_the_docs_give() -> None:
    calls = _of("sayso-local")

    for call in calls:
        parse_sayso_local(call)
    assert calls


def test_python_programs_that_the_docs_name_exist() -> None:
    for call in _of("python"):
        assert (ROOT / call[0]).is_file(), call


def test_sam_is_given_environments_and_parameters_that_exist() -> None:
    deploys = [call for call in _of("sam") if "--config-env" in call]

    for call in deploys:
        given = call[call.index("--parameter-overrides") + 1].split()
        assert call[call.index("--config-env") + 1] in SAMCONFIG
        assert {one.partition("=")[0] for one in given} <= section(TEMPLATE, "Parameters").keys()
    assert deploys


def test_the_table_of_environments_is_that_of_samconfig() -> None:
    rows = table_of(DOCS / "deploy.md", "environment", "stack", "parameters")

    assert {bare(name): bare(stack) for name, stack, _ in rows} == {
        name: settings["deploy"]["parameters"]["stack_name"]
        for name, settings in SAMCONFIG.items()
        if name not in {"version", "default"}
    }


def test_sam_deploys_what_was_built() -> None:
    named = [
        command
        for settings in SAMCONFIG.values()
        if isinstance(settings, dict)
        for command, given in settings.items()
        if command in {"global", "deploy"} and "template_file" in given["parameters"]
    ]

    assert named == []


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_shell_blocks_are_shell(block: Block) -> None:
    checked = subprocess.run(
        ["/bin/bash", "-n"], input=block.text, capture_output=True, text=True, check=False
    )

    assert checked.stderr == ""
