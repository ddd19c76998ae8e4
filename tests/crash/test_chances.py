"""Stories by chance, with several faults each, break no invariant."""

from __future__ import annotations

import os

import pytest

from crash.chances import play_seed

SEEDS = int(os.environ.get("CRASH_SEEDS", "200"))
_BATCH = 25


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, _BATCH))
def test_stories_by_chance_break_nothing(first: int) -> None:
    broken = [
        f"make crash CASE='seed:{seed}'  # {violation}"
        for seed in range(first, min(first + _BATCH, SEEDS))
        for violation in play_seed(seed).violations
    ]

    assert broken == []


def test_a_seed_tells_the_same_story_every_time() -> None:
    first, second = play_seed(7), play_seed(7)

    assert first.struck == second.struck
    assert [made.call.name for made in first.calls.values()] == [
        made.call.name for made in second.calls.values()
    ]
