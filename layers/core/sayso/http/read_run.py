"""``GET /runs/{run_id}``, ``…/events`` and ``…/events/sse`` (dify-agent §1, §4).

The workflow view of the same runs is served by the same function and has a module of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sayso.http.cursors import START, read_cursor, read_limit
from sayso.http.errors import run_api_error
from sayso.http.event_log import EventReader
from sayso.http.keyed_api import Call, KeyedApi, as_powertools
from sayso.http.projections import HEADER, profile_of, wire_run
from sayso.http.response import HttpResponse, json_response
from sayso.http.run_api import run_api, run_id_of
from sayso.http.sse import STREAM_HEADERS, Patience, event_stream
from sayso.http.workflow_api import (
    WorkflowPorts,
    add_workflow_events,
    is_workflow,
    workflow_error,
)
from sayso.usecases.read_run import read_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools.event_handler import Response

    from sayso.domain.errors import AppError
    from sayso.domain.run import Run
    from sayso.http.projections import Profile
    from sayso.http.request import HttpRequest
    from sayso.ports import Directory, Links
    from sayso.usecases.context import Context

_READ = ["GET", "HEAD"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPorts:
    """What these routes need."""

    context: Context
    directory: Directory
    links: Links
    sleep: Callable[[float], None]


def read_run_api(ports: ReadPorts) -> KeyedApi:
    """Return the resolver of the routes that only read."""

    def word(error: AppError) -> HttpResponse:
        if is_workflow(app.current_event.route_key):
            return workflow_error(error)
        return run_api_error(error)

    app = run_api(ports.directory, word)

    @app.route("/runs/<run_id>", method=_READ)
    def status(run_id: str) -> Response[str]:
        call = app.call
        run = wire_run(_run(run_id, call, ports), _profile(call))
        return as_powertools(json_response(200, run))

    @app.route("/runs/<run_id>/events", method=_READ)
    def events(run_id: str) -> Response[str]:
        reader = _reader(run_id, app.call, ports)
        query = app.call.request.query
        after = query.get("after", START)
        page = reader.page(read_cursor(after), read_limit(query.get("limit")))
        body = {
            "run_id": reader.run.id,
            "events": page,
            "next_cursor": page[-1]["id"] if page else after,
        }
        return as_powertools(json_response(200, body))

    @app.route("/runs/<run_id>/events/sse", method=_READ)
    def stream(run_id: str) -> Response[str]:
        call = app.call
        reader = _reader(run_id, call, ports)
        after = _stream_cursor(call.request)
        patience = Patience(remaining_seconds=call.remaining_seconds, sleep=ports.sleep)
        is_head = call.request.method == "HEAD"
        body = "" if is_head else event_stream(reader, after, patience)
        return as_powertools(HttpResponse(status=200, body=body, headers=STREAM_HEADERS))

    workflow = WorkflowPorts(context=ports.context, links=ports.links, sleep=ports.sleep)
    add_workflow_events(app, workflow)
    return app


def _run(run_id: str, call: Call, ports: ReadPorts) -> Run:
    return read_run(run_id_of(run_id), call.key.tenant, ports.context)


def _profile(call: Call) -> Profile:
    return profile_of(call.request.listed(HEADER))


def _reader(run_id: str, call: Call, ports: ReadPorts) -> EventReader:
    return EventReader(
        run=_run(run_id, call, ports),
        profile=_profile(call),
        context=ports.context,
        links=ports.links,
    )


def _stream_cursor(request: HttpRequest) -> int:
    """Return the cursor: ``after``, else ``Last-Event-ID``, else the start; empty is none (§4)."""
    if after := request.query.get("after"):
        return read_cursor(after)
    if last := request.headers.get("last-event-id"):
        return read_cursor(last, loc=("header", "last-event-id"))
    return read_cursor(START)
