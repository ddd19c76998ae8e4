"""Packs functions and layers for the emulator.

A function is a zip of its folder, as on AWS. A layer is linked, not copied: the emulator unpacks every
layer again for each function process, which costs a second for thousands of files. Its zip holds one
path file that names two folders: our own package, copied fresh from the working tree, and the
dependencies, installed once by `make setup`.
"""

from __future__ import annotations

import io
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from sayso_local.errors import LocalStackError

if TYPE_CHECKING:
    from sayso_local.places import Places

PATH_FILE = "python/lib/python3.13/site-packages/layer.pth"
IGNORED = shutil.ignore_patterns("__pycache__", "*.pyc")


def function_zip(places: Places, code_uri: str) -> bytes:
    """Return the deployment package of one function.

    Raises:
        LocalStackError: The folder has no `app.py`.
    """
    folder = places.source / code_uri
    if not (folder / "app.py").is_file():
        raise LocalStackError(f"{code_uri}/app.py is missing in {places.source}")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return _zip({str(path.relative_to(folder)): path.read_bytes() for path in files})


def layer_zip(places: Places, content_uri: str, *, copies: Path) -> bytes:
    """Return the package of one layer, after copying our own package below `copies`."""
    name = Path(content_uri).name
    own = copies / name
    for package in _packages(places.source / content_uri):
        shutil.copytree(package, own / package.name, ignore=IGNORED)
    folders = [str(places.built_layer(name)), str(own)]
    # A line of a path file that starts with "import" is run: this one puts the folders before all others.
    return _zip({PATH_FILE: f"import sys; sys.path[:0] = {folders[::-1]!r}\n".encode()})


def _packages(folder: Path) -> list[Path]:
    """The Python packages that stand in a layer's folder."""
    return sorted(path.parent for path in folder.glob("*/__init__.py"))


def _zip(files: dict[str, bytes]) -> bytes:
    """Pack files without compressing them: they travel over loopback once."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()
