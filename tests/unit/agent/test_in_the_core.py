"""The real agent under the real core, ports in memory: its worker dies at one call after another."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.transitions import FormStatus, RunStatus
from support.segments import (
    CONTEXT,
    HISTORY,
    RUNNER,
    ask_human,
    calls,
    llm,
    prompt,
    request,
    text,
    tools,
)
from support.world import Killed, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sayso.domain.ids import RunId
    from sayso.testing.faults import Moment
    from sayso.testing.queue import QueuedMessage

WEBAPP: dict[str, Any] = {"delivery_methods": [{"type": "webapp"}]}
TURNS = [
    calls(("a", "look_up", {"what": "a"}), ("b", "change", {"what": "b"})),
    calls(("q1", "ask_human", {"question": "One?"}), ("q2", "ask_human", {"question": "Two?"})),
    text("{{results}}"),
]
AGENT: Any = RUNNER
LANES = 8
"""Over how many tests the points to die at are spread."""


class Mortal:
    """Kills a process at one call of a port; until it is started again, all its calls die."""

    def __init__(self, number: int = 0, moment: Moment = "before") -> None:
        self.calls = 0
        self.asleep = True
        """Whether the calls are those of the test, which looks at things."""
        self.dead = False
        self.has_died = False
        self._number = number
        self._moment = moment

    def __call__(self, moment: Moment, operation: str) -> None:
        """Count the call, and die at the planned one."""
        if self.asleep:
            return
        assert operation
        if moment == "before" and not self.dead:
            self.calls += 1
        if self.calls == self._number and moment == self._moment and not self.has_died:
            self.has_died = self.dead = True
        if self.dead:
            raise Killed


class MortalWorld(World):
    """A world whose processes come back after a death."""

    def __init__(self, mortal: Mortal) -> None:
        super().__init__(AGENT, faults=mortal)
        self._mortal = mortal

    def attempt(self, act: Callable[[], object]) -> None:
        """Do something that a death may cut short."""
        self._mortal.asleep = False
        with suppress(Killed):
            act()
        self._mortal.asleep, self._mortal.dead = True, False

    def handle(self, message: QueuedMessage) -> None:
        """Handle a message in a process of its own."""
        super().handle(message)
        self._mortal.dead = False


def create(effects: Path) -> dict[str, Any]:
    layer = tools(effects_file=str(effects))
    return request(prompt(), HISTORY, CONTEXT, ask_human(), layer, llm(TURNS))


def live(world: MortalWorld, effects: Path) -> RunId:
    """Let a run be created, asked about, answered and finished; deaths are outlived."""
    run_id = world.create(WEBAPP, **create(effects))
    for _ in range(4):
        world.attempt(world.settle)
        world.clock.advance(timedelta(minutes=1))
        world.attempt(world.sweep)
        for form in world.forms(run_id):
            if form.status is FormStatus.WAITING:
                world.attempt(partial(world.submit, form, action="submit"))
    world.attempt(world.settle)
    return run_id


def shown(world: World, run_id: RunId) -> Iterator[str]:
    for event in world.events(run_id):
        data = {key: value for key, value in event.data.items() if key != "session_snapshot"}
        yield f"{event.type} {json.dumps(data)}".replace(run_id, "RUN")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What a run shows whose processes all live."""
    world = MortalWorld(Mortal())
    run_id = live(world, tmp_path_factory.mktemp("undisturbed") / "effects")
    assert world.run(run_id).status is RunStatus.SUCCEEDED
    return list(shown(world, run_id))


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("lane", range(LANES))
def test_a_run_outlives_the_death_of_a_process_at_any_call(
    lane: int, moment: Moment, undisturbed: list[str], tmp_path: Path
) -> None:
    for number in itertools.count(1 + lane, LANES):
        mortal, effects = Mortal(number, moment), tmp_path / str(number)
        world = MortalWorld(mortal)

        run_id = live(world, effects)

        run = world.run(run_id)
        assert run.status is RunStatus.SUCCEEDED, (number, run.error)
        assert list(shown(world, run_id)) == undisturbed, number
        executed = Counter(effects.read_text().splitlines())
        assert len(executed) == 2, number
        assert max(executed.values()) <= 2, number
        if not mortal.has_died:
            break
