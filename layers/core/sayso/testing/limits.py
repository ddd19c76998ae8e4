"""What DynamoDB would refuse, refused in memory too, so that unit tests find it.

Sizes are those of the developer guide's "item sizes and formats"; limits of its "service quotas".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sayso.domain.errors import PermanentError

if TYPE_CHECKING:
    from sayso.ports import Item, Key

MAX_ITEM_BYTES = 400 * 1024
MAX_TRANSACTION_BYTES = 4 * 1024 * 1024
MAX_TRANSACTION_WRITES = 100
MAX_GET_KEYS = 100

_MAX_KEY_BYTES = {"pk": 2048, "sk": 1024}
_INDEX_TYPES = {"due_shard": int, "due_at": int, "listing_key": str, "created_at": int}
_MAX_DIGITS = 38
_CONTAINER_BYTES = 3


def plain(value: Any) -> Any:
    """Return a deep copy in the types that come back from a table.

    Raises:
        TypeError: A type that no table can hold, such as a float or a datetime.
    """
    match value:
        case None | bool():
            return value
        case bytes() | bytearray():
            return bytes(value)
        case str():
            return str.__str__(value)
        case int():
            return int(value)
        case Mapping():
            return {str.__str__(name): plain(part) for name, part in value.items()}
        case list() | tuple():
            return [plain(part) for part in value]
        case _:
            message = f"a table holds str, int, bool, bytes, None, list, dict; got {type(value)}"
            raise TypeError(message)


def check_key(key: Key) -> None:
    """Refuse empty and overlong keys.

    Raises:
        PermanentError: DynamoDB would not take the key.
    """
    for name, value in key._asdict().items():
        size = len(value.encode())
        if not 1 <= size <= _MAX_KEY_BYTES[name]:
            message = f"{name} has {size} bytes, expected 1 to {_MAX_KEY_BYTES[name]}"
            raise PermanentError(message)


def check_item(item: Item) -> int:
    """Refuse an item that is too large or has index attributes of the wrong type.

    Returns:
        Its size in bytes.

    Raises:
        PermanentError: DynamoDB would not take the item.
    """
    for name, kind in _INDEX_TYPES.items():
        value = item.get(name, kind(1))
        if not isinstance(value, kind) or isinstance(value, bool) or value == "":
            message = f"{name} is the key of an index: expected a {kind.__name__}, not empty"
            raise PermanentError(message)
    size = sum(_size(name) + _size(value) for name, value in item.items())
    if size > MAX_ITEM_BYTES:
        message = f"the item has {size} bytes, at most {MAX_ITEM_BYTES} are allowed"
        raise PermanentError(message)
    return size


def _size(value: Any) -> int:
    match value:
        case None | bool():
            return 1
        case str():
            return len(value.encode())
        case bytes():
            return len(value)
        case int():
            return _number_size(value)
        case dict():
            parts = sum(_size(name) + _size(part) + 1 for name, part in value.items())
            return _CONTAINER_BYTES + parts
        case _:
            return _CONTAINER_BYTES + sum(_size(part) + 1 for part in value)


def _number_size(value: int) -> int:
    digits = len(str(abs(value)).rstrip("0"))
    if digits > _MAX_DIGITS:
        message = f"a number has {digits} digits, at most {_MAX_DIGITS} are allowed"
        raise PermanentError(message)
    return (digits + 1) // 2 + 1 + (value < 0)
