"""Plays the platform around worker processes: queues, deliveries, the minute's tick, a later clock.

The table, the bucket and the queues are real ones of the emulator, but not those of the deployed
stack, whose own workers would join in. A message whose worker was killed stays invisible, as for the
hour and a half on AWS: the sweep alone brings the run on.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from e2e.records import Records
from e2e.stage import token_of
from e2e.web import FORM_TYPE
from sayso.domain.ids import RunId
from sayso.domain.segment import OperationKind
from sayso.domain.transitions import FormStatus, RunStatus
from sayso_local.emulator import ACCESS_KEY, ACCOUNT, REGION, SECRET_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageTypeDef

    from e2e.stage import Stage
    from sayso.domain.form import Form
    from sayso.domain.run import Run

Json = dict[str, Any]
SWEEP_EVERY_SECONDS = 120
QUEUES = ("wakes", "starts", "deliveries")
TABLE_PARTS = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode")
MAX_ROUNDS = 400
"""Many more than any run here needs; a run that does not end is a failure, not a hanging test."""


@dataclass
class Story:
    """What became of one run, and how."""

    run_id: RunId
    effects: Path
    workers: int = 0
    writes: float = 0
    deaths: int = 0
    sweeps: int = 0
    finished_before_death: frozenset[str] = frozenset()
    """Operations that were recorded when the worker died."""

    @property
    def later_seconds(self) -> int:
        """How much later it is by now for the functions than on the machine's clock."""
        return self.sweeps * SWEEP_EVERY_SECONDS

    @property
    def performed(self) -> Counter[str]:
        """How often each operation was carried out."""
        lines = self.effects.read_text().splitlines()
        return Counter(line.rpartition(":")[2] for line in lines)


class Platform:
    """Runs one run after another."""

    def __init__(
        self,
        stage: Stage,
        records: Records,
        sqs: SQSClient,
        queues: list[str],
        nursery: subprocess.Popen[str],
    ) -> None:
        self.stage = stage
        self.records = records
        self._sqs = sqs
        self._queues = queues
        self._nursery = nursery

    def invoke(self, function: str, event: Json, **how: Any) -> Json:
        """Let a process of its own handle an event; return what the platform learns of it."""
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        order = {"function": function, "event": event, **how}
        self._nursery.stdin.write(json.dumps(order) + "\n")
        self._nursery.stdin.flush()
        line = self._nursery.stdout.readline()
        assert line, "the program that forks workers has ended"
        answer: Json = json.loads(line)
        assert "error" not in answer, answer
        return answer

    def live(self, request: Json, effects: Path, *, kill_at: float = 0, **limits: float) -> Story:
        """Create a run and bring it to its end.

        Args:
            request: The create request.
            effects: Where models and tools note that they were called.
            kill_at: Writes of all its workers together after which one of them is killed.
            limits: ``seconds`` and ``seconds_per_write`` of each worker.
        """
        story = Story(self._create(request), effects)
        for _ in range(MAX_ROUNDS):
            run = self.records.run(story.run_id)
            if run.status.is_final:
                return story
            if not self._deliver_all(story, kill_at, limits) and not self._answer(run):
                story.sweeps += 1
                self.invoke("timeout_sweep", {}, later_seconds=story.later_seconds)
        message = f"run {story.run_id} does not end"
        raise AssertionError(message)

    def _create(self, request: Json) -> RunId:
        headers = {"authorization": f"Bearer {self.stage.stack.api_key}"}
        event = http_event("POST /runs", headers=headers, body=json.dumps(request))
        answer = self.invoke("create_run", event)["returned"]
        assert answer["statusCode"] == 202, answer
        return RunId(json.loads(answer["body"])["run_id"])

    def _submit(self, form: Form, *, comment: str) -> None:
        event = http_event(
            "POST /form/{token}",
            headers={"content-type": FORM_TYPE},
            body=urlencode({"action": "approve", "reason": "lost", "comment": comment}),
            token=token_of(self.stage.link_to(form)),
        )
        answer = self.invoke("submit_form", event)["returned"]
        assert answer["statusCode"] == 303, answer

    def _deliver_all(self, story: Story, kill_at: float, limits: Json) -> bool:
        """Hand each message to a worker of its own; tell whether there was one."""
        messages = [(queue, message) for queue in self._queues for message in self._receive(queue)]
        for queue, message in messages:
            ended = self.invoke(
                "resume",
                {"Records": [record_of(message)]},
                effects=str(story.effects),
                later_seconds=story.later_seconds,
                kill_at=0 if story.deaths else max(kill_at - story.writes, 0),
                **limits,
            )
            story.workers += 1
            if ended["killed"]:
                story.deaths += 1
                story.finished_before_death = self.finished(story.run_id)
                continue
            story.writes += ended["writes"]
            self._sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
        return bool(messages)

    def _receive(self, queue: str) -> list[MessageTypeDef]:
        received = self._sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)
        return list(received.get("Messages", []))

    def _answer(self, run: Run) -> bool:
        """Answer the questions of a paused run; tell whether there was one."""
        if run.status is not RunStatus.PAUSED:
            return False
        waiting = [form for form in self.records.forms(run.id) if form.status is FormStatus.WAITING]
        for form in waiting:
            self._submit(form, comment=f"to {form.tool_call_id}")
        return bool(waiting)

    def finished(self, run_id: RunId) -> frozenset[str]:
        """Return the operations of a run that are recorded, by call id, or ``model <number>``."""
        records = [one for one in self.records.operations(run_id) if one.is_finished]
        models = [one for one in records if one.operation.kind is OperationKind.MODEL]
        tools = [one for one in records if one.operation.kind is OperationKind.TOOL]
        return frozenset(
            [f"model {number + 1}" for number in range(len(models))]
            + [one.operation.tool_call_id for one in tools]
        )


