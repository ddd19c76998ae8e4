"""The template says what the design says: routes, times, queues, variables, logs."""

from __future__ import annotations

import json

import pytest

from sayso import settings
from sayso.http.routes import FUNCTION_ROUTES
from sayso_local.cfn import resources_of_type
from support.template import (
    FUNCTIONS,
    ROOT,
    TEMPLATE,
    environment,
    folder,
    names,
    routes,
    section,
)

BY_FOLDER = {folder(function): function for function in FUNCTIONS.values()}
QUEUES = resources_of_type(TEMPLATE, "AWS::SQS::Queue")
MAPPINGS = resources_of_type(TEMPLATE, "AWS::Lambda::EventSourceMapping")
POWERTOOLS = {"POWERTOOLS_SERVICE_NAME", "POWERTOOLS_METRICS_NAMESPACE"}
VARIABLES = POWERTOOLS | {variable.name for variable in settings.VARIABLES}


def test_the_functions_of_the_design_are_there() -> None:
    assert set(BY_FOLDER) == {
        "create_run",
        "read_run",
        "submit_form",
        "console",
        "resume",
        "deliver",
        "timeout_sweep",
    }


def test_every_function_has_its_handler_and_every_handler_its_function() -> None:
    handlers = {path.parent.name for path in ROOT.glob("functions/*/app.py")}

    assert handlers == set(BY_FOLDER)


def test_routes_are_those_the_functions_know() -> None:
    declared = {name: routes(function) for name, function in BY_FOLDER.items()}

    assert {name: keys for name, keys in declared.items() if keys} == {
        name: set(keys) for name, keys in FUNCTION_ROUTES.items()
    }


def test_each_route_belongs_to_one_function() -> None:
    all_routes = [route for function in FUNCTIONS.values() for route in routes(function)]

    assert len(all_routes) == len(set(all_routes))


@pytest.mark.parametrize("name", sorted(BY_FOLDER))
def test_head_is_declared_where_get_is(name: str) -> None:
    declared = routes(BY_FOLDER[name])

    readable = {route.removeprefix("GET ") for route in declared if route.startswith("GET ")}
    probed = {route.removeprefix("HEAD ") for route in declared if route.startswith("HEAD ")}
    assert readable == probed


def test_form_routes_and_no_others_are_throttled() -> None:
    """Clients of the run API give up on 429; people do not."""
    throttled = section(TEMPLATE, "Resources", "HttpApi", "Properties", "RouteSettings")

    declared = {route for function in FUNCTIONS.values() for route in routes(function)}
    assert set(throttled) == {
        route for route in declared if "/form/" in route or "/human-input-forms/" in route
    }


def test_the_access_log_tells_neither_path_nor_address() -> None:
    """The path of a form carries its secret."""
    settings = section(TEMPLATE, "Resources", "HttpApi", "Properties", "AccessLogSettings")

    line = json.loads(str(settings["Format"]))
    assert set(line.values()) == {
        "$context.requestId",
        "$context.requestTimeEpoch",
        "$context.routeKey",
        "$context.status",
        "$context.responseLatency",
    }


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("create_run", 10),
        ("read_run", 29),
        ("submit_form", 10),
        ("console", 10),
        ("resume", 900),
        ("deliver", 60),
        ("timeout_sweep", 55),
    ],
)
def test_timeouts_are_those_of_the_design(name: str, seconds: int) -> None:
    shared = section(TEMPLATE, "Globals", "Function")

    assert BY_FOLDER[name].get("Timeout", shared["Timeout"]) == seconds


@pytest.mark.parametrize("name", sorted(BY_FOLDER))
def test_functions_take_memory_from_the_globals_and_reserve_no_concurrency(name: str) -> None:
    """A new account has ten concurrent executions in all."""
    function = BY_FOLDER[name]

    assert section(TEMPLATE, "Globals", "Function")["MemorySize"] == 512
    assert not {"MemorySize", "ReservedConcurrentExecutions"} & set(function)


@pytest.mark.parametrize(
    ("queue", "visibility_seconds", "receives"),
    [("StartsQueue", 5400, 3), ("WakesQueue", 5400, 3), ("DeliveriesQueue", 360, 5)],
)
def test_queues_are_those_of_the_design(queue: str, visibility_seconds: int, receives: int) -> None:
    properties = QUEUES[queue]

    redrive = section(properties["RedrivePolicy"])
    assert properties["VisibilityTimeout"] == visibility_seconds
    assert redrive["maxReceiveCount"] == receives
    assert "DeadLetters" in names(redrive["deadLetterTargetArn"])


@pytest.mark.parametrize(
    ("mapping", "function", "batch"),
    [
        ("StartsMapping", "ResumeFunction", 1),
        ("WakesMapping", "ResumeFunction", 1),
        ("DeliveriesMapping", "DeliverFunction", 5),
    ],
)
def test_each_queue_has_its_reader(mapping: str, function: str, batch: int) -> None:
    properties = MAPPINGS[mapping]

    assert properties["FunctionName"] == {"Ref": function}
    assert properties["BatchSize"] == batch
    assert section(properties["ScalingConfig"])["MaximumConcurrency"]


def test_starts_and_wakes_are_bounded_apart() -> None:
    """An answered run never waits behind new ones."""
    starts, wakes = MAPPINGS["StartsMapping"], MAPPINGS["WakesMapping"]

    assert section(starts["ScalingConfig"]) == {"MaximumConcurrency": {"Ref": "StartsConcurrency"}}
    assert section(wakes["ScalingConfig"]) == {"MaximumConcurrency": {"Ref": "WakesConcurrency"}}


@pytest.mark.parametrize("name", sorted(BY_FOLDER))
def test_functions_have_only_variables_that_settings_know(name: str) -> None:
    assert set(environment(BY_FOLDER[name])) <= VARIABLES


def test_every_variable_of_the_settings_is_given_to_somebody() -> None:
    used = {variable for function in FUNCTIONS.values() for variable in environment(function)}

    assert used == VARIABLES


@pytest.mark.parametrize("name", sorted(BY_FOLDER))
def test_no_function_refers_to_the_api(name: str) -> None:
    """That would be a cycle: the API refers to its functions."""
    function = {k: v for k, v in BY_FOLDER[name].items() if k != "Events"}

    assert "HttpApi" not in names(function)


@pytest.mark.parametrize("name", sorted(BY_FOLDER))
def test_every_function_has_a_log_group_that_forgets(name: str) -> None:
    groups = resources_of_type(TEMPLATE, "AWS::Logs::LogGroup")

    group = section(BY_FOLDER[name]["LoggingConfig"])["LogGroup"]
    assert isinstance(group, dict)
    assert groups[str(group["Ref"])]["RetentionInDays"] == {"Ref": "LogRetentionDays"}


def test_only_resume_has_the_agent_layer() -> None:
    with_layers = {name for name, function in BY_FOLDER.items() if "Layers" in function}

    assert with_layers == {"resume"}
    assert BY_FOLDER["resume"]["Layers"] == [{"Ref": "AgentLayer"}]


def test_the_sweep_runs_every_minute() -> None:
    events = section(BY_FOLDER["timeout_sweep"]["Events"])

    (event,) = events.values()
    assert section(event)["Type"] == "ScheduleV2"
    assert section(event, "Properties")["ScheduleExpression"] == "rate(1 minute)"


@pytest.mark.parametrize("name", sorted(section(TEMPLATE["Parameters"])))
def test_parameters_say_what_they_are_and_deploy_by_default(name: str) -> None:
    parameter = section(TEMPLATE, "Parameters", name)

    assert str(parameter["Description"]).endswith(".")
    assert "Default" in parameter
