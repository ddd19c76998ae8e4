"""What ``openapi.json`` says of each route: its words, its body, its answers by status."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sayso.http import answers as run
from sayso.http import form_answers as form
from sayso.http.manage_forms import DeliveryTestRequest, ExtendRequest, WithdrawRequest
from sayso.http.member_models import MemberAnswer, MemberRequest, MembersAnswer
from sayso.http.schemas import CancelRunRequest, CreateRunRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

NO_CONTENT: Final = ""
HTML: Final = "text/html; charset=utf-8"
EVENTS: Final = "text/event-stream; charset=utf-8"
PROBLEM: Final = "application/problem+json"
URLENCODED: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One route of the gateway."""

    summary: str
    answers: Mapping[int, type[BaseModel] | str]
    """Status → model of its JSON, or the media type of what is no JSON, or nothing."""
    body: type[BaseModel] | None = None
    body_is_needed: bool = True
    takes_file: bool = False
    """Whether the body is one part ``file``."""
    takes_nothing: bool = False
    by_upload_token: bool = False
    query: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    problems: Mapping[int, type[BaseModel]] = field(default_factory=dict)
    """Status → model of its problem document."""


_RUN_ERRORS: Final[dict[int, type[BaseModel] | str]] = {
    401: run.Detail,
    403: run.Detail,
    503: run.Detail,
}
_OF_A_RUN: Final = _RUN_ERRORS | {404: run.Detail}
_FORM_ERRORS: Final[dict[int, type[BaseModel] | str]] = dict.fromkeys(
    (401, 403, 404, 412, 503), form.FormError
)
_SUBMIT_ERRORS: Final = _FORM_ERRORS | dict.fromkeys((400, 413), form.FormError)
_PUBLIC: Final = dict.fromkeys((403, 404, 412, 429, 503), form.FormError)
_UPLOAD: Final = dict.fromkeys((400, 401, 403, 412, 413, 415, 503), form.FormError)
_PAGES: Final = dict.fromkeys((403, 404, 409, 410, 429, 503), HTML)
_MANAGED: Final = dict.fromkeys((401, 403, 404, 409, 412, 413, 422, 503), form.ProblemDocument)
_DIRECTORY: Final = dict.fromkeys((401, 403, 503), form.ProblemDocument)

_WORKFLOW: Final = dict.fromkeys((400, 401, 403, 404, 503), form.FormError)


def _workflow(summary: str) -> Route:
    return Route(
        summary=summary,
        query=("user", "include_state_snapshot", "continue_on_pause"),
        headers=("Last-Event-ID",),
        answers=_WORKFLOW | {200: EVENTS},
    )


