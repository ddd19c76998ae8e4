"""A model server over HTTP whose answers a test can hold back and whose calls it can look at."""

from __future__ import annotations

import http.server
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stub_model.server import HOST, Handler

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_HOLD_SECONDS = 120.0


@dataclass
class ModelServer:
    """The OpenAI-compatible stub, held by the hand."""

    url: str
    calls: list[float] = field(default_factory=list)
    """When each call came, on the machine's clock."""
    ports: list[int] = field(default_factory=list)
    """The caller's port of each call, which tells the process."""
    streams: int = 0
    """Answers that were asked for in pieces."""
    seconds: float = 0
    """How long each answer takes."""
    gate: threading.Event = field(default_factory=threading.Event)
    """Answers wait until it is set."""


@contextmanager
def model_server(*, seconds: float = 0, held: bool = False) -> Iterator[ModelServer]:
    """Serve in threads until the context ends."""

    class Watched(Handler):
        """Takes note of a call, waits, then answers as the stub does."""

        def do_POST(self) -> None:  # noqa: N802 - the base class names it
            """Answer one call."""
            watched.calls.append(time.time())
            watched.ports.append(self.client_address[1])
            watched.gate.wait(MAX_HOLD_SECONDS)
            time.sleep(watched.seconds)
            super().do_POST()

        def _stream(self, *arguments: Any) -> None:
            watched.streams += 1
            super()._stream(*arguments)

    server = http.server.ThreadingHTTPServer((HOST, 0), Watched)
    server.daemon_threads = True
    watched = ModelServer(f"http://{HOST}:{server.server_port}/v1", seconds=seconds)
    if not held:
        watched.gate.set()
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield watched
    finally:
        watched.gate.set()
        server.shutdown()
        server.server_close()
