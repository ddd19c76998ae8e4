"""The running product as its users and its operator see it: the API, the mails, the records."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from e2e.records import Records
from e2e.waiting import eventually
from e2e.web import Reply, Request
from sayso.aws.secrets import CachedSecret, SecretLinks
from sayso.domain.ids import RunId
from sayso.domain.links import Link
from sayso.domain.transitions import RunStatus
from sayso_local.api import form_link
from sayso_local.clients import Clients

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.form import Form
    from sayso_local.stack import LocalStack

Json = dict[str, Any]
MANAGED = {"Sayso-Events": "managed"}
"""Header of a reader that wants to see questions and pauses."""


@dataclass(frozen=True)
class Stage:
    """One local stack; everything that a test does to it and reads from it."""

    stack: LocalStack

    # ---- What programs do

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Make one request to the API, with the first key unless another is given.

        ``body`` is sent as JSON; bytes go as they are.
        """
        sent = {"Authorization": f"Bearer {self.stack.api_key if key is None else key}"}
        if body is not None:
            sent["Content-Type"] = "application/json"
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return Request(
            method=method,
            url=self.stack.url + path,
            body=None if body is None else content,
            headers=sent | dict(headers or {}),
        ).send()

    def create(self, request: Json, *, key: str | None = None) -> RunId:
        """Start a run."""
        reply = self.call("POST", "/runs", request, key=key)
        assert reply.status == 202, reply.text
        return RunId(reply.json["run_id"])

    def events(self, run_id: RunId) -> list[Json]:
        """Return all events of a run, those of pauses and questions among them."""
        found: list[Json] = []
        cursor = "0-0"
        while True:
            path = f"/runs/{run_id}/events?after={cursor}"
            reply = self.call("GET", path, headers=MANAGED)
            assert reply.status == 200, reply.text
            page = reply.json["events"]
            if not page:
                return found
            found += page
            cursor = reply.json["next_cursor"]

    def links(self, run_id: RunId) -> list[str]:
        """Return the links that the events show: those of the method ``webapp``, in call order."""
        shown = (one["data"] for one in self.events(run_id) if one["type"] in _QUESTION)
        return [str(data["form_url"]) for data in shown if data.get("form_url")]

    def output(self, run_id: RunId) -> str:
        """Wait until a run ends, and return what it ended with; it must have succeeded."""
        self.records.wait_until(run_id, RunStatus.SUCCEEDED)
        last = self.events(run_id)[-1]
        assert last["type"] == "run_succeeded", last
        return json.dumps(last["data"]["output"], ensure_ascii=False)

    # ---- What people get

    def mails(self) -> list[Json]:
        """Return all mails so far, oldest first."""
        reply = self.call("GET", "/_mail/messages")
        mails: list[Json] = reply.json
        return mails

    def mail_to(self, address: str) -> Json:
        """Wait for a mail to an address, which should be used by one test only."""
        return eventually(
            f"a mail to {address}",
            lambda: next((mail for mail in self.mails() if mail["to"] == [address]), None),
        )

    def mailed_link(self, address: str) -> str:
        """Wait for a mail and return the link in it."""
        link = form_link(self.mail_to(address))
        assert link is not None
        return link

    # ---- What the records say

    @cached_property
    def clients(self) -> Clients:
        """The emulated services as their root user sees them."""
        return Clients(self.stack.endpoint_url)

    @cached_property
    def records(self) -> Records:
        """The table and the bucket."""
        outputs = self.stack.deployment.outputs
        return Records(self.clients, outputs["TableName"], outputs["BucketName"])

    def link_to(self, form: Form, *, recipient: int = 1) -> str:
        """Return the link of a recipient, as it stands in the mail."""
        secret = self.stack.deployment.physical_ids["TokenKeySecret"]
        links = SecretLinks(CachedSecret(self.clients.secretsmanager, secret))
        token = links.sign(Link(form_id=form.id, recipient=recipient, revision=1))
        return f"{self.stack.url}/form/{token}"

    # ---- What the platform does

    def sweep(self) -> None:
        """Let the minute's tick come now."""
        reply = self.clients.lambda_.invoke(
            FunctionName=self.stack.deployment.outputs["TimeoutSweepFunctionName"],
            Payload=b"{}",
        )
        assert "FunctionError" not in reply, reply["Payload"].read()

    @property
    def log(self) -> str:
        """What the functions wrote."""
        return self.stack.log.read_text()


_QUESTION = {"human_input_required"}


def token_of(link: str) -> str:
    """Return the token of a link."""
    found = re.search(r"/form/([^/?#]+)$", link)
    assert found is not None, link
    return found[1]
