"""``sayso dlq``: shows and redrives messages that no worker could handle.

A message is only a hint: redriving one changes nothing for a run that somebody holds, that has
ended, or whose forms still wait. Bodies are never shown: mail events hold addresses.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sayso_cli.stack import Stack

_BATCH = 10
_HIDE_SECONDS = 30
"""How long a message that was read stays hidden from other readers."""
_MAX_EMPTY = 2
"""Empty answers in a row that mean the end: SQS asks only some of its hosts a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """One message."""

    queue: str
    kind: str
    """``start``, ``resume`` …, ``mail event``, or ``unreadable``."""
    subject: str
    """Id of the run or form."""
    sent_at: int
    """Epoch milliseconds."""
    receives: int
    message: dict[str, Any]

    def shown(self) -> dict[str, Any]:
        """Return what may be printed."""
        names = ("queue", "kind", "subject", "sent_at", "receives")
        return {name: getattr(self, name) for name in names}


def list_dead_letters(stack: Stack, queues: Sequence[str]) -> list[DeadLetter]:
    """Return the messages of dead-letter queues, oldest first, and leave them there."""
    urls = {queue: stack.dead_letters_url(queue) for queue in queues}
    sqs = stack.client("sqs")
    letters = []
    for queue, url in urls.items():
        found = list(_read(sqs, queue, url))
        for letter in found:
            _show_again(sqs, url, letter)
        letters += found
    return sorted(letters, key=lambda letter: letter.sent_at)


def redrive(stack: Stack, queues: Sequence[str], *, limit: int) -> int:
    """Send dead letters back to their queues; return how many.

    Each is sent before it is deleted: after a crash in between it exists twice, which is harmless.
    """
    sqs = stack.client("sqs")
    moved = 0
    for queue in queues:
        source, target = stack.dead_letters_url(queue), stack.queue_url(queue)
        for letter in _read(sqs, queue, source):
            if moved == limit:
                _show_again(sqs, source, letter)
                return moved
            sqs.send_message(QueueUrl=target, MessageBody=letter.message["Body"])
            sqs.delete_message(QueueUrl=source, ReceiptHandle=letter.message["ReceiptHandle"])
            moved += 1
    return moved


def _read(sqs: Any, queue: str, url: str) -> Iterator[DeadLetter]:
    empty = 0
    while empty < _MAX_EMPTY:
        answer = sqs.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=_BATCH,
            VisibilityTimeout=_HIDE_SECONDS,
            AttributeNames=["All"],
        )
        messages = answer.get("Messages", [])
        empty = 0 if messages else empty + 1
        for message in messages:
            yield _letter(queue, message)


def _show_again(sqs: Any, url: str, letter: DeadLetter) -> None:
    handle = letter.message["ReceiptHandle"]
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=0)


def _letter(queue: str, message: dict[str, Any]) -> DeadLetter:
    kind, subject = _subject(message["Body"])
    attributes = message.get("Attributes", {})
    return DeadLetter(
        queue=queue,
        kind=kind,
        subject=subject,
        sent_at=int(attributes.get("SentTimestamp", 0)),
        receives=int(attributes.get("ApproximateReceiveCount", 0)),
        message=message,
    )


def _subject(body: str) -> tuple[str, str]:
    try:
        document = json.loads(body)
    except ValueError:
        return "unreadable", ""
    if not isinstance(document, dict):
        return "unreadable", ""
    if "detail-type" in document:
        return "mail event", str(document.get("id", ""))
    subject = document.get("run_id") or document.get("form_id") or ""
    return str(document.get("kind", "unreadable")), str(subject)
