"""What every table promises about reading: partitions, pages and indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.errors import PermanentError
from sayso.ports import Key, Put, Update

if TYPE_CHECKING:
    from sayso.ports import Item, Table

SORT_KEYS = ["AUDIT#1", "EVENT#001", "EVENT#002", "EVENT#003", "RUN", "Z", "é", "🖋"]


def item(pk: str, sk: str, /, **attributes: Any) -> Item:
    return {"pk": pk, "sk": sk, **attributes}


@pytest.fixture
def filled(table: Table) -> Table:
    table.put_many([item("P", sk) for sk in reversed(SORT_KEYS)])
    table.put_many([item("P2", "EVENT#009"), item("O", "EVENT#000")])
    return table


def sort_keys(items: list[Item]) -> list[str]:
    return [found["sk"] for found in items]


def test_partition_comes_in_the_order_of_utf8_bytes(filled: Table) -> None:
    assert sort_keys(filled.query("P")) == SORT_KEYS


def test_empty_partition_has_no_items(filled: Table) -> None:
    assert filled.query("NONE") == []


def test_prefix_limits_to_one_kind(filled: Table) -> None:
    assert sort_keys(filled.query("P", prefix="EVENT#")) == SORT_KEYS[1:4]


def test_newest_first_turns_the_order(filled: Table) -> None:
    found = filled.query("P", prefix="EVENT#", newest_first=True, limit=2)

    assert sort_keys(found) == ["EVENT#003", "EVENT#002"]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("EVENT#", SORT_KEYS[1:4]),
        ("EVENT#001", SORT_KEYS[2:4]),
        ("EVENT#0015", SORT_KEYS[2:4]),
        ("EVENT#003", []),
        ("EVENT#9", []),
    ],
)
def test_after_goes_on_behind_a_key_that_need_not_exist(
    filled: Table, after: str, expected: list[str]
) -> None:
    assert sort_keys(filled.query("P", prefix="EVENT#", after=after)) == expected


def test_after_works_without_a_prefix(filled: Table) -> None:
    assert sort_keys(filled.query("P", after="EVENT#003", limit=2)) == ["RUN", "Z"]


@pytest.mark.parametrize("limit", [1, 2, 3, 8, 100])
def test_limit_bounds_the_number(filled: Table, limit: int) -> None:
    assert sort_keys(filled.query("P", limit=limit)) == SORT_KEYS[:limit]


def test_pages_are_read_to_the_end(table: Table) -> None:
    # A page of DynamoDB ends at 1 MB.
    table.put_many([item("BIG", f"{n:02}", data=b"x" * 300_000) for n in range(8)])

    assert sort_keys(table.query("BIG")) == [f"{n:02}" for n in range(8)]
    assert sort_keys(table.query("BIG", limit=6)) == [f"{n:02}" for n in range(6)]


@pytest.mark.parametrize(
    "arguments",
    [{"after": "EVENT#001", "newest_first": True}, {"after": "AUDIT#1", "prefix": "EVENT#"}],
)
def test_cursor_that_cannot_be_is_refused(filled: Table, arguments: dict[str, Any]) -> None:
    with pytest.raises(PermanentError):
        filled.query("P", **arguments)


@pytest.fixture
def indexed(table: Table) -> Table:
    for number, (shard, due_at) in enumerate([(1, 300), (1, 100), (2, 50), (1, 200)]):
        attributes = {"due_shard": shard, "due_at": due_at, "created_at": due_at + 1}
        table.write(
            Put(item=item(f"RUN#{number}", "RUN", listing_key=f"t{shard}#run", **attributes)),
            attempt="a",
        )
    table.write(Put(item=item("RUN#9", "RUN", due_shard=1, created_at=1)), attempt="a")
    return table


def test_due_items_come_oldest_first_up_to_the_instant(indexed: Table) -> None:
    assert indexed.due(1, until=200, limit=10) == [Key("RUN#1", "RUN"), Key("RUN#3", "RUN")]
    assert indexed.due(1, until=99, limit=10) == []
    assert indexed.due(3, until=999, limit=10) == []


def test_due_limit_bounds_the_number(indexed: Table) -> None:
    assert indexed.due(1, until=999, limit=2) == [Key("RUN#1", "RUN"), Key("RUN#3", "RUN")]


def test_item_that_is_no_longer_due_leaves_the_index(indexed: Table) -> None:
    indexed.write(Update(key=Key("RUN#1", "RUN"), remove=("due_at",), set={"x": 1}), attempt="b")

    assert indexed.due(1, until=200, limit=10) == [Key("RUN#3", "RUN")]


def test_listing_comes_oldest_first_behind_a_cursor(indexed: Table) -> None:
    first = indexed.listing("t1#run", limit=2)

    assert first == [Key("RUN#1", "RUN"), Key("RUN#3", "RUN")]
    assert indexed.listing("t1#run", after=201) == [Key("RUN#0", "RUN")]
    assert indexed.listing("t3#run") == []
