"""One call on the wire: what botocore sends, what it gets back."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from botocore.awsrequest import AWSResponse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from botocore.awsrequest import AWSPreparedRequest

JSON_HEADERS = {"Content-Type": "application/x-amz-json-1.0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One API call; the attempts that botocore makes for it have the same number."""

    number: int
    attempt: int
    service: str
    """As in botocore's event names, such as ``dynamodb`` or ``secrets-manager``."""
    operation: str
    request: AWSPreparedRequest

    @property
    def name(self) -> str:
        """The call as the table prints it."""
        return f"{self.service}.{self.operation}"

    @property
    def document(self) -> Any:
        """The body of a JSON protocol."""
        body: Any = self.request.body
        return json.loads(body or b"{}")

    @property
    def reads_an_index(self) -> bool:
        """Whether the answer may be behind the table."""
        return self.operation == "Query" and b'"IndexName"' in (self.request.body or b"")


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self, url: str) -> AWSResponse:
        """Return what botocore's HTTP session would."""
        # botocore reads no more of urllib3's response than its stream.
        return AWSResponse(url, self.status, self.headers, _Raw(self.body))  # type: ignore[arg-type]


class _Raw:
    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, *_: object, **__: object) -> Iterator[bytes]:
        yield self._body

    def read(self, *_: object, **__: object) -> bytes:
        body, self._body = self._body, b""
        return body


def answer(document: Any = None) -> Reply:
    """Return a success of a JSON protocol."""
    return Reply(200, json.dumps(document or {}).encode(), JSON_HEADERS)


def failure(code: str, status: int = 400, **members: Any) -> Reply:
    """Return an error of a JSON protocol, with the code where each of them looks for it."""
    body = {"__type": f"com.amazonaws#{code}", "message": code, "Message": code, **members}
    headers = {**JSON_HEADERS, "x-amzn-ErrorType": code, "x-amzn-query-error": f"{code};Sender"}
    return Reply(status, json.dumps(body).encode(), headers)


def xml_failure(code: str, status: int) -> Reply:
    """Return an error of S3."""
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{code}</Message></Error>"
    return Reply(status, body.encode(), {"Content-Type": "application/xml"})


def from_wire(value: Mapping[str, Any]) -> Any:
    """Return the Python value of a DynamoDB attribute as it stands in JSON."""
    ((kind, content),) = value.items()
    match kind:
        case "N":
            return int(content)
        case "B":
            return base64.b64decode(content)
        case "NULL":
            return None
        case "L":
            return [from_wire(part) for part in content]
        case "M":
            return item_from_wire(content)
        case _:
            return content


def to_wire(value: Any) -> dict[str, Any]:
    """Return a Python value as a DynamoDB attribute in JSON."""
    match value:
        case dict():
            return {"M": item_to_wire(value)}
        case list():
            return {"L": [to_wire(part) for part in value]}
        case bytes():
            return {"B": base64.b64encode(value).decode()}
        case bool():
            return {"BOOL": value}
        case int():
            return {"N": str(value)}
        case _:
            return {"NULL": True} if value is None else {"S": value}


def item_from_wire(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item."""
    return {name: from_wire(value) for name, value in attributes.items()}


def item_to_wire(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item's attributes."""
    return {name: to_wire(value) for name, value in item.items()}
