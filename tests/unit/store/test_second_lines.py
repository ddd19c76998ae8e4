"""Each guard holds alone: here the others are got out of its way, by hand, in the table.

In the service several guards stand behind each other, so that tests of the whole would not notice
if one of them were gone.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.errors import (
    ContentChangedError,
    FormClosedError,
    MovedOnError,
    ServiceUnavailableError,
)
from sayso.domain.form import Actor, Decision
from sayso.domain.run import EventDraft
from sayso.domain.transitions import FormStatus, FormTrigger, RunStatus, RunTrigger
from sayso.ports import Key, Put, Update
from sayso.store.codec import to_ms
from sayso.store.form_history import audit_ttl
from sayso.store.keys import audit_key, form_key, form_pk, pause_key
from sayso.testing.faults import Faults
from support.world import LEASE, World

if TYPE_CHECKING:
    from sayso.domain.form import Form
    from sayso.testing.faults import Moment

WEBAPP: dict[str, Any] = {"delivery_methods": [{"type": "webapp"}]}


def asked(world: World) -> Form:
    run_id = world.create(WEBAPP)
    world.settle()
    return world.forms(run_id)[0]


def change(world: World, key: Key, **attributes: Any) -> None:
    """Change an item behind the back of whoever has read it."""
    world.table.write(Update(key=key, set=attributes), attempt="somebody else")


def decide(world: World, form: Form) -> Form:
    """Decide a form as it was read, whatever stands in the table by now."""
    decision = Decision(
        action_id="approve",
        action_label="Approve",
        values={"comment": ""},
        actor=Actor(recipient=1, proven_by="link"),
        decided_at=world.clock.now(),
    )
    return world.context.stores.forms.decide(
        form, decision, shown_digest=form.content_digest, ttl=audit_ttl(form)
    )


def test_a_form_that_was_closed_takes_no_answer() -> None:
    world = World()
    form = asked(world)
    change(world, form_key(form.id), status=FormStatus.TIMEOUT)

    with pytest.raises(FormClosedError):
        decide(world, form)

    assert world.forms(form.run_id)[0].decision is None


def test_a_deadline_that_was_moved_while_the_answer_was_under_way_counts() -> None:
    world = World()
    form = asked(world)
    change(world, form_key(form.id), deadline=to_ms(world.clock.now()))

    with pytest.raises(FormClosedError):
        decide(world, form)

    assert world.forms(form.run_id)[0].decision is None


def test_content_that_was_changed_while_the_answer_was_under_way_is_not_decided() -> None:
    world = World()
    form = asked(world)
    change(world, form_key(form.id), content_digest="another")

    with pytest.raises(ContentChangedError):
        decide(world, form)

    assert world.forms(form.run_id)[0].decision is None


def test_a_form_with_another_history_is_not_decided() -> None:
    world = World()
    form = asked(world)
    change(world, form_key(form.id), audits=form.audits + 1)

    with pytest.raises(MovedOnError):
        decide(world, form)

    assert world.forms(form.run_id)[0].decision is None


def test_no_entry_of_a_history_is_overwritten() -> None:
    world = World()
    form = asked(world)
    key = audit_key(form_pk(form.id), form.audits + 1)
    world.table.write(Put(item={"pk": key.pk, "sk": key.sk}), attempt="somebody else")

    with pytest.raises((MovedOnError, FormClosedError)):
        decide(world, form)

    assert world.forms(form.run_id)[0].decision is None


def test_a_form_does_not_time_out_before_the_deadline_that_stands_in_the_table() -> None:
    world = World()
    form = asked(world)
    later = form.deadline + timedelta(hours=1)
    change(world, form_key(form.id), deadline=to_ms(later))
    world.clock.set(form.deadline)

    with pytest.raises((FormClosedError, MovedOnError)):
        world.context.stores.forms.close(
            form, FormTrigger.TIME_OUT, now=world.clock.now(), ttl=audit_ttl(form)
        )

    assert world.forms(form.run_id)[0].status is FormStatus.WAITING


def test_a_pause_that_was_resumed_is_not_resumed_again() -> None:
    world = World()
    form = asked(world)
    run, now = world.run(form.run_id), world.clock.now()
    pause = world.context.stores.runs.pauses(run.id)[0]
    change(world, pause_key(run.id, pause.id), resumed_at=to_ms(now))

    with pytest.raises(MovedOnError):
        world.context.stores.pauses.resume(run, pause, [], owner="w", now=now, lease=LEASE)

    assert world.run(run.id).status is RunStatus.PAUSED


def test_a_run_is_not_resumed_from_a_pause_that_is_not_its_own() -> None:
    world = World()
    form = asked(world)
    run, now = world.run(form.run_id), world.clock.now()
    pause = world.context.stores.runs.pauses(run.id)[0]
    change(world, Key(f"RUN#{run.id}", "RUN"), pause_id="another")

    with pytest.raises(MovedOnError):
        world.context.stores.pauses.resume(run, pause, [], owner="w", now=now, lease=LEASE)


def test_a_lease_that_was_renewed_meanwhile_is_not_taken_over() -> None:
    """Between the two tries of a claim its owner may give a sign of life."""
    faults = Faults()
    world = World(faults=faults)
    run_id = world.create(None)
    runs = world.context.stores.runs
    held = runs.claim(run_id, owner="first", now=world.clock.now(), lease=LEASE)
    assert held is not None
    world.clock.advance(LEASE)

    def renew(moment: Moment, operation: str) -> None:
        writes = [call for call in faults.calls if call == "write"]
        if (moment, operation) == ("before", "write") and len(writes) == 3:
            change(world, Key(f"RUN#{run_id}", "RUN"), lease_until=to_ms(world.clock.now() + LEASE))

    world.table._faults = _both(faults, renew)

    assert runs.claim(run_id, owner="second", now=world.clock.now(), lease=LEASE) is None


def _both(faults: Faults, then: Any) -> Any:
    def hook(moment: Moment, operation: str) -> None:
        faults(moment, operation)
        then(moment, operation)

    return hook


def test_a_pause_that_was_decided_before_it_was_told_is_resumed_at_once() -> None:
    """Also when the message of the answer was lost: whoever pauses looks again afterwards."""
    faults = Faults()
    world = World(faults=faults)
    run_id = world.create(WEBAPP)
    answered: list[str] = []

    def answer(moment: Moment, operation: str) -> None:
        # The schedule is the first thing that is told after the commit.
        if (moment, operation) == ("before", "create_schedule") and not answered:
            answered.append(operation)
            faults.fail_next(ServiceUnavailableError("down"), operation="resume")
            world.submit(world.forms(run_id)[0])

    world.timers.faults = _both(faults, answer)
    world.handle(world.queue.pop_due()[0])

    assert answered
    assert [message.body["kind"] for message in world.queue.pop_due()] == ["resume"]


def test_a_worker_that_lost_count_of_events_ends_nothing() -> None:
    world = World()
    run_id = world.create(None)
    runs, now = world.context.stores.runs, world.clock.now()
    run = runs.claim(run_id, owner="w", now=now, lease=LEASE)
    assert run is not None
    stale = replace(run, last_event=run.last_event - 1)

    event = EventDraft(type="run_succeeded", data={})
    with pytest.raises(MovedOnError):
        runs.end(stale, RunTrigger.SUCCEED, now=now, events=[event])

    assert world.run(run_id).status is RunStatus.RUNNING
