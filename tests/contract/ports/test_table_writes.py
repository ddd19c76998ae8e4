"""What every table promises about single writes and conditions."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.errors import ConditionFailedError, PermanentError
from sayso.ports import (
    ATTEMPT,
    Above,
    AnyOf,
    AtMost,
    Delete,
    Equals,
    Exists,
    Key,
    Missing,
    OneOf,
    Put,
    Update,
)

if TYPE_CHECKING:
    from sayso.ports import Condition, Item, Table

KEY = Key("RUN#1", "RUN")


def item(key: Key = KEY, /, **attributes: Any) -> Item:
    return {"pk": key.pk, "sk": key.sk, **attributes}


class Colour(StrEnum):
    """An enum as the domain has them."""

    RED = "red"


@pytest.mark.parametrize(
    "value",
    [
        "text",
        "",
        "ünïcødé 🖋",
        0,
        -17,
        10**37,
        True,
        False,
        None,
        b"\x00\xff",
        b"",
        [],
        {},
        [1, "two", None, [True], {"deep": b"er"}],
        {"a": {"b": [1, {"c": None}]}, "name": "reserved"},
    ],
    ids=repr,
)
def test_value_comes_back_as_it_was(table: Table, value: object) -> None:
    written = table.write(Put(item=item(value=value)), attempt="a")

    read = table.get(KEY)

    assert read == written == item(value=value, attempt="a")
    assert read is not None
    assert type(read["value"]) is type(value)


def test_special_kinds_of_values_come_back_as_plain_ones(table: Table) -> None:
    table.write(Put(item=item(colour=Colour.RED, pair=(1, 2))), attempt="a")

    read = table.get(KEY)

    assert read == item(colour="red", pair=[1, 2], attempt="a")
    assert read is not None
    assert type(read["colour"]) is str


@pytest.mark.parametrize("value", [1.5, {1, 2}, object()], ids=["float", "set", "object"])
def test_value_of_another_type_is_refused(table: Table, value: object) -> None:
    with pytest.raises(TypeError, match="str, int, bool"):
        table.write(Put(item=item(value=value)), attempt="a")


def test_missing_item_is_none(table: Table) -> None:
    assert table.get(KEY) is None


def test_caller_and_table_share_no_values(table: Table) -> None:
    mine: dict[str, Any] = item(tags=["a"])
    written = table.write(Put(item=mine), attempt="a")
    read = table.get(KEY)
    assert written is not None
    assert read is not None

    for copy in (mine, written, read):
        copy["tags"].append("changed")

    assert table.get(KEY) == item(tags=["a"], attempt="a")


def test_put_replaces_the_whole_item(table: Table) -> None:
    table.write(Put(item=item(old=1)), attempt="a")

    table.write(Put(item=item(new=2)), attempt="b")

    assert table.get(KEY) == item(new=2, attempt="b")


def test_update_changes_what_it_names_and_returns_the_item_after_it(table: Table) -> None:
    table.write(Put(item=item(kept="k", gone="g", count=5, status="old")), attempt="a")

    after = table.write(
        Update(
            key=KEY,
            set={"status": "new", "nothing": None},
            remove=("gone", "never_there"),
            add={"count": -2, "fresh": 3},
        ),
        attempt="b",
    )

    expected = item(kept="k", status="new", nothing=None, count=3, fresh=3, attempt="b")
    assert after == table.get(KEY) == expected


def test_update_makes_a_missing_item(table: Table) -> None:
    after = table.write(Update(key=KEY, add={"count": 1}), attempt="a")

    assert after == item(count=1, attempt="a")


def test_update_of_nothing_still_leaves_its_attempt(table: Table) -> None:
    assert table.write(Update(key=KEY), attempt="a") == item(attempt="a")


def test_reserved_and_odd_attribute_names_are_safe(table: Table) -> None:
    names = {"name": 1, "status": "s", "ttl": 2, "with space": 3, "a.b": 4, "#x": 5, ":y": 6}
    table.write(Put(item=item(**names)), attempt="a")

    table.write(
        Update(key=KEY, set={"name": 7}, remove=("a.b",), when=(Equals("with space", 3),)),
        attempt="b",
    )

    expected = item(**{**names, "name": 7, ATTEMPT: "b"})
    del expected["a.b"]
    assert table.get(KEY) == expected


def test_delete_takes_the_item_away_and_returns_nothing(table: Table) -> None:
    table.write(Put(item=item()), attempt="a")

    assert table.write(Delete(key=KEY), attempt="b") is None

    assert table.get(KEY) is None


def test_delete_of_a_missing_item_is_success(table: Table) -> None:
    assert table.write(Delete(key=KEY), attempt="a") is None


STANDING: dict[str, Any] = {"status": "waiting", "n": 5, "flag": True, "nothing": None}

HOLD: list[Condition] = [
    Exists("pk"),
    Exists("nothing"),
    Missing("other"),
    Equals("status", "waiting"),
    Equals("n", 5),
    Equals("flag", value=True),
    OneOf("status", ("submitted", "waiting")),
    Above("n", 4),
    AtMost("n", 5),
    AnyOf((Missing("n"), Equals("n", 5))),
    AnyOf((AnyOf((Missing("n"), Above("n", 4))), Exists("other"))),
]
FAIL: list[Condition] = [
    Missing("pk"),
    Missing("nothing"),
    Exists("other"),
    Equals("status", "submitted"),
    Equals("other", "waiting"),
    Equals("n", "5"),
    Equals("flag", 1),
    Equals("n", value=True),
    OneOf("status", ("submitted", "timeout")),
    OneOf("other", ("waiting",)),
    Above("n", 5),
    Above("other", 0),
    Above("status", 0),
    AtMost("n", 4),
    AtMost("other", 9),
    AnyOf((Missing("n"), Equals("n", 6))),
]


@pytest.mark.parametrize("condition", HOLD, ids=repr)
def test_write_lands_when_its_condition_holds(table: Table, condition: Condition) -> None:
    table.write(Put(item=item(**STANDING)), attempt="a")

    after = table.write(Update(key=KEY, set={"won": 1}, when=(condition,)), attempt="b")

    assert after == item(**STANDING, won=1, attempt="b")


@pytest.mark.parametrize("condition", FAIL, ids=repr)
def test_write_hands_back_what_stands_there_when_its_condition_fails(
    table: Table, condition: Condition
) -> None:
    table.write(Put(item=item(**STANDING)), attempt="a")
    standing = item(**STANDING, attempt="a")

    with pytest.raises(ConditionFailedError) as failure:
        table.write(Update(key=KEY, set={"won": 1}, when=(condition,)), attempt="b")

    assert failure.value.items == (standing,)
    assert table.get(KEY) == standing


@pytest.mark.parametrize(
    "write",
    [
        Put(item=item(new=1), when=(Equals("n", 6),)),
        Update(key=KEY, set={"new": 1}, when=(Equals("n", 6),)),
        Delete(key=KEY, when=(Equals("n", 6),)),
    ],
    ids=["put", "update", "delete"],
)
def test_each_kind_of_write_obeys_its_condition(table: Table, write: Put | Update | Delete) -> None:
    table.write(Put(item=item(n=5)), attempt="a")

    with pytest.raises(ConditionFailedError) as failure:
        table.write(write, attempt="b")

    assert failure.value.first == table.get(KEY) == item(n=5, attempt="a")


def test_all_conditions_must_hold(table: Table) -> None:
    table.write(Put(item=item(n=5)), attempt="a")

    with pytest.raises(ConditionFailedError):
        table.write(Update(key=KEY, when=(Equals("n", 5), Equals("n", 6))), attempt="b")


def test_condition_on_a_missing_item_fails_with_nothing(table: Table) -> None:
    with pytest.raises(ConditionFailedError) as failure:
        table.write(Update(key=KEY, when=(Exists("pk"),)), attempt="a")

    assert failure.value.items == (None,)
    assert failure.value.first is None


def test_second_put_of_a_new_item_sees_the_first(table: Table) -> None:
    table.write(Put(item=item(n=1), when=(Missing("pk"),)), attempt="a")

    with pytest.raises(ConditionFailedError) as failure:
        table.write(Put(item=item(n=2), when=(Missing("pk"),)), attempt="b")

    assert failure.value.first == item(n=1, attempt="a")


@pytest.mark.parametrize(
    "write",
    [
        Put(item={"pk": "", "sk": "RUN"}),
        Put(item={"pk": "RUN#1", "sk": ""}),
        Put(item=item(big=b"x" * 400 * 1024)),
        Put(item=item(n=10**38 + 1)),
        Put(item=item(due_at="soon")),
        Put(item=item(due_at=None)),
        Put(item=item(listing_key="")),
        Update(key=KEY, set={"sk": "other"}),
        Update(key=KEY, set={"n": 1}, remove=("n",)),
        Update(key=KEY, add={"text": 1}),
    ],
    ids=[
        "empty pk",
        "empty sk",
        "over 400 KB",
        "39 digits",
        "index key of another type",
        "index key without value",
        "empty index key",
        "key attribute",
        "attribute named twice",
        "text as counter",
    ],
)
def test_what_the_service_would_refuse_is_refused(table: Table, write: Put | Update) -> None:
    table.write(Put(item=item(text="t")), attempt="a")

    with pytest.raises(PermanentError):
        table.write(write, attempt="b")

    assert table.get(KEY) == item(text="t", attempt="a")


def test_item_just_under_the_limit_is_taken(table: Table) -> None:
    table.write(Put(item=item(big=b"x" * (400 * 1024 - 100))), attempt="a")

    assert table.get(KEY) is not None
