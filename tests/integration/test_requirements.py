"""The hashed requirement files match pyproject.toml, each other, and any index."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from sayso_agent.providers.table import PROVIDERS
from support.template import ROOT

AGENT = [
    "layers/agent/requirements.txt",
    "layers/agent/requirements-anthropic.txt",
    "layers/agent/requirements-bedrock.txt",
    "layers/agent/requirements-gemini.txt",
]
FILES = [
    "requirements/dev.txt",
    "requirements/uv.txt",
    "requirements/emulator.txt",
    "requirements/sam.txt",
    "layers/core/requirements.txt",
    *AGENT,
]


def pins(path: str) -> dict[str, str]:
    """The version of each package a file pins."""
    text = (ROOT / path).read_text()
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", text, re.MULTILINE))


def test_the_files_are_compiled_from_pyproject_as_it_is() -> None:
    script = ROOT / "requirements" / "lock.py"

    checked = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )

    assert checked.stderr == ""
    assert checked.returncode == 0


@pytest.mark.parametrize("path", FILES)
def test_every_package_has_hashes_and_no_file_names_an_index(path: str) -> None:
    text = (ROOT / path).read_text()

    entries = re.split(r"\n(?=[A-Za-z0-9])", text)[1:]
    assert entries
    assert all("--hash=sha256:" in entry for entry in entries)
    assert not re.search(r"://|--(extra-)?index|--find-links|-f ", text)


@pytest.mark.parametrize("path", ["layers/core/requirements.txt", *AGENT])
def test_tests_run_with_what_is_shipped(path: str) -> None:
    dev = pins("requirements/dev.txt")

    shipped = pins(path)
    assert {name: dev.get(name) for name in shipped} == shipped


@pytest.mark.parametrize("path", AGENT)
def test_the_agent_layer_repeats_nothing_of_the_core_layer(path: str) -> None:
    core = pins("layers/core/requirements.txt")

    assert not set(core) & set(pins(path))


def test_every_provider_s_sdk_has_a_file() -> None:
    words = {row.build_word for row in PROVIDERS.values()}
    files = {path.name for path in (ROOT / "layers" / "agent").glob("requirements-*.txt")}

    assert files == {f"requirements-{word}.txt" for word in words - {"openai"}}
