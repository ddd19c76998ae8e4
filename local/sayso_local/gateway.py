"""Talks to the emulator's HTTP API as API Gateway would have answered.

Differences of the emulator that are mended here; a test sees each one in the emulator itself, so that
one which has gone is noticed:

- an error of a function is a 502 that tells its message: API Gateway says 500 and nothing else;
- a function that takes too long is a 502 too: API Gateway says 503;
- any size of body is taken: API Gateway refuses more than 10 MB.

Not mended: `event.cookies` is missing (the `cookie` header is there), `%2F` in a path parameter is a
path separator, `OPTIONS` is answered 403, and throttling is not enforced.
"""

from __future__ import annotations

import http.client
import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sayso_local.emulator import HOST

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_BODY_BYTES = 10 * 1024 * 1024
# The emulator itself ends a function at its timeout; this only bounds a machine that is overloaded.
TIMEOUT_SECONDS = 90.0
# Every request at the same time is a process of its own, with a start of its own; the others wait.
MAX_SIMULTANEOUS = 16
HOP_BY_HOP = frozenset(
    {"connection", "content-length", "date", "host", "keep-alive", "server", "transfer-encoding"}
)
Headers = list[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One response."""

    status: int
    headers: Headers
    body: bytes
    length: int
    """What `Content-Length` says; for HEAD the body itself is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """The HTTP API of one deployed stack."""

    emulator_port: int
    api_id: str
    _turns: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(MAX_SIMULTANEOUS)
    )

    def call(
        self, method: str, target: str, headers: Iterable[tuple[str, str]], body: bytes
    ) -> Answer:
        """Pass one request on; never raises for what a function does."""
        if len(body) > MAX_BODY_BYTES:
            return _message(413, "Request Entity Too Large")
        with self._turns:
            return self._pass_on(method, target, headers, body)

    def _pass_on(
        self, method: str, target: str, headers: Iterable[tuple[str, str]], body: bytes
    ) -> Answer:
        """Ask the emulator; what it says of a failed function is put right."""
        connection = http.client.HTTPConnection(HOST, self.emulator_port, timeout=TIMEOUT_SECONDS)
        try:
            self._send(connection, method, target, headers, body)
            response = connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException):
            # Too slow, or the emulator is being stopped.
            return _message(503, "Service Unavailable")
        finally:
            connection.close()
        length = int(response.getheader("Content-Length") or len(content))
        answer = Answer(
            status=response.status,
            headers=[(k, v) for k, v in response.getheaders() if k.lower() not in HOP_BY_HOP],
            body=content,
            length=length,
        )
        return _hide_function_error(answer)

    def _send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        headers: Iterable[tuple[str, str]],
        body: bytes,
    ) -> None:
        """Write the request with the host name that the emulator knows the API by."""
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", f"{self.api_id}.execute-api.{HOST}:{self.emulator_port}")
        for name, value in headers:
            if name.lower() not in HOP_BY_HOP:
                connection.putheader(name, value)
        if body:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body or None)


def _hide_function_error(answer: Answer) -> Answer:
    """Turn the emulator's 502 into what API Gateway says of a failed function."""
    if answer.status != http.client.BAD_GATEWAY:
        return answer
    try:
        failure = json.loads(answer.body or b"{}")
    except ValueError:
        return answer
    # A HEAD request has no body to tell a function's own 502 by.
    if answer.body and "errorType" not in failure:
        return answer
    if "timed out after" in str(failure.get("errorMessage")):
        return _message(503, "Service Unavailable")
    return _message(500, "Internal Server Error")


def _message(status: int, text: str) -> Answer:
    """An answer of the gateway itself."""
    body = json.dumps({"message": text}).encode()
    return Answer(
        status=status, headers=[("Content-Type", "application/json")], body=body, length=len(body)
    )
