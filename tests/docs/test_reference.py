"""Tables of the docs are those of the template and of the code."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from docs.pages import DOCS, README, ROOT, bare, table_of, text_of
from sayso import observability
from sayso.domain.access import ROUTE_ROLES, Role, role_may
from sayso.domain.policy import HumanInputPolicy
from sayso.http import projections, sse
from sayso.http.routes import DEFAULT, FUNCTION_ROUTES
from sayso.http.schemas import CreateRunRequest
from sayso.http.security_headers import security_headers
from sayso.settings import VARIABLES
from sayso.usecases.prepare import MAX_QUESTIONS_PER_RUN, MAX_QUESTIONS_PER_TURN
from sayso_agent.layers.ask_human import _HARD_CAPS, DifyAskHumanLayerConfig
from sayso_agent.layers.registry import BUILT_IN
from sayso_agent.providers.table import PROVIDERS
from sayso_local.stack import local_parameters
from support.template import FUNCTIONS, TEMPLATE, environment, folder, routes, section

DEPLOY, HTTP, RUNS = DOCS / "deploy.md", DOCS / "http.md", DOCS / "runs.md"
PARAMETERS = section(TEMPLATE, "Parameters")
HTTP_ROUTES = [key for function in FUNCTIONS.values() for key in routes(function)]


def test_parameters_and_their_defaults_are_those_of_the_template() -> None:
    rows = table_of(DEPLOY, "parameter", "default", "meaning")

    assert [(bare(name), bare(default)) for name, default, _ in rows] == [
        (name, str(section(PARAMETERS, name)["Default"])) for name in PARAMETERS
    ]


def test_parameters_with_few_values_name_them_all() -> None:
    meanings = {bare(row[0]): row[2] for row in table_of(DEPLOY, "parameter", "default", "meaning")}

    for value in ("local", "staging", "prod"):
        assert f"`{value}`" in meanings["Stage"]


def test_variables_are_those_that_are_read_and_given() -> None:
    rows = table_of(DOCS / "settings.md", "variable", "default", "given to", "meaning")

    expected = []
    for one in VARIABLES:
        given = [folder(each) for each in FUNCTIONS.values() if one.name in environment(each)]
        default = {None: "none", "": "empty"}.get(one.default, one.default)
        to = "all" if len(given) == len(FUNCTIONS) else ", ".join(given)
        expected.append((one.name, default, to))
    assert [(bare(name), bare(default), bare(to)) for name, default, to, _ in rows] == expected


def test_routes_name_their_function_and_roles() -> None:
    rows = table_of(HTTP, "route", "function", "roles", "does")
    roles = {
        route: ", ".join(role.value for role in Role if role in allowed)
        for route, allowed in ROUTE_ROLES.items()
    }

    assert sorted((bare(route), bare(function), who) for route, function, who, _ in rows) == sorted(
        (route, function, roles.get(route, "the link"))
        for function, served in FUNCTION_ROUTES.items()
        for route in served
        if route != DEFAULT and not route.startswith("HEAD ")
    )


def test_what_roles_may_do_is_what_security_says() -> None:
    rows = table_of(
        ROOT / "SECURITY.md",
        "role",
        "create, read and cancel runs",
        "answer by the service API",
        "answer by openapi",
        "answer and manage forms in the console",
    )
    groups = ("/runs", " /v1/", " /openapi/", " /console/")

    def may(role: str, group: str) -> str:
        verdicts = {role_may(Role(role), route) for route in ROUTE_ROLES if group in route}
        assert len(verdicts) == 1
        return "yes" if verdicts.pop() else "no"

    assert [[bare(row[0]), *row[1:]] for row in rows] == [
        [bare(row[0]), *(may(bare(row[0]), group) for group in groups)] for row in rows
    ]
    assert {bare(row[0]) for row in rows} == set(Role)


def test_headers_of_pages_are_those_that_are_sent() -> None:
    rows = table_of(HTTP, "header", "value")

    assert {bare(name): bare(value) for name, value in rows} == security_headers("…")


def test_event_types_are_listed() -> None:
    listed = {bare(row[0]) for row in table_of(HTTP, "type", "data")}
    named = {*projections.TERMINAL, projections.QUESTION, projections.PAUSED}

    assert listed - named == {"run_started", "pydantic_ai_event"}
    assert named <= listed


def test_members_of_the_request_are_listed() -> None:
    listed = {bare(row[0]) for row in table_of(RUNS, "member", "meaning")}

    assert listed == set(CreateRunRequest.model_fields)


def test_members_of_the_policy_are_listed_with_their_defaults() -> None:
    rows = table_of(RUNS, "member", "default", "meaning")
    words = {"": "empty", "None": "none"}

    assert [bare(row[0]) for row in rows] == list(HumanInputPolicy.model_fields)
    for name, default, _ in rows:
        actual = str(HumanInputPolicy.model_fields[bare(name)].default)
        in_words = bare(name) in {"asked_by", "delivery_methods", "run_timeout_seconds"}
        assert in_words or bare(default) == words.get(actual, actual), name


def test_bounds_of_questions_are_those_of_the_layer() -> None:
    rows = table_of(RUNS, "config", "default", "at most")
    fields = DifyAskHumanLayerConfig.model_fields

    assert [bare(row[0]) for row in rows] == list(fields)
    for name, default, cap in rows:
        actual = fields[bare(name)].default
        shown = ", ".join(actual) if isinstance(actual, list) else str(actual)
        words = {"None": "built in", "True": "true", "False": "false"}
        assert bare(default) == words.get(shown, shown), name
        assert cap == str(_HARD_CAPS.get(bare(name), "")), name


def test_layer_types_and_providers_are_listed() -> None:
    layers = {bare(row[0]) for row in table_of(RUNS, "type", "gives the run")}
    providers = {bare(row[0]) for row in table_of(RUNS, "provider", "credentials")}

    assert layers == {one.type_id for one in BUILT_IN}
    assert providers == set(PROVIDERS)


def test_local_parameters_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIMITS", raising=False)
    rows = table_of(DOCS / "local.md", "parameter", "local value")
    listed = {name: value for cell, value in rows for name in bare(cell).split(", ")}

    actual = local_parameters("the address of the port")
    assert listed.keys() == actual.keys()
    for name, value in actual.items():
        assert bare(listed[name]).startswith(value), name


def test_log_events_are_listed() -> None:
    rows = table_of(DOCS / "operate.md", "event", "level", "means", "do")

    assert {bare(row[0]) for row in rows} == _logged_events()


def _logged_events() -> set[str]:
    """Return the first argument of every call that logs an event."""
    found = set()
    for path in (ROOT / "layers").glob("*/sayso*/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and _logs(node.func) and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    found.add(first.value)
    return found


def _logs(function: ast.expr) -> bool:
    match function:
        case ast.Name(id="log_event" | "log_failure") | ast.Attribute(attr="report"):
            return True
        case _:
            return False


def test_metrics_are_listed() -> None:
    rows = table_of(DOCS / "operate.md", "metric", "counts")

    assert [bare(row[0]) for row in rows] == list(observability.Metric)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (README, f"held for up to {sse.HOLD_SECONDS:.0f} seconds"),
        (README, f"about {4 * sse.HOLD_SECONDS:.0f} seconds"),
        (README, f"come back in {sse.PAUSED_RETRY_MS // 1000} seconds"),
        (HTTP, f"for {sse.HOLD_SECONDS:.0f} seconds at most"),
        (HTTP, f"`retry: {sse.PAUSED_RETRY_MS}`"),
        (RUNS, f"ask {MAX_QUESTIONS_PER_TURN} questions in one turn and {MAX_QUESTIONS_PER_RUN}"),
        (DOCS / "concepts.md", f"up to {MAX_QUESTIONS_PER_TURN} questions in one turn"),
        (DEPLOY, f"for each of the {len(HTTP_ROUTES)} routes"),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else value,
)
def test_numbers_in_the_text_are_those_of_the_code(page: Path, text: str) -> None:
    assert text in text_of(page)
