"""The model server for tests in the wire formats of other providers, always as a stream.

It decides as `stub_model.server` does, and keeps what it was asked. The key `LIMITED` is refused
with status 429 in the words of the provider.

Formats: Anthropic's Messages API, Gemini's `streamGenerateContent`, and, by the base class,
OpenAI's chat completions, which Ollama and Azure speak at paths of their own.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from stub_model.server import CHUNK_CHARACTERS, QUESTION, Handler, stub_model

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMITED = "key-of-a-busy-account"
TOO_MANY = "Too many requests for now."
KEY_HEADERS = ("authorization", "api-key", "x-api-key", "x-goog-api-key")

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One request as it came."""

    path: str
    key: str
    body: Json


@dataclass(frozen=True, kw_only=True)
class Stub:
    """A running server."""

    root: str
    """Its address without a path."""
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def stub_providers() -> Iterator[Stub]:
    """Serve in a thread."""
    asked: list[Asked] = []

    class Keeping(_ProvidersHandler):
        def keep(self, one: Asked) -> None:
            asked.append(one)

    with stub_model(handler=Keeping) as base:
        yield Stub(root=base.removesuffix("/v1"), asked=asked)


class _ProvidersHandler(Handler):
    def keep(self, one: Asked) -> None:
        """Take note of a request."""
        raise NotImplementedError

    def answer(self, body: bytes) -> None:
        """Answer in the format that the path belongs to."""
        path = urlsplit(self.path).path
        key = next((self.headers[name] for name in KEY_HEADERS if name in self.headers), "")
        request: Json = json.loads(body)
        self.keep(Asked(path=self.path, key=key.removeprefix("Bearer "), body=request))
        if key.endswith(LIMITED):
            self.send_json(HTTPStatus.TOO_MANY_REQUESTS, too_many(path))
        elif path == "/v1/messages":
            self._send_events(claude_events(request))
        elif path.endswith(":streamGenerateContent"):
            self._send_events(gemini_chunks(request))
        else:
            super().answer(body)

    def _send_events(self, events: Iterator[Json]) -> None:
        self.begin_stream()
        for event in events:
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())


def too_many(path: str) -> Json:
    """Return how a provider says that there were too many requests."""
    if path == "/v1/messages":
        return {"type": "error", "error": {"type": "rate_limit_error", "message": TOO_MANY}}
    if path.endswith(":streamGenerateContent"):
        return {"error": {"code": 429, "message": TOO_MANY, "status": "RESOURCE_EXHAUSTED"}}
    return {"error": {"code": "429", "message": TOO_MANY}}


def pieces(text: str) -> Iterator[str]:
    """Cut a text as a stream does."""
    for start in range(0, len(text), CHUNK_CHARACTERS):
        yield text[start : start + CHUNK_CHARACTERS]


def claude_events(request: Json) -> Iterator[Json]:
    """Return the events of an answer of Anthropic's Messages API."""
    results = [
        block
        for block in request["messages"][-1]["content"]
        if isinstance(block, dict) and block["type"] == "tool_result"
    ]
    head = {"id": "msg_stub", "type": "message", "role": "assistant", "model": request["model"]}
    usage = {"input_tokens": 11, "output_tokens": 1}
    ending: Json = {"stop_reason": None, "stop_sequence": None}
    yield {"type": "message_start", "message": {**head, "content": [], **ending, "usage": usage}}
    if results:
        block: Json = {"type": "text", "text": ""}
        text = f"The person has decided: {json.dumps(results[-1]['content'])}"
        deltas = [{"type": "text_delta", "text": one} for one in pieces(text)]
    else:
        block = {"type": "tool_use", "id": "toolu_1", "name": "ask_human", "input": {}}
        arguments = pieces(json.dumps(QUESTION))
        deltas = [{"type": "input_json_delta", "partial_json": one} for one in arguments]
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    ending["stop_reason"] = "end_turn" if results else "tool_use"
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 7}}
    yield {"type": "message_stop"}


def gemini_chunks(request: Json) -> Iterator[Json]:
    """Return the chunks of an answer of Gemini's `streamGenerateContent`."""
    results = [
        part["functionResponse"]
        for part in request["contents"][-1]["parts"]
        if "functionResponse" in part
    ]
    if results:
        text = f"The person has decided: {json.dumps(results[-1]['response'])}"
        parts: list[Json] = [{"text": one} for one in pieces(text)]
    else:
        parts = [{"functionCall": {"name": "ask_human", "args": QUESTION}}]
    for number, part in enumerate(parts, start=1):
        candidate: Json = {"index": 0, "content": {"role": "model", "parts": [part]}}
        if number == len(parts):
            candidate["finishReason"] = "STOP"
        usage = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
        yield {
            "candidates": [candidate],
            "usageMetadata": usage,
            "modelVersion": "stub",
            "responseId": "stub",
        }
