"""Finds processes of this machine as /proc shows them."""

from __future__ import annotations

from pathlib import Path

PROC = Path("/proc")
LOCAL_ADDRESS, INODE = 1, 9
"""Columns of /proc/net/tcp (proc(5))."""


def process_of_port(port: int) -> int:
    """Return the process that has a connection from this port of the loopback address."""
    inode = next(
        columns[INODE]
        for columns in map(str.split, (PROC / "net" / "tcp").read_text().splitlines()[1:])
        if int(columns[LOCAL_ADDRESS].partition(":")[2], 16) == port and columns[INODE] != "0"
    )
    for descriptor in PROC.glob("[0-9]*/fd/*"):
        try:
            if str(descriptor.readlink()) == f"socket:[{inode}]":
                return int(descriptor.parts[2])
        except OSError:  # it has ended, or closed this one, meanwhile
            continue
    message = f"no process has port {port}"
    raise AssertionError(message)


def environment_of(process: int) -> dict[str, str]:
    """Return the environment a process was started with."""
    lines = (PROC / str(process) / "environ").read_bytes().split(b"\0")
    pairs = (line.decode().partition("=") for line in lines if line)
    return {name: value for name, _, value in pairs}


def is_running(process: int) -> bool:
    """Whether a process runs; a dead one that nobody has waited for does not."""
    try:
        status = (PROC / str(process) / "stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
