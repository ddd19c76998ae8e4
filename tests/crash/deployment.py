"""The functions as they are deployed: real handlers over real adapters, with a virtual clock."""

from __future__ import annotations

import json
from contextlib import contextmanager, redirect_stdout
from functools import cached_property
from io import StringIO
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

import botocore.endpoint
from botocore.retries.quota import RetryQuota

from crash.double.cloud import DoubleClients
from sayso import bootstrap
from sayso.aws.queue import SqsWorkQueue
from sayso.aws.table import DynamoTable
from sayso.aws_wiring import AwsWiring, _LazyObjects, report
from sayso.observability import logger
from sayso.settings import Settings
from sayso.store.stores import open_stores
from sayso.testing.clock import SequenceIds
from sayso.usecases.context import Context
from support.functions import SWEEP_ARN, load_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sayso.ports import AgentRunner, Clock, IdSource

    Handler = Callable[[Any, Any], Any]

API_KEY = "sk-the-first-key-of-this-stack"
LINK_KEY = "a key for links of 32 bytes or more"
APPROVER = "cfo@example.org"
SECRETS = {
    "arn:links": json.dumps({"current": "1", "1": LINK_KEY}),
    "arn:key": json.dumps({"tenant": "acme", "app": "refunds", "role": "admin", "key": API_KEY}),
}
_QUEUES = {
    f"{name.upper()}_QUEUE_URL": f"https://sqs.eu-west-1.amazonaws.com/123456789012/{name}"
    for name in ("starts", "wakes", "deliveries")
}
SETTINGS = Settings(
    values={
        **_QUEUES,
        "TABLE_NAME": "sayso",
        "BUCKET_NAME": "sayso-bucket",
        "SCHEDULE_GROUP": "forms",
        "SCHEDULE_ROLE_ARN": "arn:aws:iam::123456789012:role/schedules",
        "SWEEP_FUNCTION_ARN": SWEEP_ARN,
        "TOKEN_KEY_SECRET_ARN": "arn:links",
        "API_KEY_SECRET_ARN": "arn:key",
    },
    sender_address="sayso@example.org",
    default_approvers=(APPROVER,),
    form_rate_limit=10_000,
)
CLIENTS = DoubleClients()
"""One set for all cases of a process: making clients is slow."""


class DoubleWiring(AwsWiring):
    """The ports on AWS; only time, chance and waiting are the test's."""

    def __init__(self, clock: Clock, ids: IdSource) -> None:
        super().__init__(SETTINGS)
        self._clients = CLIENTS
        self._clock = clock
        self._ids = ids

    @cached_property
    def context(self) -> Context:
        """What every use case is given."""
        stores = open_stores(
            self._table,
            _LazyObjects(self),
            self._ids,
            self._vault,
            retention=self.settings.retention,
        )
        stores.runs._committer._wait = _no_wait  # all stores have the same one
        queue = SqsWorkQueue(self._clients.get("sqs"), self.settings.queue_url)
        return Context(stores=stores, queue=queue, clock=self._clock, ids=self._ids, report=report)

    @cached_property
    def _table(self) -> DynamoTable:
        table = DynamoTable(self._clients.get("dynamodb"), self.settings.table_name)
        table._batches._wait = _no_wait
        table._reader._wait = _no_wait
        return table

    def sleep(self, seconds: float) -> None:
        """Let no time pass: nobody holds readers here."""


def _no_wait(_seconds: float) -> None:
    """Waits between tries are not what is tested."""


class Processes:
    """The processes of all functions, each with its own caches; a new one after each death."""

    def __init__(self, clock: Clock, agent: AgentRunner) -> None:
        self._clock = clock
        self._agent = agent
        self._ids = SequenceIds()
        self._handlers: dict[tuple[str, int], Handler] = {}

    def handler(self, function: str, busy: int) -> Handler:
        """Return a handler of a function whose process is free, started anew if need be.

        Args:
            function: Name of the function.
            busy: How many invocations are under way; a process has one at a time.
        """
        if (function, busy) not in self._handlers:
            bootstrap.use(DoubleWiring(self._clock, self._ids))
            try:
                self._handlers[function, busy] = self._start(function)
            finally:
                bootstrap.use(None)
        return self._handlers[function, busy]

    def kill(self, function: str, busy: int) -> None:
        """Forget a process of a function."""
        self._handlers.pop((function, busy), None)

    def _start(self, function: str) -> Handler:
        if function == "resume":  # its module brings the real agent, which has its own tests
            return bootstrap.resume(self._agent)
        handler: Handler = load_app(function).handler
        return handler


@contextmanager
def captured_output() -> Iterator[StringIO]:
    """Catch what functions write into their logs and metrics; let botocore's retries not wait."""
    output = StringIO()
    handler: Any = logger().registered_handler
    before = handler.setStream(output)
    try:
        with (
            redirect_stdout(output),
            mock.patch.object(botocore.endpoint, "time", SimpleNamespace(sleep=_no_wait)),
            # A case must not depend on how many retries the cases before it used up.
            mock.patch.object(RetryQuota, "acquire", return_value=True),
        ):
            yield output
    finally:
        handler.setStream(before)
