"""The guard of outgoing calls: one origin, resolved once, never inside."""

from __future__ import annotations

import asyncio
import http.server
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from sayso_agent.outgoing import Outgoing, OutgoingRefusedError, resolve_host

if TYPE_CHECKING:
    from collections.abc import Iterator

PUBLIC = "93.184.216.34"


class Names:
    """A name server whose answers change from one question to the next."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, int]] = []

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return the next answer."""
        self.asked.append((host, port))
        return self.answers.pop(0)


def opening(
    base_url: str, *answers: list[str], hosts: frozenset[str] | None = None, **options: Any
) -> None:
    """Open and close a client."""
    names = Names(*answers)
    outgoing = Outgoing(**{"allow_internal": False, "resolve": names.resolve, **options})

    async def open_and_close() -> None:
        async with outgoing.client(base_url, hosts=hosts):
            pass

    asyncio.run(open_and_close())


def test_a_public_host_may_be_called() -> None:
    opening("https://models.example/v1", [PUBLIC])


@pytest.mark.parametrize(
    "answer",
    [["127.0.0.1"], ["169.254.169.254"], ["::1"], [PUBLIC, "10.0.0.1"], []],
    ids=str,
)
def test_a_host_with_any_internal_address_is_refused(answer: list[str]) -> None:
    with pytest.raises(OutgoingRefusedError, match=r"^the host 'models.example' is not a public"):
        opening("https://models.example/v1", answer)


def test_the_refusal_does_not_tell_the_address() -> None:
    with pytest.raises(OutgoingRefusedError) as refused:
        opening("https://models.example/v1", ["10.1.2.3"])

    assert "10.1.2.3" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/v1",
        "https://[::1]/v1",
        "http://169.254.169.254/latest/meta-data",
        "https://localhost/v1",
        "https://[::ffff:10.0.0.1]/v1",
    ],
)
def test_internal_addresses_are_refused_however_they_are_written(url: str) -> None:
    outgoing = Outgoing(allow_internal=False)

    async def open_it() -> None:
        async with outgoing.client(url, hosts=None):
            pytest.fail("the client was opened")

    with pytest.raises(OutgoingRefusedError):
        asyncio.run(open_it())


@pytest.mark.parametrize(
    "url",
    ["ftp://models.example", "models.example", "https://", "https://me:pw@models.example", "\x00"],
    ids=repr,
)
def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    with pytest.raises(OutgoingRefusedError, match="base address"):
        opening(url, [PUBLIC])


def test_a_name_that_cannot_be_resolved_is_refused() -> None:
    async def nowhere(_host: str, _port: int) -> list[str]:
        raise OSError

    with pytest.raises(OutgoingRefusedError, match="cannot be found"):
        opening("https://models.example", resolve=nowhere)


def test_a_stored_credential_goes_to_its_hosts_only() -> None:
    hosts = frozenset({"api.openai.com"})

    opening("https://api.openai.com/v1", [PUBLIC], hosts=hosts)
    with pytest.raises(OutgoingRefusedError, match=r"may not be sent to 'evil\.example'"):
        opening("https://evil.example/v1", [PUBLIC], hosts=hosts)


def test_a_stored_credential_goes_by_https_only() -> None:
    with pytest.raises(OutgoingRefusedError, match="by https only"):
        opening("http://api.openai.com/v1", [PUBLIC], hosts=frozenset({"api.openai.com"}))


def test_the_runtime_endpoint_is_refused_even_where_internal_addresses_are_allowed() -> None:
    with pytest.raises(OutgoingRefusedError):
        opening(
            "http://local.example:9001",
            ["127.0.0.1"],
            allow_internal=True,
            runtime_api="127.0.0.1:9001",
        )


class Echo(http.server.BaseHTTPRequestHandler):
    """Answers with the Host header it got, or with a redirect."""

    def do_GET(self) -> None:
        """Answer."""
        if self.path == "/away":
            self.send_response(302)
            self.send_header("Location", "http://elsewhere.example/")
            self.end_headers()
            return
        body = str(self.headers["Host"]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Log nothing."""


@contextmanager
def echo_server() -> Iterator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def test_the_first_answer_of_the_name_server_is_pinned_and_the_name_is_kept() -> None:
    names = Names(["127.0.0.1"])
    outgoing = Outgoing(allow_internal=True, resolve=names.resolve)

    async def call_twice(port: int) -> list[str]:
        base = f"http://models.example:{port}"
        async with outgoing.client(base, hosts=None) as client:
            return [(await client.get(f"{base}/")).text for _ in range(2)]

    with echo_server() as port:
        hosts = asyncio.run(call_twice(port))

    assert hosts == [f"models.example:{port}"] * 2
    assert names.asked == [("models.example", port)]


def test_the_host_header_is_that_of_the_origin_whatever_settings_say() -> None:
    outgoing = Outgoing(allow_internal=True, resolve=Names(["127.0.0.1"]).resolve)

    async def call(port: int) -> str:
        base = f"http://models.example:{port}"
        async with outgoing.client(base, hosts=None) as client:
            return (await client.get(f"{base}/", headers={"Host": "evil.example"})).text

    with echo_server() as port:
        assert asyncio.run(call(port)) == f"models.example:{port}"


def test_redirects_are_not_followed() -> None:
    names = Names(["127.0.0.1"])
    outgoing = Outgoing(allow_internal=True, resolve=names.resolve)

    async def call(port: int) -> int:
        base = f"http://models.example:{port}"
        async with outgoing.client(base, hosts=None) as client:
            return (await client.get(f"{base}/away")).status_code

    with echo_server() as port:
        assert asyncio.run(call(port)) == 302


@pytest.mark.parametrize(
    "url", ["https://other.example/", "http://models.example/", "https://models.example:444/"]
)
def test_a_client_reaches_no_other_origin(url: str) -> None:
    outgoing = Outgoing(allow_internal=False, resolve=Names([PUBLIC]).resolve)

    async def call() -> None:
        async with outgoing.client("https://models.example/v1", hosts=None) as client:
            await client.get(url)

    with pytest.raises(OutgoingRefusedError, match="may not call"):
        asyncio.run(call())


def test_numeric_hosts_resolve_to_themselves() -> None:
    assert asyncio.run(resolve_host("127.0.0.1", 80)) == ["127.0.0.1"]
