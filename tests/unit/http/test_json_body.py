"""Bodies that are no JSON, or none that can be kept (dify-agent §2)."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.http.invalid import InvalidRequestError
from sayso.http.json_body import MAX_BODY_BYTES, MAX_DEPTH, BodyTooLargeError, read_json
from sayso.http.request import HttpRequest

JSON = {"content-type": "application/json"}


def request(
    body: str | None, headers: dict[str, str] = JSON, *, is_base64: bool = False
) -> HttpRequest:
    return HttpRequest(
        method="POST",
        route="POST /runs",
        path="/runs",
        headers=headers,
        body=body,
        body_is_base64=is_base64,
    )


def refused(body: str | None, headers: dict[str, str] = JSON) -> dict[str, Any]:
    with pytest.raises(InvalidRequestError) as error:
        read_json(request(body, headers))
    (entry,) = error.value.entries
    return entry


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
)


@given(value=json_values)
def test_json_is_read_as_it_is(value: Any) -> None:
    assert read_json(request(json.dumps(value))) == value


@pytest.mark.parametrize("content_type", ["", "application/json; charset=utf-8", "text/x+json"])
def test_types_that_mean_json_are_read(content_type: str) -> None:
    headers = {"content-type": content_type} if content_type else {}

    assert read_json(request("{}", headers)) == {}


def test_a_body_that_the_gateway_encoded_is_read() -> None:
    body = base64.b64encode(b'{"a": 1}').decode()

    assert read_json(request(body, is_base64=True)) == {"a": 1}


@pytest.mark.parametrize("body", [None, ""])
def test_a_missing_body_is_worded_as_the_contract_does(body: str | None) -> None:
    assert refused(body) == {
        "type": "missing",
        "loc": ["body"],
        "msg": "Field required",
        "input": None,
    }


def test_broken_json_tells_the_offset() -> None:
    assert refused('{"a": }') == {
        "type": "json_invalid",
        "loc": ["body", 6],
        "msg": "JSON decode error",
        "input": {},
        "ctx": {"error": "Expecting value"},
    }


@pytest.mark.parametrize(
    "body", ["NaN", "[Infinity]", "1e999", "[" * 100_000, "9" * 5000, r'"\ud800"', r'{"\udfff":1}']
)
def test_json_that_cannot_be_kept_is_refused(body: str) -> None:
    assert refused(body)["loc"][0] == "body"


def test_nesting_ends_at_a_hundred_levels() -> None:
    deepest = "[" * MAX_DEPTH + "]" * MAX_DEPTH

    assert read_json(request(deepest))
    assert refused(f"[{deepest}]")["type"] == "too_deep"


def test_another_type_is_refused_without_an_echo() -> None:
    entry = refused('{"credentials": 1}', {"content-type": "text/plain"})

    assert entry["type"] == "model_attributes_type"
    assert entry["input"] == "***"


def test_a_body_over_4_mb_is_too_large_in_bytes_not_characters() -> None:
    half = "ä" * (MAX_BODY_BYTES // 2)

    with pytest.raises(BodyTooLargeError, match="request body is too large: 4194306 bytes"):
        read_json(request(f'"{half}"'))
