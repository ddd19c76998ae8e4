"""Threads for tools that are plain functions, so that one that hangs holds up nobody.

A thread cannot be stopped. The agent library's own threads are waited for, even when the call is
cancelled; these are left behind.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from pydantic_ai import Agent

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_THREADS: Final = 32
"""More plain tools than that in one turn wait for each other."""


@contextmanager
def threads_of_tools() -> Iterator[None]:
    """Let plain tools run in threads of this segment; whatever still runs at its end is left."""
    threads = ThreadPoolExecutor(max_workers=_MAX_THREADS, thread_name_prefix="tool")
    try:
        with Agent.using_thread_executor(threads):
            yield
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
