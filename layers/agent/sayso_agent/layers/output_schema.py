"""Checks JSON Schemas that requests bring, and values against them (dify-agent §7.5).

References are followed inside the schema only: one that leads elsewhere would make the worker
fetch an address that the request chose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jsonschema.exceptions import SchemaError
from jsonschema.validators import Draft202012Validator, validator_for
from referencing import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_PREFIX: Final = "#/$defs/"
_REFERENCES: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_VALUES: Final = frozenset({"const", "default", "enum", "example", "examples"})
"""Keywords that hold values, in which ``$ref`` is a member like any other."""
_MAPS: Final = frozenset(
    {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)
"""Keywords that hold schemas by name; such a name is no keyword."""


def check(schema: dict[str, Any]) -> None:
    """Refuse a schema that cannot be used.

    Raises:
        ValueError: With the contract's text for references, else with the library's.
    """
    definitions = schema.get("$defs")
    known = definitions if isinstance(definitions, dict) else {}
    for ref in _refs(schema):
        _check_place(ref)
    for ref in _refs({key: value for key, value in schema.items() if key != "$defs"}):
        _check_target(ref, known, ())
    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        raise ValueError(str(error)) from error


def fault_finder(schema: dict[str, Any]) -> Callable[[Any], str]:
    """Return a function that says what is wrong with a value, nothing when it fits."""
    # The empty registry keeps the library from fetching what it does not know.
    dialect = validator_for(schema, default=Draft202012Validator)
    validator = dialect(schema, registry=Registry())

    def find(value: Any) -> str:
        faults = sorted(
            validator.iter_errors(value), key=lambda fault: [str(p) for p in fault.path]
        )
        return f"{faults[0].json_path}: {faults[0].message}" if faults else ""

    return find


def _check_place(ref: str) -> None:
    if not ref.startswith("#"):
        message = (
            "Remote $ref values are not supported; only local fragment refs beginning with '#' are"
            " allowed."
        )
        raise ValueError(message)
    if not ref.startswith(_PREFIX):
        message = (
            "Only local refs under '#/$defs/' are supported in this version; got unsupported local"
            f" ref '{ref}'."
        )
        raise ValueError(message)


def _check_target(ref: str, definitions: Mapping[str, Any], on_the_way: tuple[str, ...]) -> None:
    if ref in on_the_way:
        message = "Recursive $defs refs are not supported for structured output exposure."
        raise ValueError(message)
    target = definitions.get(ref.removeprefix(_PREFIX))
    if not isinstance(target, dict):
        message = f"Local $ref '{ref}' could not be resolved from $defs."
        raise ValueError(message)  # noqa: TRY004 - the contract's failure is one of value
    for inner in _refs(target):
        _check_target(inner, definitions, (*on_the_way, ref))


def _refs(node: object) -> Iterator[str]:
    """Yield the references that stand where schemas stand."""
    if isinstance(node, list):
        for one in node:
            yield from _refs(one)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in _REFERENCES and isinstance(value, str):
                yield value
            elif key in _MAPS and isinstance(value, dict):
                yield from _refs(list(value.values()))
            elif key not in _VALUES:
                yield from _refs(value)
