"""The approver's page: ``GET``, ``HEAD`` and ``POST /form/{token}`` (human-input §18).

The token is the only credential. GET and HEAD change nothing but the limiter's counter; a decision
is a POST, answered 303 to the same address, which then shows the receipt. A link that opens
nothing gets one page, whatever the reason.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sayso.domain.access import Surface
from sayso.domain.errors import (
    AppError,
    ContentChangedError,
    FieldIssue,
    FormClosedError,
    TooManyRequestsError,
    UnknownLinkError,
    ValidationError,
)
from sayso.domain.page_values import page_values, with_files
from sayso.domain.transitions import FormStatus
from sayso.http.errors import is_retryable, log_refusal, method_not_allowed, retry_headers
from sayso.http.page_files import Sent, all_issues, keep_files, read_sent
from sayso.http.request import HttpRequest, read_request
from sayso.http.response import HttpResponse
from sayso.http.routes import methods_of
from sayso.http.security_headers import security_headers
from sayso.observability import log_failure
from sayso.rendering import pages
from sayso.rendering.from_domain import form_view, typed_view
from sayso.rendering.states import ended_page, opened_page
from sayso.rendering.views import RateLimitedView
from sayso.usecases.open_form import FormAccess, OpenForm, open_form
from sayso.usecases.submit_form import Submission, submit_form

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sayso.http.multipart import Part
    from sayso.ports import Links, RateLimiter, RemoteFiles
    from sayso.usecases.context import Context

_ACTION, _SHOWN, _FIELD_PREFIX = "action", "form_nonce", "field."
"""Names of the page's own controls, and how it names a field that is called like one of them."""
_CLOSED_STATUS = {FormStatus.SUBMITTED: 409}
_GONE_STATUS = 410


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePorts:
    """What the page needs."""

    context: Context
    links: Links
    limiter: RateLimiter
    remote_files: RemoteFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class _Visit:
    """One request to one link."""

    request: HttpRequest
    access: FormAccess
    nonce: str
    ports: PagePorts

    def page(
        self, status: int, html: str, headers: Mapping[str, str] | None = None
    ) -> HttpResponse:
        """Return a page with the headers that all of them carry."""
        fixed = security_headers(self.nonce) | {"Content-Type": "text/html; charset=utf-8"}
        return HttpResponse(status=status, body=html, headers=fixed | dict(headers or {}))

    def open(self, limiter: RateLimiter | None = None) -> OpenForm:
        """Return the form of the link."""
        return open_form(self.access, self.ports.context, self.ports.links, limiter)


def serve_page(event: Mapping[str, Any], ports: PagePorts) -> dict[str, Any]:
    """Answer one event of the HTTP API."""
    request = read_request(event)
    route = METHODS.get(request.method)
    if route is None:
        return method_not_allowed(methods_of(request.path)).to_event()
    access = FormAccess(
        token=request.path_parameters.get("token", ""),
        surface=Surface.PAGE,
        address=request.address,
    )
    nonce = ports.context.ids.token()
    visit = _Visit(request=request, access=access, nonce=nonce, ports=ports)
    try:
        return route(visit).to_event()
    except AppError as error:
        log_refusal(error, request.route)
        return _error_page(visit, error).to_event()
    except Exception as error:  # noqa: BLE001 - a person gets a page, whatever happened
        log_failure("page_failed", error, route=request.route)
        return visit.page(500, pages.server_error_page(nonce=nonce)).to_event()


def _show(visit: _Visit) -> HttpResponse:
    opened = visit.open(visit.ports.limiter)
    form = opened.whole.form
    html = opened_page(
        opened.whole,
        opened.recipient,
        now=visit.ports.context.clock.now(),
        nonce=visit.nonce,
        form_nonce=form.content_digest,
    )
    return visit.page(200, html)


def _decide(visit: _Visit) -> HttpResponse:
    if _is_cross_site(visit.request):
        issues = [FieldIssue("", "cross_site", "sent by another site")]
        return _form_again(visit, 403, issues, limiter=visit.ports.limiter)
    try:
        sent = read_sent(visit.request, once=(_ACTION, _SHOWN))
    except ValidationError as error:
        return _form_again(visit, 400, error.issues, limiter=visit.ports.limiter)
    return _submit(visit, sent)


