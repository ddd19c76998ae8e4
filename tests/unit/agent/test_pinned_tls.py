"""TLS of a pinned connection: the address is fixed, the name is still what is checked."""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING

import httpx2
import pytest

from sayso_agent import outgoing
from sayso_agent.outgoing import Outgoing, OutgoingRefusedError
from support.authority import Authority, tls_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOST = "models.example"


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Authority]:
    """Trust an authority of this test, as a process does that is told so by OpenSSL's variable."""
    made = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.path))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "none"))
    outgoing._tls.cache_clear()
    yield made
    outgoing._tls.cache_clear()


class ChangingNames:
    """A name server that answers with loopback first and with a dead address from then on."""

    def __init__(self) -> None:
        self.asked = 0

    async def resolve(self, _host: str, _port: int) -> list[str]:
        """Return the next answer."""
        self.asked += 1
        return ["127.0.0.1"] if self.asked == 1 else ["192.0.2.1"]


def get(port: int, *, times: int = 1, names: ChangingNames | None = None) -> list[int]:
    """Call the server by its name and return the statuses."""
    names = names or ChangingNames()
    guard = Outgoing(allow_internal=True, resolve=names.resolve)
    url = f"https://{HOST}:{port}/"

    async def call() -> list[int]:
        async with guard.client(url, hosts=frozenset({HOST})) as client:
            headers = {"Connection": "close"}
            return [(await client.get(url, headers=headers)).status_code for _ in range(times)]

    return asyncio.run(call())


def test_the_name_is_asked_for_and_checked_though_the_address_is_pinned(
    authority: Authority,
) -> None:
    with tls_server(authority.issue(HOST)) as server:
        assert get(server.port) == [204]

    assert server.names == [HOST]
    assert server.hosts == [f"{HOST}:{server.port}"]


@pytest.mark.parametrize("other", ["evil.example", "127.0.0.1", "localhost"])
def test_a_certificate_for_another_name_is_refused(authority: Authority, other: str) -> None:
    with (
        tls_server(authority.issue(other)) as server,
        pytest.raises(httpx2.ConnectError, match="Hostname mismatch"),
    ):
        get(server.port)

    assert server.hosts == [], "nothing was sent, no key either"


def test_a_certificate_of_an_unknown_authority_is_refused(
    authority: Authority, tmp_path: Path
) -> None:
    folder = tmp_path / "stranger"
    folder.mkdir()
    stranger = Authority(folder)
    assert stranger.path != authority.path

    with (
        tls_server(stranger.issue(HOST)) as server,
        pytest.raises(httpx2.ConnectError, match="certificate verify failed"),
    ):
        get(server.port)

    assert server.hosts == []


def test_a_name_server_that_changes_its_mind_is_not_asked_again(authority: Authority) -> None:
    names = ChangingNames()

    with tls_server(authority.issue(HOST)) as server:
        assert get(server.port, times=3, names=names) == [204] * 3

    assert names.asked == 1
    assert server.names == [HOST] * 3, "three connections to the one address"


@pytest.mark.parametrize(
    "location", ["https://evil.example/", "http://169.254.169.254/latest/meta-data/"]
)
def test_a_redirect_is_handed_back_not_followed(authority: Authority, location: str) -> None:
    with tls_server(authority.issue(HOST), location=location) as server:
        assert get(server.port) == [302]

    assert len(server.hosts) == 1


def test_old_versions_of_tls_are_refused() -> None:
    assert outgoing._tls().minimum_version >= ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0",
        "0.0.0.0",
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "10.0.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:a9fe:a9fe]",
        "[64:ff9b::a9fe:a9fe]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "localhost",
        "localhost.",
        "LOCALHOST",
    ],
)
def test_no_spelling_of_an_internal_address_is_called(host: str) -> None:
    """Resolved for real: the C library reads octal, decimal and short forms as inet_aton does."""
    guard = Outgoing(allow_internal=False)

    async def open_it() -> None:
        async with guard.client(f"https://{host}/v1", hosts=None):
            pytest.fail("the client was opened")

    with pytest.raises(OutgoingRefusedError):
        asyncio.run(open_it())
