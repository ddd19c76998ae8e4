"""Reads the expressions that ``sayso.aws.expressions`` writes, back into the port's own words.

Only their grammar: anything else is an error of the test, not a guess.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crash.double.wire import from_wire, item_from_wire
from sayso.ports import (
    Above,
    AnyOf,
    AtMost,
    Check,
    Condition,
    Delete,
    Equals,
    Exists,
    Key,
    Missing,
    OneOf,
    Put,
    Update,
    Write,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKEN = re.compile(r"\s*(#\w+|:\w+|\w+|<=|=|>|\(|\)|,)")
_COMPARISONS: dict[str, type[Equals | Above | AtMost]] = {"=": Equals, ">": Above, "<=": AtMost}
_CLAUSES = ("SET", "REMOVE", "ADD")


def read_write(kind: str, members: Mapping[str, Any]) -> Write:
    """Return a write of a request.

    Args:
        kind: ``Put``, ``Update``, ``Delete`` or ``ConditionCheck``.
        members: Of the call, or of its part of a transaction.
    """
    when = _Reader(members.get("ConditionExpression", ""), members).conditions()
    if kind == "Put":
        return Put(item=item_from_wire(members["Item"]), when=when)
    key = read_key(members["Key"])
    if kind == "Update":
        clauses = _Reader(members["UpdateExpression"], members).clauses()
        return Update(
            key=key,
            set=dict(clauses["SET"]),
            remove=tuple(name for name, _ in clauses["REMOVE"]),
            add=dict(clauses["ADD"]),
            when=when,
        )
    return Delete(key=key, when=when) if kind == "Delete" else Check(key=key, when=when)


def read_key(attributes: Mapping[str, Any]) -> Key:
    """Return a primary key."""
    item = item_from_wire(attributes)
    return Key(item["pk"], item["sk"])


class _Reader:
    """Goes through the tokens of one expression."""

    def __init__(self, text: str, members: Mapping[str, Any]) -> None:
        self._tokens = _TOKEN.findall(text)
        assert "".join(self._tokens) == re.sub(r"\s", "", text), f"unknown expression {text!r}"
        self._names: Mapping[str, str] = members.get("ExpressionAttributeNames", {})
        self._values: Mapping[str, Any] = members.get("ExpressionAttributeValues", {})

    def conditions(self) -> tuple[Condition, ...]:
        """Return the parts that must all hold."""
        found: list[Condition] = []
        while self._tokens:
            found.append(self._part())
            if self._tokens:
                self._take("AND")
        return tuple(found)

    def clauses(self) -> dict[str, list[tuple[str, Any]]]:
        """Return what is set, removed and added, by clause."""
        found: dict[str, list[tuple[str, Any]]] = {clause: [] for clause in _CLAUSES}
        while self._tokens:
            clause = self._take(*_CLAUSES)
            found[clause].append(self._action(clause))
            while self._tokens and self._tokens[0] == ",":
                self._take(",")
                found[clause].append(self._action(clause))
        return found

    def _action(self, clause: str) -> tuple[str, Any]:
        name = self._name()
        if clause == "SET":
            self._take("=")
        return name, None if clause == "REMOVE" else self._value()

    def _part(self) -> Condition:
        if self._tokens[0] == "(":
            return self._any_of()
        if self._tokens[0].startswith("attribute_"):
            function = self._take("attribute_exists", "attribute_not_exists")
            self._take("(")
            name = self._name()
            self._take(")")
            return Exists(name) if function == "attribute_exists" else Missing(name)
        name = self._name()
        operator = self._take("IN", *_COMPARISONS)
        if operator == "IN":
            return OneOf(name, self._list())
        return _COMPARISONS[operator](name, self._value())

    def _any_of(self) -> AnyOf:
        self._take("(")
        parts = [self._part()]
        while self._take("OR", ")") == "OR":
            parts.append(self._part())
        return AnyOf(tuple(parts))

    def _list(self) -> tuple[str, ...]:
        self._take("(")
        values = [self._value()]
        while self._take(",", ")") == ",":
            values.append(self._value())
        return tuple(values)

    def _name(self) -> str:
        return self._names[self._tokens.pop(0)]

    def _value(self) -> Any:
        return from_wire(self._values[self._tokens.pop(0)])

    def _take(self, *expected: str) -> str:
        token: str = self._tokens.pop(0)
        assert token in expected, f"expected one of {expected}, got {token!r}"
        return token
