"""dify-agent §2: bodies of errors."""

from __future__ import annotations

from typing import Any

import pytest

from support.conversations import UNKNOWN, finished_run
from support.dify_client import ClientError, DifyClient
from support.functions import SAY, Answer, Functions, create_request

JSON = {"content-type": "application/json"}


def entries(body: str | None, headers: dict[str, str] = JSON) -> list[dict[str, Any]]:
    """Return the 422 entries of a create request."""
    answer = Functions().call("POST", "/runs", body=body, headers=headers)
    assert answer.status == 422
    found: list[dict[str, Any]] = answer.json["detail"]
    return found


def test_s02_errors_of_the_application_are_one_detail() -> None:
    answer = Functions().call("GET", f"/runs/{UNKNOWN}")

    assert answer.body == '{"detail":"run not found"}'


def test_s02_an_extra_key() -> None:
    assert {
        "type": "extra_forbidden",
        "loc": ["body", "foo"],
        "msg": "Extra inputs are not permitted",
        "input": 1,
    } in entries('{"foo": 1}')


def test_s02_a_missing_composition() -> None:
    assert entries("{}") == [
        {"type": "missing", "loc": ["body", "composition"], "msg": "Field required", "input": {}}
    ]


def test_s02_a_limit_of_0() -> None:
    functions = Functions()
    path = f"/runs/{finished_run(functions)}/events"

    assert functions.call("GET", path, query={"limit": "0"}).json["detail"] == [
        {
            "type": "greater_than_equal",
            "loc": ["query", "limit"],
            "msg": "Input should be greater than or equal to 1",
            "input": "0",
            "ctx": {"ge": 1},
        }
    ]


def test_s02_malformed_json() -> None:
    (entry,) = entries('{"a": ]')

    assert entry["type"] == "json_invalid"
    assert entry["loc"] == ["body", 6]
    assert entry["msg"] == "JSON decode error"
    assert entry["input"] == {}
    assert entry["ctx"] == {"error": "Expecting value"}


def test_s02_a_missing_body() -> None:
    assert entries(None) == [
        {"type": "missing", "loc": ["body"], "msg": "Field required", "input": None}
    ]


def test_s02_json_that_is_nested_too_deep() -> None:
    assert entries("[" * 101 + "]" * 101) == [
        {
            "type": "too_deep",
            "loc": ["body"],
            "msg": "JSON should be nested at most 100 levels deep",
            "input": {},
            "ctx": {"max_depth": 100},
        }
    ]


def test_s02_no_entry_has_a_url() -> None:
    found = entries('{"composition": {"layers": [{}], "schema_version": "x"}, "purpose": "y"}')

    assert len(found) == 4
    assert all(entry.keys() <= {"type", "loc", "msg", "input", "ctx"} for entry in found)


def test_s02_a_failure_of_ours_is_500_in_plain_text() -> None:
    functions = Functions()
    functions.wiring.faults.fail_next(RuntimeError("x"), operation="get")

    answer = functions.call("GET", f"/runs/{UNKNOWN}")

    assert (answer.status, answer.body) == (500, "Internal Server Error")
    assert answer.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize("path", ["/", "/run", "/runs/a/b", "/runs/"])
def test_s02_an_unknown_path_is_404(path: str) -> None:
    answer = Functions().call("GET", path)

    assert (answer.status, answer.json) == (404, {"detail": "Not Found"})


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("DELETE", "/runs/x", "GET, HEAD"),
        ("PUT", "/runs", "POST"),
        ("GET", "/runs/x/cancel", "POST"),
        ("POST", "/runs/x/events", "GET, HEAD"),
    ],
)
def test_s02_another_method_is_405(method: str, path: str, allow: str) -> None:
    answer = Functions().call(method, path)

    assert (answer.status, answer.json) == (405, {"detail": "Method Not Allowed"})
    assert answer.headers["allow"] == allow


def test_s02_credentials_are_not_repeated() -> None:
    request = create_request([{"text": "a secret"}], foo=1)
    request["composition"]["layers"][4]["name"] = 5

    answer = Functions().call("POST", "/runs", json_body=request)

    assert answer.status == 422
    assert "a secret" not in answer.body


def test_s02_nothing_of_a_refused_request_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    entries('{"foo": "a private word"}')

    assert "a private word" not in str([vars(record) for record in caplog.records])


@pytest.mark.parametrize(
    ("status", "body", "detail"),
    [
        (403, '{"message":"Forbidden"}', {"message": "Forbidden"}),
        (409, '{"detail":"x"}', "x"),
        (502, "Bad Gateway", "Bad Gateway"),
    ],
)
def test_s02_the_client_reads_any_error(status: int, body: str, detail: Any) -> None:
    def send(*_: object, **__: object) -> Answer:
        return Answer(status=status, headers={}, body=body)

    with pytest.raises(ClientError) as caught:
        DifyClient(transport=send).get_run("r")

    assert (caught.value.status, caught.value.detail) == (status, detail)


def test_s02_credentials_that_cannot_be_kept_are_422_without_them() -> None:
    answer = Functions().call("POST", "/runs", json_body=create_request([{"text": "x" * 300_000}]))

    assert answer.status == 422
    (entry,) = answer.json["detail"]
    assert (entry["loc"], entry["input"]) == (["body"], None)
    assert entry["msg"].endswith("bytes, at most 300000")


def test_s02_our_413_has_a_detail_that_the_client_shows() -> None:
    request = create_request(SAY, metadata={"x": "y" * 4_200_000})

    answer = Functions().call("POST", "/runs", json_body=request)

    assert answer.status == 413
    assert answer.json["detail"].startswith("request body is too large: ")
