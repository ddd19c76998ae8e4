"""The deployed functions in memory: real handlers and agent, real event shapes, a virtual clock.

``Functions`` plays the platform: the gateway that routes requests, the queues that deliver
messages, the scheduler that fires. Ids and links are the same in every test.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.util
import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from sayso import bootstrap
from sayso.domain.access import ApiKey, Role
from sayso.domain.ids import AppId, FormId, RunId, TenantId
from sayso.domain.links import Link
from sayso.http.routes import FUNCTION_ROUTES
from sayso.outgoing import GuardedFetcher
from sayso.rendering.content import MarkdownContentRenderer
from sayso.rendering.mailer import ApprovalMails
from sayso.settings import Settings
from sayso.store.limiter import TableRateLimiter
from sayso.store.stores import open_stores
from sayso.testing.access import MemoryDirectory, MemoryVault, fixed_links
from sayso.testing.clock import FixedClock, SequenceIds
from sayso.testing.faults import Faults
from sayso.testing.mailer import RecordingMailer
from sayso.testing.objects import MemoryObjectStore
from sayso.testing.queue import QueuedMessage, RecordingQueue
from sayso.testing.table import MemoryTable
from sayso.testing.timers import RecordingTimers
from sayso.usecases.context import Context
from support.template import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sayso.domain.form import WholeForm
    from sayso.ports import RemoteFiles, StoredCredential, Timers

TENANT, APP = TenantId("acme"), AppId("refunds")
ADMIN, SERVICE, OPENAPI, OTHER, DISABLED = "admin-key", "service-key", "openapi-key", "other", "off"
KEYS = {
    ADMIN: ApiKey(id="k1", tenant=TENANT, app=APP, role=Role.ADMIN),
    SERVICE: ApiKey(id="k2", tenant=TENANT, app=APP, role=Role.SERVICE),
    OPENAPI: ApiKey(id="k3", tenant=TENANT, app=APP, role=Role.OPENAPI),
    OTHER: ApiKey(id="k4", tenant=TenantId("other"), app=APP, role=Role.ADMIN),
    DISABLED: ApiKey(id="k5", tenant=TENANT, app=APP, role=Role.ADMIN, disabled=True),
}
DOMAIN = "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com"
ACCOUNT = "123456789012"
SWEEP_ARN = f"arn:aws:lambda:eu-central-1:{ACCOUNT}:function:sayso-TimeoutSweepFunction"
WEBAPP_AND_MAIL: dict[str, Any] = {
    "title": "Refund 17",
    "delivery_methods": [
        {"type": "webapp"},
        {
            "type": "email",
            "config": {"recipients": {"items": [{"type": "external", "email": "cfo@example.org"}]}},
        },
    ],
}
QUESTION: dict[str, Any] = {
    "question": "Refund order 17?",
    "markdown": "The amount is **3200**.",
    "fields": [
        {"type": "paragraph", "name": "comment", "label": "Comment", "default": "Looks fine."},
        {
            "type": "select",
            "name": "reason",
            "label": "Reason",
            "required": True,
            "options": [{"value": "late", "label": "Too late"}, {"value": "bad", "label": "Bad"}],
        },
    ],
    "actions": [
        {"id": "approve", "label": "Approve", "style": "primary"},
        {"id": "deny", "label": "Deny", "style": "destructive"},
    ],
}
ASK: list[dict[str, Any]] = [
    {"calls": [{"name": "ask_human", "args": QUESTION, "id": "call_1"}]},
    {"text": "{{results}}"},
]
SAY: list[dict[str, Any]] = [{"text": "Done."}]


def create_request(script: list[dict[str, Any]], **members: Any) -> dict[str, Any]:
    """Return a create request of the scripted model."""
    context = {
        "tenant_id": "t",
        "user_from": "end-user",
        "invoke_from": "service-api",
        "agent_mode": "workflow_run",
    }
    llm = {
        "plugin_id": "scripted",
        "model_provider": "scripted",
        "model": "m",
        "credentials": {"script": json.dumps(script)},
    }
    layers: list[dict[str, Any]] = [
        {"name": "prompt", "type": "plain.prompt", "config": {"user": "Refund?"}},
        {"name": "context", "type": "dify.execution_context", "config": context},
        {"name": "history", "type": "pydantic_ai.history"},
        {"name": "ask_human", "type": "dify.ask_human"},
        {
            "name": "llm",
            "type": "dify.plugin.llm",
            "deps": {"execution_context": "context"},
            "config": llm,
        },
    ]
    return {"composition": {"schema_version": 1, "layers": layers}, **members}


@dataclass
class MemoryWiring:
    """Implements ``bootstrap.Wiring``."""

    settings: Settings = field(
        default_factory=lambda: Settings(
            values={"SWEEP_FUNCTION_ARN": SWEEP_ARN},
            sender_address="sayso@example.org",
            default_approvers=("approver@example.org",),
            scripted_model=True,
        )
    )

    def __post_init__(self) -> None:
        self.clock = FixedClock()
        self.faults = Faults()
        """Lets calls of the table fail."""
        self.table = MemoryTable(clock=self.clock, faults=self.faults)
        self.objects = MemoryObjectStore()
        self.queue_faults = Faults()
        self.queue = RecordingQueue(self.clock, faults=self.queue_faults)
        self.recorded = RecordingTimers()
        self.mailer = RecordingMailer()
        self.directory = MemoryDirectory(KEYS)
        self.links = fixed_links()
        self.limiter = TableRateLimiter(self.table, self.clock, limit=30)
        self.remote_files: RemoteFiles = GuardedFetcher(allow_internal=False)
        self.mail_renderer = ApprovalMails(sender="sayso@example.org")
        self.content_renderer = MarkdownContentRenderer()
        self.reports: list[tuple[str, dict[str, object]]] = []
        self.sweep_arns: set[str] = set()
        self.during_sleep: Callable[[], None] = lambda: None
        """Called while a reader is held: what happens meanwhile."""
        ids = SequenceIds()
        stores = open_stores(
            self.table, self.objects, ids, MemoryVault(), retention=self.settings.retention
        )
        self.context = Context(
            stores=stores, queue=self.queue, clock=self.clock, ids=ids, report=self._report
        )

    def _report(self, event: str, **facts: object) -> None:
        self.reports.append((event, facts))

    def sleep(self, seconds: float) -> None:
        """Move the clock."""
        self.clock.advance(timedelta(seconds=seconds))
        self.during_sleep()

    def timers(self, sweep_arn: str) -> Timers:
        """Return the recording timers."""
        self.sweep_arns.add(sweep_arn)
        return self.recorded

    def stored_credential(self, provider: str) -> StoredCredential | None:
        """Return None: the stack has none."""
        assert provider
        return None


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """What Lambda tells a handler."""

    clock: FixedClock
    ends_at: Any
    invoked_function_arn: str = SWEEP_ARN
    function_name: str = "sayso-Function"
    aws_request_id: str = "11111111-2222-3333-4444-555555555555"

    def get_remaining_time_in_millis(self) -> int:
        """Return the time until the function is stopped."""
        return int((self.ends_at - self.clock.now()).total_seconds() * 1000)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a client gets."""

    status: int
    headers: Mapping[str, str]
    body: str

    @property
    def json(self) -> Any:
        """The body, read."""
        return json.loads(self.body)


