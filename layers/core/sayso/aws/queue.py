"""Messages to our own workers over SQS. They carry a kind and an id, nothing else."""

from __future__ import annotations

import json
import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sayso.aws.errors import translated
from sayso.domain.errors import PermanentError, ServiceUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mypy_boto3_sqs import SQSClient

    from sayso.domain.ids import FormId, RunId
    from sayso.settings import QueueName

_MAX_DELAY = timedelta(minutes=15)
"""Longest DelaySeconds (SQS API reference, SendMessage)."""

_BATCH_MESSAGES = 10
"""Most messages of SendMessageBatch (SQS API reference)."""


class SqsWorkQueue:
    """A ``WorkQueue`` over three queues."""

    def __init__(self, client: SQSClient, url_of: Callable[[QueueName], str]) -> None:
        """Take the client and what knows the URLs; a function need not have all of them."""
        self._client = client
        self._url_of = url_of

    def start(self, run_id: RunId) -> None:
        """Ask for the first segment of a run."""
        self._send("starts", [{"kind": "start", "run_id": run_id}])

    def resume(self, run_id: RunId) -> None:
        """Ask to resume a run if all its forms have ended."""
        self._send("wakes", [{"kind": "resume", "run_id": run_id}])

    def continue_(self, run_id: RunId, *, delay: timedelta | None = None) -> None:
        """Ask for another worker on the current segment."""
        self._send("wakes", [{"kind": "continue", "run_id": run_id}], delay or timedelta())

    def time_out(self, form_ids: Sequence[FormId], *, delay: timedelta) -> None:
        """Ask to look at forms when their deadline is near."""
        bodies = [{"kind": "timeout", "form_id": form_id} for form_id in form_ids]
        self._send("wakes", bodies, delay)

    def mail(self, form_ids: Sequence[FormId]) -> None:
        """Ask to deliver forms to their recipients."""
        self._send("deliveries", [{"kind": "mail", "form_id": form_id} for form_id in form_ids])

    def _send(
        self,
        queue: QueueName,
        bodies: Sequence[Mapping[str, str]],
        delay: timedelta = timedelta(),
    ) -> None:
        if delay > _MAX_DELAY:
            text = f"a message can be delayed by at most 15 minutes, got {delay}"
            raise PermanentError(text)
        seconds = max(0, math.ceil(delay.total_seconds()))
        messages = [{"MessageBody": json.dumps(body), "DelaySeconds": seconds} for body in bodies]
        for start in range(0, len(messages), _BATCH_MESSAGES):
            self._send_batch(self._url_of(queue), messages[start : start + _BATCH_MESSAGES])

    def _send_batch(self, url: str, messages: list[dict[str, Any]]) -> None:
        with translated():
            if len(messages) == 1:
                self._client.send_message(QueueUrl=url, **messages[0])
                return
            entries: Any = [{"Id": str(n), **one} for n, one in enumerate(messages)]
            answer = self._client.send_message_batch(QueueUrl=url, Entries=entries)
        if failed := answer.get("Failed"):
            text = f"{len(failed)} messages were not taken: {failed[0]['Code']!r}"
            raise ServiceUnavailableError(text)
