"""The directory remembers what it found, but not for long and not without bound."""

from __future__ import annotations

import json

import pytest

from sayso.aws.directory import CACHE_KEYS, TableDirectory, key_digest
from sayso.domain.access import Role
from sayso.domain.errors import ServiceUnavailableError
from sayso.ports import Key
from sayso.testing.faults import Faults
from sayso.testing.table import MemoryTable

FIRST = json.dumps({"tenant": "default", "app": "default", "role": "admin", "key": "first"})


class Time:
    """A monotonic clock that moves when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """Return seconds."""
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def table(faults: Faults) -> MemoryTable:
    return MemoryTable(faults=faults)


@pytest.fixture
def directory(table: MemoryTable, time: Time) -> TableDirectory:
    return TableDirectory(table, lambda: FIRST, monotonic=time)


def add(table: MemoryTable, secret: str) -> Key:
    key = Key(f"KEY#{key_digest(secret)}", "KEY")
    members = {"id": "k", "tenant": "t", "app": "a", "role": "service"}
    table.put_many([{"pk": key.pk, "sk": key.sk, **members}])
    return key


def test_first_key_needs_no_table(directory: TableDirectory, faults: Faults) -> None:
    found = directory.find_key("first")

    assert found is not None
    assert found.role is Role.ADMIN
    assert faults.calls == []


def test_found_key_is_remembered_for_a_minute(
    directory: TableDirectory, table: MemoryTable, faults: Faults, time: Time
) -> None:
    key = add(table, "other")
    first = directory.find_key("other")
    table.delete_many([key])
    time.now += 59

    assert directory.find_key("other") is first is not None
    assert faults.calls.count("get") == 1
    time.now += 1
    assert directory.find_key("other") is None


def test_missing_key_is_remembered_for_a_minute(
    directory: TableDirectory, table: MemoryTable, time: Time
) -> None:
    assert directory.find_key("other") is None
    add(table, "other")

    assert directory.find_key("other") is None
    time.now += 60
    assert directory.find_key("other") is not None


def test_guessing_fills_no_memory(directory: TableDirectory) -> None:
    for number in range(CACHE_KEYS + 50):
        directory.find_key(f"guess {number}")

    assert len(directory._known) == CACHE_KEYS


def test_failed_look_up_is_not_remembered(
    directory: TableDirectory, table: MemoryTable, faults: Faults
) -> None:
    add(table, "other")
    faults.fail_next(ServiceUnavailableError("down"), operation="get")
    with pytest.raises(ServiceUnavailableError):
        directory.find_key("other")

    assert directory.find_key("other") is not None


@pytest.mark.parametrize("text", ["secret text", "[]", "{}", FIRST.replace("admin", "root")])
def test_malformed_first_key_is_named_and_not_shown(table: MemoryTable, text: str) -> None:
    directory = TableDirectory(table, lambda: text)

    with pytest.raises(ServiceUnavailableError, match="malformed") as failure:
        directory.find_key("first")

    assert text not in str(failure.value)
    assert failure.value.__suppress_context__
