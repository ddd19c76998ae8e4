"""The public form as JSON, below ``/api/form/human_input/`` (human-input §7.2, §8).

The page's twin for programs: the link is the only credential, the same recipients, the same
limiter. Light to import, like the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sayso.domain.access import Surface
from sayso.domain.errors import AppError
from sayso.http.errors import internal_error, log_refusal, method_not_allowed
from sayso.http.form_errors import form_api_error
from sayso.http.form_json import public_json
from sayso.http.request import HttpRequest, read_request
from sayso.http.response import HttpResponse, json_response
from sayso.http.routes import as_get, methods_of
from sayso.http.submission_body import read_submission
from sayso.http.upload_api import issue_token, upload, upload_remote
from sayso.observability import log_failure
from sayso.usecases.open_form import FormAccess, check_open, open_form
from sayso.usecases.submit_form import submit_form

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.http.page import PagePorts

PREFIX: Final = "/api/form/human_input/"

_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def serve_public_form(event: Mapping[str, Any], ports: PagePorts) -> dict[str, Any]:
    """Answer one event of the HTTP API."""
    request = read_request(event)
    route = ROUTES.get(as_get(request.route))
    if route is None:
        return method_not_allowed(methods_of(request.path)).to_event()
    try:
        answer = route(request, ports)
    except AppError as error:
        log_refusal(error, request.route)
        answer = form_api_error(error, Surface.PAGE)
    except Exception as error:  # noqa: BLE001 - the outermost frame, of another shape than a page
        log_failure("public_form_failed", error, route=request.route)
        answer = internal_error()
    headers = {**answer.headers, **_HEADERS}
    return HttpResponse(status=answer.status, body=answer.body, headers=headers).to_event()


def _show(request: HttpRequest, ports: PagePorts) -> HttpResponse:
    opened = open_form(_access(request), ports.context, ports.links, ports.limiter)
    check_open(opened.whole.form, ports.context.clock.now())
    return json_response(200, public_json(opened.whole))


def _submit(request: HttpRequest, ports: PagePorts) -> HttpResponse:
    submission = read_submission(request, Surface.PAGE)
    submit_form(_access(request), submission, ports.context, ports.links, ports.limiter)
    return json_response(200, {})


def _access(request: HttpRequest) -> FormAccess:
    return FormAccess(
        token=request.path_parameters.get("form_token", ""),
        surface=Surface.PAGE,
        address=request.address,
    )


ROUTES: Final = {
    "GET /api/form/human_input/{form_token}": _show,
    "POST /api/form/human_input/{form_token}": _submit,
    "POST /api/form/human_input/{form_token}/upload-token": issue_token,
    "POST /api/form/human_input/files/upload": upload,
    "POST /api/form/human_input/files/remote-upload": upload_remote,
}
"""Route key → what answers it; a HEAD is answered like its GET."""
