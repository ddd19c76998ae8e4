"""Finds the resources of a deployed stack by the outputs of its template."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import botocore.session
from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from collections.abc import Mapping

QUEUES = ("starts", "wakes", "deliveries")


class UsageError(Exception):
    """The command cannot work as it was called; the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A deployed stack."""

    name: str
    outputs: Mapping[str, str]
    region: str | None = None

    def output(self, name: str) -> str:
        """Return an output of the template.

        Raises:
            UsageError: The stack has none of that name: it is not Sayso, or an older one.
        """
        if name not in self.outputs:
            message = f"stack {self.name!r} has no output {name!r}; is it a Sayso stack?"
            raise UsageError(message)
        return self.outputs[name]

    def queue_url(self, queue: str) -> str:
        """Return the URL of a queue of ``QUEUES``."""
        return self.output(f"{queue.title()}QueueUrl")

    def dead_letters_url(self, queue: str) -> str:
        """Return the URL of its dead-letter queue."""
        return self.output(f"{queue.title()}DeadLettersUrl")

    # Any: a client of whichever service; the callers name its type.
    def client(self, service: str) -> Any:
        """Return a client in the stack's region."""
        session = botocore.session.get_session()
        return session.create_client(service, region_name=self.region)


def find_stack(name: str, *, region: str | None, endpoint_url: str | None) -> Stack:
    """Return a stack.

    Args:
        name: Name of the CloudFormation stack.
        region: None: botocore's own choice.
        endpoint_url: Of an emulator; None: AWS.

    Raises:
        UsageError: There is no such stack, or no credentials to ask with.
    """
    if endpoint_url:
        os.environ["AWS_ENDPOINT_URL"] = endpoint_url
    stack = Stack(name=name, outputs={}, region=region)
    try:
        answer = stack.client("cloudformation").describe_stacks(StackName=name)
    except (BotoCoreError, ClientError) as error:
        message = f"cannot look at stack {name!r}: {error}"
        raise UsageError(message) from error
    outputs = answer["Stacks"][0].get("Outputs", [])
    pairs = {one["OutputKey"]: one["OutputValue"] for one in outputs}
    return Stack(name=name, outputs=pairs, region=region)
