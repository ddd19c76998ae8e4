"""Where the local stack finds its parts: the repository, the emulator's Python, the built layers.

`make setup` makes them; this module only looks, and says what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sayso_local.errors import LocalStackError

LAYERS = ("core", "agent")
SET_UP = "run `make setup`"
ROOT = Path(__file__).resolve().parents[2]
"""The repository; the package is always installed from its working tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The folders and programs one local stack uses."""

    root: Path
    """The repository: environments, built layers and logs stand under it."""
    source: Path
    """What is deployed: `template.yaml`, `functions/` and `layers/`. The repository, except in tests."""

    @property
    def template(self) -> Path:
        """The SAM template."""
        return self.source / "template.yaml"

    @property
    def emulator_python(self) -> Path:
        """The interpreter that runs the emulator, and through it every function."""
        return self.root / ".venv-emulator" / "bin" / "python"

    @property
    def logs(self) -> Path:
        """Where the emulator and the functions log; one file a port."""
        return self.root / ".local" / "log"

    def requirements(self, layer: str) -> Path:
        """The locked requirements of a layer."""
        return self.root / "layers" / layer / "requirements.txt"

    def built_layer(self, layer: str) -> Path:
        """A layer's dependencies, installed for this machine."""
        return self.root / ".local" / "layers" / layer


def find_places(*, source: Path | None = None, root: Path = ROOT) -> Places:
    """Return the places of this repository, complete and up to date.

    Raises:
        LocalStackError: Something `make setup` makes is missing or older than its requirements.
    """
    places = Places(root=root, source=(source or root).resolve())
    if not places.template.is_file():
        raise LocalStackError(f"no template.yaml in {places.source}")
    if not places.emulator_python.exists():
        raise LocalStackError(f"the emulator's environment is missing: {SET_UP}")
    for layer in LAYERS:
        _check_layer(places, layer)
    return places


def _check_layer(places: Places, layer: str) -> None:
    """Compare a layer's requirements with the copy that was kept when it was built."""
    built_from = places.built_layer(layer) / "requirements.txt"
    if not built_from.is_file():
        raise LocalStackError(f"the {layer} layer is not built: {SET_UP}")
    if built_from.read_bytes() != places.requirements(layer).read_bytes():
        raise LocalStackError(f"the {layer} layer is older than its requirements: {SET_UP}")
