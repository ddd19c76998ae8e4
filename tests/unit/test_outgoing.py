"""Files of the web: fetched from allowed places only, whole, in time and not too large."""

from __future__ import annotations

import http.server
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from sayso.domain.uploads import (
    MAX_UPLOAD_BYTES,
    RemoteFile,
    RemoteFileError,
    RemoteProblem,
    UploadProblem,
    UploadRefusedError,
)
from sayso.outgoing import GuardedFetcher

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES = {"/large": str(MAX_UPLOAD_BYTES + 1), "/cut": "100"}


class Web(http.server.BaseHTTPRequestHandler):
    """A few files."""

    def do_HEAD(self) -> None:
        """Know no HEAD, as some servers."""
        self.send_response(405)
        self.end_headers()

    def do_GET(self) -> None:
        """Answer by the path."""
        status = int(self.path[1:]) if self.path[1:].isdigit() else 200
        if self.path.startswith(("/to", "/round")):
            self.send_response(302)
            self.send_header("Location", self.path if self.path == "/round" else self.path[3:])
            self.end_headers()
            return
        self.send_response(status)
        if self.path == "/named":
            self.send_header("Content-Disposition", 'attachment; filename="a b.pdf"')
        if size := SIZES.get(self.path):
            self.send_header("Content-Length", size)
        self.end_headers()
        if self.path == "/endless":
            block = bytes(2**20)
            try:
                while True:
                    self.wfile.write(block)
            except OSError:
                return
        self.wfile.write(b"content")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def fetch(port: int, path: str, host: str = "files.example") -> RemoteFile:
    fetcher = GuardedFetcher(allow_internal=True, resolve=lambda *_: ["127.0.0.1"])
    return fetcher.fetch(f"http://{host}:{port}{path}")


@contextmanager
def refused(problem: RemoteProblem) -> Iterator[None]:
    with pytest.raises(RemoteFileError) as caught:
        yield
    assert caught.value.problem is problem


@pytest.mark.parametrize(
    ("path", "name"),
    [("/dir/scan%201.pdf?x=1", "scan 1.pdf"), ("/named", "a b.pdf"), ("/", "file"), ("/to/x", "x")],
)
def test_a_file_is_fetched_under_its_name(port: int, path: str, name: str) -> None:
    assert fetch(port, path) == RemoteFile(name=name, data=b"content")


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/404", RemoteProblem.NOT_FOUND),
        ("/403", RemoteProblem.ACCESS_DENIED),
        ("/500", RemoteProblem.UNAVAILABLE),
        ("/round", RemoteProblem.UNAVAILABLE),
        ("/cut", RemoteProblem.INVALID_RESPONSE),
        ("/toftp://files.example/x", RemoteProblem.REFUSED),
    ],
)
def test_a_file_that_cannot_be_had_says_why(port: int, path: str, problem: RemoteProblem) -> None:
    with refused(problem):
        fetch(port, path)


@pytest.mark.parametrize("path", ["/large", "/endless"])
def test_a_file_that_is_too_large_is_not_read_to_its_end(port: int, path: str) -> None:
    with pytest.raises(UploadRefusedError) as caught:
        fetch(port, path)

    assert caught.value.problem is UploadProblem.TOO_LARGE


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["169.254.169.254"],
        ["10.0.0.1"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["93.184.216.34", "127.0.0.1"],
        [],
    ],
)
def test_nothing_inside_is_reached(addresses: list[str]) -> None:
    fetcher = GuardedFetcher(allow_internal=False, resolve=lambda *_: addresses)

    with refused(RemoteProblem.REFUSED):
        fetcher.fetch("http://files.example/x")


def test_a_redirect_leads_inside_no_more_than_an_address_does(port: int) -> None:
    asked: list[str] = []

    def resolve(host: str, _: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if host == "files.example" else []

    fetcher = GuardedFetcher(allow_internal=True, resolve=resolve)

    with refused(RemoteProblem.REFUSED):
        fetcher.fetch(f"http://files.example:{port}/tohttp://inside.example/x")
    assert asked[-1] == "inside.example"


def test_the_runtime_of_lambda_is_never_reached(port: int) -> None:
    fetcher = GuardedFetcher(
        allow_internal=True,
        resolve=lambda *_: ["127.0.0.1"],
        runtime_api=f"127.0.0.1:{port}",
    )

    with refused(RemoteProblem.REFUSED):
        fetcher.fetch(f"http://files.example:{port}/x")


@pytest.mark.parametrize(
    "url", ["ftp://a.example/x", "a.example", "http://", "http://u:p@a.example/", "http://a\r\nb/"]
)
def test_what_is_no_plain_address_is_refused(url: str) -> None:
    with refused(RemoteProblem.REFUSED):
        GuardedFetcher(allow_internal=True).fetch(url)
