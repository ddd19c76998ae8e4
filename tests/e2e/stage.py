"""The running product as its users and its operator see it: the API, the mails, the records."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from e2e.waiting import PATIENCE_SECONDS, eventually
from e2e.web import Reply, Request
from sayso.aws.credentials import PlainVault
from sayso.aws.objects import S3ObjectStore
from sayso.aws.secrets import CachedSecret, SecretLinks
from sayso.aws.table import DynamoTable
from sayso.domain.ids import RunId
from sayso.domain.links import Link
from sayso.domain.transitions import RunStatus
from sayso.store.keys import AUDIT, form_pk
from sayso.store.stores import open_stores
from sayso.system import RandomIds
from sayso_local.api import form_link
from sayso_local.clients import Clients

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sayso.domain.form import Form
    from sayso.domain.run import Run
    from sayso.ports import Item
    from sayso.store.stores import Stores
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
        self.wait_until(run_id, RunStatus.SUCCEEDED)
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
    def stores(self) -> Stores:
        """The table and the bucket of the stack."""
        outputs = self.stack.deployment.outputs
        return open_stores(
            DynamoTable(self.clients.dynamodb, outputs["TableName"]),
            S3ObjectStore(self.clients.s3, outputs["BucketName"]),
            RandomIds(),
            PlainVault(),
            retention=timedelta(days=3),
        )

    def run(self, run_id: RunId) -> Run:
        """Return the record of a run."""
        run = self.stores.runs.get(run_id)
        assert run is not None
        return run

    def wait_until(
        self, run_id: RunId, status: RunStatus, *, seconds: float = PATIENCE_SECONDS
    ) -> Run:
        """Wait until a run has a status; another end than that is no use waiting for."""

        def look() -> Run | None:
            run = self.run(run_id)
            assert run.status is status or not run.status.is_final, f"{run.status}: {run.error}"
            return run if run.status is status else None

        return eventually(f"run {run_id} to be {status}", look, seconds=seconds)

    def forms(self, run_id: RunId) -> list[Form]:
        """Return all forms of a run, in the order they were asked."""
        return list(self._forms(run_id))

    def _forms(self, run_id: RunId) -> Iterator[Form]:
        for pause in self.stores.runs.pauses(run_id):
            for form_id in pause.forms.values():
                form = self.stores.forms.get(form_id)
                assert form is not None
                yield form

    def link_to(self, form: Form, *, recipient: int = 1) -> str:
        """Return the link of a recipient, as it stands in the mail."""
        secret = self.stack.deployment.physical_ids["TokenKeySecret"]
        links = SecretLinks(CachedSecret(self.clients.secretsmanager, secret))
        token = links.sign(Link(form_id=form.id, recipient=recipient, revision=1))
        return f"{self.stack.url}/form/{token}"

    def audit(self, form: Form) -> list[str]:
        """Return what the history of a form says happened."""
        entries = self.stores.table.query(form_pk(form.id), prefix=AUDIT)
        return [str(entry["what"]) for entry in entries]

    def items(self) -> list[Item]:
        """Return the keys and the content of everything in the table but the limiter's counters."""
        found: list[Item] = []
        pages = self.clients.dynamodb.get_paginator("scan").paginate(
            TableName=self.stack.deployment.outputs["TableName"]
        )
        for page in pages:
            found += [item for item in page["Items"] if not item["pk"]["S"].startswith("RATE#")]
        return found

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
