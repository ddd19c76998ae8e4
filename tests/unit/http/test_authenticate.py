"""The key check: exact texts of dify-agent §3, and the table of roles and routes."""

from __future__ import annotations

import pytest

from sayso.domain.access import ROUTE_ROLES, ApiKey, Role
from sayso.domain.errors import AuthenticationError, NotAllowedError
from sayso.domain.ids import AppId, TenantId
from sayso.http.authenticate import authenticate
from sayso.testing.access import MemoryDirectory


def key_of(role: Role, *, disabled: bool = False) -> ApiKey:
    return ApiKey(id=role, tenant=TenantId("t"), app=AppId("a"), role=role, disabled=disabled)


DIRECTORY = MemoryDirectory(
    {role.value: key_of(role) for role in Role} | {"off": key_of(Role.ADMIN, disabled=True)}
)


@pytest.mark.parametrize(
    ("headers", "detail"),
    [
        ({}, "missing authorization header"),
        ({"authorization": ""}, "invalid authorization scheme"),
        ({"authorization": "Basic admin"}, "invalid authorization scheme"),
        ({"authorization": "admin"}, "invalid authorization scheme"),
        ({"authorization": "Bearer"}, "invalid authorization scheme"),
        ({"authorization": "Bearer   "}, "invalid authorization scheme"),
        ({"authorization": "Bearer nobody"}, "invalid bearer token"),
        ({"authorization": "Bearer off"}, "invalid bearer token"),
    ],
)
def test_a_bad_key_is_refused_with_the_text_of_the_contract(
    headers: dict[str, str], detail: str
) -> None:
    with pytest.raises(AuthenticationError) as refusal:
        authenticate(headers, "POST /runs", DIRECTORY)

    assert refusal.value.detail == detail


@pytest.mark.parametrize("header", ["Bearer admin", "bearer admin", "BEARER   admin  "])
def test_the_scheme_is_compared_without_case_and_the_token_is_stripped(header: str) -> None:
    key = authenticate({"authorization": header}, "POST /runs", DIRECTORY)

    assert key.role is Role.ADMIN


@pytest.mark.parametrize("route", sorted(ROUTE_ROLES))
@pytest.mark.parametrize("role", list(Role))
def test_a_role_may_use_exactly_the_routes_of_its_table(role: Role, route: str) -> None:
    headers = {"authorization": f"Bearer {role.value}"}

    if role in ROUTE_ROLES[route]:
        assert authenticate(headers, route, DIRECTORY).role is role
    else:
        with pytest.raises(NotAllowedError):
            authenticate(headers, route, DIRECTORY)


def test_a_head_request_needs_the_right_of_its_get() -> None:
    headers = {"authorization": "Bearer service"}

    assert authenticate(headers, "HEAD /runs/{run_id}", DIRECTORY).role is Role.SERVICE


def test_a_route_without_a_row_in_the_table_serves_nobody() -> None:
    with pytest.raises(NotAllowedError):
        authenticate({"authorization": "Bearer admin"}, "GET /secrets", DIRECTORY)
