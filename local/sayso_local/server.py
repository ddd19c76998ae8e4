"""The one port of the local stack: the API and the pages, and the mailbox below `/_mail`."""

from __future__ import annotations

import errno
import http.server
import json
import socketserver
import sys
import threading
import urllib.parse
from http import HTTPStatus
from typing import TYPE_CHECKING

from sayso_local.emulator import HOST
from sayso_local.errors import LocalStackError
from sayso_local.gateway import Answer
from sayso_local.mails import read_mails

if TYPE_CHECKING:
    from sayso_local.gateway import Gateway

MAILBOX = "/_mail"


class Server(http.server.ThreadingHTTPServer):
    """Listens on loopback from the start; answers once `serve` has a gateway.

    Raises:
        LocalStackError: The port is taken.
    """

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, port: int) -> None:
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            message = (
                f"port {port} is in use: stop what uses it, or choose another with PORT= or --port"
            )
            raise LocalStackError(message) from error
        self.gateway: Gateway
        self.emulator_url = ""

    @property
    def url(self) -> str:
        """Base of the API and the pages."""
        return f"http://{HOST}:{self.server_port}"

    def server_bind(self) -> None:
        """Bind without asking a name server who we are, as the base class would."""
        socketserver.TCPServer.server_bind(self)
        self.server_name = HOST
        self.server_port = self.server_address[1]

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a browser that went away; anything else is a fault of ours."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def serve(self, gateway: Gateway, *, emulator_url: str) -> None:
        """Answer requests in a thread of our own."""
        self.gateway = gateway
        self.emulator_url = emulator_url
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()


class _Handler(http.server.BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Server

    def _answer(self) -> None:
        """Read the request, find who answers it, write the answer."""
        if self.headers.get("Transfer-Encoding"):
            self._write(_text(HTTPStatus.LENGTH_REQUIRED, "send Content-Length"))
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urllib.parse.urlsplit(self.path).path
        if path == MAILBOX or path.startswith(f"{MAILBOX}/"):
            self._write(self._mailbox(path))
        else:
            self._write(
                self.server.gateway.call(self.command, self.path, self.headers.items(), body)
            )

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _answer  # noqa: N815

    def _mailbox(self, path: str) -> Answer:
        """The mailbox page or its JSON; both only read."""
        from sayso_local.mailbox import CONTENT_POLICY, render_mailbox  # noqa: PLC0415 - start-up time

        if self.command not in {"GET", "HEAD"}:
            return _text(HTTPStatus.METHOD_NOT_ALLOWED, "the mailbox is only read")
        mails = read_mails(self.server.emulator_url)
        if path == f"{MAILBOX}/messages":
            listed = json.dumps([mail.as_json() for mail in mails]).encode()
            return _content(listed, "application/json")
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        page = render_mailbox(
            mails, selected=query.get("id", [""])[0], as_text=query.get("view") == ["text"]
        )
        return _content(
            page.encode(), "text/html; charset=utf-8", ("Content-Security-Policy", CONTENT_POLICY)
        )

    def _write(self, answer: Answer) -> None:
        """Send an answer; without its body to a HEAD request."""
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(answer.length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def version_string(self) -> str:
        """Say who answers, without version numbers."""
        return "sayso-local"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Log nothing: a path may carry the secret of a form."""


def _content(body: bytes, media_type: str, *headers: tuple[str, str]) -> Answer:
    """A page of ours."""
    all_headers = [("Content-Type", media_type), ("Cache-Control", "no-store"), *headers]
    return Answer(status=HTTPStatus.OK, headers=all_headers, body=body, length=len(body))


def _text(status: HTTPStatus, text: str) -> Answer:
    """A refusal of ours."""
    body = f"{text}\n".encode()
    return Answer(
        status=status, headers=[("Content-Type", "text/plain")], body=body, length=len(body)
    )