class Functions:
    """All functions of the template, over ports in memory."""

    def __init__(self, wiring: MemoryWiring | None = None) -> None:
        self.wiring = wiring or MemoryWiring()
        self._handlers: dict[str, Callable[[Any, Any], Any]] = {}

    @property
    def clock(self) -> FixedClock:
        """The one clock of all."""
        return self.wiring.clock

    def invoke(self, function: str, event: Mapping[str, Any], seconds: float = 29) -> Any:
        """Call a handler as Lambda does: the event has been through JSON, and so is the answer."""
        ends_at = self.clock.now() + timedelta(seconds=seconds)
        invocation = Invocation(clock=self.clock, ends_at=ends_at)
        answer = self._handler(function)(json.loads(json.dumps(event)), invocation)
        return json.loads(json.dumps(answer))

    def _handler(self, function: str) -> Callable[[Any, Any], Any]:
        if function not in self._handlers:
            bootstrap.use(self.wiring)
            try:
                self._handlers[function] = load_app(function).handler
            finally:
                bootstrap.use(None)
        return self._handlers[function]

    # --- the gateway ---

    def call(
        self,
        method: str,
        path: str,
        *,
        key: str | None = ADMIN,
        json_body: Any = None,
        body: str | None = None,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request to whatever function its route belongs to."""
        sent = {"host": DOMAIN, **{k.lower(): v for k, v in (headers or {}).items()}}
        if key is not None:
            sent.setdefault("authorization", f"Bearer {key}")
        if json_body is not None:
            body = json.dumps(json_body)
            sent.setdefault("content-type", "application/json")
        function, event = http_event(method, path, headers=sent, body=body, query=query or {})
        return self.answer(self.invoke(function, event))

    @staticmethod
    def answer(returned: Mapping[str, Any]) -> Answer:
        """Read what a handler returned, as gateway and client do."""
        headers = {k.lower(): v for k, v in returned["headers"].items()}
        body = returned["body"]
        if returned["isBase64Encoded"]:
            assert headers["content-encoding"] == "gzip"
            body = gzip.decompress(base64.b64decode(body)).decode()
        return Answer(status=returned["statusCode"], headers=headers, body=body)

    def post_form(self, token: str, **fields: str) -> Answer:
        """Send the page's form as a browser does."""
        headers = {
            "content-type": "application/x-www-form-urlencoded",
            "origin": "null",
            "sec-fetch-site": "same-origin",
        }
        path = f"/form/{token}"
        return self.call("POST", path, key=None, body=urlencode(fields), headers=headers)

    # --- queues and timers ---

    def deliver(self, message: QueuedMessage) -> Any:
        """Give one message to the function that reads its queue."""
        function = "deliver" if message.queue == "deliveries" else "resume"
        return self.invoke(function, sqs_event(message.queue, json.dumps(message.body)), 900)

    def settle(self) -> None:
        """Deliver messages and fire schedules until nothing is due."""
        while True:
            messages = self.wiring.queue.pop_due()
            for message in messages:
                self.deliver(message)
            timers = self.wiring.recorded.pop_due(self.clock.now())
            for timer in timers:
                self.invoke("timeout_sweep", timer, 55)
            if not messages and not timers:
                return

    # --- shortcuts ---

    def create(self, script: list[dict[str, Any]], **members: Any) -> RunId:
        """Create a run over HTTP and return its id."""
        answer = self.call("POST", "/runs", json_body=create_request(script, **members))
        assert answer.status == 202, answer.body
        return RunId(answer.json["run_id"])

    def paused_run(self, **members: Any) -> RunId:
        """Return a managed run that waits for its people, who have their mails."""
        run_id = self.create(ASK, human_input={**WEBAPP_AND_MAIL, **members})
        self.settle()
        return run_id

    def form(self, run_id: RunId) -> WholeForm:
        """Return the newest form of a run."""
        pause = self.wiring.context.stores.runs.pauses(run_id)[-1]
        whole = self.wiring.context.stores.forms.whole(FormId(list(pause.forms.values())[-1]))
        assert whole is not None
        return whole

    def token(self, run_id: RunId, recipient: int = 2) -> str:
        """Return a link's token; recipient 1 is the web app, 2 the mailed person."""
        link = Link(form_id=self.form(run_id).form.id, recipient=recipient, revision=1)
        return self.wiring.links.sign(link)

    def status(self, run_id: RunId) -> str:
        """Return a run's status over HTTP."""
        status: str = self.call("GET", f"/runs/{run_id}").json["status"]
        return status


def load_app(function: str) -> Any:
    """Import a function's module anew, as a cold start does."""
    path = ROOT / "functions" / function / "app.py"
    spec = importlib.util.spec_from_file_location(f"functions_{function}_app", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def http_event(
    method: str,
    path: str,
    *,
    headers: Mapping[str, str],
    body: str | None,
    query: Mapping[str, str],
) -> tuple[str, dict[str, Any]]:
    """Return the function that serves a request and its event, payload format 2.0."""
    function, route, parameters = _route(method, path)
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": route,
        "rawPath": path,
        "rawQueryString": urlencode(query, quote_via=quote),
        "headers": dict(headers),
        "requestContext": {
            "accountId": ACCOUNT,
            "apiId": DOMAIN.partition(".")[0],
            "domainName": DOMAIN,
            "domainPrefix": DOMAIN.partition(".")[0],
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "203.0.113.7",
                "userAgent": "test",
            },
            "requestId": "JKJaXmPLvHcESHA=",
            "routeKey": route,
            "stage": "$default",
            "time": "05/Jan/2026:09:00:00 +0000",
            "timeEpoch": 1767603600000,
        },
        "isBase64Encoded": False,
    }
    if query:
        event["queryStringParameters"] = dict(query)
    if parameters:
        event["pathParameters"] = parameters
    if body is not None:
        event["body"] = body
    return function, event


