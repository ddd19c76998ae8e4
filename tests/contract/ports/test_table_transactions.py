"""What every table promises about transactions, attempts, batches and races."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.errors import ConditionFailedError, PermanentError, ThrottledError
from sayso.ports import (
    Check,
    Delete,
    Equals,
    Key,
    Missing,
    Put,
    Update,
)
from sayso.testing.table import MemoryTable

if TYPE_CHECKING:
    from sayso.ports import Item, Table, Write
    from sayso.testing.clock import FixedClock

RUN = Key("RUN#1", "RUN")
FORM = Key("FORM#1", "FORM")
OLD = Key("RUN#1", "CREDENTIAL")
NEW = Key("RUN#1", "EVENT#000000000001")
THREADS = 32


def item(key: Key, /, **attributes: Any) -> Item:
    return {"pk": key.pk, "sk": key.sk, **attributes}


@pytest.fixture
def attempt() -> str:
    """Return an id of its own: DynamoDB remembers them across the tables of an account."""
    return str(uuid.uuid4())


@pytest.fixture(autouse=True)
def standing(request: pytest.FixtureRequest) -> None:
    """Put a run, a form and a credential into the table of the test."""
    for name in {"table", "strict_table"}.intersection(request.fixturenames):
        table: Table = request.getfixturevalue(name)
        table.put_many(
            [item(RUN, status="running"), item(FORM, status="waiting"), item(OLD, secret=b"s")]
        )


def test_transaction_carries_out_all_four_kinds_of_writes(table: Table, attempt: str) -> None:
    table.transact(
        [
            Put(item=item(NEW, n=1), when=(Missing("pk"),)),
            Update(key=RUN, set={"status": "paused"}, when=(Equals("status", "running"),)),
            Delete(key=OLD),
            Check(key=FORM, when=(Equals("status", "waiting"),)),
        ],
        attempt=attempt,
    )

    assert table.get(NEW) == item(NEW, n=1, attempt=attempt)
    assert table.get(RUN) == item(RUN, status="paused", attempt=attempt)
    assert table.get(OLD) is None
    assert table.get(FORM) == item(FORM, status="waiting")


@pytest.mark.parametrize("wrong", range(3))
def test_transaction_is_all_or_none(table: Table, wrong: int, attempt: str) -> None:
    statuses = ["waiting", "running", "s"]
    statuses[wrong] = "other"

    with pytest.raises(ConditionFailedError):
        table.transact(
            [
                Check(key=FORM, when=(Equals("status", statuses[0]),)),
                Update(key=RUN, set={"n": 1}, when=(Equals("status", statuses[1]),)),
                Put(item=item(NEW), when=(Missing("pk") if wrong != 2 else Equals("n", 1),)),
            ],
            attempt=attempt,
        )

    assert table.get(RUN) == item(RUN, status="running")
    assert table.get(NEW) is None


def test_failed_transaction_hands_back_the_reasons_in_order(table: Table, attempt: str) -> None:
    with pytest.raises(ConditionFailedError) as failure:
        table.transact(
            [
                Put(item=item(NEW)),
                Update(key=RUN, set={"n": 1}, when=(Equals("status", "paused"),)),
                Check(key=OLD, when=(Equals("secret", "other"),)),
                Check(key=Key("RUN#9", "RUN"), when=(Equals("status", "running"),)),
            ],
            attempt=attempt,
        )

    assert failure.value.items == (
        None,
        item(RUN, status="running"),
        item(OLD, secret=b"s"),
        None,
    )
    assert failure.value.first == item(RUN, status="running")


@pytest.mark.parametrize("count", [0, 101])
def test_transaction_takes_1_to_100_writes(table: Table, count: int, attempt: str) -> None:
    with pytest.raises(PermanentError):
        table.transact([Put(item=item(Key("A", f"{n:03}"))) for n in range(count)], attempt=attempt)


def test_transaction_of_100_writes_is_taken(table: Table, attempt: str) -> None:
    table.transact([Put(item=item(Key("A", f"{n:03}"))) for n in range(100)], attempt=attempt)

    assert len(table.query("A")) == 100


def test_transaction_of_more_than_4_mb_is_refused(table: Table, attempt: str) -> None:
    data = b"x" * 390_000

    with pytest.raises(PermanentError):
        table.transact(
            [Put(item=item(Key("A", f"{n:03}"), data=data)) for n in range(11)], attempt=attempt
        )

    assert table.query("A") == []


def test_two_writes_to_one_item_are_refused(table: Table, attempt: str) -> None:
    with pytest.raises(PermanentError):
        table.transact(
            [Update(key=RUN, set={"n": 1}), Check(key=RUN, when=(Missing("n"),))], attempt=attempt
        )

    assert table.get(RUN) == item(RUN, status="running")


def test_same_attempt_again_succeeds_without_effect(strict_table: Table, attempt: str) -> None:
    writes: list[Write] = [
        Update(key=RUN, add={"n": 1}),
        Put(item=item(NEW), when=(Missing("pk"),)),
    ]
    strict_table.transact(writes, attempt=attempt)

    strict_table.transact(writes, attempt=attempt)

    assert strict_table.get(RUN) == item(RUN, status="running", n=1, attempt=attempt)


def test_failed_attempt_may_come_again(strict_table: Table, attempt: str) -> None:
    writes = [Update(key=RUN, set={"status": "x"}, when=(Equals("status", "paused"),))]
    with pytest.raises(ConditionFailedError):
        strict_table.transact(writes, attempt=attempt)
    strict_table.write(Update(key=RUN, set={"status": "paused"}), attempt="b")

    strict_table.transact(writes, attempt=attempt)

    assert strict_table.get(RUN) == item(RUN, status="x", attempt=attempt)


def test_attempt_of_another_transaction_is_refused(strict_table: Table, attempt: str) -> None:
    strict_table.transact([Update(key=RUN, add={"n": 1})], attempt=attempt)

    with pytest.raises(PermanentError):
        strict_table.transact([Update(key=RUN, add={"n": 2})], attempt=attempt)

    assert strict_table.get(RUN) == item(RUN, status="running", n=1, attempt=attempt)


def test_batches_write_and_delete_any_number(table: Table) -> None:
    keys = [Key("MANY", f"{n:03}") for n in range(60)]

    table.put_many([item(key, n=1) for key in keys])
    table.delete_many(keys[:55])

    assert [found["sk"] for found in table.query("MANY")] == [key.sk for key in keys[55:]]


def test_batches_take_an_item_twice_and_none(table: Table) -> None:
    table.put_many([])
    table.delete_many([])
    table.put_many([item(NEW, n=1), item(NEW, n=2)])

    assert table.get(NEW) == item(NEW, n=2)
    table.delete_many([NEW, NEW])
    assert table.get(NEW) is None


def test_exactly_one_of_many_conditional_writes_wins(strict_table: Table, attempt: str) -> None:
    barrier = Barrier(THREADS)

    def decide(number: int) -> bool:
        barrier.wait()
        update = Update(
            key=FORM,
            set={"status": "submitted", "by": number},
            when=(Equals("status", "waiting"),),
        )
        try:
            strict_table.write(update, attempt=f"{attempt}-{number}")
        except ConditionFailedError as failure:
            return bool((failure.first or {})["by"] == number)
        return True

    with ThreadPoolExecutor(THREADS) as pool:
        won = list(pool.map(decide, range(THREADS)))

    assert won.count(True) == 1
    found = strict_table.get(FORM)
    assert found is not None
    assert found["by"] == won.index(True)


def test_exactly_one_of_many_transactions_wins(strict_table: Table, attempt: str) -> None:
    barrier = Barrier(THREADS)

    def commit(number: int) -> bool:
        writes: list[Write] = [
            Update(key=RUN, set={"status": "paused"}, when=(Equals("status", "running"),)),
            Put(item=item(Key("RUN#1", f"AUDIT#{number}")), when=(Missing("pk"),)),
        ]
        barrier.wait()
        for _ in range(100):
            try:
                strict_table.transact(writes, attempt=f"{attempt}-{number}")
            except ConditionFailedError:
                return False
            except ThrottledError:  # A conflict with another transaction: ask again.
                continue
            return True
        pytest.fail("the transactions never stopped conflicting")

    with ThreadPoolExecutor(THREADS) as pool:
        won = list(pool.map(commit, range(THREADS)))

    assert won.count(True) == 1
    assert [found["sk"] for found in strict_table.query("RUN#1", prefix="AUDIT#")] == [
        f"AUDIT#{won.index(True)}"
    ]


def test_counters_lose_nothing(strict_table: Table, attempt: str) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        list(
            pool.map(
                lambda n: strict_table.write(
                    Update(key=RUN, add={"n": 1}), attempt=f"{attempt}-{n}"
                ),
                range(100),
            )
        )

    found = strict_table.get(RUN)
    assert found is not None
    assert found["n"] == 100


def test_attempt_is_forgotten_after_ten_minutes(clock: FixedClock) -> None:
    """Only in memory, where time can pass."""
    table = MemoryTable(clock=clock)
    table.transact([Update(key=RUN, add={"n": 1})], attempt="a")
    clock.advance(timedelta(minutes=10))

    table.transact([Update(key=RUN, add={"n": 1})], attempt="a")

    assert table.get(RUN) == item(RUN, n=2, attempt="a")
