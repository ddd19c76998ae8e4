"""dify-agent §3: the bearer token on every route of a run."""

from __future__ import annotations

import pytest

from support.conversations import RUN_ROUTES, UNKNOWN, finished_run
from support.functions import ADMIN, DISABLED, Functions

ROUTES = [("POST", "/runs"), *((method, path.format(UNKNOWN)) for method, path in RUN_ROUTES)]


def refused(headers: dict[str, str], method: str = "GET", path: str = f"/runs/{UNKNOWN}") -> str:
    """Return the detail of a 401."""
    answer = Functions().call(method, path, key=None, headers=headers, body="{broken")
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    detail: str = answer.json["detail"]
    return detail


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_s03_header_absent_on_every_route(method: str, path: str) -> None:
    assert refused({}, method, path) == "missing authorization header"


@pytest.mark.parametrize("value", ["", "Basic abc", "Bearer", "Bearer  ", "abc"])
def test_s03_scheme_not_bearer_or_empty_token(value: str) -> None:
    assert refused({"Authorization": value}) == "invalid authorization scheme"


@pytest.mark.parametrize("token", ["wrong", ADMIN + "x", ADMIN[:-1], DISABLED, "ü"])
def test_s03_wrong_token(token: str) -> None:
    assert refused({"Authorization": f"Bearer {token}"}) == "invalid bearer token"


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER   ", "  Bearer "])
def test_s03_the_scheme_may_be_of_any_case_and_the_token_is_stripped(scheme: str) -> None:
    functions = Functions()
    headers = {"Authorization": f"{scheme}{ADMIN} "}

    answer = functions.call("GET", f"/runs/{finished_run(functions)}", key=None, headers=headers)

    assert answer.status == 200