def record_of(message: MessageTypeDef) -> Json:
    """Return a message as a function is given it."""
    return {
        "messageId": message["MessageId"],
        "body": message["Body"],
        "attributes": {},
        "messageAttributes": {},
        "eventSource": "aws:sqs",
    }


def http_event(route: str, *, headers: dict[str, str], body: str, **parameters: str) -> Json:
    """Return a request as a function is given it (HTTP API, payload format 2.0)."""
    method, _, path = route.partition(" ")
    path = path.format(**parameters)
    http = {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1"}
    context = {"domainName": "sayso.test", "http": http, "routeKey": route, "stage": "$default"}
    return {
        "version": "2.0",
        "routeKey": route,
        "rawPath": path,
        "rawQueryString": "",
        "headers": headers,
        "pathParameters": parameters,
        "requestContext": context,
        "body": body,
        "isBase64Encoded": False,
    }


@contextmanager
def open_platform(stage: Stage) -> Iterator[Platform]:
    """Make a table, queues and a program that forks workers, beside those of the stack."""
    clients = stage.clients
    name = f"workers-{uuid.uuid4().hex[:8]}"
    resources: Any = stage.stack.deployment.template["Resources"]
    table: Any = {part: resources["Table"]["Properties"][part] for part in TABLE_PARTS}
    clients.dynamodb.create_table(TableName=name, **table)
    outputs = stage.stack.deployment.outputs
    sqs: SQSClient = clients._session.client("sqs", endpoint_url=clients.endpoint_url)
    queues = [sqs.create_queue(QueueName=f"{name}-{one}")["QueueUrl"] for one in QUEUES]
    environment = {
        "PATH": os.environ["PATH"],
        "AWS_ENDPOINT_URL": clients.endpoint_url,
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "TABLE_NAME": name,
        "BUCKET_NAME": outputs["BucketName"],
        **{f"{one.upper()}_QUEUE_URL": url for one, url in zip(QUEUES, queues, strict=True)},
        "SCHEDULE_GROUP": outputs["ScheduleGroupName"],
        "SCHEDULE_ROLE_ARN": f"arn:aws:iam::{ACCOUNT}:role/none",
        "SWEEP_FUNCTION_ARN": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:none",
        "API_KEY_SECRET_ARN": outputs["ApiKeySecretArn"],
        "TOKEN_KEY_SECRET_ARN": stage.stack.deployment.physical_ids["TokenKeySecret"],
        "SCRIPTED_MODEL": "true",
        "POWERTOOLS_LOG_LEVEL": "CRITICAL",
    }
    with subprocess.Popen(
        [sys.executable, "-P", Path(__file__).with_name("kill_worker.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as nursery:
        records = Records(clients, name, outputs["BucketName"])
        yield Platform(stage, records, sqs, queues, nursery)
        assert nursery.stdin is not None
        nursery.stdin.close()
        nursery.wait(timeout=30)
    clients.dynamodb.delete_table(TableName=name)
    for queue in queues:
        sqs.delete_queue(QueueUrl=queue)