def _route(method: str, path: str) -> tuple[str, str, dict[str, str]]:
    parts = path.split("/")
    for function, routes in FUNCTION_ROUTES.items():
        for route in routes:
            wanted, _, template = route.partition(" ")
            names = template.split("/")
            if wanted == method and len(names) == len(parts):
                pairs = list(zip(names, parts, strict=True))
                if all(name == part or (part and name.startswith("{")) for name, part in pairs):
                    found = {name[1:-1]: part for name, part in pairs if name.startswith("{")}
                    return function, route, found
    return "console", "$default", {}


def sqs_event(queue: str, *bodies: str) -> dict[str, Any]:
    """Return the event of a batch."""
    return {
        "Records": [
            {
                "messageId": f"059f36b4-87a3-44ab-83d2-{number:012d}",
                "receiptHandle": "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a",
                "body": body,
                "attributes": {
                    "ApproximateReceiveCount": "1",
                    "SentTimestamp": "1767603600000",
                    "SenderId": "AROAEXAMPLE:sayso",
                    "ApproximateFirstReceiveTimestamp": "1767603600001",
                },
                "messageAttributes": {},
                "md5OfBody": hashlib.md5(body.encode(), usedforsecurity=False).hexdigest(),
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:eu-central-1:{ACCOUNT}:{queue}",
                "awsRegion": "eu-central-1",
            }
            for number, body in enumerate(bodies)
        ]
    }
