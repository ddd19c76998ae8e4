"""Amazon Bedrock for tests: answers of `ConverseStream`, put in where AWS's SDK would send.

The stream is AWS's binary event stream (Smithy, "Amazon Event Stream Specification"): messages of
lengths, headers and payload, guarded by two CRCs.
"""

from __future__ import annotations

import io
import json
import struct
from binascii import crc32
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

from stub_model.providers import LIMITED, TOO_MANY, Asked, pieces
from stub_model.server import QUESTION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from botocore.awsrequest import AWSPreparedRequest

Json = dict[str, Any]
_STRING = 7
"""Type of a header whose value is a text."""


class StubBedrock:
    """Stands in for the SDK's HTTP session and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []

    def send(self, request: AWSPreparedRequest) -> AWSResponse:
        """Answer one signed request."""
        assert isinstance(request.body, (str, bytes))
        body = json.loads(request.body)
        key = request.headers["Authorization"]
        assert isinstance(key, bytes)
        self.asked.append(Asked(path=unquote(request.url), key=key.decode(), body=body))
        if LIMITED.encode() in key:
            headers = {"x-amzn-ErrorType": "ThrottlingException"}
            return _response(request, 429, headers, json.dumps({"message": TOO_MANY}).encode())
        frames = b"".join(frame(name, value) for name, value in converse_events(body))
        kind = {"Content-Type": "application/vnd.amazon.eventstream"}
        return _response(request, 200, kind, frames)


class _Raw(io.BytesIO):
    """What the SDK reads an answer from."""

    def stream(self, amount: int = 1024, **_options: Any) -> Iterator[bytes]:
        """Return the answer in blocks."""
        while block := self.read(amount):
            yield block


def _response(
    request: AWSPreparedRequest, status: int, headers: dict[str, str], body: bytes
) -> AWSResponse:
    return AWSResponse(request.url, status, HTTPHeaders.from_dict(headers), _Raw(body))


def frame(name: str, value: Json) -> bytes:
    """Return one message of an event stream."""
    headers = b"".join(
        bytes([len(key)]) + key.encode() + struct.pack("!BH", _STRING, len(text)) + text.encode()
        for key, text in (
            (":message-type", "event"),
            (":event-type", name),
            (":content-type", "application/json"),
        )
    )
    payload = json.dumps(value).encode()
    prelude = struct.pack("!II", len(headers) + len(payload) + 16, len(headers))
    message = prelude + struct.pack("!I", crc32(prelude)) + headers + payload
    return message + struct.pack("!I", crc32(message))


def converse_events(request: Json) -> Iterator[tuple[str, Json]]:
    """Return the events of an answer: a question, or text when there is a result."""
    last = request["messages"][-1]["content"]
    results = [block["toolResult"] for block in last if "toolResult" in block]
    yield "messageStart", {"role": "assistant"}
    if results:
        text = f"The person has decided: {json.dumps(results[-1]['content'])}"
        deltas: list[Json] = [{"text": one} for one in pieces(text)]
    else:
        use = {"toolUseId": "tooluse_1", "name": "ask_human"}
        yield "contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": use}}
        arguments = pieces(json.dumps(QUESTION))
        deltas = [{"toolUse": {"input": one}} for one in arguments]
    for delta in deltas:
        yield "contentBlockDelta", {"contentBlockIndex": 0, "delta": delta}
    yield "contentBlockStop", {"contentBlockIndex": 0}
    yield "messageStop", {"stopReason": "end_turn" if results else "tool_use"}
    usage = {"inputTokens": 11, "outputTokens": 7, "totalTokens": 18}
    yield "metadata", {"usage": usage, "metrics": {"latencyMs": 1}}
