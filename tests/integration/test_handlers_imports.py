"""What each function loads, seen in a fresh interpreter: cold starts are decided by imports."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from sayso.settings import VARIABLES
from support.template import FUNCTIONS, ROOT, folder

# Loads a function as Lambda does and prints the packages and modules that came with it.
LOAD = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("app", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
assert callable(module.handler)
print(json.dumps(sorted(sys.modules)))
"""
ENVIRONMENT = {variable.name: "x" for variable in VARIABLES if variable.default is None} | {
    "AWS_DEFAULT_REGION": "eu-central-1",
    "POWERTOOLS_METRICS_NAMESPACE": "Sayso",
}

AGENT = {"pydantic_ai", "sayso_agent", "openai"}
HEAVY = AGENT | {"pydantic", "bleach", "markdown_it"}
FORBIDDEN = {
    "create_run": AGENT | {"bleach", "markdown_it", "jinja2"},
    "read_run": HEAVY | {"jinja2"},
    "submit_form": HEAVY | {"aws_lambda_powertools.event_handler"},
    "console": AGENT | {"bleach", "markdown_it", "jinja2"},
    "deliver": AGENT | {"pydantic"},
    "timeout_sweep": HEAVY | {"jinja2"},
    "resume": {"boto3", "openai", "anthropic", "google.genai"},
}


def loaded_by(function: str) -> set[str]:
    path = ROOT / "functions" / function / "app.py"
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(path)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    modules: list[str] = json.loads(done.stdout)
    return set(modules)


def test_every_function_has_its_list() -> None:
    assert {folder(function) for function in FUNCTIONS.values()} == set(FORBIDDEN)


@pytest.mark.slow
@pytest.mark.parametrize("function", sorted(FORBIDDEN))
def test_a_function_loads_nothing_that_it_does_not_use(function: str) -> None:
    modules = loaded_by(function)

    assert not FORBIDDEN[function] & modules
    assert ("pydantic_ai" in modules) is (function == "resume")


@pytest.mark.parametrize("function", sorted(FORBIDDEN))
def test_a_handler_is_thin(function: str) -> None:
    lines = (ROOT / "functions" / function / "app.py").read_text().splitlines()

    assert len(lines) <= 40
    assert not any(line.lstrip().startswith("if ") for line in lines)
