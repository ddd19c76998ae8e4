"""HTTP as a program or a browser without JavaScript sends it: one request, one reply, no following."""

from __future__ import annotations

import http.client
import json
import threading
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TIMEOUT_SECONDS = 60
FORM_TYPE = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One HTTP response."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes

    @property
    def text(self) -> str:
        """The content as text."""
        return self.body.decode()

    @property
    def json(self) -> Any:
        """The content as JSON; its shape is the caller's business."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request, ready to be sent."""

    method: str
    url: str
    body: bytes | None = None
    headers: Mapping[str, str] | None = None

    def send(self, *, wait: Callable[[], object] = lambda: None) -> Reply:
        """Connect, call ``wait``, send, and return the reply."""
        address = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(address.netloc, timeout=TIMEOUT_SECONDS)
        target = urllib.parse.urlunsplit(("", "", address.path or "/", address.query, ""))
        try:
            connection.connect()
            wait()
            connection.request(self.method, target, self.body, dict(self.headers or {}))
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Reply(status=response.status, headers=headers, body=response.read())
        finally:
            connection.close()


def get(url: str) -> Reply:
    """Open a page."""
    return Request(method="GET", url=url).send()


def submission(link: str, fields: Mapping[str, str]) -> Request:
    """Return the request a browser makes when a form is submitted."""
    body = urllib.parse.urlencode(fields).encode()
    return Request(method="POST", url=link, body=body, headers={"Content-Type": FORM_TYPE})


def submit(link: str, fields: Mapping[str, str]) -> Reply:
    """Submit a form."""
    return submission(link, fields).send()


def send_at_once(requests: Sequence[Request]) -> list[Reply]:
    """Send requests from as many threads, all in the same instant; return replies in their order."""
    start = threading.Barrier(len(requests))
    with ThreadPoolExecutor(len(requests)) as threads:
        return list(threads.map(lambda request: request.send(wait=start.wait), requests))


def send_one_behind_the_other(requests: Sequence[Request]) -> list[Reply]:
    """Send requests in their order without waiting for a reply; return replies in their order."""
    connected = threading.Barrier(len(requests))
    turns = [threading.Event() for _ in range(len(requests) + 1)]
    turns[0].set()

    def send(number: int) -> Reply:
        def wait() -> None:
            connected.wait()
            turns[number].wait(TIMEOUT_SECONDS)
            turns[number + 1].set()

        return requests[number].send(wait=wait)

    with ThreadPoolExecutor(len(requests)) as threads:
        return list(threads.map(send, range(len(requests))))
