"""The directory of members over HTTP: whole members in, problems out, one tenant each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.functions import OPENAPI, OTHER, SERVICE, Functions

PATH = "/console/api/members"
PRIYA: dict[str, Any] = {"name": "Priya Nair", "address": "priya@example.org"}
WHOLE = {"id": "priya", **PRIYA, "groups": [], "language": "", "time_zone": "", "active": True}


@pytest.fixture
def functions() -> Functions:
    functions = Functions()
    functions.call("PUT", f"{PATH}/priya", json_body=PRIYA)
    return functions


def listed(functions: Functions, **call: Any) -> Any:
    return functions.call("GET", PATH, **call).json["members"]


def test_put_answers_the_whole_member_and_lists_it(functions: Functions) -> None:
    answer = functions.call("PUT", f"{PATH}/priya", json_body=PRIYA)

    assert (answer.status, answer.json) == (200, WHOLE)
    assert listed(functions) == [WHOLE]


def test_put_again_changes_and_keeps_the_place(functions: Functions) -> None:
    functions.clock.advance(functions.wiring.settings.max_active)
    functions.call("PUT", f"{PATH}/tomasz", json_body={**PRIYA, "name": "Tomasz"})
    functions.call("PUT", f"{PATH}/priya", json_body={**PRIYA, "active": False})

    assert [(one["id"], one["active"]) for one in listed(functions)] == [
        ("priya", False),
        ("tomasz", True),
    ]


def test_deleted_is_gone_and_gone_is_404(functions: Functions) -> None:
    first, second = (functions.call("DELETE", f"{PATH}/priya") for _ in range(2))

    assert (first.status, first.json) == (200, {})
    assert (second.status, second.json["detail"]) == (404, "member not found")
    assert second.headers["content-type"] == "application/problem+json"
    assert listed(functions) == []


def test_tenants_see_and_change_their_own_members_only(functions: Functions) -> None:
    assert listed(functions, key=OTHER) == []
    assert functions.call("DELETE", f"{PATH}/priya", key=OTHER).status == 404

    functions.call("PUT", f"{PATH}/priya", json_body={**PRIYA, "name": "Other"}, key=OTHER)

    assert [one["name"] for one in listed(functions)] == ["Priya Nair"]


@pytest.mark.parametrize("key", [SERVICE, OPENAPI])
@pytest.mark.parametrize(
    ("method", "path"), [("GET", PATH), ("PUT", f"{PATH}/priya"), ("DELETE", f"{PATH}/priya")]
)
def test_other_keys_are_refused(functions: Functions, method: str, path: str, key: str) -> None:
    assert functions.call(method, path, key=key, json_body=PRIYA).status == 403
    assert listed(functions) == [WHOLE]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {**PRIYA, "name": ""},
        {**PRIYA, "name": "a\nb"},
        {**PRIYA, "address": "priya"},
        {**PRIYA, "address": "Priya <priya@example.org>"},
        {**PRIYA, "address": "prïya@example.org"},
        {**PRIYA, "time_zone": "Mars/Olympus"},
        {**PRIYA, "time_zone": "../etc/passwd"},
        {**PRIYA, "language": "English please"},
        {**PRIYA, "active": "yes"},
        {**PRIYA, "role": "boss"},
    ],
)
def test_what_is_no_member_is_422(functions: Functions, body: Any) -> None:
    answer = functions.call("PUT", f"{PATH}/new", json_body=body)

    assert answer.status == 422
    assert len(listed(functions)) == 1


@pytest.mark.parametrize("member_id", ["a@b", "-x", "x" * 65])
def test_an_id_is_short_and_plain(functions: Functions, member_id: str) -> None:
    assert functions.call("PUT", f"{PATH}/{member_id}", json_body=PRIYA).status == 422
    assert functions.call("DELETE", f"{PATH}/{member_id}").status == 404


def test_no_address_is_reported(functions: Functions) -> None:
    functions.call("DELETE", f"{PATH}/priya")

    assert "priya" not in json.dumps(functions.wiring.reports)
