"""§8: files that people send for a form, and D18 of §22."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from sayso.domain.uploads import (
    MAX_UPLOAD_BYTES,
    RemoteFile,
    RemoteFileError,
    RemoteProblem,
)
from support.functions import Functions
from support.human_input import MAIL, NOTE, Forms, error, node
from support.uploads import (
    PDF,
    PHOTOS,
    PNG,
    PROOF,
    UPLOAD,
    Sent,
    post_multipart,
    upload,
    upload_token,
)

if TYPE_CHECKING:
    from support.functions import Answer
    from support.human_input import Json

LIMIT = 30


def asked(*inputs: Json) -> Forms:
    """Return a form that asks for files."""
    return Forms({"form": node(*(inputs or (PROOF,)))})


def send(forms: Forms, authorization: str | None, *parts: Sent) -> tuple[int, Json]:
    headers = {} if authorization is None else {"authorization": authorization}
    answer = post_multipart(
        forms.functions, UPLOAD, parts or [Sent("file", PNG, "a.png")], **headers
    )
    return answer.status, answer.json


def refusal(status: int, code: str, message: str) -> tuple[int, Json]:
    return status, error(code, message, status)


# --- tokens ---


def test_s8_1_a_token_is_good_until_the_deadline_of_the_form() -> None:
    forms = asked()
    path = f"/api/form/human_input/{forms.token(MAIL)}/upload-token"

    answer = forms.functions.call("POST", path, key=None)

    assert answer.status == 200
    assert set(answer.json) == {"upload_token", "expires_at"}
    assert answer.json["upload_token"].startswith("hitl_upload_")
    assert len(answer.json["upload_token"]) <= 255
    assert answer.json["expires_at"] == int(forms.form.deadline.timestamp())


def test_s8_1_nothing_of_a_token_is_stored() -> None:
    forms = asked()

    token = upload_token(forms)

    assert token not in repr(forms.functions.wiring.table.snapshot())


def test_s8_1_a_form_that_was_answered_gives_no_token() -> None:
    forms = asked(NOTE)
    forms.page(kind=MAIL, action="approve", note="Fine.")
    path = f"/api/form/human_input/{forms.token(MAIL)}/upload-token"

    answer = forms.functions.call("POST", path, key=None)

    assert (answer.status, answer.json["code"]) == (412, "human_input_form_submitted")


def test_s8_1_an_unknown_link_gives_no_token() -> None:
    forms = asked()

    answer = forms.functions.call("POST", f"/api/form/human_input/{'A' * 50}/upload-token")

    assert (answer.status, answer.json) == refusal(404, "not_found", "Form not found")


def test_s16_tokens_have_a_counter_of_their_own() -> None:
    forms = asked()
    path = f"/api/form/human_input/{forms.token(MAIL)}/upload-token"

    statuses = [forms.functions.call("POST", path).status for _ in range(LIMIT + 1)]

    assert statuses == [200] * LIMIT + [429]


REQUIRED = refusal(401, "invalid_upload_token", "Upload token is required.")
INVALID = refusal(400, "invalid_upload_token", "Invalid upload token.")
UNKNOWN = refusal(403, "invalid_upload_token", "Upload token is invalid or expired.")


@pytest.mark.parametrize(
    ("authorization", "expected"),
    [
        (None, REQUIRED),
        ("Bearer", REQUIRED),
        ("Bearer  ", REQUIRED),
        ("Bearer a b", REQUIRED),
        ("Basic hitl_upload_x", INVALID),
        ("Bearer other_x", INVALID),
        ("Bearer hitl_upload_x", UNKNOWN),
        ("Bearer hitl_upload_" + "A" * 50, UNKNOWN),
    ],
)
def test_s8_2_D18_tokens_that_are_not_taken(
    authorization: str | None, expected: tuple[int, Json]
) -> None:
    assert send(asked(), authorization) == expected


def test_s8_2_a_form_link_uploads_nothing() -> None:
    forms = asked()

    assert send(forms, f"Bearer hitl_upload_{forms.token(MAIL)}") == UNKNOWN


def test_s8_2_an_upload_token_opens_no_form() -> None:
    forms = asked()
    token = upload_token(forms).removeprefix("hitl_upload_")

    assert forms.functions.call("GET", f"/api/form/human_input/{token}").status == 404
    assert forms.functions.call("GET", f"/form/{token}").status == 404


def test_s8_2_a_revoked_link_takes_its_upload_token_with_it() -> None:
    forms = asked()
    token = upload_token(forms)
    number = next(one.number for one in forms.whole.recipients if one.type is MAIL)
    assert forms.manage(f"recipients/{number}/revoke", {}).status == 200

    assert send(forms, f"Bearer {token}") == UNKNOWN


def test_s8_2_D18_an_upload_after_the_answer_is_refused() -> None:
    forms = asked(NOTE)
    token = upload_token(forms)
    forms.page(kind=MAIL, action="approve", note="Fine.")

    status, body = send(forms, f"Bearer {token}")

    assert (status, body["code"]) == (412, "human_input_form_submitted")
    assert not forms.whole.uploads


def test_s8_2_D18_an_upload_after_the_deadline_is_refused() -> None:
    forms = asked()
    token = upload_token(forms)
    forms.functions.clock.advance(timedelta(days=8))

    status, body = send(forms, f"Bearer {token}")

    assert (status, body["code"]) == (412, "human_input_form_expired")


# --- files ---


def test_s8_5_a_stored_file_is_described() -> None:
    forms = asked()

    answer = upload(forms, "Scan 1.PDF", PDF)

    assert answer.status == 201
    assert answer.json == {
        "id": answer.json["id"],
        "name": "Scan 1.PDF",
        "size": len(PDF),
        "extension": "pdf",
        "mime_type": "application/pdf",
        "created_by": None,
        "created_at": int(forms.functions.clock.now().timestamp()),
    }
    objects = forms.functions.wiring.objects.objects
    assert objects[f"uploads/acme/{forms.form.id}/{answer.json['id']}"] == PDF


def test_s8_5_the_same_file_again_is_the_same_upload() -> None:
    forms = asked()

    first, again = upload(forms, "a.png", PNG), upload(forms, "a.png", PNG)

    assert first.json == again.json
    assert len(forms.whole.uploads) == 1


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (
            [Sent("other", PNG, "a.png")],
            refusal(400, "no_file_uploaded", "Please upload your file."),
        ),
        ([], refusal(400, "no_file_uploaded", "Please upload your file.")),
        (
            [Sent("file", PNG, "a.png"), Sent("file", PNG, "b.png")],
            refusal(400, "too_many_files", "Only one file is allowed."),
        ),
        (
            [Sent("file", PNG, "a.png"), Sent("more", PNG, "b.png")],
            refusal(400, "too_many_files", "Only one file is allowed."),
        ),
        (
            [Sent("file", PNG)],
            refusal(400, "bad_request", "The specified filename does not exist."),
        ),
        (
            [Sent("file", PNG, "")],
            refusal(400, "bad_request", "The specified filename does not exist."),
        ),
        (
            [Sent("file", PNG, "..")],
            refusal(400, "bad_request", "The specified filename does not exist."),
        ),
        (
            [Sent("file", PDF, "a.png")],
            refusal(415, "unsupported_file_type", "File type not allowed."),
        ),
        (
            [Sent("file", b"MZ\x90\x00", "a.dat")],
            refusal(415, "unsupported_file_type", "File type not allowed."),
        ),
        (
            [Sent("file", PNG, "a.exe")],
            refusal(
                400,
                "file_extension_blocked",
                "The file extension is blocked for security reasons.",
            ),
        ),
        (
            [Sent("file", PDF, "a.exe.pdf")],
            refusal(
                400,
                "file_extension_blocked",
                "The file extension is blocked for security reasons.",
            ),
        ),
        ([Sent("file", b"", "a.png")], refusal(400, "bad_request", "The file is empty.")),
        (
            [Sent("file", PNG + bytes(MAX_UPLOAD_BYTES), "a.png")],
            refusal(
                413,
                "file_too_large",
                f"File size exceeded. {len(PNG) + MAX_UPLOAD_BYTES} bytes, at most 4194304",
            ),
        ),
    ],
)
def test_s8_4_files_that_are_not_taken(parts: list[Sent], expected: tuple[int, Json]) -> None:
    forms = asked()
    answer = post_multipart(
        forms.functions, UPLOAD, parts, authorization=f"Bearer {upload_token(forms)}"
    )

    assert (answer.status, answer.json) == expected
    assert not forms.whole.uploads


def test_s8_4_a_file_of_just_four_megabytes_is_taken() -> None:
    content = PNG + bytes(MAX_UPLOAD_BYTES - len(PNG))

    assert upload(asked(), "a.png", content).status == 201


# --- files of the web ---


class Web:
    """A ``RemoteFiles`` that has one answer."""

    def __init__(self, answer: RemoteFile | RemoteFileError) -> None:
        self.answer = answer

    def fetch(self, url: str) -> RemoteFile:
        """Return the file, or raise."""
        assert url
        if isinstance(self.answer, RemoteFileError):
            raise self.answer
        return self.answer


def fetched(answer: RemoteFile | RemoteFileError, body: Json) -> Answer:
    functions = Functions()
    functions.wiring.remote_files = Web(answer)
    forms = Forms({"form": node(PROOF)}, functions=functions)
    return functions.call(
        "POST",
        "/api/form/human_input/files/remote-upload",
        json_body=body,
        headers={"authorization": f"Bearer {upload_token(forms)}"},
    )


URL = "https://files.example/scan.pdf"


def test_s8_5_a_file_of_the_web_is_stored_like_any_other() -> None:
    answer = fetched(RemoteFile(name="scan.pdf", data=PDF), {"url": URL})

    assert answer.status == 201
    assert answer.json["url"] == URL
    assert (answer.json["name"], answer.json["size"]) == ("scan.pdf", len(PDF))


@pytest.mark.parametrize(
    ("problem", "status", "code"),
    [
        (RemoteProblem.REFUSED, 400, "bad_request"),
        (RemoteProblem.NOT_FOUND, 404, "remote_file_not_found"),
        (RemoteProblem.ACCESS_DENIED, 400, "remote_file_access_denied"),
        (RemoteProblem.UNAVAILABLE, 502, "remote_file_unavailable"),
        (RemoteProblem.INVALID_RESPONSE, 502, "remote_file_invalid_response"),
    ],
)
def test_s8_4_files_of_the_web_that_cannot_be_had(
    problem: RemoteProblem, status: int, code: str
) -> None:
    answer = fetched(RemoteFileError(problem, "the reason"), {"url": URL})

    message = f"Failed to fetch file from {URL}: the reason"
    assert (answer.status, answer.json) == refusal(status, code, message)


def test_s8_4_a_file_of_the_web_is_checked_like_any_other() -> None:
    answer = fetched(RemoteFile(name="scan.png", data=PDF), {"url": URL})

    assert (answer.status, answer.json["code"]) == (415, "unsupported_file_type")


@pytest.mark.parametrize("body", [{}, {"url": 1}, []])
def test_s8_4_a_body_without_address_is_refused(body: Json) -> None:
    answer = fetched(RemoteFile(name="scan.pdf", data=PDF), body)

    assert (answer.status, answer.json["code"]) == (400, "invalid_param")


# --- values ---


def value(upload_id: str, kind: str = "image") -> Json:
    return {"type": kind, "transfer_method": "local_file", "upload_file_id": upload_id}


def test_s8_6_an_uploaded_file_reaches_the_model() -> None:
    forms = asked()
    stored = upload(forms, "a.png", PNG).json

    answer = forms.post({"proof": value(stored["id"])}, surface="public", kind=MAIL)

    assert (answer.status, answer.json) == (200, {})
    assert forms.result()["values"] == {
        "proof": {
            "type": "image",
            "transfer_method": "local_file",
            "upload_file_id": stored["id"],
            "name": "a.png",
            "size": len(PNG),
            "mime_type": "image/png",
            "sha256": hashlib.sha256(PNG).hexdigest(),
        }
    }


def test_s8_6_R_a_file_of_another_form_is_not_found() -> None:
    other = upload(asked(), "a.png", PNG).json["id"]
    forms = Forms({"form": node(PROOF), "title": "Another"})

    answer = forms.post({"proof": value(other[:-1] + "x")}, surface="public", kind=MAIL)

    assert answer.json["message"] == "Invalid value for file input 'proof': file not found"


def test_s9_5_a_file_is_what_it_is_whatever_its_sender_calls_it() -> None:
    forms = asked(PHOTOS)
    stored = upload(forms, "a.pdf", PDF).json["id"]

    for kind in ("image", "document"):
        answer = forms.post({"photos": [value(stored, kind)]}, surface="public", kind=MAIL)

        assert answer.json["message"] == (
            "Invalid value for file list input 'photos': file is not allowed by config"
        )


def test_s9_4_more_files_than_the_limit_are_refused() -> None:
    forms = asked(PHOTOS)
    ids = [upload(forms, f"{n}.png", PNG).json["id"] for n in range(3)]

    answer = forms.post({"photos": [value(one) for one in ids]}, surface="public", kind=MAIL)

    assert answer.json["message"] == (
        "Invalid value for file list input 'photos': exceeds number limit"
    )


def test_s8_6_files_go_with_their_run() -> None:
    forms = asked()
    upload(forms, "a.png", PNG)
    upload(forms, "b.png", PNG)
    assert forms.functions.call("POST", f"/runs/{forms.run_id}/cancel", json_body={}).status == 200
    wiring = forms.functions.wiring

    forms.functions.clock.advance(wiring.settings.retention + timedelta(days=1))
    for _ in range(3):
        forms.functions.invoke("timeout_sweep", {"schedule": "tick"}, 55)

    assert not [key for key in wiring.objects.objects if key.startswith("uploads/")]
