"""Items as DynamoDB's wire format, and back.

By hand, because boto3's serialiser turns numbers into ``Decimal`` and its import brings in what
the page function does not need; ours knows only the types of the port.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

    from sayso.ports import Item, Key

Attributes = dict[str, Any]
"""Name → attribute value, such as ``{"pk": {"S": "RUN#1"}}``."""


def to_attribute(value: Any) -> AttributeValueTypeDef:
    """Return the attribute value of a Python value.

    Raises:
        TypeError: A type that the port does not know, such as a float or a datetime.
    """
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": str.__str__(value)}
        case int():
            return {"N": str(int(value))}
        case bytes() | bytearray():
            return {"B": bytes(value)}
        case Mapping() | list() | tuple():
            return _to_container(value)
        case _:
            message = f"a table holds str, int, bool, bytes, None, list, dict; got {type(value)}"
            raise TypeError(message)


def _to_container(value: Mapping[str, Any] | list[Any] | tuple[Any, ...]) -> AttributeValueTypeDef:
    if isinstance(value, Mapping):
        return {"M": to_attributes(value)}
    return {"L": [to_attribute(part) for part in value]}


def to_attributes(item: Mapping[str, Any]) -> Attributes:
    """Return the attributes of an item."""
    return {str.__str__(name): to_attribute(value) for name, value in item.items()}


def from_attribute(attribute: Mapping[str, Any]) -> Any:
    """Return the Python value of an attribute value."""
    ((kind, value),) = attribute.items()
    match kind:
        case "S" | "BOOL":
            return value
        case "N":
            return int(value)
        case "NULL":
            return None
        case "B":
            return bytes(value)
        case "L":
            return [from_attribute(part) for part in value]
        case "M":
            return from_attributes(value)
        case _:
            message = f"attribute type {kind!r} is not one of S, N, B, BOOL, NULL, L, M"
            raise TypeError(message)


def from_attributes(attributes: Mapping[str, Any]) -> Item:
    """Return the item of attributes."""
    return {name: from_attribute(value) for name, value in attributes.items()}


def to_key(key: Key) -> Attributes:
    """Return the attributes of a primary key."""
    return {"pk": {"S": key.pk}, "sk": {"S": key.sk}}
