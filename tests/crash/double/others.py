"""The small services: queues, bucket, mails, schedules, secrets."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from xml.sax.saxutils import escape

from crash.double.wire import Reply, answer, failure, xml_failure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crash.double.wire import Call
    from sayso.ports import Clock

_XML = {"Content-Type": "application/xml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message in a queue."""

    number: int
    queue: str
    body: str
    visible_at: datetime
    receives: int = 0


class Queues:
    """SQS: at least once, in no order."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._count = 0
        self.messages: list[Message] = []
        self.dead: list[Message] = []
        """Received too often."""
        self.copies = 1
        """How often each message that is sent now is delivered."""
        self.late = timedelta()
        """By how much each message that is sent now comes later."""

    def answer(self, call: Call) -> Reply:
        """Take messages."""
        document = call.document
        queue = document["QueueUrl"].rpartition("/")[2]
        entries = document.get("Entries", [document])
        numbers = [self._take(queue, entry) for entry in entries]
        if call.operation == "SendMessage":
            return answer({"MessageId": str(numbers[0])})
        pairs = zip(entries, numbers, strict=True)
        return answer(
            {"Successful": [{"Id": e["Id"], "MessageId": str(n)} for e, n in pairs], "Failed": []}
        )

    def _take(self, queue: str, entry: Mapping[str, Any]) -> int:
        wait = timedelta(seconds=entry.get("DelaySeconds", 0)) + self.late
        for _ in range(self.copies):
            self._count += 1
            message = Message(
                number=self._count,
                queue=queue,
                body=entry["MessageBody"],
                visible_at=self._clock.now() + wait,
            )
            self.messages.append(message)
        return self._count

    def receive(self) -> Message | None:
        """Take the next visible message out of its queue."""
        now = self._clock.now()
        visible = [one for one in self.messages if one.visible_at <= now]
        if not visible:
            return None
        first = min(visible, key=lambda one: (one.visible_at, one.number))
        self.messages.remove(first)
        return replace(first, receives=first.receives + 1)

    def give_back(self, message: Message, hidden_for: timedelta, max_receives: int) -> None:
        """Return a message whose worker failed; too often, and it is dead."""
        if message.receives >= max_receives:
            self.dead.append(message)
        else:
            self.messages.append(replace(message, visible_at=self._clock.now() + hidden_for))


class Bucket:
    """S3: one bucket, write-once by condition."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.puts: list[tuple[str, bytes]] = []
        """Every object that was ever written."""

    def answer(self, call: Call) -> Reply:
        """Carry out a call."""
        url = urlsplit(call.request.url)
        key = unquote(url.path.removeprefix("/"))
        match call.operation:
            case "PutObject":
                return self._put(key, call)
            case "GetObject" if key in self.objects:
                return Reply(200, self.objects[key])
            case "GetObject":
                return xml_failure("NoSuchKey", 404)
            case "ListObjectVersions":
                return self._versions(url.query)
            case "DeleteObjects":
                return self._delete(_body(call))
            case _:
                raise AssertionError(call.name)

    def _put(self, key: str, call: Call) -> Reply:
        assert call.request.headers["If-None-Match"] in {"*", b"*"}, "objects are written once"
        if key in self.objects:
            return xml_failure("PreconditionFailed", 412)
        self.objects[key] = _body(call)
        self.puts.append((key, self.objects[key]))
        return Reply(200, b"", {"ETag": '"1"'})

    def _versions(self, query: str) -> Reply:
        found = re.search(r"(?:^|&)prefix=([^&]*)", query)
        prefix = unquote(found[1]) if found else ""
        entries = "".join(
            f"<Version><Key>{escape(key)}</Key><VersionId>1</VersionId></Version>"
            for key in sorted(self.objects)
            if key.startswith(prefix)
        )
        text = f"<ListVersionsResult><IsTruncated>false</IsTruncated>{entries}</ListVersionsResult>"
        return Reply(200, text.encode(), _XML)

    def _delete(self, body: bytes) -> Reply:
        for key in re.findall(r"<Key>([^<]*)</Key>", body.decode()):
            self.objects.pop(key, None)
        return Reply(200, b"<DeleteResult></DeleteResult>", _XML)


def _body(call: Call) -> bytes:
    """Return the bytes of a body, which botocore sends in chunks when a checksum follows."""
    body: Any = call.request.body
    if hasattr(body, "seek"):
        body.seek(0)
    raw: bytes = body.read() if hasattr(body, "read") else body or b""
    if b"aws-chunked" not in _bytes(call.request.headers.get("Content-Encoding", "")):
        return raw
    plain, rest = b"", raw
    while True:
        size_text, _, rest = rest.partition(b"\r\n")
        size = int(size_text, 16)
        if size == 0:
            return plain
        plain, rest = plain + rest[:size], rest[size + 2 :]


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A mail that was accepted."""

    to: str
    raw: bytes
    tags: Mapping[str, str]


@dataclass
class Mailbox:
    """SES: accepts every mail."""

    sent: list[Mail] = field(default_factory=list)

    def answer(self, call: Call) -> Reply:
        """Accept a mail."""
        document = call.document
        raw = base64.b64decode(document["Content"]["Raw"]["Data"])
        tags = {one["Name"]: one["Value"] for one in document["EmailTags"]}
        (to,) = document["Destination"]["ToAddresses"]
        self.sent.append(Mail(to=to, raw=raw, tags=tags))
        return answer({"MessageId": f"mail-{len(self.sent)}"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A one-time schedule."""

    name: str
    at: datetime
    input: str
    tries: int = 0


class Schedules:
    """EventBridge Scheduler: fires within the minute, at least once."""

    def __init__(self) -> None:
        self.waiting: list[Schedule] = []
        self._names: set[str] = set()
        self.copies = 1
        self.late = timedelta()

    def answer(self, call: Call) -> Reply:
        """Make a schedule."""
        name = call.request.url.rpartition("/")[2]
        if not re.fullmatch(r"[0-9a-zA-Z-_.]{1,64}", unquote(name)):
            return failure("ValidationException")
        if name in self._names:
            return failure("ConflictException", 409)
        self._names.add(name)
        document = call.document
        text = document["ScheduleExpression"].removeprefix("at(").removesuffix(")")
        at = datetime.fromisoformat(text).replace(tzinfo=UTC) + self.late
        one = Schedule(name=name, at=at, input=document["Target"]["Input"])
        self.waiting += [one] * self.copies
        return answer({"ScheduleArn": f"arn:aws:scheduler:eu-west-1:123456789012:schedule/{name}"})

    def fire(self, now: datetime) -> Schedule | None:
        """Take a schedule that is due."""
        due = [one for one in self.waiting if one.at <= now]
        if not due:
            return None
        first = min(due, key=lambda one: (one.at, one.name))
        self.waiting.remove(first)
        return replace(first, tries=first.tries + 1)


@dataclass(frozen=True)
class Secrets:
    """Secrets Manager."""

    texts: Mapping[str, str]

    def answer(self, call: Call) -> Reply:
        """Tell a secret."""
        arn = call.document["SecretId"]
        return answer({"ARN": arn, "SecretString": self.texts[arn]})
