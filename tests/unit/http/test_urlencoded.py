"""What the page's form sends."""

from __future__ import annotations

import base64
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.domain.errors import ValidationError
from sayso.http.request import HttpRequest
from sayso.http.urlencoded import MAX_BYTES, MAX_FIELDS, read_fields

TYPE = "application/x-www-form-urlencoded"
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"))


def request(body: str, content_type: str = TYPE, *, is_base64: bool = False) -> HttpRequest:
    return HttpRequest(
        method="POST",
        route="POST /form/{token}",
        path="/form/x",
        headers={"content-type": content_type},
        body=body,
        body_is_base64=is_base64,
    )


@given(fields=st.dictionaries(TEXT, TEXT, max_size=20))
def test_what_was_typed_is_read_as_it_is(fields: dict[str, str]) -> None:
    assert read_fields(request(urlencode(fields))) == {n: [v] for n, v in fields.items()}


def test_boxes_of_one_name_send_their_values_in_order() -> None:
    assert read_fields(request("a=1&b=x&a=2")) == {"a": ["1", "2"], "b": ["x"]}


def test_the_gateway_may_encode_the_body() -> None:
    body = base64.b64encode(b"action=approve&comment=%C3%A4").decode()

    assert read_fields(request(body, is_base64=True)) == {"action": ["approve"], "comment": ["ä"]}


def test_line_ends_of_browsers_become_newlines() -> None:
    assert read_fields(request("a=1%0D%0A2")) == {"a": ["1\n2"]}


@pytest.mark.parametrize(
    "body",
    [
        "a=1&a=2",
        "a=%FF",
        "no pair",
        "&".join(f"f{n}=" for n in range(MAX_FIELDS + 1)),
        "a=" + "x" * MAX_BYTES,
    ],
)
def test_what_no_page_of_ours_sends_is_refused(body: str) -> None:
    with pytest.raises(ValidationError):
        read_fields(request(body), once=["a"])


@pytest.mark.parametrize("content_type", ["", "application/json", "multipart/form-data"])
def test_another_type_is_refused(content_type: str) -> None:
    with pytest.raises(ValidationError):
        read_fields(request("action=approve", content_type))
