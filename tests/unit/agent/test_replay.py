"""Durable segments: whatever kills a worker, nothing finished is repeated and nothing is lost."""

from __future__ import annotations

import itertools
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.segment import (
    Asked,
    CancelSeen,
    Finished,
    JournalUnavailable,
    LeaseLost,
    OperationRecord,
    SliceEnded,
)
from stub_model.server import stub_model
from support.segments import (
    CONTEXT,
    HISTORY,
    Killed,
    ManagedRun,
    MemoryJournal,
    Store,
    ask_human,
    calls,
    llm,
    prompt,
    request,
    run_segment,
    text,
    tools,
    work_on,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sayso.domain.segment import SegmentResult

SCENARIO = [
    calls(("a", "look_up", {"what": "a"}), ("b", "look_up", {"what": "b"})),
    calls(("q", "ask_human", {"question": "Go on?"})),
    text("Done after {{results}}"),
]
"""Three model calls, two parallel tools, one question."""
WRITES = 3 + 2 * 2


def scenario(effects: Path | None = None, turns: Sequence[Any] = SCENARIO) -> ManagedRun:
    tool_config = {"effects_file": str(effects)} if effects else {}
    return ManagedRun(
        request(prompt(), HISTORY, CONTEXT, ask_human(), tools(**tool_config), llm(turns))
    )


def without_times(value: Any) -> Any:
    """Return a JSON value without the instants, which differ between attempts."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k != "timestamp"}
    if isinstance(value, list):
        return [without_times(one) for one in value]
    return value


def outcome(result: SegmentResult) -> Any:
    assert isinstance(result, Finished)
    return result.output, result.usage, without_times(result.session_snapshot)


def test_the_scenario_has_the_writes_the_design_allows() -> None:
    run = scenario()

    run.finish()

    starts = sum(record.starts for store in run.stores for record in store.records.values())
    assert sum(store.writes for store in run.stores) + starts == WRITES


@pytest.mark.parametrize("half_writes", range(1, 2 * WRITES + 1))
def test_a_run_killed_at_any_write_ends_as_if_it_had_not_been(
    half_writes: int, tmp_path: Path
) -> None:
    undisturbed = scenario()
    expected = outcome(undisturbed.finish())
    run = scenario(tmp_path / "effects")

    with pytest.raises(Killed):
        run.finish(kill_at=half_writes / 2)
    result = run.finish()

    assert outcome(result) == expected
    assert run.shown == undisturbed.shown
    effects = Counter((tmp_path / "effects").read_text().splitlines())
    assert set(effects) == {"look_up a run-1:a", "look_up b run-1:b"}
    assert max(effects.values()) <= 2


@pytest.mark.parametrize(
    "half_writes", list(itertools.combinations(range(1, 2 * WRITES, 3), 2)), ids=str
)
def test_a_run_killed_twice_ends_as_if_it_had_not_been(half_writes: tuple[int, int]) -> None:
    undisturbed = scenario()
    expected = outcome(undisturbed.finish())
    run = scenario()

    for half_write in half_writes:
        with suppress(Killed):  # the second worker may have less left to write
            run.finish(kill_at=half_write / 2)
    result = run.finish()

    assert outcome(result) == expected
    assert run.shown == undisturbed.shown


def test_a_replay_runs_no_tool_and_shows_nothing_again(tmp_path: Path) -> None:
    run = scenario(tmp_path / "effects")
    first = run.finish()
    shown, effects = run.shown, (tmp_path / "effects").read_text()

    second = run.finish()

    assert outcome(second) == outcome(first)
    assert run.shown == shown
    assert (tmp_path / "effects").read_text() == effects


def test_one_operation_a_slice_ends_the_same_as_all_at_once() -> None:
    undisturbed = scenario()
    expected = outcome(undisturbed.finish())
    run = scenario()

    result = run.finish(remaining=lambda: 0.0)

    assert outcome(result) == expected
    assert run.shown == undisturbed.shown


def test_forty_operations_in_slices_show_what_one_worker_shows() -> None:
    turns = [calls((f"c{n}", "change", {"what": str(n)})) for n in range(20)] + [text("End.")]
    undisturbed = scenario(turns=turns)
    expected = outcome(undisturbed.finish())
    run = scenario(turns=turns)

    result = run.finish(remaining=iter_of(200.0, 200.0, 0.0))

    assert outcome(result) == expected
    assert run.shown == undisturbed.shown


def iter_of(*seconds: float) -> Any:
    endless = itertools.cycle(seconds)
    return lambda: next(endless)


def test_a_slice_waits_for_the_siblings_in_flight(tmp_path: Path) -> None:
    turns = [calls(*[(c, "look_up", {"what": c}) for c in "abc"]), text("End.")]
    run = ManagedRun(
        request(
            prompt(),
            CONTEXT,
            tools(effects_file=str(tmp_path / "effects"), seconds=0.01),
            llm(turns),
        )
    )
    store = Store()
    journal = MemoryJournal(store)
    left = iter([200.0, 200.0, 0.0])  # is there time, and how much, for a; is there for b

    with pytest.raises(SliceEnded):
        run_segment(work_on(run.create, remaining_seconds=lambda: next(left)), journal)

    finished = {
        record.operation.tool_call_id for record in store.records.values() if record.is_finished
    }
    assert finished == {"-", "a"}
    run.stores.append(store)
    run.finish()
    assert sorted((tmp_path / "effects").read_text().split()[1::3]) == ["a", "b", "c"]


def test_a_tool_that_kills_its_worker_three_times_is_given_up() -> None:
    turns = [calls(("a", "look_up", {"what": "a"})), text("{{results}}")]
    run = scenario(turns=turns)

    for _ in range(3):
        with pytest.raises(Killed):
            run.finish(kill_at=2 if not run.stores or not run.stores[0].records else 1)
    result = run.finish()

    assert isinstance(result, Finished)
    assert result.output == '["The call was interrupted; whether it took effect is unknown."]'


def test_a_tool_that_must_not_be_repeated_is_given_up_after_one_start(tmp_path: Path) -> None:
    turns = [calls(("a", "pay_once", {"amount": 5})), text("{{results}}")]
    run = scenario(tmp_path / "effects", turns)

    with pytest.raises(Killed):
        run.finish(kill_at=2.5)  # the effect is there, its record is not
    result = run.finish()

    assert isinstance(result, Finished)
    assert result.output == '["The call was interrupted; whether it took effect is unknown."]'
    assert (tmp_path / "effects").read_text() == "pay_once 5 run-1:a\n"


@pytest.mark.parametrize("stop", [CancelSeen("cancelled"), LeaseLost("lost")], ids=repr)
def test_a_stop_signal_before_a_tool_keeps_the_tool_from_running(
    stop: CancelSeen | LeaseLost, tmp_path: Path
) -> None:
    run = scenario(tmp_path / "effects")

    with pytest.raises(type(stop)):
        run_segment(work_on(run.create), MemoryJournal(refuse_start=stop))

    assert not (tmp_path / "effects").exists()


@pytest.mark.parametrize("method", ["refuse_start", "refuse_record"])
def test_a_failed_write_is_neither_a_failed_tool_nor_a_failed_run(method: str) -> None:
    options: Any = {method: TimeoutError("slow")}

    with pytest.raises(JournalUnavailable, match=r"cannot be written: TimeoutError$"):
        run_segment(work_on(scenario().create), MemoryJournal(**options))


def test_a_worker_that_lost_its_lease_stops_at_its_next_record() -> None:
    lost = LeaseLost("another worker has the run")

    with pytest.raises(LeaseLost):
        run_segment(work_on(scenario().create), MemoryJournal(refuse_record=lost))


def test_a_replay_makes_no_call_to_the_model() -> None:
    store = Store()
    with stub_model() as base:
        credentials = {"openai_api_key": "sk-x", "openai_api_base": base}
        layer = llm([], model_provider="openai", credentials=credentials)
        work = work_on(request(prompt(), HISTORY, CONTEXT, ask_human(), layer))
        first = run_segment(work, MemoryJournal(store))

    second = run_segment(work, MemoryJournal(store))  # the server is gone by now

    assert isinstance(first, Asked)
    assert isinstance(second, Asked)
    assert second.questions == first.questions


def test_instructions_may_change_while_a_run_sleeps() -> None:
    run = scenario()
    with pytest.raises(Killed):
        run.finish(kill_at=4)
    prompts = run.create["composition"]["layers"][0]
    prompts["config"] = {"user": "Go on.", "prefix": "Be very brief."}

    assert isinstance(run.finish(), Finished)


def test_a_call_id_that_is_used_again_is_another_operation() -> None:
    turns = [
        calls(("c", "change", {"what": "x"})),
        calls(("c", "change", {"what": "y"})),
        text("{{results}}"),
    ]

    result = scenario(turns=turns).finish()

    assert isinstance(result, Finished)
    assert result.output == '[{"changed": "y", "key": "run-1:c#2"}]'


def test_a_call_id_of_any_length_has_a_short_key() -> None:
    turns = [calls(("c" * 5000, "change", {"what": "x"})), text("Done.")]
    run = scenario(turns=turns)

    assert isinstance(run.finish(), Finished)
    assert max(len(key) for key in run.stores[0].records) < 200


def test_operation_names_never_change() -> None:
    """They are stored; another name would do everything again in runs that are under way."""
    run = scenario()
    run.finish()

    keys = [key for store in run.stores for key in store.records]

    assert sorted(keys) == [
        "agent__function_toolset__<agent>.call_tool:look_up#a#1",
        "agent__function_toolset__<agent>.call_tool:look_up#b#1",
        "agent__model.request_stream#-#1",
        "agent__model.request_stream#-#1",
        "agent__model.request_stream#-#2",
    ]


def test_records_of_model_calls_are_complete_and_those_of_tools_say_how_often_they_began() -> None:
    run = scenario()
    run.finish()

    records: list[OperationRecord] = [r for store in run.stores for r in store.records.values()]

    assert all(record.is_finished for record in records)
    assert {record.operation.kind.value: record.starts for record in records} == {
        "model": 0,
        "tool": 1,
    }
