"""Compiles conditions and updates into DynamoDB's expressions.

Every name and value goes through a placeholder, so that reserved words and any text are safe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from sayso.aws.attributes import Attributes, to_attribute, to_attributes, to_key
from sayso.ports import (
    Above,
    AnyOf,
    AtMost,
    Check,
    Delete,
    Equals,
    Exists,
    Missing,
    OneOf,
    Put,
    Update,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sayso.ports import Condition, Write


def request_of(write: Write) -> dict[str, Any]:
    """Return the members that a write has in common as a call and as part of a transaction."""
    expressions = _Expressions()
    members: dict[str, Any]
    match write:
        case Put(item=item):
            members = {"Item": to_attributes(item)}
        case Update(key=key):
            members = {"Key": to_key(key), "UpdateExpression": expressions.update(write)}
        case Delete(key=key) | Check(key=key):
            members = {"Key": to_key(key)}
        case _:
            assert_never(write)
    if write.when:
        members["ConditionExpression"] = expressions.all_of(write.when)
    if expressions.names:
        members["ExpressionAttributeNames"] = expressions.names
    if expressions.values:
        members["ExpressionAttributeValues"] = expressions.values
    members["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return members


class _Expressions:
    """The expressions of one request and the placeholders they share."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: Attributes = {}
        self._placeholders: dict[str, str] = {}

    def all_of(self, conditions: Sequence[Condition]) -> str:
        return " AND ".join(self._condition(condition) for condition in conditions)

    def update(self, update: Update) -> str:
        sets = [f"{self._name(name)} = {self._value(value)}" for name, value in update.set.items()]
        removes = [self._name(name) for name in update.remove]
        adds = [f"{self._name(name)} {self._value(amount)}" for name, amount in update.add.items()]
        clauses = {"SET": sets, "REMOVE": removes, "ADD": adds}
        return " ".join(f"{word} {', '.join(parts)}" for word, parts in clauses.items() if parts)

    def _condition(self, condition: Condition) -> str:
        if isinstance(condition, AnyOf):
            return f"({' OR '.join(self._condition(part) for part in condition.parts)})"
        name = self._name(condition.attribute)
        match condition:
            case Missing():
                return f"attribute_not_exists({name})"
            case Exists():
                return f"attribute_exists({name})"
            case OneOf(values=values):
                return f"{name} IN ({', '.join(self._value(value) for value in values)})"
            case Equals() | Above() | AtMost():
                return f"{name} {_OPERATORS[type(condition)]} {self._value(condition.value)}"
            case _:
                assert_never(condition)

    def _name(self, attribute: str) -> str:
        placeholder = self._placeholders.setdefault(attribute, f"#n{len(self._placeholders)}")
        self.names[placeholder] = attribute
        return placeholder

    def _value(self, value: Any) -> str:
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = to_attribute(value)
        return placeholder


_OPERATORS: dict[type[Equals | Above | AtMost], str] = {Equals: "=", Above: ">", AtMost: "<="}
