"""What `make setup` makes is looked for, and what is missing or old is said in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sayso_local.errors import LocalStackError
from sayso_local.places import find_places

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository that is set up."""
    (tmp_path / "template.yaml").touch()
    python = tmp_path / ".venv-emulator" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    for layer in ("core", "agent"):
        for folder in (tmp_path / "layers" / layer, tmp_path / ".local" / "layers" / layer):
            folder.mkdir(parents=True)
            (folder / "requirements.txt").write_text("a==1\n")
    return tmp_path


def test_a_repository_that_is_set_up_is_taken(root: Path) -> None:
    places = find_places(root=root)

    assert places.source == root


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("template.yaml", "no template.yaml in "),
        (".venv-emulator/bin/python", "the emulator's environment is missing: run `make setup`"),
        (".local/layers/agent/requirements.txt", "the agent layer is not built: run `make setup`"),
    ],
)
def test_what_is_missing_is_said(root: Path, missing: str, said: str) -> None:
    (root / missing).unlink()

    with pytest.raises(LocalStackError) as error:
        find_places(root=root)

    assert str(error.value).startswith(said)


def test_a_layer_of_old_requirements_is_noticed(root: Path) -> None:
    (root / "layers" / "core" / "requirements.txt").write_text("a==2\n")

    with pytest.raises(LocalStackError, match="the core layer is older than its requirements"):
        find_places(root=root)
