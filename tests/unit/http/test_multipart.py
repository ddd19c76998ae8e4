"""Multipart bodies, byte for byte, and bodies that are none."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.domain.errors import ValidationError
from sayso.http.multipart import MAX_PARTS, Part, read_parts
from sayso.http.request import HttpRequest
from support.uploads import BOUNDARY, Sent, multipart

TYPE = f"multipart/form-data; boundary={BOUNDARY}"
GOOD = multipart([Sent("file", b"x", "a.txt")])


def parts_of(body: bytes, content_type: str = TYPE) -> list[Part]:
    request = HttpRequest(
        method="POST",
        route="POST /x",
        path="/x",
        headers={"content-type": content_type},
        body=base64.b64encode(body).decode(),
        body_is_base64=True,
    )
    return read_parts(request)


@given(st.binary())
def test_content_stays_byte_for_byte_what_it_was(content: bytes) -> None:
    assert parts_of(multipart([Sent("file", content, "a")])) == [Part("file", "a", content)]


@pytest.mark.parametrize("content", [b"\r\n", b"--", b"\r\n--", b"\n", b"\r", b"", b"--\r\n--x"])
def test_content_may_look_like_a_delimiter(content: bytes) -> None:
    assert parts_of(multipart([Sent("file", content, "a")]))[0].content == content


def test_a_mail_and_what_calls_itself_base64_stay_as_they_are() -> None:
    head = b'Content-Disposition: form-data; name="file"; filename="a.eml"\r\n'
    head += b"Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    content = b"Subject: x\n\nQUJD"
    body = b"--" + BOUNDARY.encode() + b"\r\n" + head + content
    body += b"\r\n--" + BOUNDARY.encode() + b"--"

    assert parts_of(body) == [Part("file", "a.eml", content)]


def test_names_are_read_as_browsers_write_them() -> None:
    body = multipart([Sent("a%22b", b"", "Gr\u00fc\u00dfe; a=%22b%22.txt")])

    assert parts_of(body) == [Part('a"b', 'Gr\u00fc\u00dfe; a="b".txt', b"")]


def test_what_stands_before_and_behind_the_parts_does_not_count() -> None:
    assert len(parts_of(b"preamble\r\n" + GOOD + b"epilogue")) == 1


def disposition(line: bytes) -> bytes:
    return GOOD.replace(b"Content-Disposition: form-data", line)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (GOOD, "multipart/form-data"),
        (GOOD, "multipart/form-data; boundary="),
        (GOOD, "multipart/form-data; boundary=other"),
        (GOOD, "multipart/form-data; boundary=" + "x" * 71),
        (GOOD, "multipart/mixed; boundary=" + BOUNDARY),
        (GOOD, ""),
        (b"", TYPE),
        (GOOD[:-6], TYPE),
        (disposition(b"Content-Disposition: attachment"), TYPE),
        (disposition(b"X: form-data"), TYPE),
        (GOOD.replace(b'name="file"; ', b""), TYPE),
        (GOOD.replace(b"file", b"\xff\xfe"), TYPE),
        (GOOD.replace(b"Content-Type", b"X" * 9000), TYPE),
        (GOOD.replace(b"\r\n\r\n", b"\r\n"), TYPE),
        (multipart([Sent("a", b"")] * (MAX_PARTS + 1)), TYPE),
    ],
)
def test_what_is_no_form_is_refused(body: bytes, content_type: str) -> None:
    with pytest.raises(ValidationError):
        parts_of(body, content_type)


@given(st.binary(), st.text())
def test_nothing_else_is_raised_whatever_comes(body: bytes, content_type: str) -> None:
    for kind in (TYPE, content_type, "multipart/form-data; boundary=" + content_type):
        try:
            parts_of(b"--" + BOUNDARY.encode() + body + GOOD, kind)
        except ValidationError:
            continue


def test_as_many_parts_as_the_limit_are_read() -> None:
    assert len(parts_of(multipart([Sent("a", b"")] * MAX_PARTS))) == MAX_PARTS
