"""Reads the SAM template for the tests that hold it to the design."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from sayso_local.cfn import JsonObject, JsonValue, read_template, resources_of_type

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = read_template(ROOT / "template.yaml")
FUNCTION = "AWS::Serverless::Function"
FUNCTIONS = resources_of_type(TEMPLATE, FUNCTION)


def section(value: JsonValue, *path: str) -> JsonObject:
    """Walk down objects by their members."""
    for step in path:
        assert isinstance(value, dict)
        value = value[step]
    assert isinstance(value, dict)
    return value


def items(value: JsonValue) -> list[JsonValue]:
    """A list, or the single value CloudFormation allows in its place."""
    return value if isinstance(value, list) else [value]


def folder(function: JsonObject) -> str:
    """The name of a function's folder, which is the name the design gives it."""
    return Path(str(function["CodeUri"])).name


def environment(function: JsonObject) -> JsonObject:
    """A function's variables, the global ones included."""
    shared = section(TEMPLATE, "Globals", "Function", "Environment", "Variables")
    return shared | section(function, "Environment", "Variables")


def routes(function: JsonObject) -> set[str]:
    """The route keys a function serves."""
    return {
        f"{properties['Method']} {properties['Path']}" if "Path" in properties else "$default"
        for event in section(function.get("Events", {})).values()
        if section(event)["Type"] == "HttpApi"
        for properties in [section(event, "Properties")]
    }


def statements(function: JsonObject) -> Iterator[JsonObject]:
    """Every statement of a function's policies, those under a condition included."""
    for policy in items(function["Policies"]):
        chosen = section(policy)
        if "Fn::If" in chosen:
            chosen = section(items(chosen["Fn::If"])[1])
        for statement in items(chosen["Statement"]):
            yield section(statement)


def names(value: JsonValue) -> str:
    """A value as text, to look for names of resources in."""
    return json.dumps(value)
