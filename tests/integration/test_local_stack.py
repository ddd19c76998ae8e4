"""The local stack: what the real template becomes on the emulator, with stand-in functions."""

from __future__ import annotations

import http.client
import json
import re
import time
import urllib.parse
from email.message import EmailMessage
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

import pytest

from sayso_local.clients import Clients
from sayso_local.errors import LocalStackError
from sayso_local.fixups import mend
from sayso_local.gateway import MAX_BODY_BYTES
from sayso_local.places import find_places
from sayso_local.stack import SENDER, running_stack
from support.stand_ins import write_stand_ins

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sayso_local.cfn import JsonValue
    from sayso_local.stack import LocalStack

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    """The real template with functions that do what they are told."""
    source = write_stand_ins(tmp_path_factory.mktemp("stand-ins"))
    places = find_places(source=source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_PROFILE", "somebody-elses")
        with running_stack(places, port=0, parameters={"LeaseSeconds": "7"}) as stack:
            yield stack


@pytest.fixture
def clients(stack: LocalStack) -> Clients:
    """The emulator as its root user sees it."""
    return Clients(stack.endpoint_url)


class Reply:
    """One HTTP response."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def told(self) -> dict[str, Any]:
        """What a stand-in tells of its event and environment; any JSON."""
        return cast("dict[str, Any]", json.loads(self.body))


def send(
    base: str, method: str, target: str, *, body: bytes = b"", headers: dict[str, str] | None = None
) -> Reply:
    """Make one request."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(base).netloc, timeout=60)
    try:
        connection.request(method, target, body or None, headers or {})
        return Reply(connection.getresponse())
    finally:
        connection.close()


def send_past_proxy(stack: LocalStack, method: str, target: str, *, body: bytes = b"") -> Reply:
    """Send a request to the emulator itself."""
    port = urllib.parse.urlsplit(stack.endpoint_url).port
    host = f"{stack.deployment.outputs['ApiId']}.execute-api.127.0.0.1:{port}"
    return send(stack.endpoint_url, method, target, body=body, headers={"Host": host})


def invoke(clients: Clients, stack: LocalStack, function: str, order: object) -> JsonValue:
    """Call a stand-in directly and return what it returns."""
    answer = clients.lambda_.invoke(
        FunctionName=stack.deployment.outputs[f"{function}FunctionName"],
        Payload=json.dumps(order).encode(),
    )
    result: JsonValue = json.loads(answer["Payload"].read())
    return result


def denied(
    clients: Clients, stack: LocalStack, function: str, call: tuple[str, str, Mapping[str, object]]
) -> bool:
    """Whether a function's rights do not cover a call."""
    service, operation, arguments = call
    order = {"call": {"service": service, "operation": operation, "arguments": arguments}}
    code = invoke(clients, stack, function, order)
    assert code is None or "AccessDenied" in str(code), code
    return code is not None


def order(**parts: object) -> str:
    """A query that tells a stand-in what to do."""
    return urllib.parse.urlencode({name: json.dumps(value) for name, value in parts.items()})


# ---- Requests


@pytest.mark.parametrize(
    ("method", "target", "route"),
    [
        ("POST", "/runs", "POST /runs"),
        ("POST", "/runs/r1/cancel", "POST /runs/{run_id}/cancel"),
        ("GET", "/runs/r1", "GET /runs/{run_id}"),
        ("GET", "/runs/r1/events", "GET /runs/{run_id}/events"),
        ("GET", "/runs/r1/events/sse", "GET /runs/{run_id}/events/sse"),
        ("GET", "/form/t1", "GET /form/{token}"),
        ("GET", "/v1/form/human_input/t1", "GET /v1/form/human_input/{form_token}"),
        ("GET", "/", "$default"),
        ("DELETE", "/runs/r1", "$default"),
        ("GET", "/nowhere/at/all", "$default"),
    ],
)
def test_requests_reach_their_route(
    stack: LocalStack, method: str, target: str, route: str
) -> None:
    reply = send(stack.url, method, target)

    assert reply.status == HTTPStatus.OK
    assert reply.told["event"]["routeKey"] == route


def test_a_request_arrives_as_it_was_sent(stack: LocalStack) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": "c=1", "X-Own": "ä"}

    reply = send(stack.url, "POST", "/form/t1?a=1&a=2", body=b"x=%C3%A4&y=", headers=headers)

    event = reply.told["event"]
    assert event["rawQueryString"] == "a=1&a=2"
    assert event["headers"]["cookie"] == "c=1"
    assert event["isBase64Encoded"] is True
    assert reply.headers["x-stand-in"] == "yes"
    assert reply.headers.get_all("set-cookie") == ["a=1", "b=2"]


def test_head_has_the_length_and_no_body(stack: LocalStack) -> None:
    reply = send(stack.url, "HEAD", f"/form/t1?{order(status=200, body='four')}")

    assert reply.headers["content-length"] == "4"
    assert reply.body == b""


def test_a_failed_function_tells_nothing(stack: LocalStack) -> None:
    target = f"/form/t1?{order(fail='a secret')}"

    emulator, proxy = send_past_proxy(stack, "GET", target), send(stack.url, "GET", target)

    assert (emulator.status, b"a secret" in emulator.body) == (502, True), "mended in gateway.py"
    assert (proxy.status, proxy.told) == (500, {"message": "Internal Server Error"})


def test_a_functions_own_502_passes(stack: LocalStack) -> None:
    reply = send(stack.url, "GET", f"/form/t1?{order(status=502, body='{}')}")

    assert (reply.status, reply.body) == (502, b"{}")


def test_a_body_above_ten_megabytes_is_refused(stack: LocalStack) -> None:
    body = b"x" * (MAX_BODY_BYTES + 1)

    emulator = send_past_proxy(stack, "POST", f"/runs?{order(status=200)}", body=body)
    proxy = send(stack.url, "POST", f"/runs?{order(status=200)}", body=body)

    assert emulator.status == HTTPStatus.OK, "mended in gateway.py"
    assert proxy.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def test_the_emulator_still_has_the_faults_that_are_documented(stack: LocalStack) -> None:
    """When one of these fails, take it out of gateway.py and of what depends on it."""
    slash = send(stack.url, "GET", "/form/a%2Fb")
    cookie = send(stack.url, "GET", "/form/t1", headers={"Cookie": "c=1"})
    options = send(stack.url, "OPTIONS", "/runs")

    assert slash.told["event"]["routeKey"] == "$default"
    assert "cookies" not in cookie.told["event"]
    assert options.status == HTTPStatus.FORBIDDEN


# ---- Functions


def test_functions_see_their_layer_and_not_the_emulator(
    stack: LocalStack, clients: Clients
) -> None:
    places = find_places()

    found = {
        name: invoke(clients, stack, "ReadRun", {"import": name})
        for name in ("pydantic", "sayso", "pydantic_ai", "ministack")
    }

    assert str(found["pydantic"]).startswith(str(places.built_layer("core")))
    assert found["sayso"] is not None
    assert found["pydantic_ai"] is None
    assert found["ministack"] is None


def test_only_resume_sees_the_agent_layer(stack: LocalStack, clients: Clients) -> None:
    found = invoke(clients, stack, "Resume", {"import": "httpx2"})

    assert str(found).startswith(str(find_places().built_layer("agent")))


def test_functions_inherit_nothing_of_ours(stack: LocalStack) -> None:
    environment = send(stack.url, "GET", "/runs/r1").told["environment"]

    assert environment["PUBLIC_BASE_URL"] == stack.url
    assert "AWS_PROFILE" not in environment
    assert "VIRTUAL_ENV" not in environment
    assert environment["PATH"] == "/usr/bin:/bin"


def test_parameters_can_be_overridden(stack: LocalStack, clients: Clients) -> None:
    name = stack.deployment.outputs["ResumeFunctionName"]

    configuration = clients.lambda_.get_function_configuration(FunctionName=name)

    assert configuration["Environment"]["Variables"]["LEASE_SECONDS"] == "7"


def test_what_functions_print_and_how_they_fail_is_logged(stack: LocalStack) -> None:
    send(stack.url, "GET", f"/form/t1?{order(print='a line of log', fail='a failure')}")

    text = stack.log.read_text()
    assert "SubmitFormFunction" in text
    assert "a line of log" in text
    assert "RuntimeError: a failure" in text


# ---- Rights, evaluated by the emulator from the template's policies


def test_agent_code_cannot_read_the_key_of_links(stack: LocalStack, clients: Clients) -> None:
    name = stack.deployment.physical_ids["TokenKeySecret"]
    arn = clients.secretsmanager.describe_secret(SecretId=name)["ARN"]
    read = ("secretsmanager", "get_secret_value", {"SecretId": arn})

    assert denied(clients, stack, "Resume", read)
    assert not denied(clients, stack, "Deliver", read)


def test_mail_goes_out_from_the_sender_only(stack: LocalStack, clients: Clients) -> None:
    def mail(sender: str) -> tuple[str, str, dict[str, object]]:
        content = {"Simple": {"Subject": {"Data": "s"}, "Body": {"Text": {"Data": "t"}}}}
        to = {"ToAddresses": ["approver@example.org"]}
        return (
            "sesv2",
            "send_email",
            {"FromEmailAddress": sender, "Destination": to, "Content": content},
        )

    assert not denied(clients, stack, "Deliver", mail(f"Sayso <{SENDER}>"))
    assert denied(clients, stack, "Deliver", mail("other@example.org"))
    assert denied(clients, stack, "Resume", mail(SENDER))


def test_schedules_are_made_in_our_group_only(stack: LocalStack, clients: Clients) -> None:
    def schedule(group: str) -> tuple[str, str, dict[str, object]]:
        return ("scheduler", "create_schedule", at_schedule(clients, stack, group=group))

    ours = stack.deployment.outputs["ScheduleGroupName"]

    assert not denied(clients, stack, "Resume", schedule(ours))
    assert denied(clients, stack, "Resume", schedule("default"))
    assert denied(clients, stack, "CreateRun", schedule(ours))


def test_objects_are_written_once_below_runs(stack: LocalStack, clients: Clients) -> None:
    def put(key: str) -> dict[str, object]:
        arguments = {"Bucket": stack.deployment.outputs["BucketName"], "Key": key, "Body": "b"}
        arguments["IfNoneMatch"] = "*"
        return {"call": {"service": "s3", "operation": "put_object", "arguments": arguments}}

    assert invoke(clients, stack, "Resume", put("runs/t/r/once")) is None
    assert invoke(clients, stack, "Resume", put("runs/t/r/once")) == "PreconditionFailed"
    assert invoke(clients, stack, "Resume", put("elsewhere/once")) == "AccessDenied"


def test_the_sweep_deletes_every_version_of_runs_and_uploads_and_nothing_else(
    stack: LocalStack, clients: Clients
) -> None:
    bucket = stack.deployment.outputs["BucketName"]
    put = {
        key: clients.s3.put_object(Bucket=bucket, Key=key, Body=b"b")["VersionId"]
        for key in ("runs/t/old/x", "uploads/t/y", "elsewhere/z")
    }

    for key, version in put.items():
        arguments = {"Bucket": bucket, "Delete": {"Objects": [{"Key": key, "VersionId": version}]}}
        deletion = {"service": "s3", "operation": "delete_objects", "arguments": arguments}
        invoke(clients, stack, "TimeoutSweep", {"call": deletion})

    left = clients.s3.list_object_versions(Bucket=bucket)
    keys = {version["Key"] for version in left.get("Versions", [])}
    assert not keys & {"runs/t/old/x", "uploads/t/y"}
    assert "elsewhere/z" in keys


def at_schedule(
    clients: Clients, stack: LocalStack, *, group: str, seconds: int = 3600
) -> dict[str, object]:
    """A one-time schedule that calls the sweep."""
    name = stack.deployment.outputs["TimeoutSweepFunctionName"]
    function = clients.lambda_.get_function_configuration(FunctionName=name)
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + seconds))
    return {
        "Name": f"form-{seconds}-{group[-8:]}",
        "GroupName": group,
        "ScheduleExpression": f"at({at})",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "ActionAfterCompletion": "DELETE",
        "Target": {
            "Arn": function["FunctionArn"],
            "RoleArn": f"arn:aws:iam::000000000000:role/{stack.deployment.physical_ids['ScheduleRole']}",
            "Input": json.dumps({"schedule": f"after {seconds} s"}),
        },
    }