def _submit(visit: _Visit, sent: Sent) -> HttpResponse:
    submission, ports = _submission_of(sent.fields), visit.ports
    limiter: RateLimiter | None = ports.limiter
    try:
        if sent.files:
            submission, issues = _with_files(visit, sent, submission)
            if issues:
                return _form_again(visit, 422, issues, submission, limiter=None)
            limiter = None  # it was counted before the files were stored
        submit_form(visit.access, submission, ports.context, ports.links, limiter)
    except ValidationError as error:
        return _form_again(visit, 422, error.issues, submission, limiter=None)
    except ContentChangedError:
        issues = [FieldIssue("", "content_changed", "the content is another one now")]
        return _form_again(visit, 409, issues, submission, limiter=None)
    except FormClosedError:
        return _too_late(visit, submission)
    headers = security_headers(visit.nonce) | {"Location": f"/form/{visit.access.token}"}
    return HttpResponse(status=303, headers=headers)


METHODS = {"GET": _show, "HEAD": _show, "POST": _decide}
"""Method → what answers it."""


def _with_files(
    visit: _Visit, sent: Sent, submission: Submission
) -> tuple[Submission, list[FieldIssue]]:
    """Store the files of an answer and name them in it; say what is wrong if not all were taken."""
    files: dict[str, list[Part]] = {}
    for part in sent.files:
        files.setdefault(part.name.removeprefix(_FIELD_PREFIX), []).append(part)
    kept = keep_files(visit.access, submission.values, files, visit.ports)
    named = replace(submission, values={**submission.values, **kept.ids})
    return named, all_issues(kept.opened, named, kept.issues) if kept.issues else []


def _submission_of(fields: dict[str, list[str]]) -> Submission:
    values = {
        name.removeprefix(_FIELD_PREFIX): _one_or_all(texts)
        for name, texts in fields.items()
        if name not in {_ACTION, _SHOWN}
    }
    return Submission(
        action=fields.get(_ACTION, [""])[0],
        values=values,
        shown_digest=fields.get(_SHOWN, [""])[0] or None,
        read=page_values,
    )


def _one_or_all(texts: list[str]) -> str | list[str]:
    """Return what a control sent; only boxes of one name send several texts."""
    return texts[0] if len(texts) == 1 else texts


def _is_cross_site(request: HttpRequest) -> bool:
    """Tell whether another site made the browser send this.

    Browsers say so in ``Sec-Fetch-Site`` (W3C Fetch Metadata). ``Origin`` counts where that is
    missing; it is ``null`` from our own pages, since they send no referrer (Fetch standard §3.2).
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site not in {"same-origin", "none"}
    origin = request.headers.get("origin", "null")
    own = {request.domain, request.headers.get("host", "")}
    return origin != "null" and urlsplit(origin).netloc not in own


def _form_again(
    visit: _Visit,
    status: int,
    issues: Sequence[FieldIssue],
    submission: Submission | None = None,
    *,
    limiter: RateLimiter | None,
) -> HttpResponse:
    """Return the form with what is wrong and what was typed, or how it ended meanwhile."""
    opened = visit.open(limiter)
    now = visit.ports.context.clock.now()
    form = opened.whole.form
    if form.status is not FormStatus.WAITING or form.deadline <= now:
        return _ended(visit, opened, submission)
    view = form_view(opened.whole, opened.recipient, now=now, form_nonce=form.content_digest)
    definition, uploads = opened.whole.content.definition, opened.whole.uploads
    values = with_files(definition, submission.values, uploads) if submission else {}
    return visit.page(
        status, pages.form_page(view, nonce=visit.nonce, values=values, issues=issues)
    )


def _too_late(visit: _Visit, submission: Submission) -> HttpResponse:
    return _ended(visit, visit.open(), submission)


def _ended(visit: _Visit, opened: OpenForm, submission: Submission | None) -> HttpResponse:
    """Return how the question ended; an answer that came too late goes back to its writer."""
    definition, uploads = opened.whole.content.definition, opened.whole.uploads
    typed = None
    if submission is not None:
        values = with_files(definition, submission.values, uploads)
        typed = typed_view(definition, submission.action, values)
    html = ended_page(
        opened.whole,
        opened.recipient,
        nonce=visit.nonce,
        typed=typed,
        typed_at=visit.ports.context.clock.now(),
    )
    return visit.page(_CLOSED_STATUS.get(opened.whole.form.status, _GONE_STATUS), html)


def _error_page(visit: _Visit, error: AppError) -> HttpResponse:
    nonce = visit.nonce
    match error:
        case UnknownLinkError():
            return visit.page(404, pages.unknown_page(nonce=nonce))
        case TooManyRequestsError():
            now = visit.ports.context.clock.now()
            view = RateLimitedView(now=now, retry_at=now + error.retry_after)
            seconds = max(1, round(error.retry_after.total_seconds()))
            html = pages.rate_limited_page(view, nonce=nonce)
            return visit.page(429, html, {"Retry-After": str(seconds)})
        case _ if is_retryable(error):
            return visit.page(503, pages.server_error_page(nonce=nonce), retry_headers())
        case _:
            return visit.page(500, pages.server_error_page(nonce=nonce))
