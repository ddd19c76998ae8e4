"""Guards the calls whose address a request can choose (DESIGN §8).

A client is made for one origin: its host is resolved once, every address it has must be allowed,
and one of them is pinned, so that a second answer of the name server cannot lead inside. TLS and
the Host header keep the name. Nothing else can be reached through the client: no other origin, no
redirect, no proxy from the environment.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Final

import httpx2

from sayso.domain.addresses import is_public, is_runtime_api

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

CONNECT_SECONDS: Final = 5.0
CALL_SECONDS: Final = 300.0
"""Longest silence of a provider; a model call has to end well within a function's time."""

_DEFAULT_PORTS: Final = {"https": 443, "http": 80}


class OutgoingRefusedError(ValueError):
    """An address may not be called; the text says which host and why. The caller acts."""


async def resolve_host(host: str, port: int) -> list[str]:
    """Return all addresses of a host, IPv4 first: functions often have no way out by IPv6.

    Raises:
        OSError: The name cannot be resolved.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    found.sort(key=lambda one: one[0] != socket.AF_INET)
    return [str(one[4][0]) for one in found]


class Outgoing:
    """Makes guarded clients. One for all segments."""

    def __init__(
        self,
        *,
        allow_internal: bool,
        resolve: Callable[[str, int], Awaitable[Sequence[str]]] = resolve_host,
        runtime_api: str | None = None,
    ) -> None:
        self.allow_internal = allow_internal
        self._resolve = resolve
        self._runtime_api = runtime_api or os.environ.get("AWS_LAMBDA_RUNTIME_API")

    @asynccontextmanager
    async def client(
        self, base_url: str, *, hosts: frozenset[str] | None
    ) -> AsyncIterator[httpx2.AsyncClient]:
        """Return a client that reaches the origin of ``base_url`` and nothing else.

        Args:
            base_url: Where the calls go.
            hosts: The only hosts that may be called; None: any allowed one.

        Raises:
            OutgoingRefusedError: That place may not be called.
        """
        self.check_hosts(base_url, hosts=hosts)
        url = _parse(base_url)
        address = await self._allowed_address(url)
        transport = _PinnedTransport(url, address)
        timeout = httpx2.Timeout(CALL_SECONDS, connect=CONNECT_SECONDS)
        async with httpx2.AsyncClient(
            transport=transport, timeout=timeout, trust_env=False, follow_redirects=False
        ) as client:
            yield client

    def check_hosts(self, base_url: str, *, hosts: frozenset[str] | None) -> None:
        """Tell whether a stored credential may be sent to a place.

        Args:
            base_url: Where it would go.
            hosts: The hosts stored beside it; None: the credential is not a stored one.

        Raises:
            OutgoingRefusedError: It may not.
        """
        url = _parse(base_url)
        if hosts is None:
            return
        if url.host not in hosts:
            message = f"the stored credential may not be sent to {url.host!r}"
            raise OutgoingRefusedError(message)
        if url.scheme != "https" and not self.allow_internal:
            message = f"the stored credential may be sent by https only, got {url.scheme!r}"
            raise OutgoingRefusedError(message)

    async def _allowed_address(self, url: httpx2.URL) -> str:
        try:
            addresses = await self._resolve(url.host, _port(url))
        except OSError as error:
            message = f"the host {url.host!r} cannot be found"
            raise OutgoingRefusedError(message) from error
        if not addresses or not all(self._is_allowed(one, _port(url)) for one in addresses):
            message = f"the host {url.host!r} is not a public one and may not be called"
            raise OutgoingRefusedError(message)
        return addresses[0]

    def _is_allowed(self, address: str, port: int) -> bool:
        if is_runtime_api(address, port, self._runtime_api):
            return False
        return self.allow_internal or is_public(address)


class _PinnedTransport(httpx2.AsyncBaseTransport):
    """Sends requests of one origin to one address."""

    def __init__(self, origin: httpx2.URL, address: str) -> None:
        self._origin = origin
        self._address = address
        self._inner = httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request.

        Raises:
            OutgoingRefusedError: It goes to another origin.
        """
        if _origin(request.url) != _origin(self._origin):
            message = f"this client may not call {request.url.host!r}"
            raise OutgoingRefusedError(message)
        # A Host header from model settings could have a shared front end hand the call, and the
        # credential with it, to somebody else.
        request.headers["Host"] = self._origin.netloc.decode("ascii")
        pinned = httpx2.Request(
            method=request.method,
            url=request.url.copy_with(host=self._address),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": self._origin.host},
        )
        return await self._inner.handle_async_request(pinned)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


def _parse(base_url: str) -> httpx2.URL:
    try:
        url = httpx2.URL(base_url)
    except httpx2.InvalidURL as error:
        message = "the base address is no URL"
        raise OutgoingRefusedError(message) from error
    if url.scheme not in _DEFAULT_PORTS or not url.host or url.userinfo:
        message = "the base address must be of the form https://host[:port]/path"
        raise OutgoingRefusedError(message)
    return url


def _port(url: httpx2.URL) -> int:
    return url.port or _DEFAULT_PORTS[url.scheme]


def _origin(url: httpx2.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, _port(url)


@cache
def _tls() -> ssl.SSLContext:
    """Loading the certificate store takes tens of milliseconds; one context serves all clients."""
    return ssl.create_default_context()
