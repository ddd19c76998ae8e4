"""Fetches files of the web through the guard of outgoing calls (DESIGN §8).

Every host is resolved once, all its addresses must be allowed, and one of them is pinned, so that a
second answer of the name server cannot lead inside; each redirect is looked at the same way. TLS
and the Host header keep the name. Twin of the agent layer's guard, without asyncio and its client:
the page function starts with ``http.client``, which botocore brings along.
"""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import threading
import time
from contextlib import suppress
from email.message import Message
from functools import cache
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from sayso.domain.addresses import is_public, is_runtime_api
from sayso.domain.files import MAX_URL_CHARS, is_web_address
from sayso.domain.uploads import (
    MAX_UPLOAD_BYTES,
    RemoteFile,
    RemoteFileError,
    RemoteProblem,
    too_large,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SECONDS: Final = 3.0
"""For each request, from its first byte to its last (human-input §8.4)."""
MAX_REDIRECTS: Final = 3
_CHUNK_BYTES: Final = 64 * 1024
_PORTS: Final = {"https": 443, "http": 80}
_OK: Final = 200
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_STATUSES: Final = {
    401: RemoteProblem.ACCESS_DENIED,
    403: RemoteProblem.ACCESS_DENIED,
    404: RemoteProblem.NOT_FOUND,
    410: RemoteProblem.NOT_FOUND,
}


def resolve_host(host: str, port: int) -> list[str]:
    """Return all addresses of a host, IPv4 first: functions often have no way out by IPv6.

    Raises:
        OSError: The name cannot be resolved.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    found.sort(key=lambda one: one[0] != socket.AF_INET)
    return [str(one[4][0]) for one in found]


class GuardedFetcher:
    """A ``RemoteFiles`` that reaches public addresses only."""

    def __init__(
        self,
        *,
        allow_internal: bool,
        resolve: Callable[[str, int], Sequence[str]] = resolve_host,
        runtime_api: str | None = None,
    ) -> None:
        """Take what may be reached; ``allow_internal`` is for the local stack."""
        self._allow_internal = allow_internal
        self._resolve = resolve
        self._runtime_api = runtime_api or os.environ.get("AWS_LAMBDA_RUNTIME_API")

    def fetch(self, url: str) -> RemoteFile:
        """Return a file: asked for its size first, then for itself, and counted while it comes.

        Raises:
            RemoteFileError: It cannot be had, or may not be asked for.
            UploadRefusedError: It is too large.
        """
        # A server need not know HEAD; what it says then does not count (§8.4).
        with self._answer("HEAD", url) as head:
            if head.response.status == _OK:
                _check_size(head.response)
        with self._answer("GET", url) as answer:
            if answer.response.status != _OK:
                problem = _STATUSES.get(answer.response.status, RemoteProblem.UNAVAILABLE)
                raise RemoteFileError(problem, f"the server answered {answer.response.status}")
            _check_size(answer.response)
            return RemoteFile(name=_name_of(answer), data=answer.read())

    def _answer(self, method: str, url: str) -> _Answer:
        for _ in range(MAX_REDIRECTS + 1):
            parts = _parse(url)
            answer = _Answer(method, parts, self._allowed_address(parts))
            target = answer.response.headers.get("Location", "")
            if answer.response.status not in _REDIRECTS or not target:
                return answer
            with answer:
                url = urljoin(url, target)
        raise RemoteFileError(RemoteProblem.UNAVAILABLE, "too many redirects")

    def _allowed_address(self, url: SplitResult) -> str:
        host, port = str(url.hostname), _port(url)
        try:
            addresses = self._resolve(host, port)
        except (OSError, UnicodeError):
            raise RemoteFileError(RemoteProblem.REFUSED, "the host cannot be found") from None
        if not addresses or not all(self._is_allowed(one, port) for one in addresses):
            raise RemoteFileError(RemoteProblem.REFUSED, "the host is not a public one")
        return addresses[0]

    def _is_allowed(self, address: str, port: int) -> bool:
        if is_runtime_api(address, port, self._runtime_api):
            return False
        return self._allow_internal or is_public(address)


class _Answer:
    """One answer of one pinned address; ends on its own when its time is over."""

    def __init__(self, method: str, url: SplitResult, address: str) -> None:
        self.url = url
        self._ends_at = time.monotonic() + SECONDS
        self._connection = _PinnedConnection(url, address)
        # Silence between two bytes has a limit of its own; this one is for bytes that drip.
        self._timer = threading.Timer(SECONDS, self._connection.cut)
        self._timer.daemon = True
        self._timer.start()
        target = url._replace(scheme="", netloc="", fragment="").geturl() or "/"
        headers = {"Accept-Encoding": "identity", "User-Agent": "Sayso", "Connection": "close"}
        try:
            self._connection.request(method, target, headers=headers)
            self.response = self._connection.getresponse()
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise _failure(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.response.close()
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._timer.cancel()
        self._connection.close()

    def read(self) -> bytes:
        """Return the content, counted, whatever the head said."""
        data = bytearray()
        try:
            while chunk := self.response.read1(_CHUNK_BYTES):
                data += chunk
                if len(data) > MAX_UPLOAD_BYTES:
                    raise too_large(len(data))
        except (OSError, http.client.HTTPException) as error:
            raise _failure(error) from None
        if time.monotonic() > self._ends_at:
            raise RemoteFileError(RemoteProblem.UNAVAILABLE, "the server is too slow")
        if self.response.length:
            raise RemoteFileError(RemoteProblem.INVALID_RESPONSE, "the file was cut off")
        return bytes(data)


class _PinnedConnection(http.client.HTTPConnection):
    """A connection that goes to one address, whatever the name means meanwhile."""

    def __init__(self, url: SplitResult, address: str) -> None:
        super().__init__(str(url.hostname), _port(url), timeout=SECONDS)
        self.default_port = _PORTS[url.scheme]
        self._address = address
        self._is_tls = url.scheme == "https"
        self._opened: socket.socket | None = None

    def connect(self) -> None:
        """Open the connection; TLS checks the name."""
        self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._is_tls:
            self.sock = _tls().wrap_socket(self.sock, server_hostname=self.host)
        # ``getresponse`` forgets the socket of an answer that ends with its connection.
        self._opened = self.sock

    def cut(self) -> None:
        """End a transfer from another thread; its reader sees the end."""
        if self._opened is not None:
            with suppress(OSError):
                self._opened.shutdown(socket.SHUT_RDWR)


def _failure(error: Exception) -> RemoteFileError:
    if isinstance(error, OSError):
        return RemoteFileError(RemoteProblem.UNAVAILABLE, "the server cannot be reached")
    return RemoteFileError(RemoteProblem.INVALID_RESPONSE, "the server does not speak HTTP")


def _check_size(response: http.client.HTTPResponse) -> None:
    said = response.headers.get("Content-Length", "")
    if said.isdecimal() and said.isascii() and int(said[:20]) > MAX_UPLOAD_BYTES:
        raise too_large(int(said[:20]))


def _name_of(answer: _Answer) -> str:
    """Return what the server calls the file, else the last step of its address."""
    message = Message()
    message["content-disposition"] = answer.response.headers.get("Content-Disposition", "")
    return message.get_filename() or unquote(answer.url.path.rpartition("/")[2]) or "file"


def _parse(url: str) -> SplitResult:
    if len(url) > MAX_URL_CHARS or not is_web_address(url) or not url.isascii():
        raise RemoteFileError(RemoteProblem.REFUSED, "expected an http or https address")
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:
        raise RemoteFileError(RemoteProblem.REFUSED, "expected an address without a password")
    return parts


def _port(url: SplitResult) -> int:
    return url.port or _PORTS[url.scheme]


@cache
def _tls() -> ssl.SSLContext:
    """Loading the certificate store takes tens of milliseconds; one context serves all calls."""
    return ssl.create_default_context()
