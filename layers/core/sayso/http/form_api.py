"""The form API of programs, and what no other route takes (human-input §7.3, dify-agent §2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

from sayso.domain.access import Surface
from sayso.domain.errors import FormClosedError, UnknownLinkError
from sayso.domain.transitions import FormStatus
from sayso.http.form_errors import form_api_error
from sayso.http.form_json import form_json
from sayso.http.json_body import read_json
from sayso.http.keyed_api import Call, KeyedApi, as_powertools
from sayso.http.response import json_response
from sayso.http.schemas import parse
from sayso.usecases.submit_form import FormAccess, Submission, open_form, submit_form

if TYPE_CHECKING:
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


def form_api(ports: FormPorts) -> KeyedApi:
    """Return the resolver of the JSON form routes and of ``$default``."""
    unknown = UnknownLinkError("the link is not known")
    app = KeyedApi(ports.directory, word_error=form_api_error, unknown=unknown)

    @app.route(_FORM, method=["GET", "HEAD"])
    def show(form_token: str) -> Response[str]:
        access = _access(form_token, app.call)
        opened = open_form(access, ports.context, ports.links, None)
        _check_open(opened.whole.form, ports)
        return as_powertools(json_response(200, form_json(opened.whole)))

    @app.post(_FORM)
    def submit(form_token: str) -> Response[str]:
        access = _access(form_token, app.call)
        body = parse(SubmitFormRequest, read_json(app.call.request), ["body"])
        submission = Submission(action=body.action, values=body.inputs, user=body.user)
        submit_form(access, submission, ports.context, ports.links, None)
        return as_powertools(json_response(200, {}))

    return app


def _access(token: str, call: Call) -> FormAccess:
    return FormAccess(
        token=token, surface=Surface.SERVICE_API, tenant=call.key.tenant, app=call.key.app
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
