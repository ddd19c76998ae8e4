"""Checks what `make build` made: the right processor, bytecode that the functions' Python takes, no repeats.

Run after `sam build`; prints the size of each layer and fails with one line for each fault.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent / ".aws-sam" / "build"
LAYERS = ("CoreLayer", "AgentLayer")
NATIVE_MARK = "cpython-313-aarch64-linux-gnu"
CACHE_TAG = "cpython-313"
# PEP 552: the field after the magic number; bit 0 says hash, bit 1 says to check it.
UNCHECKED_HASH = 0b01
# The magic number of Python 3.13 (importlib's MAGIC_NUMBER).
MAGIC = b"\xf3\x0d\x0d\x0a"
MEGABYTE = 1_000_000


def main() -> int:
    """Check both layers; 1 when anything is wrong."""
    faults: list[str] = []
    for name in LAYERS:
        root = BUILD / name / "python"
        files = [path for path in root.rglob("*") if path.is_file()]
        faults += [f"{path}: built for another processor or Python" for path in alien(files)]
        faults += [f"{path}: no usable bytecode" for path in slow(files)]
        size = sum(path.stat().st_size for path in files) / MEGABYTE
        print(f"{name}: {len(files)} files, {size:.1f} MB")
    faults += [f"{name}: stands in both layers" for name in repeated()]
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def alien(files: list[Path]) -> list[Path]:
    """Native modules that the functions cannot load."""
    return [path for path in files if path.suffix == ".so" and NATIVE_MARK not in path.name]


def slow(files: list[Path]) -> list[Path]:
    """Sources that would be compiled at every cold start."""
    return [path for path in files if path.suffix == ".py" and not has_bytecode(path)]


def has_bytecode(source: Path) -> bool:
    """Whether a source has bytecode for Python 3.13 that is used without a look at the source."""
    compiled = source.parent / "__pycache__" / f"{source.stem}.{CACHE_TAG}.pyc"
    if not compiled.is_file():
        return False
    magic, flags = struct.unpack("<4sI", compiled.read_bytes()[:8])
    return bool(magic == MAGIC and flags == UNCHECKED_HASH)


def repeated() -> list[str]:
    """Distributions that both layers hold."""
    core, agent = (
        {path.name for path in (BUILD / name / "python").glob("*.dist-info")} for name in LAYERS
    )
    return sorted(core & agent)


if __name__ == "__main__":
    sys.exit(main())