# ---- What calls functions


def test_a_message_reaches_its_function(stack: LocalStack, clients: Clients) -> None:
    queue = stack.deployment.outputs["WakesQueueUrl"]
    send_message = {"QueueUrl": queue, "MessageBody": json.dumps({"kind": "resume", "id": 17})}

    invoke(
        clients,
        stack,
        "SubmitForm",
        {"call": {"service": "sqs", "operation": "send_message", "arguments": send_message}},
    )

    assert logged(stack, r"ResumeFunction.*received.*resume.*17")


def test_a_one_time_schedule_fires_within_seconds(stack: LocalStack, clients: Clients) -> None:
    group = stack.deployment.outputs["ScheduleGroupName"]
    arguments = at_schedule(clients, stack, group=group, seconds=1)

    made = {"service": "scheduler", "operation": "create_schedule", "arguments": arguments}
    assert invoke(clients, stack, "Resume", {"call": made}) is None

    assert logged(stack, r"TimeoutSweepFunction.*received.*after 1 s", seconds=4)


def logged(stack: LocalStack, pattern: str, *, seconds: float = 10) -> bool:
    """Whether a line of log comes in time; the emulator's own clock decides when."""
    give_up_at = time.monotonic() + seconds
    while time.monotonic() < give_up_at:
        if re.search(pattern, stack.log.read_text()):
            return True
        time.sleep(0.05)
    return False


