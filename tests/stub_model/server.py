"""A model server for tests: the OpenAI chat-completions wire format on loopback, streaming included.

Deterministic: without a tool result it asks a person through the tool `ask_human`; with one it answers
in text that contains the result's JSON. It keeps nothing between requests.

As a program it prints its base address on one line and serves until it is ended.
"""

from __future__ import annotations

import argparse
import http.server
import json
import sys
import threading
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, TypedDict
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "127.0.0.1"
CREATED = 1_767_225_600
COMPLETION_ID = "chatcmpl-stub"
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
CHUNK_CHARACTERS = 24
QUESTION = {
    "title": "Refund HO-10482",
    "question": "Refund 1,240.00 EUR to Marta Oliveira?",
    "markdown": "The parcel was lost on the way. The shop's limit without a person is **200 EUR**.",
    "fields": [
        {
            "type": "select",
            "name": "reason",
            "label": "Reason",
            "required": True,
            "options": [
                {"value": "lost", "label": "Lost parcel"},
                {"value": "goodwill", "label": "Goodwill"},
            ],
        },
        {"type": "paragraph", "name": "comment", "label": "Comment", "required": True},
    ],
    "actions": [
        {"id": "approve", "label": "Approve refund", "style": "primary"},
        {"id": "refuse", "label": "Refuse", "style": "destructive"},
    ],
}


class Message(TypedDict, total=False):
    """One message of a completion request, as far as this server looks at it."""

    role: str
    content: object


class Completion(TypedDict):
    """What the model says: a message and why it stopped."""

    message: dict[str, object]
    finish_reason: str


def complete(messages: list[Message]) -> Completion:
    """Decide the answer from the messages alone."""
    if messages and messages[-1].get("role") == "tool":
        text = f"The person has decided: {text_of(messages[-1])}"
        return {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    call = {
        "id": f"call_{sum(message.get('role') == 'tool' for message in messages) + 1}",
        "type": "function",
        "function": {"name": "ask_human", "arguments": json.dumps(QUESTION)},
    }
    message: dict[str, object] = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"message": message, "finish_reason": "tool_calls"}


def text_of(message: Message) -> str:
    """The text of a message whose content is text or a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content)


def deltas(completion: Completion) -> Iterator[dict[str, object]]:
    """Cut a message into the pieces that a stream sends."""
    message = completion["message"]
    yield {"role": "assistant", "content": "" if message["content"] else None}
    if isinstance(text := message["content"], str):
        for start in range(0, len(text), CHUNK_CHARACTERS):
            yield {"content": text[start : start + CHUNK_CHARACTERS]}
    calls = message.get("tool_calls", [])
    assert isinstance(calls, list)
    for index, call in enumerate(calls):
        arguments = call["function"]["arguments"]
        head = {"name": call["function"]["name"], "arguments": ""}
        yield {
            "tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": head}]
        }
        for start in range(0, len(arguments), CHUNK_CHARACTERS):
            piece = {"arguments": arguments[start : start + CHUNK_CHARACTERS]}
            yield {"tool_calls": [{"index": index, "function": piece}]}


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers `POST …/chat/completions`."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Read the request and answer it."""
        self.answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def answer(self, body: bytes) -> None:
        """Complete a chat, whole or in pieces."""
        if not urlsplit(self.path).path.endswith("/chat/completions"):
            self._refuse(HTTPStatus.NOT_FOUND, f"no such path: {self.path}")
        elif not self._has_key():
            self._refuse(HTTPStatus.UNAUTHORIZED, "an API key is missing")
        else:
            request = json.loads(body)
            completion = complete(request["messages"])
            if request.get("stream"):
                self._stream(request, completion)
            else:
                self._send_whole(request, completion)

    def _has_key(self) -> bool:
        """Azure has a header of its own for it."""
        bearer = self.headers.get("Authorization", "").startswith("Bearer ")
        return bearer or bool(self.headers.get("api-key"))

    def _send_whole(self, request: dict[str, object], completion: Completion) -> None:
        choice = {"index": 0, "logprobs": None, **completion}
        self.send_json(
            HTTPStatus.OK,
            _envelope(request, "chat.completion") | {"choices": [choice], "usage": USAGE},
        )

    def _stream(self, request: dict[str, object], completion: Completion) -> None:
        self.begin_stream()
        for delta in deltas(completion):
            self._event(request, [{"index": 0, "delta": delta, "finish_reason": None}])
        reason = completion["finish_reason"]
        self._event(request, [{"index": 0, "delta": {}, "finish_reason": reason}])
        options = request.get("stream_options")
        if isinstance(options, dict) and options.get("include_usage"):
            self._event(request, [], usage=USAGE)
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(
        self,
        request: dict[str, object],
        choices: list[dict[str, object]],
        usage: dict[str, int] | None = None,
    ) -> None:
        chunk = _envelope(request, "chat.completion.chunk") | {"choices": choices, "usage": usage}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        self.send_json(status, {"error": {"message": text, "type": "invalid_request_error"}})

    def begin_stream(self) -> None:
        """Send the head of a stream of events, which ends with the connection."""
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def send_json(self, status: HTTPStatus, value: object) -> None:
        """Send a whole answer; clients are told not to try again."""
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("x-should-retry", "false")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Log nothing."""


def _envelope(request: dict[str, object], kind: str) -> dict[str, object]:
    """The members that every completion and chunk has."""
    return {
        "id": COMPLETION_ID,
        "object": kind,
        "created": CREATED,
        "model": request.get("model", "stub"),
        "system_fingerprint": None,
    }


@contextmanager
def stub_model(port: int = 0, handler: type[Handler] = Handler) -> Iterator[str]:
    """Serve in a thread; gives the base address that a client appends `/chat/completions` to."""
    server = http.server.ThreadingHTTPServer((HOST, port), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://{HOST}:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def main() -> int:
    """Print the address, then serve until the end of standard input."""
    parser = argparse.ArgumentParser(description="A model server for tests.")
    parser.add_argument("--port", type=int, default=0, help="the port; 0 takes a free one")
    with stub_model(parser.parse_args().port) as address:
        print(address, flush=True)
        sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
