"""Routes: handlers, key checks and the table that the template is held to say the same."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.access import ROUTE_ROLES
from sayso.http.create_run import CreatePorts, create_run_api
from sayso.http.form_api import form_api
from sayso.http.manage_forms import FormPorts
from sayso.http.page import METHODS
from sayso.http.public_form import PREFIX
from sayso.http.public_form import ROUTES as PUBLIC_ROUTES
from sayso.http.read_run import ReadPorts, read_run_api
from sayso.http.routes import DEFAULT, FUNCTION_ROUTES, as_get
from sayso.usecases.create_run import MailDefaults
from support.functions import Functions, MemoryWiring

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sayso.http.keyed_api import KeyedApi

PAGE = "/form/{token}"
KEYED = [
    route
    for routes in FUNCTION_ROUTES.values()
    for route in routes
    if route != DEFAULT and not route.endswith(PAGE) and f" {PREFIX}" not in route
]


def keys_of(api: KeyedApi) -> set[str]:
    """Return the route keys that a resolver has."""
    return {
        f"{route.method} {route.path.replace('<', '{').replace('>', '}')}"
        for route in api._static_routes + api._dynamic_routes
    }


def with_heads(routes: Iterable[str]) -> set[str]:
    """Return route keys, with HEAD beside each GET."""
    heads = {f"HEAD {key.removeprefix('GET ')}" for key in routes if key.startswith("GET ")}
    return {*routes, *heads}


def served_routes() -> dict[str, set[str]]:
    """Return function → route keys, as the handlers serve them."""
    wiring = MemoryWiring()
    context, directory, links = wiring.context, wiring.directory, wiring.links
    defaults = MailDefaults(can_mail=True, approvers=(), run_timeout=timedelta(days=7))
    create = CreatePorts(
        context=context, directory=directory, defaults=defaults, public_base_url=""
    )
    read = ReadPorts(context=context, directory=directory, links=links, sleep=wiring.sleep)
    form = FormPorts(
        context=context,
        directory=directory,
        links=links,
        renderer=lambda: wiring.content_renderer,
        can_mail=True,
        public_base_url="",
    )
    return {
        "create_run": keys_of(create_run_api(create)),
        "read_run": keys_of(read_run_api(read)),
        "submit_form": {f"{method} {PAGE}" for method in METHODS} | with_heads(PUBLIC_ROUTES),
        "console": keys_of(form_api(form)) | {DEFAULT},
    }


def test_the_handlers_serve_exactly_the_routes_of_the_table() -> None:
    assert served_routes() == {name: set(routes) for name, routes in FUNCTION_ROUTES.items()}


@pytest.mark.parametrize("route", KEYED)
@pytest.mark.parametrize("key", [None, "nobody"])
def test_every_route_but_pages_and_default_refuses_who_has_no_key(
    route: str, key: str | None
) -> None:
    method, _, path = route.partition(" ")

    answer = Functions().call(method, path.replace("{", "").replace("}", ""), key=key)

    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"


def test_every_keyed_route_has_its_row_of_roles_and_no_row_is_left_over() -> None:
    assert {as_get(route) for route in KEYED} == set(ROUTE_ROLES)


@pytest.mark.parametrize("function", sorted(FUNCTION_ROUTES))
@pytest.mark.parametrize("event", [{}, {"version": "2.0"}, {"requestContext": {}}])
def test_no_event_makes_a_function_behind_the_gateway_raise(
    function: str, event: dict[str, Any]
) -> None:
    assert Functions().invoke(function, event)["statusCode"] >= 400
