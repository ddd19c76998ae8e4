"""The guide on layers of one's own works as it is written: class, package, composition."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from types import FunctionType
from typing import TYPE_CHECKING

import pytest

from docs.pages import DOCS, ROOT, bare, blocks, table_of
from sayso_agent.durability import METADATA_KEY, TOOL_SECONDS
from sayso_agent.layers.base import Layer
from support.segments import CONTEXT, llm, request, text

if TYPE_CHECKING:
    from pathlib import Path

GUIDE = DOCS / "custom-layers.md"
MAX_LINES = 20

RUN = """
import asyncio, json, sys
from sayso_agent.layers.registry import BUILT_IN, build_registry, installed_types
from sayso_agent.runner import PydanticAgentRunner
from support.segments import MemoryJournal, WatchedModels, work_on
models = WatchedModels()
registry = build_registry([*BUILT_IN, *installed_types()])
runner = PydanticAgentRunner(registry=registry, models=models)
result = asyncio.run(runner.run(work_on(json.loads(sys.argv[1])), MemoryJournal()))
print(json.dumps([type(result).__name__, models.instructions]))
"""


def block(language: str, tag: str) -> str:
    (found,) = (one for one in blocks(language, tag) if one.page == GUIDE)
    return found.text


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the package of the guide and unpack its wheel, as the layer's Makefile does."""
    folder = tmp_path_factory.mktemp("house")
    (folder / "pyproject.toml").write_text(block("toml", "custom_layer"))
    (folder / "house_layers.py").write_text(block("python", "custom_layer"))
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run(build, cwd=folder, check=True, capture_output=True)
    (wheel,) = folder.glob("dist/*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "python")
    return folder / "python"


def test_the_layer_of_the_guide_wraps_the_prompts_of_a_run(installed: Path) -> None:
    layer = json.loads(block("json", ""))
    create = request(layer, CONTEXT, llm([text("Done.")]))
    places = [str(installed), *sys.path]

    ran = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(create)],
        env={"PYTHONPATH": ":".join(places)},
        check=True,
        capture_output=True,
        text=True,
    )

    config = layer["config"]
    wrapped = f"{config['prefix']}\nRule of the house: {config['rule']}"
    assert json.loads(ran.stdout) == ["Finished", [wrapped]]


def test_the_class_is_short() -> None:
    lines = [line for line in block("python", "custom_layer").splitlines() if line.strip()]

    assert len(lines) <= MAX_LINES


def test_the_methods_of_a_layer_are_listed() -> None:
    rows = table_of(GUIDE, "method", "contributes")
    listed = {name for cell, _ in rows for name in bare(cell).split(", ")}

    methods = {
        name
        for name, value in vars(Layer).items()
        if isinstance(value, FunctionType) and not name.startswith("_")
    }
    assert listed == methods - {"wrap_prompt", "wrap_user_prompt"}


def test_the_time_limit_of_the_guide_is_that_of_the_code() -> None:
    (row,) = (one for one in table_of(GUIDE, "member", "default", "meaning") if "time" in one[0])

    assert bare(row[1]) == f"{TOOL_SECONDS:g}"
    assert f"under `{METADATA_KEY}`" in GUIDE.read_text()


def test_the_layer_s_makefile_installs_the_wheels(installed: Path, tmp_path: Path) -> None:
    """The step alone: the whole build needs the functions' Python and takes its time."""
    makefile = ROOT / "layers" / "agent" / "Makefile"
    shutil.copytree(installed.parent / "dist", tmp_path / "wheels")

    shown = subprocess.run(
        ["make", "--dry-run", "--file", str(makefile), "build-AgentLayer"],  # noqa: S607
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "ARTIFACTS_DIR": str(tmp_path)},
        check=True,
        capture_output=True,
        text=True,
    )

    assert "wheels/house_layers-1.0.0-py2.py3-none-any.whl" in shown.stdout
