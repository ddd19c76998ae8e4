"""Workers that are killed at a write, or run out of time: the run ends as if they had not been."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from e2e.extent import extent
from e2e.scenes import ANSWER_SHOWN, Json, questions, scripted, to_api
from e2e.workers import Platform, Story, open_platform
from sayso.domain.transitions import RunStatus
from support.segments import calls, text, tools

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from e2e.stage import Stage

pytestmark = pytest.mark.stack

TURNS = [
    calls(("a", "look_up", {"what": "a"}), ("b", "look_up", {"what": "b"})),
    questions("q"),
    ANSWER_SHOWN,
]
"""Three model calls, two parallel tools, one question."""
OPERATIONS = {"model 1", "a", "b", "model 2", "model 3"}
WRITES = 13
"""Writes of all workers of the scenario together."""
KILL_POINTS = extent("KILL_POINTS", usual=6)
"""Before and after each write are 26 in full."""
POINTS = range(1, 2 * WRITES + 1, 2 * WRITES // KILL_POINTS | 1)
"""In half writes; the step is odd, so that both sides of a write come up."""
MANY_TURNS = [
    *(
        calls((f"a{turn}", "change", {"what": "a"}), (f"b{turn}", "change", {"what": "b"}))
        for turn in range(13)
    ),
    text("Changed: {{results}}"),
]
MANY_OPERATIONS = 40
TIMES = {"timestamp", "latency", "elapsed_ms"}


@pytest.fixture(scope="module")
def platform(stage: Stage) -> Iterator[Platform]:
    """Workers that can be killed, with a table of their own."""
    with open_platform(stage) as platform:
        yield platform


@pytest.fixture(scope="module")
def undisturbed(platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> Story:
    """The scenario when nobody dies."""
    return live(platform, tmp_path_factory.mktemp("undisturbed"))


def live(
    platform: Platform,
    folder: Path,
    turns: Sequence[Json] = TURNS,
    *,
    kill_at: float = 0,
    **limits: float,
) -> Story:
    """Bring one run to its end; models and tools note in a file that they were called."""
    effects = folder / "effects"
    effects.touch()
    request = scripted(turns, tools(effects_file=str(effects)), human_input=to_api())
    return platform.live(request, effects, kill_at=kill_at, **limits)


def told(platform: Platform, story: Story) -> Any:
    """Return all events of a run without what differs between any two runs: ids and instants."""
    events = platform.records.events(story.run_id)
    return anonymous([{"type": one.type, "data": one.data} for one in events])


def anonymous(value: Any) -> Any:
    """Number ids in the order of their appearance, and leave instants out."""
    seen: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        return seen.setdefault(match[0], f"<id {len(seen) + 1}>")

    document = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", number, json.dumps(value))
    return without_times(json.loads(document))


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in TIMES}
    if isinstance(value, list):
        return [without_times(one) for one in value]
    return value


def test_the_scenario_has_the_operations_and_writes_it_should(
    platform: Platform, undisturbed: Story
) -> None:
    assert undisturbed.performed == dict.fromkeys(OPERATIONS, 1)
    assert undisturbed.writes == WRITES
    assert undisturbed.workers == 2
    assert undisturbed.sweeps == 0
    assert platform.finished(undisturbed.run_id) == OPERATIONS


@pytest.mark.slow
@pytest.mark.parametrize("half_writes", POINTS)
def test_a_run_whose_worker_was_killed_ends_as_if_it_had_not_been(
    platform: Platform, undisturbed: Story, tmp_path: Path, half_writes: int
) -> None:
    story = live(platform, tmp_path, kill_at=half_writes / 2)

    assert story.deaths == 1
    assert platform.records.run(story.run_id).status is RunStatus.SUCCEEDED
    assert told(platform, story) == told(platform, undisturbed)
    assert platform.finished(story.run_id) == OPERATIONS
    repeated = {one for one, times in story.performed.items() if times > 1}
    assert not repeated & story.finished_before_death
    assert story.performed.keys() == OPERATIONS
    assert max(story.performed.values()) <= 2


def test_a_run_of_many_operations_in_many_slices_is_the_same_as_in_one(
    platform: Platform, tmp_path: Path
) -> None:
    """A worker has time for a few operations only; another goes on, and nothing of it shows."""
    (tmp_path / "whole").mkdir()
    (tmp_path / "sliced").mkdir()
    whole = live(platform, tmp_path / "whole", MANY_TURNS)

    sliced = live(platform, tmp_path / "sliced", MANY_TURNS, seconds=24, seconds_per_write=1)

    assert whole.workers == 1
    assert sliced.workers >= 10
    assert sliced.sweeps == 0
    assert told(platform, sliced) == told(platform, whole)
    assert sliced.performed == whole.performed
    assert len(sliced.performed) == MANY_OPERATIONS
    assert set(sliced.performed.values()) == {1}
