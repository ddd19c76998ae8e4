"""The local stack as one thing: emulator, deployment, fix-ups, server; a context manager."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sayso_local.clients import Clients
from sayso_local.deploy import Deployment, deploy
from sayso_local.emulator import ACCESS_KEY, REGION, SECRET_KEY, Emulator
from sayso_local.fixups import mend
from sayso_local.gateway import Gateway
from sayso_local.server import MAILBOX, Server

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from sayso_local.places import Places

SENDER = "sayso@example.org"
APPROVER = "approver@example.org"
UNLIMITED = "10000"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalStack:
    """A running local stack."""

    url: str
    api_key: str
    endpoint_url: str
    deployment: Deployment
    log: Path
    """What the emulator and the functions write."""

    @property
    def mail_url(self) -> str:
        """The mailbox page."""
        return self.url + MAILBOX

    def as_json(self) -> str:
        """The line that `sayso-local` prints when it is ready."""
        return json.dumps(
            {
                "url": self.url,
                "mail_url": self.mail_url,
                "api_key": self.api_key,
                "endpoint_url": self.endpoint_url,
                "aws_access_key_id": ACCESS_KEY,
                "aws_secret_access_key": SECRET_KEY,
                "region": REGION,
                "stack": self.deployment.name,
            }
        )


@contextmanager
def running_stack(
    places: Places, *, port: int, parameters: Mapping[str, str]
) -> Iterator[LocalStack]:
    """Start a stack on a port of the loopback address; 0 takes a free one.

    Nothing is left running, and no temporary folder stays, when the context ends.

    Raises:
        LocalStackError: It cannot start; the message says what to do.
    """
    with ExitStack() as stack:
        server = Server(port)
        stack.callback(server.server_close)
        log = places.logs / f"{server.server_port}.log"
        emulator = stack.enter_context(Emulator(places, log=log))
        clients = Clients(emulator.url)
        emulator.wait_until_ready()
        deployment = deploy(
            places,
            clients,
            parameters=local_parameters(server.url) | dict(parameters),
            copies=emulator.temporary / "layers",
        )
        mend(clients, deployment)
        clients.sesv2.create_email_identity(EmailIdentity=SENDER)
        gateway = Gateway(emulator_port=emulator.port, api_id=deployment.outputs["ApiId"])
        server.serve(gateway, emulator_url=emulator.url)
        stack.callback(server.shutdown)
        yield LocalStack(
            url=server.url,
            api_key=_api_key(clients, deployment),
            endpoint_url=emulator.url,
            deployment=deployment,
            log=log,
        )


def local_parameters(url: str) -> dict[str, str]:
    """The template's parameters on this machine; `LIMITS=real` keeps the real rate limits."""
    parameters = {
        "Stage": "local",
        "PublicBaseUrl": url,
        "SenderAddress": SENDER,
        "DefaultApprovers": APPROVER,
        "ScriptedModel": "true",
        "AllowInternalAddresses": "true",
        "StartsConcurrency": "2",
        "WakesConcurrency": "2",
    }
    if os.environ.get("LIMITS") != "real":
        parameters["FormRateLimit"] = UNLIMITED
    return parameters


def _api_key(clients: Clients, deployment: Deployment) -> str:
    """The generated first key; its role is admin."""
    secret = clients.secretsmanager.get_secret_value(SecretId=deployment.outputs["ApiKeySecretArn"])
    return str(json.loads(secret["SecretString"])["key"])
