"""The run API in memory, as the tests of its contract use it: one line for each common step."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from support.dify_client import DifyClient
from support.functions import ADMIN, ASK, SAY, Answer, Functions, create_request, http_event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from support.dify_models import Revision

UNKNOWN = "00000000-0000-4000-8000-000000000000"
RUN_ROUTES = (
    ("GET", "/runs/{}"),
    ("POST", "/runs/{}/cancel"),
    ("GET", "/runs/{}/events"),
    ("GET", "/runs/{}/events/sse"),
)
R2 = {"Sayso-Events": "r2"}


def client_of(
    functions: Functions, revision: Revision = "r2", headers: Mapping[str, str] = {}
) -> DifyClient:
    """Return a client of the functions; while it waits, the queues are worked on."""

    def send(
        method: str,
        path: str,
        *,
        headers: Mapping[str, str],
        body: str | None,
        query: Mapping[str, str],
    ) -> Answer:
        function, event = http_event(method, path, headers=headers, body=body, query=query)
        return functions.answer(functions.invoke(function, event))

    def wait(seconds: float) -> None:
        functions.clock.advance(timedelta(seconds=seconds))
        functions.settle()

    sent = {"authorization": f"Bearer {ADMIN}", **headers}
    return DifyClient(transport=send, revision=revision, headers=sent, wait=wait)


def finished_run(functions: Functions, script: list[dict[str, Any]] = SAY) -> str:
    """Return a run that has ended."""
    run_id = functions.create(script)
    functions.settle()
    return run_id


def asked_run(functions: Functions) -> str:
    """Return a protocol run that ended with its question."""
    return finished_run(functions, ASK)


def failed_run(functions: Functions) -> str:
    """Return a run that failed before the model."""
    request = create_request(SAY)
    request["composition"]["layers"][0]["config"] = {"user": " "}
    run_id: str = functions.call("POST", "/runs", json_body=request).json["run_id"]
    functions.settle()
    return run_id


def events_of(functions: Functions, run_id: str, **options: Any) -> list[dict[str, Any]]:
    """Return the first page of a run's events."""
    events: list[dict[str, Any]] = functions.call("GET", f"/runs/{run_id}/events", **options).json[
        "events"
    ]
    return events


def cancel(functions: Functions, run_id: str, **body: Any) -> Answer:
    """Cancel over HTTP."""
    return functions.call("POST", f"/runs/{run_id}/cancel", json_body=body)
