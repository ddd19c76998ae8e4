"""What the in-memory ports can do beyond their ports: fail, lose, repeat, let time pass."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sayso.domain.errors import MailNotAcceptedError, ServiceUnavailableError, ThrottledError
from sayso.domain.ids import FormId, RunId
from sayso.ports import Key, OutgoingMail, Put
from sayso.system import RandomIds, SystemClock
from sayso.testing.clock import FixedClock, SequenceIds
from sayso.testing.faults import Faults
from sayso.testing.mailer import RecordingMailer
from sayso.testing.queue import RecordingQueue
from sayso.testing.table import MemoryTable
from sayso.testing.timers import RecordingTimers

KEY = Key("RUN#1", "RUN")
PUT = Put(item={"pk": KEY.pk, "sk": KEY.sk})
FORMS = [FormId("1"), FormId("2"), FormId("3")]


class Crash(BaseException):
    """Stands for the death of the process."""


def test_failure_before_leaves_nothing_behind() -> None:
    faults = Faults()
    table = MemoryTable(faults=faults)
    faults.fail_next(ThrottledError("slow down"))

    with pytest.raises(ThrottledError):
        table.write(PUT, attempt="a")

    assert table.snapshot() == {}


def test_failure_after_has_happened() -> None:
    faults = Faults()
    table = MemoryTable(faults=faults)
    faults.fail_next(Crash(), moment="after")

    with pytest.raises(Crash):
        table.write(PUT, attempt="a")

    assert list(table.snapshot()) == [KEY]


def test_failure_waits_for_its_operation() -> None:
    faults = Faults()
    table = MemoryTable(faults=faults)
    faults.fail_next(ServiceUnavailableError("down"), operation="transact")
    table.write(PUT, attempt="a")

    with pytest.raises(ServiceUnavailableError):
        table.transact([PUT], attempt="b")

    table.transact([PUT], attempt="b")
    assert faults.calls == ["write", "transact", "transact"]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_numbered_call_fails_whichever_port_it_is(moment: str) -> None:
    faults = Faults()
    table, queue = MemoryTable(faults=faults), RecordingQueue(FixedClock(), faults=faults)
    faults.fail_at(2, Crash(), moment="after" if moment == "after" else "before")
    table.write(PUT, attempt="a")

    with pytest.raises(Crash):
        queue.start(RunId("1"))

    assert len(queue.messages) == (1 if moment == "after" else 0)
    queue.start(RunId("1"))


def test_mailer_fails_when_asked_to() -> None:
    faults = Faults()
    mailer = RecordingMailer(faults=faults)
    mail = OutgoingMail(to="cfo@example.org", raw=b"raw", tags={})
    faults.fail_next(MailNotAcceptedError("not now"))

    with pytest.raises(MailNotAcceptedError):
        mailer.send(mail)

    mailer.send(mail)
    assert mailer.sent == [mail]


def test_messages_become_due_as_time_passes() -> None:
    clock = FixedClock()
    queue = RecordingQueue(clock)
    queue.time_out(FORMS[:1], delay=timedelta(seconds=30))
    queue.start(RunId("1"))

    assert [one.body["kind"] for one in queue.pop_due()] == ["start"]
    clock.advance(timedelta(seconds=29))
    assert queue.pop_due() == []
    clock.advance(timedelta(seconds=1))
    assert [one.body["kind"] for one in queue.pop_due()] == ["timeout"]
    assert queue.messages == []


def test_messages_can_be_lost_repeated_and_mixed_up() -> None:
    queue = RecordingQueue(FixedClock())
    queue.mail(FORMS)
    queue.start(RunId("1"))

    assert queue.drop(lambda one: one.queue == "starts") == 1
    popped = queue.pop_due()
    popped.reverse()
    queue.put_back(*popped, popped[0])

    again = queue.pop_due()
    assert [one.body for one in again] == [one.body for one in (*popped, popped[0])]
    assert len({one.number for one in again}) == 4
    queue.mail(FORMS)
    assert queue.drop() == 3


def test_schedules_fire_once_in_their_order() -> None:
    timers = RecordingTimers()
    noon = datetime(2030, 6, 1, 12, tzinfo=UTC)
    timers.at("late", noon + timedelta(minutes=1), {"form_id": "2"})
    timers.at("early", noon, {"form_id": "1"})

    assert timers.pop_due(noon - timedelta(seconds=1)) == []
    assert timers.pop_due(noon + timedelta(hours=1)) == [{"form_id": "1"}, {"form_id": "2"}]
    assert timers.schedules == {}


def test_fixed_clock_moves_when_told_to() -> None:
    clock = FixedClock(datetime(2030, 6, 1, 12, 0, 0, 1999, tzinfo=UTC))

    assert clock.now() == clock.now() == datetime(2030, 6, 1, 12, 0, 0, 1000, tzinfo=UTC)
    assert clock.advance(timedelta(microseconds=1)).microsecond == 2000
    clock.set(datetime(2029, 1, 1, tzinfo=UTC))
    assert clock.now().year == 2029


def test_sequence_ids_are_the_same_in_each_test() -> None:
    first, second, other = SequenceIds(), SequenceIds(), SequenceIds("worker")

    assert [first.token(), first.token()] == ["token-1", "token-2"]
    assert first.run_id() == second.run_id() != first.run_id()
    assert other.token() == "worker-1"
    assert other.run_id() != SequenceIds().run_id()


def test_real_clock_and_ids() -> None:
    ids = RandomIds()
    now = SystemClock().now()

    assert now.tzinfo is UTC
    assert now.microsecond % 1000 == 0
    assert len({ids.run_id() for _ in range(100)} | {ids.token() for _ in range(100)}) == 200
    assert all(len(ids.token()) == 22 for _ in range(10))
