"""A write whose answer was lost is recognised as one's own (I13)."""

from __future__ import annotations

import pytest

from sayso.domain.errors import ConditionFailedError, ServiceUnavailableError, ThrottledError
from sayso.ports import Equals, Key, Missing, Put, Update
from sayso.store.commit import Committer
from sayso.testing.clock import SequenceIds
from sayso.testing.faults import Faults
from sayso.testing.table import MemoryTable

KEY = Key("P", "S")
NEW = Put(item={"pk": "P", "sk": "S", "n": 1}, when=(Missing("pk"),))


def setup() -> tuple[Committer, Faults, MemoryTable]:
    faults = Faults()
    table = MemoryTable(faults=faults)
    return Committer(table, SequenceIds(), wait=lambda _: None), faults, table


@pytest.mark.parametrize("moment", ["before", "after"])
def test_one_write_counts_once_when_its_answer_is_lost(moment: str) -> None:
    committer, faults, table = setup()
    table.write(Put(item={"pk": "P", "sk": "S", "n": 1}), attempt="x")
    faults.fail_next(ServiceUnavailableError("lost"), moment=moment)  # type: ignore[arg-type]

    item = committer.write(Update(key=KEY, add={"n": 1}, when=(Equals("n", 1),)))

    assert item["n"] == 2


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_transaction_counts_once_when_its_answer_is_lost(moment: str) -> None:
    committer, faults, table = setup()
    faults.fail_next(ThrottledError("slow down"), moment=moment)  # type: ignore[arg-type]

    committer.transact([NEW, Put(item={"pk": "P", "sk": "T"}, when=(Missing("pk"),))])

    assert len(table.query("P")) == 2


def test_somebody_elses_write_is_not_taken_for_ones_own() -> None:
    committer, _, table = setup()
    table.write(Put(item={"pk": "P", "sk": "S", "n": 1}), attempt="other")

    with pytest.raises(ConditionFailedError):
        committer.write(NEW)
    with pytest.raises(ConditionFailedError):
        committer.transact([NEW])


def test_after_six_tries_the_error_leaves() -> None:
    committer, faults, _ = setup()
    for _number in range(6):
        faults.fail_next(ThrottledError("slow down"))

    with pytest.raises(ThrottledError):
        committer.write(NEW)

    assert faults.calls == ["write"] * 6
