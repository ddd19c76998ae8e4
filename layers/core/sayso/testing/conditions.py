"""Evaluates conditions and writes the way DynamoDB does.

A comparison with a missing attribute, or with one of another type, is false and never an error.
Source: the expression reference of the DynamoDB developer guide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from sayso.domain.errors import PermanentError
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
    from collections.abc import Mapping

    from sayso.ports import Condition, Item, Write

_KEY_ATTRIBUTES = {"pk", "sk"}


def holds(condition: Condition, item: Mapping[str, Any]) -> bool:
    """Tell whether a condition holds for an item; no item is an empty mapping."""
    match condition:
        case Missing(attribute):
            return attribute not in item
        case Exists(attribute):
            return attribute in item
        case Equals(attribute, value):
            return attribute in item and _is_same(item[attribute], value)
        case OneOf(attribute, values):
            return any(_is_same(item.get(attribute), value) for value in values)
        case Above() | AtMost():
            return _compares(condition, item.get(condition.attribute))
        case AnyOf(parts):
            return any(holds(part, item) for part in parts)
        case _:
            assert_never(condition)


def item_after(write: Write, item: Item | None) -> Item | None:
    """Return what stands in the table after the write, None for nothing."""
    match write:
        case Put(item=new):
            return new
        case Update():
            return _updated(write, item or {"pk": write.key.pk, "sk": write.key.sk})
        case Delete():
            return None
        case Check():
            return item
        case _:
            assert_never(write)


def _updated(update: Update, item: Item) -> Item:
    named = [*update.set, *update.remove, *update.add]
    if len(named) != len(set(named)) or _KEY_ATTRIBUTES.intersection(named):
        message = f"an update must name each attribute once and no key, got {sorted(named)}"
        raise PermanentError(message)
    for name in update.add:
        if name in item and not _is_number(item[name]):
            message = f"cannot add to {name!r}: it holds no number"
            raise PermanentError(message)
    kept = {name: value for name, value in item.items() if name not in update.remove}
    counters = {name: item.get(name, 0) + amount for name, amount in update.add.items()}
    return {**kept, **update.set, **counters}


def _compares(condition: Above | AtMost, value: object) -> bool:
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return (value > condition.value) is isinstance(condition, Above)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_same(left: object, right: object) -> bool:
    # In Python True == 1; in DynamoDB they are of different types.
    return isinstance(left, bool) == isinstance(right, bool) and left == right
