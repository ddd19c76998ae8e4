"""Take files for a form while it is open (human-input §8).

Whoever holds the link gets an upload token; the token takes files for this form, as long as it
waits, and serves for nothing else. Nothing of it is stored: it is signed, like the link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sayso.domain.access import Surface
from sayso.domain.errors import UnknownLinkError
from sayso.domain.links import Purpose
from sayso.domain.uploads import (
    MAX_UPLOADS,
    TokenProblem,
    UploadProblem,
    UploadRefusedError,
    UploadTokenError,
    check_upload,
)
from sayso.store.form_history import audit_ttl
from sayso.usecases.open_form import FormAccess, OpenForm, admit, check_open, find_form

if TYPE_CHECKING:
    from datetime import datetime

    from sayso.domain.uploads import Upload
    from sayso.ports import Links, RateLimiter
    from sayso.usecases.context import Context

PREFIX: Final = "hitl_upload_"


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadToken:
    """What uploads carry, and until when they are taken."""

    text: str
    expires_at: datetime


def issue_upload_token(
    access: FormAccess, context: Context, links: Links, limiter: RateLimiter | None
) -> UploadToken:
    """Return a token for uploads through a link. Called again, it returns the same one.

    Raises:
        UnknownLinkError: As ``open_form``.
        TooManyRequestsError: The address, or the link, was used too often.
        FormClosedError: The form takes nothing any more.
    """
    link = admit("upload_token", access, links, limiter)
    form = find_form(link, access, context).whole.form
    check_open(form, context.clock.now())
    return UploadToken(text=PREFIX + links.sign(link, Purpose.UPLOAD), expires_at=form.deadline)


def open_upload(token: str, context: Context, links: Links) -> OpenForm:
    """Return the form that a token takes files for; a revoked link takes its tokens with it.

    Raises:
        UploadTokenError: It is none of ours, or its form is gone.
        FormClosedError: The form takes nothing any more.
    """
    if not token.startswith(PREFIX):
        raise UploadTokenError(TokenProblem.MALFORMED)
    access = FormAccess(token="", surface=Surface.PAGE)
    try:
        link = links.verify(token.removeprefix(PREFIX), Purpose.UPLOAD)
        opened = find_form(link, access, context)
    except UnknownLinkError as error:
        raise UploadTokenError(TokenProblem.UNKNOWN) from error
    check_open(opened.whole.form, context.clock.now())
    return opened


def store_upload(opened: OpenForm, name: str, data: bytes, context: Context) -> Upload:
    """Store a file for an open form. The same file under the same name is stored once.

    Raises:
        UploadRefusedError: The file is not taken, or the form has too many already.
        FormClosedError: The form was decided meanwhile.
    """
    form, uploads = opened.whole.form, opened.whole.uploads
    now = context.clock.now()
    upload = check_upload(form.id, name, data, recipient=opened.recipient.number, now=now)
    if upload.id in uploads:
        return uploads[upload.id]
    check_open(form, now)
    if len(uploads) >= MAX_UPLOADS:
        raise UploadRefusedError(UploadProblem.TOO_MANY)
    context.stores.uploads.add(form, upload, data, ttl=audit_ttl(form))
    context.report("file_uploaded", form_id=form.id, run_id=form.run_id)
    return upload
