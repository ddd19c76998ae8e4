"""The form API of programs, and what no other route takes (human-input §7.3, dify-agent §2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from pydantic import BaseModel, ConfigDict, StringConstraints

from sayso.domain.access import Surface
from sayso.domain.errors import AppError, FormClosedError
from sayso.domain.transitions import FormStatus
from sayso.http.authenticate import authenticate
from sayso.http.errors import log_refusal, method_not_allowed, not_found
from sayso.http.form_errors import form_api_error
from sayso.http.form_json import form_json
from sayso.http.json_body import read_json
from sayso.http.request import HttpRequest, read_request
from sayso.http.response import HttpResponse, json_response
from sayso.http.routes import methods_of
from sayso.http.run_api import as_powertools
from sayso.http.schemas import parse
from sayso.usecases.submit_form import FormAccess, Submission, open_form, submit_form

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools.event_handler import Response

    from sayso.domain.form import Form
    from sayso.ports import Directory, Links
    from sayso.usecases.context import Context

_FORM = "/v1/form/human_input/<form_token>"

ShortText = Annotated[str, StringConstraints(max_length=255)]


class SubmitFormRequest(BaseModel):
    """Body of a submission (human-input §7.1, §7.3)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    inputs: dict[str, Any]
    action: ShortText
    user: Annotated[ShortText, StringConstraints(min_length=1)]
    """The end user on whose behalf the caller answers; recorded, not checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormPorts:
    """What these routes need."""

    context: Context
    directory: Directory
    links: Links


def form_api(ports: FormPorts) -> APIGatewayHttpResolver:
    """Return the resolver of the JSON form routes and of ``$default``."""
    app = APIGatewayHttpResolver()

    def answer(route: Callable[[HttpRequest, FormPorts], HttpResponse]) -> Response[str]:
        return as_powertools(route(read_request(app.current_event.raw_event), ports))

    @app.route(_FORM, method=["GET", "HEAD"])
    def show(form_token: str) -> Response[str]:  # noqa: ARG001 - read from the request
        return answer(_show)

    @app.post(_FORM)
    def submit(form_token: str) -> Response[str]:  # noqa: ARG001 - read from the request
        return answer(_submit)

    def refuse(error: AppError) -> Response[str]:
        log_refusal(error, app.current_event.route_key)
        return as_powertools(form_api_error(error))

    def default(_: Exception) -> Response[str]:
        allowed = methods_of(read_request(app.current_event.raw_event).path)
        return as_powertools(method_not_allowed(allowed) if allowed else not_found())

    app.exception_handler(AppError)(refuse)
    app.not_found(default)
    return app


def _show(request: HttpRequest, ports: FormPorts) -> HttpResponse:
    opened = open_form(_access(request, ports), ports.context, ports.links, None)
    _check_open(opened.whole.form, ports)
    return json_response(200, form_json(opened.whole))


def _submit(request: HttpRequest, ports: FormPorts) -> HttpResponse:
    access = _access(request, ports)
    body = parse(SubmitFormRequest, read_json(request), ["body"])
    submission = Submission(action=body.action, values=body.inputs, user=body.user)
    submit_form(access, submission, ports.context, ports.links, None)
    return json_response(200, {})


def _access(request: HttpRequest, ports: FormPorts) -> FormAccess:
    key = authenticate(request.headers, request.route, ports.directory)
    return FormAccess(
        token=request.path_parameters.get("form_token", ""),
        surface=Surface.SERVICE_API,
        tenant=key.tenant,
        app=key.app,
    )


def _check_open(form: Form, ports: FormPorts) -> None:
    """Refuse what takes no answer any more, whether or not the sweep has seen it (§10).

    Raises:
        FormClosedError: It was answered, or its time is over.
    """
    if form.status is not FormStatus.WAITING:
        raise FormClosedError(form.id, form.status)
    if form.deadline <= ports.context.clock.now():
        raise FormClosedError(form.id, FormStatus.TIMEOUT)
