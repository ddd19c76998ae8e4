"""The main loop on ports in memory: ask, pause, mail, answer, resume, finish."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.errors import (
    FormClosedError,
    RunFinishedError,
    ServiceUnavailableError,
    UnknownLinkError,
    ValidationError,
)
from sayso.domain.form import DeliveryState
from sayso.domain.links import Link
from sayso.domain.transitions import FormStatus, RunStatus
from support.agent import ASK_THEN_FINISH, Do, End, FakeAgent, ask_times
from support.world import World

if TYPE_CHECKING:
    from sayso.domain.ids import RunId

WEBAPP: dict[str, Any] = {"delivery_methods": [{"type": "webapp"}]}


def paused_world(
    agent: FakeAgent | None = None, policy: dict[str, Any] | None = None
) -> tuple[World, RunId]:
    world = World(agent)
    run_id = world.create(policy or WEBAPP)
    world.settle()
    assert world.run(run_id).status is RunStatus.PAUSED
    return world, run_id


def test_an_answer_reaches_the_model_and_the_run_finishes() -> None:
    world, run_id = paused_world()

    world.submit(world.forms(run_id)[0], "approve", comment="looks right")
    world.settle()

    run = world.run(run_id)
    output = json.loads(world.events(run_id)[-1].data["output"])
    assert run.status is RunStatus.SUCCEEDED
    assert output["call_1_0"]["values"] == {"comment": "looks right"}
    assert output["call_1_0"]["status"] == "submitted"
    assert output["call_1_0"]["action"] == {"id": "approve", "label": "Approve"}


def test_a_mail_with_a_link_that_opens_the_form_is_sent_once() -> None:
    world = World()
    run_id = world.create()
    world.settle()
    form = world.forms(run_id)[0]

    world.dispatch({"kind": "mail", "form_id": form.id})

    assert [mail.to for mail in world.outbox.sent] == ["a@example.org"]
    token = world.outbox.sent[0].raw.decode().removeprefix("https://sayso.test/form/")
    assert world.links.verify(token) == Link(form_id=form.id, recipient=1, revision=1)
    assert world.recipient_states(form) == [DeliveryState.SENT]


def test_without_methods_the_default_approvers_are_asked() -> None:
    world = World()
    world.create({})

    world.settle()

    assert [mail.to for mail in world.outbox.sent] == ["default@example.org"]


def test_a_protocol_run_ends_with_the_deferred_call() -> None:
    world = World()
    run_id = world.create(None)

    world.settle()

    last = world.events(run_id)[-1]
    assert last.type == "run_succeeded"
    assert "output" not in last.data
    assert last.data["deferred_tool_call"]["tool_call_id"] == "call_1_0"


def test_events_are_numbered_without_gaps_and_end_with_the_terminal_event() -> None:
    world, run_id = paused_world()
    world.submit(world.forms(run_id)[0])
    world.settle()

    events = world.events(run_id)

    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert events[0].type == "run_started"
    assert events[-1].type == "run_succeeded"
    assert world.run(run_id).last_event == len(events)


@pytest.mark.parametrize("questions", [1, 3, 10])
def test_several_forms_make_one_resume_with_all_answers(questions: int) -> None:
    world, run_id = paused_world(FakeAgent(ask_times(questions)))
    forms = world.forms(run_id)

    for form in reversed(forms):
        world.submit(form, comment=form.tool_call_id)
    world.settle()

    answers = json.loads(world.events(run_id)[-1].data["output"])
    assert {call: answer["values"]["comment"] for call, answer in answers.items()} == {
        form.tool_call_id: form.tool_call_id for form in forms
    }
    assert world.agent.segments.count((run_id, 2)) == 1


def test_the_second_submission_sees_the_first_decision() -> None:
    world, run_id = paused_world()
    form = world.forms(run_id)[0]
    world.submit(form, "approve")

    with pytest.raises(FormClosedError) as refused:
        world.submit(form, "refuse")

    assert refused.value.status == FormStatus.SUBMITTED
    decision = world.forms(run_id)[0].decision
    assert decision is not None
    assert decision.action_id == "approve"


def test_the_same_person_repeating_the_same_answer_gets_the_same_decision() -> None:
    world, run_id = paused_world()
    form = world.forms(run_id)[0]
    first = world.submit(form, "approve", comment="yes")

    again = world.submit(form, "approve", comment="yes")

    assert again.decision == first.decision


@pytest.mark.parametrize(
    ("action", "values"),
    [("nothing", {}), ("approve", {"foreign": "x"}), ("approve", {"comment": "x" * 20_001})],
)
def test_a_wrong_answer_decides_nothing(action: str, values: dict[str, str]) -> None:
    world, run_id = paused_world()
    form = world.forms(run_id)[0]

    with pytest.raises(ValidationError):
        world.submit(form, action, recipient=1, **values)

    assert world.forms(run_id)[0] == form


def test_a_link_of_an_unknown_recipient_opens_nothing() -> None:
    world, run_id = paused_world()

    with pytest.raises(UnknownLinkError):
        world.submit(world.forms(run_id)[0], recipient=2)


def test_an_unanswered_form_times_out_by_its_delayed_message() -> None:
    policy = WEBAPP | {"timeout": 5, "timeout_unit": "second"}
    world, run_id = paused_world(policy=policy)

    world.clock.advance(timedelta(seconds=5))
    world.settle()

    answer = json.loads(world.events(run_id)[-1].data["output"])["call_1_0"]
    assert world.forms(run_id)[0].status is FormStatus.TIMEOUT
    assert answer["status"] == "timeout"
    assert answer["action"] == {"id": "__timeout", "label": "Timeout"}


def test_an_unanswered_form_times_out_by_its_schedule() -> None:
    world, run_id = paused_world()

    world.clock.advance(timedelta(hours=36))
    world.settle()

    assert world.run(run_id).status is RunStatus.SUCCEEDED


def test_with_message_and_schedule_lost_the_sweep_times_out_within_two_periods() -> None:
    policy = WEBAPP | {"timeout": 5, "timeout_unit": "second"}
    world, run_id = paused_world(policy=policy)
    world.queue.drop()
    world.timers.entries.clear()

    world.pass_time(timedelta(minutes=2))

    assert world.run(run_id).status is RunStatus.SUCCEEDED


def test_an_answer_after_the_deadline_is_refused_even_before_the_sweep() -> None:
    policy = WEBAPP | {"timeout": 5, "timeout_unit": "second"}
    world, run_id = paused_world(policy=policy)
    form = world.forms(run_id)[0]

    world.clock.advance(timedelta(seconds=5))

    with pytest.raises(FormClosedError):
        world.submit(form)


def test_an_answer_is_kept_when_the_queue_is_down_and_the_sweep_resumes() -> None:
    world, run_id = paused_world()
    world.submit(world.forms(run_id)[0])
    world.queue.drop()

    world.pass_time(timedelta(minutes=3))

    assert world.run(run_id).status is RunStatus.SUCCEEDED


def test_a_lost_start_is_told_again() -> None:
    world = World()
    run_id = world.create(WEBAPP)
    world.queue.drop()

    world.pass_time(timedelta(minutes=3))

    assert world.run(run_id).status is RunStatus.PAUSED


def test_a_paused_run_is_cancelled_at_once_with_its_forms() -> None:
    world, run_id = paused_world()
    form = world.forms(run_id)[0]

    world.cancel(run_id)
    world.cancel(run_id)

    assert world.run(run_id).status is RunStatus.CANCELLED
    assert world.forms(run_id)[0].status is FormStatus.CANCELLED
    assert world.events(run_id)[-1].type == "run_cancelled"
    with pytest.raises(FormClosedError):
        world.submit(form)


def test_a_finished_run_cannot_be_cancelled() -> None:
    world = World(FakeAgent(((Do("m1"), End("finish")),)))
    run_id = world.create(None)
    world.settle()

    with pytest.raises(RunFinishedError, match="run already finished with status 'succeeded'"):
        world.cancel(run_id)


def test_a_dead_worker_is_replaced_and_nothing_finished_is_repeated() -> None:
    died: list[str] = []

    def die_once(name: str) -> None:
        if name == "t1" and not died:
            died.append(name)
            raise ServiceUnavailableError("killed")

    world = World(FakeAgent(ASK_THEN_FINISH, before=die_once))
    run_id = world.create(WEBAPP)

    with pytest.raises(ServiceUnavailableError):
        world.dispatch(world.queue.pop_due()[0].body)
    world.pass_time(timedelta(minutes=3))

    assert world.run(run_id).status is RunStatus.PAUSED
    assert world.agent.executed[f"{run_id}:1:m1"] == 1


def test_the_run_deadline_expires_the_run_and_its_forms() -> None:
    policy = WEBAPP | {"run_timeout_seconds": 3600}
    world, run_id = paused_world(policy=policy)
    form = world.forms(run_id)[0]

    world.pass_time(timedelta(hours=1, minutes=2))

    assert world.run(run_id).status is RunStatus.EXPIRED
    assert world.forms(run_id)[0].status is FormStatus.EXPIRED
    assert world.events(run_id)[-1].type == "run_failed"
    with pytest.raises(FormClosedError):
        world.submit(form)


def test_an_ended_run_is_gone_after_its_retention() -> None:
    world, run_id = paused_world()
    world.submit(world.forms(run_id)[0])
    world.settle()

    world.pass_time(timedelta(days=3, minutes=2), step=timedelta(hours=1))

    assert world.context.stores.runs.get(run_id) is None
    assert world.objects.stored == {}
    assert world.due_keys() == 0


def test_a_run_paused_for_thirty_days_loses_nothing() -> None:
    policy = WEBAPP | {"timeout": 40, "timeout_unit": "day", "run_timeout_seconds": 0}
    world, run_id = paused_world(policy=policy)

    world.pass_time(timedelta(days=30), step=timedelta(hours=6))
    world.submit(world.forms(run_id)[0], comment="at last")
    world.settle()

    assert world.run(run_id).status is RunStatus.SUCCEEDED


def test_slices_are_invisible_outside() -> None:
    steps = tuple(Do(f"m{number}") for number in range(9))
    whole = World(FakeAgent(((*steps, End("finish")),)))
    sliced = World(FakeAgent(((*steps, End("finish")),), operations_per_slice=2))

    runs = [(world, world.create(None)) for world in (whole, sliced)]
    for world, _ in runs:
        world.settle()

    seen = [[(e.number, e.type, e.data) for e in world.events(run)] for world, run in runs]
    assert seen[0] == seen[1]
    assert len(sliced.agent.segments) == 5
    assert set(sliced.agent.executed.values()) == {1}


def test_not_before_waits_without_a_worker() -> None:
    world = World()
    start = world.clock.now() + timedelta(hours=2)
    run_id = world.create(WEBAPP | {"not_before": start.isoformat()})
    world.settle()
    assert world.agent.segments == []

    world.clock.advance(timedelta(hours=2))
    world.settle()

    assert world.run(run_id).status is RunStatus.PAUSED
    assert len(world.forms(run_id)) == 1


def test_a_form_that_reaches_nobody_is_unavailable_at_once() -> None:
    world = World()
    nobody = {"type": "email", "config": {"recipients": {"items": []}}}
    run_id = world.create({"delivery_methods": [nobody]})

    world.settle()

    answer = json.loads(world.events(run_id)[-1].data["output"])["call_1_0"]
    assert answer["status"] == "unavailable"
    assert world.forms(run_id)[0].status is FormStatus.UNDELIVERABLE