ROUTES: Final[Mapping[str, Route]] = {
    "POST /runs": Route(
        summary="Start a run",
        body=CreateRunRequest,
        headers=("Idempotency-Key",),
        answers=_RUN_ERRORS | {202: run.RunAccepted, 413: run.Detail, 422: run.Invalid},
    ),
    "POST /runs/{run_id}/cancel": Route(
        summary="Cancel a run",
        body=CancelRunRequest,
        answers=_OF_A_RUN
        | {200: run.RunCancelled, 409: run.Detail, 413: run.Detail, 422: run.Invalid},
    ),
    "GET /runs/{run_id}": Route(
        summary="Show where a run stands",
        headers=("Sayso-Events",),
        answers=_OF_A_RUN | {200: run.RunStatusResponse},
    ),
    "GET /runs/{run_id}/events": Route(
        summary="Show a page of a run's events",
        query=("after", "limit"),
        headers=("Sayso-Events",),
        answers=_OF_A_RUN | {200: run.RunEventsResponse, 422: run.Invalid},
    ),
    "GET /runs/{run_id}/events/sse": Route(
        summary="Follow a run's events",
        query=("after",),
        headers=("Last-Event-ID", "Sayso-Events"),
        answers=_OF_A_RUN | {200: EVENTS, 422: run.Invalid},
    ),
    "GET /v1/workflow/{run_id}/events": _workflow("Follow a managed run as a workflow"),
    "GET /console/api/workflow/{run_id}/events": _workflow(
        "Follow a managed run as a workflow, from the console"
    ),
    "GET /form/{token}": Route(summary="Show the page of a form", answers=_PAGES | {200: HTML}),
    "POST /form/{token}": Route(
        summary="Answer on the page of a form",
        answers=_PAGES | dict.fromkeys((400, 413, 422), HTML) | {303: NO_CONTENT},
    ),
    "GET /api/form/human_input/{form_token}": Route(
        summary="Show the public form", answers=_PUBLIC | {200: form.PublicFormJson}
    ),
    "POST /api/form/human_input/{form_token}": Route(
        summary="Answer the public form",
        body=form.Submission,
        answers=_PUBLIC | {200: form.Nothing, 400: form.FormError, 413: form.FormError},
    ),
    "POST /api/form/human_input/{form_token}/upload-token": Route(
        summary="Get a token for uploads",
        takes_nothing=True,
        answers=_PUBLIC | {200: form.UploadToken},
    ),
    "POST /api/form/human_input/files/upload": Route(
        summary="Upload a file for a form; the upload token is the bearer token",
        takes_file=True,
        by_upload_token=True,
        answers=_UPLOAD | {201: form.UploadedFile},
    ),
    "POST /api/form/human_input/files/remote-upload": Route(
        summary="Fetch a file for a form; the upload token is the bearer token",
        body=form.RemoteFile,
        by_upload_token=True,
        answers=_UPLOAD | dict.fromkeys((404, 502), form.FormError) | {201: form.FetchedFile},
    ),
    "GET /v1/form/human_input/{form_token}": Route(
        summary="Show a form to a program", answers=_FORM_ERRORS | {200: form.FormJson}
    ),
    "POST /v1/form/human_input/{form_token}": Route(
        summary="Answer a form by a program",
        body=form.ServiceSubmission,
        answers=_SUBMIT_ERRORS | {200: form.Nothing},
    ),
    "GET /openapi/v1/apps/{app_id}/human-input-forms/{form_token}": Route(
        summary="Show a form of an app", answers=_FORM_ERRORS | {200: form.FormJson}
    ),
    "POST /openapi/v1/apps/{app_id}/human-input-forms/{form_token}": Route(
        summary="Answer a form of an app; the token is followed by :submit",
        body=form.Submission,
        answers=_SUBMIT_ERRORS | {200: form.Nothing, 405: run.Detail},
    ),
    "GET /console/api/form/human_input/{form_token}": Route(
        summary="Show a form to the console", answers=_FORM_ERRORS | {200: form.ConsoleFormJson}
    ),
    "POST /console/api/form/human_input/{form_token}": Route(
        summary="Answer a form from the console",
        body=form.Submission,
        answers=_SUBMIT_ERRORS | {200: form.Nothing},
    ),
    "POST /console/api/forms/{form_id}/extend": Route(
        summary="Move the deadline of a form",
        body=ExtendRequest,
        answers={200: form.ManagedForm},
        problems=_MANAGED,
    ),
    "POST /console/api/forms/{form_id}/withdraw": Route(
        summary="Withdraw a form",
        body=WithdrawRequest,
        body_is_needed=False,
        answers={200: form.ManagedForm},
        problems=_MANAGED,
    ),
    "POST /console/api/forms/{form_id}/recipients/{number}/revoke": Route(
        summary="Revoke one recipient's link",
        body=form.Nothing,
        body_is_needed=False,
        answers={200: form.Nothing},
        problems=_MANAGED,
    ),
    "POST /console/api/delivery-test": Route(
        summary="Try a delivery method",
        body=DeliveryTestRequest,
        answers=_SUBMIT_ERRORS | {200: form.Nothing},
    ),
    "GET /console/api/members": Route(
        summary="List the members of the key's tenant",
        answers={200: MembersAnswer},
        problems=_DIRECTORY,
    ),
    "PUT /console/api/members/{member_id}": Route(
        summary="Add or change a member",
        body=MemberRequest,
        answers={200: MemberAnswer},
        problems=_DIRECTORY | dict.fromkeys((404, 413, 422), form.ProblemDocument),
    ),
    "DELETE /console/api/members/{member_id}": Route(
        summary="Remove a member",
        answers={200: form.Nothing},
        problems=_DIRECTORY | {404: form.ProblemDocument},
    ),
}
"""Route key → what is said of it. HEAD is its GET without content; a 500 may come from any."""
