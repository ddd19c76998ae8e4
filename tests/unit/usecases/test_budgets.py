"""How many calls to AWS each step makes (DESIGN §9), counted at the ports.

Every call of a port is one call of a service here. Objects in the bucket are counted apart, as
the budget does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.access import Surface
from sayso.domain.links import Link
from sayso.store.limiter import TableRateLimiter
from sayso.testing.faults import Faults
from sayso.usecases.open_form import FormAccess, open_form
from sayso.usecases.submit_form import Submission, submit_form
from support.agent import Do, End, FakeAgent, ask_times
from support.world import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from sayso.domain.form import Form

OBJECTS = {"put_object", "get_object"}
WEBAPP: dict[str, Any] = {"delivery_methods": [{"type": "webapp"}]}
SHORT = {"timeout": 5, "timeout_unit": "minute"}


class Counted:
    """A world that counts."""

    def __init__(self, agent: FakeAgent) -> None:
        self.faults = Faults()
        self.world = World(agent, faults=self.faults)

    def calls(self, step: Callable[[], object]) -> tuple[int, int]:
        """Return how many calls a step makes, and how many of them go to the bucket."""
        before = len(self.faults.calls)
        step()
        made = self.faults.calls[before:]
        objects = sum(call in OBJECTS for call in made)
        return len(made) - objects, objects


def handle_next(world: World) -> None:
    world.handle(world.queue.pop_due()[0])


def test_create_makes_one_transaction_and_one_message() -> None:
    counted = Counted(FakeAgent())

    assert counted.calls(counted.world.create) == (2, 0)


def test_start_claims_in_two_calls_and_an_end_is_one() -> None:
    counted = Counted(FakeAgent(((End("finish"),),)))
    counted.world.create(None)

    assert counted.calls(lambda: handle_next(counted.world)) == (2 + 1, 0)


@pytest.mark.parametrize("operations", [1, 5])
def test_an_operation_is_one_call(operations: int) -> None:
    steps = tuple(Do(f"m{number}") for number in range(operations))
    counted = Counted(FakeAgent(((*steps, End("finish")),)))
    counted.world.create(None)

    assert counted.calls(lambda: handle_next(counted.world)) == (3 + operations, 0)


@pytest.mark.parametrize("questions", [1, 3, 10])
def test_a_pause_makes_four_calls_and_three_a_form(questions: int) -> None:
    counted = Counted(FakeAgent(((End("ask", questions),),)))
    counted.world.create({} | SHORT)
    start_claim = 2

    calls, objects = counted.calls(lambda: handle_next(counted.world))

    assert objects == 1
    assert calls - start_claim + objects <= 4 + 3 * questions


def test_a_submission_makes_three_calls_besides_the_limiter() -> None:
    counted = Counted(FakeAgent())
    run_id = counted.world.create(WEBAPP)
    counted.world.settle()
    form = counted.world.forms(run_id)[0]

    calls, _ = counted.calls(lambda: counted.world.submit(form))

    assert calls == 3


def access_to(counted: Counted, form: Form) -> FormAccess:
    link = Link(form_id=form.id, recipient=1, revision=1)
    token = counted.world.links.sign(link)
    return FormAccess(token=token, surface=Surface.PAGE, address="192.0.2.1")


def test_the_page_opens_in_three_calls_and_takes_an_answer_in_five() -> None:
    counted = Counted(FakeAgent())
    world = counted.world
    run_id = world.create(WEBAPP)
    world.settle()
    access = access_to(counted, world.forms(run_id)[0])
    limiter = TableRateLimiter(world.table, world.clock, limit=30)
    answer = Submission(action="approve", values={})

    opened = counted.calls(lambda: open_form(access, world.context, world.links, limiter))
    sent = counted.calls(lambda: submit_form(access, answer, world.context, world.links, limiter))

    assert opened == (3, 0)
    assert sent == (5, 0)


@pytest.mark.parametrize("questions", [1, 10])
def test_resuming_claims_in_three_calls_and_one_a_form(questions: int) -> None:
    agent = FakeAgent(ask_times(questions))
    counted = Counted(agent)
    run_id = counted.world.create(WEBAPP)
    counted.world.settle()
    for form in counted.world.forms(run_id):
        counted.world.submit(form)
    operation_and_end = 2

    calls, objects = counted.calls(lambda: handle_next(counted.world))

    assert objects == 1
    assert calls - operation_and_end <= 3 + questions
