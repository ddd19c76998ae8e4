"""Credentials are taken out of a request before it is stored, and put back for the worker."""

from __future__ import annotations

import json
from typing import Any

from sayso.domain.requests import join_credentials, split_credentials

SECRET = "sk-very-secret"


def request_with(*configs: Any) -> dict[str, Any]:
    layers = [{"name": f"l{n}", "type": "t", "config": config} for n, config in enumerate(configs)]
    return {"composition": {"schema_version": 1, "layers": layers}}


def test_no_credential_stays_in_the_stored_request() -> None:
    request = request_with(
        {"credentials": {"openai_api_key": SECRET}},
        json.dumps({"credentials": {"key": SECRET}, "model": "m"}),
        {"tools": [{"credentials": {"token": SECRET}}, {"credentials": {}}]},
        None,
        "not json",
    )

    plain, found = split_credentials(request)

    assert SECRET not in json.dumps(plain)
    assert len(found) == 3


def test_joining_gives_the_request_back() -> None:
    request = request_with(
        {"credentials": {"a": SECRET}, "deep": {"credentials": {"b": SECRET}}}, {"x": 1}
    )
    plain, found = split_credentials(request)

    assert join_credentials(json.loads(json.dumps(plain)), json.loads(json.dumps(found))) == request


def test_the_callers_request_is_not_changed() -> None:
    request = request_with({"credentials": {"a": SECRET}})
    before = json.dumps(request)

    split_credentials(request)

    assert json.dumps(request) == before
