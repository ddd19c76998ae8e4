"""All services together, and the one place where calls meet them."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol

import botocore.session
from botocore import UNSIGNED

from crash.double.dynamodb import Dynamo
from crash.double.others import Bucket, Mailbox, Queues, Schedules, Secrets
from crash.double.wire import Call, Reply
from sayso.aws.clients import Clients

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from botocore.awsrequest import AWSPreparedRequest, AWSResponse

    from sayso.aws.clients import Service
    from sayso.ports import Clock

REGION = "eu-west-1"


class Gate(Protocol):
    """Lets a call through to its service, or not."""

    def __call__(self, call: Call, carry_out: Callable[[], Reply]) -> Reply:
        """Return the answer to a call; raise what botocore's HTTP session would, or a death."""


def open_gate(call: Call, carry_out: Callable[[], Reply]) -> Reply:
    """Let every call through."""
    assert call.number
    return carry_out()


class Cloud:
    """One account, empty."""

    def __init__(
        self, clock: Clock, secrets: Mapping[str, str] | None = None, gate: Gate = open_gate
    ) -> None:
        self.table = Dynamo(clock)
        self.queues = Queues(clock)
        self.bucket = Bucket()
        self.mailbox = Mailbox()
        self.schedules = Schedules()
        self.gate = gate
        self.calls: list[Call] = []
        self.problems: list[str] = []
        """What no caller may ask for; handlers would take it for an error of the service."""
        self._services: dict[str, Any] = {
            "dynamodb": self.table,
            "sqs": self.queues,
            "s3": self.bucket,
            "sesv2": self.mailbox,
            "scheduler": self.schedules,
            "secrets-manager": Secrets(secrets or {}),
        }
        self._attempts: dict[object, Call] = {}
        self._lock = RLock()

    def handle(self, request: AWSPreparedRequest, event_name: str) -> AWSResponse:
        """Answer what botocore is about to send."""
        call = self._call(request, event_name)
        service = self._services[call.service]
        try:
            return self.gate(call, lambda: service.answer(call)).response(request.url)
        except AssertionError as error:
            self.problems.append(f"{call.name}: {error}")
            raise

    def _call(self, request: AWSPreparedRequest, event_name: str) -> Call:
        _, service, operation = event_name.split(".")
        identity = request.headers["amz-sdk-invocation-id"]
        with self._lock:
            before = self._attempts.get(identity)
            call = Call(
                number=before.number if before else len(self.calls) + 1,
                attempt=before.attempt + 1 if before else 1,
                service=service,
                operation=operation,
                request=request,
            )
            self._attempts[identity] = call
            if before is None:
                self.calls.append(call)
        return call


class DoubleClients(Clients):
    """The real clients, whose requests go to whatever cloud stands behind them now."""

    def __init__(self) -> None:
        super().__init__(REGION)
        self.cloud: Cloud | None = None
        self._session = botocore.session.get_session()
        self._session.set_credentials("sample", "sample")
        self._session.set_config_variable("ignore_configured_endpoint_urls", True)

    # One method for all: the overloads of the base say which client it is.
    def get(self, service: Service) -> Any:
        """Return the client of a service."""
        known = service in self._made
        client = super().get(service)
        if not known:
            client.meta.events.register("before-send", self._send)
            # A third of a call's time, for a signature that nobody here looks at.
            client.meta.events.register("choose-signer", lambda **_: UNSIGNED)
        return client

    # Any: the stubs believe that nobody answers.
    def _send(self, request: AWSPreparedRequest, event_name: str, **_: object) -> Any:
        assert self.cloud is not None, "no cloud stands behind the clients"
        return self.cloud.handle(request, event_name)
