"""The essential rows of the run API's contract on the local stack, through a strict client."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from e2e.extent import extent
from e2e.web import Reply, Request
from support.conversations import UNKNOWN
from support.dify_client import DifyClient
from support.functions import ASK, SAY, create_request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from e2e.stage import Stage
    from support.dify_models import Revision

pytestmark = pytest.mark.stack

RUNS_AT_ONCE = extent("RUNS_AT_ONCE", usual=10)
"""200 in full."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply in the client's terms."""

    status: int
    headers: Mapping[str, str]
    body: str


def client_of(stage: Stage, revision: Revision = "r2", wanted: str = "") -> DifyClient:
    """Return a client with the stack's first key."""

    def send(
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        body: str | None,
        query: Mapping[str, str],
    ) -> Answered:
        url = f"{stage.stack.url}{path}" + (f"?{urlencode(query)}" if query else "")
        content = None if body is None else body.encode()
        # The connection does not decompress, and small answers never are.
        sent = {name: value for name, value in headers.items() if name != "accept-encoding"}
        reply = Request(method=method, url=url, body=content, headers=sent).send()
        return Answered(reply.status, reply.headers, reply.text)

    key = {"authorization": f"Bearer {stage.stack.api_key}", "sayso-events": wanted}
    return DifyClient(transport=send, revision=revision, headers=key, wait=pause)


def pause(seconds: float) -> None:
    """Wait a fraction of what the client would wait."""
    time.sleep(seconds / 5)


@pytest.mark.parametrize("revision", ["r1", "r2"])
def test_a_client_creates_waits_and_streams(stage: Stage, revision: Any) -> None:
    client = client_of(stage, revision)

    run_id = client.create_run(create_request(SAY)).run_id
    streamed = list(client.stream_events(run_id))

    assert streamed[-1].type == "run_succeeded"
    assert streamed[-1].data["output"] == "Done."
    assert client.wait_run(run_id).status == "succeeded"
    assert [event["id"] for event in client.all_events(run_id)] == [one.id for one in streamed]
    assert client.connections == 1


def test_a_client_that_wants_the_extras_reads_them(stage: Stage) -> None:
    client = client_of(stage, wanted="r2")

    run_id = client.create_run(create_request(SAY)).run_id
    *_, last = client.stream_events(run_id)

    assert last.data["usage"]["total_tokens"] > 0
    assert client.get_run(run_id).status == "succeeded"


def test_a_question_is_answered_by_a_second_run(stage: Stage) -> None:
    client = client_of(stage)
    *_, asked = client.stream_events(client.create_run(create_request(ASK)).run_id)
    call = asked.data["deferred_tool_call"]["tool_call_id"]
    resume = create_request(
        ASK,
        session_snapshot=asked.data["session_snapshot"],
        deferred_tool_results={"calls": {call: {"status": "timeout"}}},
    )

    *_, done = client.stream_events(client.create_run(resume).run_id)

    assert done.type == "run_succeeded"
    assert "timeout" in done.data["output"]


def test_a_cancel_is_answered_and_waited_for(stage: Stage) -> None:
    client = client_of(stage)
    run_id = client.create_run(create_request(SAY, human_input=_LATER)).run_id

    assert client.cancel_and_wait(run_id).type == "run_cancelled"
    assert client.get_run(run_id).status == "cancelled"


_LATER = {
    "delivery_methods": [{"type": "webapp"}],
    "not_before": "2999-01-01T00:00:00Z",
    "run_timeout_seconds": 0,
}


def test_the_same_request_under_a_key_is_one_run(stage: Stage) -> None:
    client = client_of(stage)
    request = create_request(SAY, idempotency_key="once")

    with ThreadPoolExecutor(4) as pool:
        created = list(pool.map(lambda _: client.create_run(request).run_id, range(4)))
    other = stage.call("POST", "/runs", {**request, "metadata": {"other": True}})

    assert len(set(created)) == 1
    assert other.status == 422
    assert other.json["detail"][0]["loc"] == ["body", "idempotency_key"]


@pytest.mark.parametrize(
    ("method", "path", "status", "detail"),
    [
        ("GET", f"/runs/{UNKNOWN}", 404, "run not found"),
        ("GET", f"/runs/{UNKNOWN}/events", 404, "run not found"),
        ("GET", f"/runs/{UNKNOWN}/events/sse", 404, "run not found"),
        ("POST", f"/runs/{UNKNOWN}/cancel", 404, "run not found"),
        ("GET", "/runs/a%22b", 404, "run not found"),
        ("GET", "/runs", 405, "Method Not Allowed"),
        ("GET", "/nothing", 404, "Not Found"),
    ],
)
def test_errors_are_those_of_the_contract(
    stage: Stage, method: str, path: str, status: int, detail: str
) -> None:
    reply = stage.call(method, path, {} if method == "POST" else None)

    assert (reply.status, reply.json) == (status, {"detail": detail})


@pytest.mark.parametrize(
    ("value", "detail"),
    [
        (None, "missing authorization header"),
        ("Basic x", "invalid authorization scheme"),
        ("Bearer x", "invalid bearer token"),
    ],
)
def test_401_has_the_text_and_the_header(stage: Stage, value: str | None, detail: str) -> None:
    headers = {} if value is None else {"Authorization": value}

    reply = Request(method="GET", url=f"{stage.stack.url}/runs/x", headers=headers).send()

    assert (reply.status, reply.json) == (401, {"detail": detail})
    assert reply.headers["www-authenticate"] == "Bearer"


def test_a_body_over_4_mb_is_413(stage: Stage) -> None:
    reply: Reply = stage.call("POST", "/runs", {"foo": "x" * 4_194_304})

    assert reply.status == 413
    assert reply.json["detail"].startswith("request body is too large: ")


def test_many_runs_created_at_once_all_end_with_every_event_once(stage: Stage) -> None:
    client = client_of(stage)

    with ThreadPoolExecutor(16) as pool:
        created = pool.map(lambda _: client.create_run(create_request(SAY)), range(RUNS_AT_ONCE))
        run_ids = [one.run_id for one in created]
    ended = [client.wait_run(run_id, polls=3_000).status for run_id in run_ids]
    pages = [client.all_events(run_id) for run_id in run_ids]

    assert ended == ["succeeded"] * RUNS_AT_ONCE
    types = {tuple(event["type"] for event in page) for page in pages}
    assert len(types) == 1
    for page in pages:
        assert [event["id"] for event in page] == [f"{n}-0" for n in range(1, len(page) + 1)]
        assert page[-1]["data"]["output"] == "Done."
