"""``openapi.json`` is that of the code, complete, and no vaguer than the contracts are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from sayso.domain.access import ROUTE_ROLES
from sayso.http.openapi import openapi_document, openapi_text
from sayso.http.openapi_routes import ROUTES
from sayso.http.routes import DEFAULT, FUNCTION_ROUTES, as_get
from support.template import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

OPEN_OBJECTS = {
    ("CreateRunRequest", "metadata"),  # §6: object of JSON values
    ("RunLayerSpec", "metadata"),  # §6
    ("LayerSessionSnapshot", "runtime_state"),  # §11: opaque
    ("DeferredToolResultsPayload", "calls"),  # §9.6: any JSON
    ("DeferredToolResultsPayload", "metadata"),  # §6
    ("DeferredToolCall", "args"),  # §9.6: of whatever tool
    ("DeferredToolCall", "metadata"),  # §9.6
    ("ToolCallPart", "args"),  # §14.2: string or object
    ("ToolCallDelta", "args_delta"),  # §14.2
    ("InvalidEntry", "ctx"),  # §2
    ("Submission", "inputs"),  # human-input §7.1: by the form
    ("ServiceSubmission", "inputs"),
    ("DeliveryTestRequest", "inputs"),
    ("HumanInputPolicy", "variables"),  # DESIGN §7: nested at will
    ("WebappMethod", "config"),  # human-input §4: any
    ("FormNode", "default_values"),  # human-input §3: by the form
}
"""Schema and member that a contract leaves open."""


def test_the_file_is_what_the_code_says() -> None:
    """Mend it by ``python -m sayso.http.openapi openapi.json``."""
    assert (ROOT / "openapi.json").read_text(encoding="utf-8") == openapi_text()


def test_every_route_is_described_and_no_other() -> None:
    routes = {key for keys in FUNCTION_ROUTES.values() for key in keys if key != DEFAULT}

    described = {
        f"{method.upper()} {path}"
        for path, operations in openapi_document()["paths"].items()
        for method in operations
    }

    assert described == routes
    assert {as_get(key) for key in routes} == set(ROUTES)


def test_routes_with_a_key_say_so() -> None:
    for path, operations in openapi_document()["paths"].items():
        for method, operation in operations.items():
            needs_key = as_get(f"{method.upper()} {path}") in ROUTE_ROLES
            assert (operation.get("security") == [{"api_key": []}]) is needs_key
            assert ("401" in operation["responses"]) is ("security" in operation)


def test_every_schema_is_a_json_schema() -> None:
    for schema in openapi_document()["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_only_what_a_contract_leaves_open_is_a_free_form_object() -> None:
    schemas = openapi_document()["components"]["schemas"]

    found = {place for name, schema in schemas.items() for place in _open(schema, (name,))}

    assert {place[:2] for place in found} <= OPEN_OBJECTS


def _open(schema: Any, place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the places of objects that say nothing about their members."""
    if isinstance(schema, list):
        for one in schema:
            yield from _open(one, place)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object" and schema.get("additionalProperties", True) is True:
        yield place
    for name, member in schema.items():
        if name == "properties":
            for prop, inner in member.items():
                yield from _open(inner, (*place, prop))
        elif isinstance(member, dict | list):
            yield from _open(member, place)


def test_the_document_is_json_without_surprises() -> None:
    text = openapi_text()

    assert json.loads(text)["openapi"] == "3.1.0"
    assert text.endswith("}\n")
