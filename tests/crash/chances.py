"""Stories drawn by chance: a seed decides what is asked, who acts when, and what goes wrong."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Any

from crash import scenarios
from crash.cases import Result, play
from crash.kinds import KINDS
from crash.scenarios import POLICY, WEBAPP, Play, Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sayso.domain.ids import RunId

_CALLS_BEFORE_A_QUESTION = 14
_CALLS_A_QUESTION = 26
_MOST_FAULTS = 5


def play_seed(seed: int) -> Result:
    """Play the story of a seed; the same seed, the same story."""
    rng = Random(seed)  # noqa: S311 - the same seed, the same story
    scenario = _story(rng)
    questions = sum(step.startswith("ask") for segment in scenario.segments for step in segment)
    calls = _CALLS_BEFORE_A_QUESTION + questions * _CALLS_A_QUESTION
    numbers = rng.sample(range(1, calls), rng.randint(1, _MOST_FAULTS))
    kinds = list(KINDS)
    plan = {number: rng.choice(kinds) for number in numbers}
    return play(f"seed:{seed}", scenario, plan, demands=False)


def _story(rng: Random) -> Scenario:
    segments = _segments(rng)
    minutes = rng.choice([1, 3, 5, 40])
    policy: dict[str, Any] | None = {
        **POLICY,
        "timeout": minutes,
        "run_timeout_seconds": rng.choice([240, 900, 7200]),
    }
    if rng.random() < 0.2 and policy is not None:
        policy["delivery_methods"] = [WEBAPP, *POLICY["delivery_methods"]]
    if len(segments) == 1 or rng.random() < 0.05:
        policy = None
        segments = segments[:1]
    script = {"slice": rng.randint(1, 3)} if rng.random() < 0.3 else {}
    rivals: list[Callable[[Play], None]] = [
        scenarios.colleague_refuses,
        scenarios.cancel_now,
        scenarios.sweep_now,
        scenarios.time_runs_out,
    ]
    return Scenario(
        name="seed",
        segments=segments,
        policy=policy,
        script=script,
        cast=_cast(rng, minutes),
        rival=rng.choice(rivals),
        repeat=rng.choice([1, 1, 1, 2]),
    )


def _segments(rng: Random) -> list[list[str]]:
    asking = [
        [*_operations(rng, number), f"ask {rng.choice([1, 1, 2, 3])}"]
        for number in range(rng.randint(0, 3))
    ]
    return [*asking, [*_operations(rng, 9), "finish"]]


def _operations(rng: Random, segment: int) -> Iterator[str]:
    for number in range(rng.randint(0, 2)):
        kind, seconds = rng.choice(["model", "tool"]), rng.choice([0, 0, 0, 20, 70])
        yield f"{kind} {kind[0]}{segment}{number} {seconds}"


def _cast(rng: Random, minutes: int) -> Callable[[Play], None]:
    deadline = timedelta(minutes=minutes)
    waits = [timedelta(), timedelta(seconds=rng.randint(1, 300)), deadline - timedelta(seconds=1)]
    people = [
        (rng.choice(["approve", "refuse"]), rng.choice(waits), rng.choice([1, 1, 2]))
        for _ in range(rng.choice([0, 1, 1, 1, 2]))
    ]
    cancel_after = timedelta(seconds=rng.randint(0, 400)) if rng.random() < 0.2 else None
    key = rng.choice(["", "one-run"])
    read_every = timedelta(seconds=rng.randint(20, 90)) if rng.random() < 0.3 else None

    def cast(play: Play) -> None:
        def known(run_id: RunId) -> None:
            play.known.append(run_id)
            if cancel_after is not None:
                play.stack.join(play.callers.canceller(run_id, cancel_after))
            if read_every is not None:
                play.stack.join(play.callers.reader(run_id, read_every))

        play.stack.join(play.callers.creator(play.request(), known, key))
        for action, after, clicks in people:
            play.stack.join(play.callers.person(action=action, after=after, clicks=clicks))

    return cast
