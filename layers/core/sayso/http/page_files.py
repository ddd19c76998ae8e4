"""Files that people send with the form of the page, which needs no script for it.

They are stored before the answer is looked at: what else may be wrong with it, nobody has to look
for their files twice. The page then names them by their ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sayso.domain.errors import FieldIssue, ValidationError
from sayso.domain.page_values import FILE_KINDS
from sayso.domain.submission import check_submission
from sayso.domain.uploads import UploadProblem, UploadRefusedError
from sayso.http.multipart import is_multipart, read_parts
from sayso.http.urlencoded import MAX_BYTES, read_fields, unreadable, without_repeated
from sayso.usecases.open_form import OpenForm, admit, find_form
from sayso.usecases.upload_file import store_upload

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sayso.domain.fields import FormInput
    from sayso.http.multipart import Part
    from sayso.http.page import PagePorts
    from sayso.http.request import HttpRequest
    from sayso.usecases.open_form import FormAccess
    from sayso.usecases.submit_form import Submission

_CODES: Final = {
    UploadProblem.TOO_LARGE: "file_too_large",
    UploadProblem.EMPTY: "file_empty",
    UploadProblem.TYPE: "file_type",
    UploadProblem.BLOCKED: "file_blocked",
    UploadProblem.TOO_MANY: "too_many_files",
}
"""Problem → code that the page has words for."""


class Sent(NamedTuple):
    """What a page sent."""

    fields: dict[str, list[str]]
    files: list[Part]


class Kept(NamedTuple):
    """What became of the files."""

    ids: dict[str, list[str]]
    """Field name → ids of stored files."""
    issues: list[FieldIssue]
    opened: OpenForm
    """The form, before anything was stored for it."""


def read_sent(request: HttpRequest, *, once: Iterable[str]) -> Sent:
    """Return texts and files of a form; controls for files that were left alone do not count.

    Raises:
        ValidationError: Not a form, or a name of ``once`` that comes twice.
    """
    if not is_multipart(request):
        return Sent(read_fields(request, once=once), [])
    parts = read_parts(request)
    pairs = [(part.name, _text(part.content)) for part in parts if part.filename is None]
    if sum(len(text) for _, text in pairs) > MAX_BYTES:
        raise unreadable()
    files = [part for part in parts if part.filename or (part.filename == "" and part.content)]
    return Sent(without_repeated(pairs, once=once), files)


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise unreadable() from None


def keep_files(
    access: FormAccess,
    typed: Mapping[str, Any],
    files: Mapping[str, Sequence[Part]],
    ports: PagePorts,
) -> Kept:
    """Store the files that were sent for the fields of a form. Counts as its submission.

    Args:
        access: The link.
        typed: Field name → text or texts, among them ids of files that are there already.
        files: Field name → files.
        ports: What the page needs.

    Raises:
        UnknownLinkError: As ``open_form``.
        TooManyRequestsError: As ``submit_form``, whose counter this is.
        FormClosedError: The form takes nothing any more.
    """
    link = admit("submit", access, ports.links, ports.limiter)
    opened = find_form(link, access, ports.context)
    kept = Kept({}, [], opened)
    fields = {one.name: one for one in opened.whole.content.definition.inputs}
    for name, parts in files.items():
        field = fields.get(name)
        if field is None or field.kind not in FILE_KINDS:
            kept.issues.append(FieldIssue(name, "unknown", "no field for files"))
            continue
        new = [one for part in parts if (one := _store(part, field, kept, ports))]
        there = typed.get(name, [])
        known = there if isinstance(there, list) else [there]
        # A new file takes the place of the one that was there, where there is room for one.
        kept.ids[name] = new if field.kind == "file" and new else [*known, *new]
    return kept


def _store(part: Part, field: FormInput, kept: Kept, ports: PagePorts) -> str | None:
    try:
        stored = store_upload(kept.opened, part.filename or "", part.content, ports.context)
    except UploadRefusedError as error:
        code = _CODES.get(error.problem, "not_a_file")
        kept.issues.append(FieldIssue(field.name, code, str(error)))
        return None
    return stored.id


def all_issues(
    opened: OpenForm, submission: Submission, refused: Sequence[FieldIssue]
) -> list[FieldIssue]:
    """Return what is wrong with an answer beside the files of it that were refused."""
    definition, uploads = opened.whole.content.definition, opened.whole.uploads
    names = {one.field for one in refused}
    try:
        values = submission.read(definition, submission.values, uploads)
        check_submission(definition, submission.action, values, uploads)
    except ValidationError as error:
        return [*(one for one in error.issues if one.field not in names), *refused]
    return list(refused)
