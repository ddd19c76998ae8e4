"""Requests as the gateway's events hold them."""

from __future__ import annotations

from sayso.http.request import HttpRequest, read_request


def test_an_empty_event_is_a_request_for_nothing() -> None:
    assert read_request({}) == HttpRequest(method="", route=" /", path="/")


def test_header_names_have_no_case_and_lists_no_order() -> None:
    request = read_request({"headers": {"Sayso-Events": "R2 , managed,,"}})

    assert request.listed("sayso-events") == {"r2", "managed"}
    assert request.listed("missing") == frozenset()


def test_path_parameters_are_decoded() -> None:
    request = read_request({"pathParameters": {"run_id": "a%2Fb"}})

    assert request.path_parameters == {"run_id": "a/b"}


def test_a_body_whose_encoding_is_broken_is_empty() -> None:
    request = read_request({"body": "%%%", "isBase64Encoded": True})

    assert request.body_bytes() == b""


def test_a_body_does_not_show_in_the_text_of_a_request() -> None:
    assert "secret" not in repr(read_request({"body": "secret"}))
