"""Duplicates of one create request at the same time, and what a create costs with its options."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from sayso.testing.faults import Faults
from support.world import KEY, World


def test_duplicates_at_the_same_time_are_one_run_and_one_message() -> None:
    world = World()

    with ThreadPoolExecutor(8) as pool:
        duplicates = [pool.submit(world.create, idempotency_key="order-17") for _ in range(24)]
        run_ids = {duplicate.result() for duplicate in duplicates}

    assert len(run_ids) == 1
    assert len(world.queue.messages) == 1


def test_an_idempotent_create_makes_two_calls_and_its_repetition_one() -> None:
    faults = Faults()
    world = World(faults=faults)

    world.create(idempotency_key="order-17")
    first = list(faults.calls)
    world.create(idempotency_key="order-17")

    assert first == ["transact", "start"]
    assert faults.calls[2:] == ["transact"]


def test_the_limit_of_a_key_costs_one_call_more() -> None:
    faults = Faults()
    world = World(faults=faults)

    world.create(key=replace(KEY, limits={"runs_per_minute": 5}))

    assert faults.calls == ["write", "transact", "start"]
