"""A write whose answer was lost can be recognised as one's own (I13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sayso.domain.errors import ConditionFailedError, ServiceUnavailableError
from sayso.ports import ATTEMPT, Equals, Key, Missing, Put, Update

if TYPE_CHECKING:
    from collections.abc import Callable

    from sayso.ports import Table

    LoseNextAnswer = Callable[[Table], None]

KEY = Key("RUN#1", "RUN")


def test_write_whose_answer_is_lost_has_landed(
    table: Table, lose_next_answer: LoseNextAnswer
) -> None:
    lose_next_answer(table)

    with pytest.raises(ServiceUnavailableError):
        table.write(Put(item={"pk": KEY.pk, "sk": KEY.sk, "n": 1}), attempt="mine")

    assert table.get(KEY) == {"pk": KEY.pk, "sk": KEY.sk, "n": 1, ATTEMPT: "mine"}


def test_repeated_write_meets_its_own_attempt(
    table: Table, lose_next_answer: LoseNextAnswer
) -> None:
    put = Put(item={"pk": KEY.pk, "sk": KEY.sk}, when=(Missing("pk"),))
    lose_next_answer(table)
    with pytest.raises(ServiceUnavailableError):
        table.write(put, attempt="mine")

    with pytest.raises(ConditionFailedError) as failure:
        table.write(put, attempt="mine")

    assert failure.value.first is not None
    assert failure.value.first[ATTEMPT] == "mine"


def test_repeated_write_meets_the_attempt_of_another(
    table: Table, lose_next_answer: LoseNextAnswer
) -> None:
    decide = Update(key=KEY, set={"status": "submitted"}, when=(Equals("status", "waiting"),))
    table.write(Put(item={"pk": KEY.pk, "sk": KEY.sk, "status": "waiting"}), attempt="make")
    lose_next_answer(table)
    with pytest.raises(ServiceUnavailableError):
        table.write(decide, attempt="mine")

    with pytest.raises(ConditionFailedError) as failure:
        table.write(decide, attempt="theirs")

    assert failure.value.first is not None
    assert failure.value.first[ATTEMPT] == "mine"


def test_transaction_whose_answer_is_lost_has_landed_whole(
    table: Table, lose_next_answer: LoseNextAnswer
) -> None:
    other = Key("RUN#1", "AUDIT#1")
    writes = [Update(key=key, add={"n": 1}) for key in (KEY, other)]
    lose_next_answer(table)

    with pytest.raises(ServiceUnavailableError):
        table.transact(writes, attempt="lost answer")

    for key in (KEY, other):
        expected = {"pk": key.pk, "sk": key.sk, "n": 1, ATTEMPT: "lost answer"}
        assert table.get(key) == expected