# ---- Mails


def test_a_raw_mail_is_kept_with_both_parts(stack: LocalStack, clients: Clients) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = SENDER, "Åsa <asa@example.org>", "Frågan: 5 €?"
    mail.set_content("Text på svenska\n")
    mail.add_alternative("<p>HTML på svenska</p>", subtype="html")

    clients.sesv2.send_email(
        FromEmailAddress=SENDER,
        Destination={"ToAddresses": ["asa@example.org"]},
        Content={"Raw": {"Data": mail.as_bytes()}},
    )

    listed = json.loads(send(stack.url, "GET", "/_mail/messages").body)
    page = send(stack.url, "GET", "/_mail")
    text_page = send(stack.url, "GET", f"/_mail?id={listed[-1]['id']}&view=text")
    assert listed[-1]["to"] == ["asa@example.org"]
    assert listed[-1]["subject"] == "Frågan: 5 €?"
    assert listed[-1]["text"] == "Text på svenska\n"
    assert listed[-1]["html"] == "<p>HTML på svenska</p>\n"
    assert b'sandbox="allow-popups allow-popups-to-escape-sandbox"' in page.body
    assert b"&lt;p&gt;HTML" in page.body
    assert "Text på svenska".encode() in text_page.body


def test_the_mailbox_is_only_read(stack: LocalStack) -> None:
    assert send(stack.url, "POST", "/_mail").status == HTTPStatus.METHOD_NOT_ALLOWED


