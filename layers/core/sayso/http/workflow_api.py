"""``GET /v1/workflow/{run_id}/events`` and its twin of the console (human-input §7.3, §7.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sayso.domain.access import Surface
from sayso.domain.dispositions import surface_of
from sayso.domain.errors import NotFoundError
from sayso.domain.invocation import TRIED_OUT
from sayso.http.form_errors import form_api_error
from sayso.http.keyed_api import as_powertools
from sayso.http.response import HttpResponse
from sayso.http.run_api import run_id_of
from sayso.http.sse import STREAM_HEADERS, Patience
from sayso.http.workflow_frames import read_frame_cursor
from sayso.http.workflow_stream import Wanted, WorkflowReader
from sayso.usecases.read_workflow import read_workflow

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools.event_handler import Response

    from sayso.domain.errors import AppError
    from sayso.http.keyed_api import KeyedApi
    from sayso.http.request import HttpRequest
    from sayso.ports import Links
    from sayso.usecases.context import Context

_PATHS: Final = {
    "/v1/workflow/{run_id}/events": Surface.SERVICE_API,
    "/console/api/workflow/{run_id}/events": Surface.CONSOLE,
}
_NOT_FOUND: Final = "Workflow run not found"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowPorts:
    """What these routes need."""

    context: Context
    links: Links
    sleep: Callable[[float], None]


def is_workflow(route: str) -> bool:
    """Tell whether a route is one of these."""
    return route.partition(" ")[2] in _PATHS


def workflow_error(error: AppError) -> HttpResponse:
    """Return the answer for an error, in the shape of the contract (§7.1)."""
    if isinstance(error, NotFoundError):
        error = NotFoundError(_NOT_FOUND)
    return form_api_error(error, Surface.CONSOLE)


def add_workflow_events(app: KeyedApi, ports: WorkflowPorts) -> None:
    """Add the routes."""
    for path, surface in _PATHS.items():
        _add(app, path.replace("{", "<").replace("}", ">"), surface, ports)


def _add(app: KeyedApi, path: str, surface: Surface, ports: WorkflowPorts) -> None:
    def events(run_id: str) -> Response[str]:
        call = app.call
        own_app = None if surface is Surface.CONSOLE else call.key.app
        workflow = read_workflow(run_id_of(run_id), call.key.tenant, own_app, ports.context)
        wanted = _wanted(call.request)
        shown = _shown_to(surface, workflow.run.invoke_from)
        reader = WorkflowReader(workflow, shown, ports.context, ports.links)
        patience = Patience(remaining_seconds=call.remaining_seconds, sleep=ports.sleep)
        body = "" if call.request.method == "HEAD" else reader.stream(wanted, patience)
        return as_powertools(HttpResponse(status=200, body=body, headers=STREAM_HEADERS))

    app.route(path, method=["GET", "HEAD"])(events)


def _shown_to(reader: Surface, invoke_from: str) -> Surface | None:
    """Return whose tokens are shown; None: anybody's (§6.3).

    What started the run says so. But tokens of the console are for its readers only: a service key
    could answer nothing with them.
    """
    if reader is Surface.CONSOLE:
        return None if invoke_from in TRIED_OUT else Surface.CONSOLE
    return surface_of(invoke_from) or Surface.SERVICE_API


def _wanted(request: HttpRequest) -> Wanted:
    """Return what the query asks for; ``user`` is taken and decides nothing (DESIGN decision 3)."""
    return Wanted(
        after=read_frame_cursor(request.headers.get("last-event-id")),
        snapshot=_is_set(request, "include_state_snapshot"),
        continue_on_pause=_is_set(request, "continue_on_pause"),
    )


def _is_set(request: HttpRequest, option: str) -> bool:
    return request.query.get(option, "").lower() in ("true", "1")
