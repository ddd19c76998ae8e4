"""The form API of programs on three surfaces, and what no other route takes.

Service API, openapi and console (human-input §7.3 to §7.5) differ in the key they want, in what
they show besides and in words; which link works where is one table. All go through here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sayso.domain.access import Surface
from sayso.domain.errors import AppError, NotFoundError, UnknownLinkError
from sayso.http.errors import method_not_allowed
from sayso.http.form_errors import form_api_error
from sayso.http.form_json import console_json, form_json
from sayso.http.keyed_api import Call, KeyedApi, as_powertools
from sayso.http.manage_forms import MANAGEMENT, add_management
from sayso.http.member_api import MEMBER_PATHS, add_members
from sayso.http.problem_response import problem_response
from sayso.http.response import HttpResponse, json_response
from sayso.http.submission_body import read_submission
from sayso.usecases.open_form import FormAccess, check_open, open_form
from sayso.usecases.submit_form import submit_form

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools.event_handler import Response

    from sayso.domain.form import WholeForm
    from sayso.domain.ids import AppId
    from sayso.http.manage_forms import FormPorts

_SUBMIT = ":submit"
"""Ends the path of a submission through openapi; the gateway routes it by the token's place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Routes:
    """One surface."""

    surface: Surface
    path: str
    show: Callable[[WholeForm], dict[str, Any]] = form_json


_SURFACES = (
    _Routes(surface=Surface.SERVICE_API, path="/v1/form/human_input/<form_token>"),
    _Routes(
        surface=Surface.OPENAPI,
        path="/openapi/v1/apps/<app_id>/human-input-forms/<form_token>",
    ),
    _Routes(
        surface=Surface.CONSOLE,
        path="/console/api/form/human_input/<form_token>",
        show=console_json,
    ),
)


def form_api(ports: FormPorts) -> KeyedApi:
    """Return the resolver of the JSON form routes and of ``$default``."""

    def word(error: AppError) -> HttpResponse:
        path = app.current_event.route_key.partition(" ")[2]
        if path in MANAGEMENT | MEMBER_PATHS:
            return problem_response(error)
        return form_api_error(error, _surface_of(path))

    unknown = UnknownLinkError("the link is not known")
    app = KeyedApi(ports.directory, word_error=word, unknown=unknown)
    for routes in _SURFACES:
        _add_surface(app, routes, ports)
    add_management(app, ports)
    add_members(app, ports.context)
    return app


def _surface_of(path: str) -> Surface:
    if path.startswith("/openapi/"):
        return Surface.OPENAPI
    return Surface.CONSOLE if path.startswith("/console/") else Surface.SERVICE_API


def _add_surface(app: KeyedApi, routes: _Routes, ports: FormPorts) -> None:
    def show(form_token: str, app_id: str | None = None) -> Response[str]:
        access = _access(form_token, app_id, routes.surface, app.call)
        opened = open_form(access, ports.context, ports.links, None)
        check_open(opened.whole.form, ports.context.clock.now())
        return as_powertools(json_response(200, routes.show(opened.whole)))

    def submit(form_token: str, app_id: str | None = None) -> Response[str]:
        call, token = app.call, form_token
        if routes.surface is Surface.OPENAPI:
            token = form_token.removesuffix(_SUBMIT)
            if token == form_token:
                return as_powertools(method_not_allowed(("GET", "HEAD")))
        access = _access(token, app_id, routes.surface, call)
        submission = read_submission(call.request, routes.surface, user=call.key.id)
        submit_form(access, submission, ports.context, ports.links, None)
        return as_powertools(json_response(200, {}))

    app.route(routes.path, method=["GET", "HEAD"])(show)
    app.post(routes.path)(submit)


def _access(token: str, app_id: str | None, surface: Surface, call: Call) -> FormAccess:
    """Return through what a key comes to a form.

    The console's keys may use every app of their tenant (§7.5); the app in the path of openapi has
    to be the key's own.
    """
    if app_id is not None and app_id != call.key.app:
        message = "the app is not the key's"
        raise NotFoundError(message)
    app: AppId | None = None if surface is Surface.CONSOLE else call.key.app
    return FormAccess(token=token, surface=surface, tenant=call.key.tenant, app=app)