# ---- Fix-ups


def test_what_the_emulator_ignored_of_the_template_is_mended(
    stack: LocalStack, clients: Clients
) -> None:
    outputs = stack.deployment.outputs

    expiry = clients.dynamodb.describe_time_to_live(TableName=outputs["TableName"])
    rules = clients.s3.get_bucket_lifecycle_configuration(Bucket=outputs["BucketName"])["Rules"]
    encryption = clients.s3.get_bucket_encryption(Bucket=outputs["BucketName"])
    assert expiry["TimeToLiveDescription"].get("AttributeName") == "ttl"
    assert [rule.get("Expiration", {}).get("Days") for rule in rules] == [400]
    assert "AES256" in json.dumps(encryption["ServerSideEncryptionConfiguration"])
    assert stack.api_key.isalnum()
    assert len(stack.api_key) == 48


def test_a_fixup_that_is_not_needed_is_noticed(stack: LocalStack, clients: Clients) -> None:
    """As when an emulator has learned what it ignores today."""
    with pytest.raises(LocalStackError, match=r"now: remove routes\.py"):
        mend(clients, stack.deployment)


def test_ses_events_of_our_mails_match_the_rule(stack: LocalStack, clients: Clients) -> None:
    """The emulator sends no such events; the pattern is checked against the documented shape."""
    physical = stack.deployment.physical_ids
    rule = clients.events.describe_rule(Name=physical["MailEventsRule"])

    def matches(configuration_set: str) -> bool:
        event = {
            "id": "1",
            "account": "000000000000",
            "source": "aws.ses",
            "time": "2026-12-01T12:00:00Z",
            "region": "us-east-1",
            "resources": [],
            "detail-type": "Email Bounced",
            "detail": {
                "eventType": "Bounce",
                "mail": {"tags": {"ses:configuration-set": [configuration_set]}},
            },
        }
        answer = clients.events.test_event_pattern(
            EventPattern=rule["EventPattern"], Event=json.dumps(event)
        )
        return answer["Result"]

    assert matches(physical["ConfigurationSet"])
    assert not matches("somebody-elses")
