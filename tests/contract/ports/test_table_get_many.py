"""Reading many items by their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sayso.domain.errors import PermanentError
from sayso.ports import Key, Put

if TYPE_CHECKING:
    from sayso.ports import Table


def test_items_come_in_the_order_of_their_keys_and_none_for_what_is_missing(table: Table) -> None:
    for sk in ("a", "b", "c"):
        table.write(Put(item={"pk": "P", "sk": sk, "data": sk.encode()}), attempt="x")

    found = table.get_many([Key("P", "c"), Key("P", "missing"), Key("P", "a")])

    assert [item and item["data"] for item in found] == [b"c", None, b"a"]


def test_a_hundred_large_items_all_come(table: Table) -> None:
    keys = [Key("P", f"{number:03d}") for number in range(100)]
    table.put_many([{"pk": key.pk, "sk": key.sk, "data": b"x" * 10_000} for key in keys])

    found = table.get_many(keys)

    assert [item["sk"] for item in found if item] == [key.sk for key in keys]


@pytest.mark.parametrize("keys", [[], [Key("P", "a")] * 2])
def test_no_key_or_a_key_twice_is_refused(table: Table, keys: list[Key]) -> None:
    with pytest.raises(PermanentError):
        table.get_many(keys)
