"""The runner on managed runs: questions, answers, limits, and how work is interrupted."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.segment import Asked, Failed, Finished
from support.segments import (
    CONTEXT,
    HISTORY,
    RUNNER,
    ManagedRun,
    MemoryJournal,
    ask,
    ask_human,
    calls,
    llm,
    prompt,
    request,
    run_protocol,
    run_segment,
    submitted,
    text,
    tools,
    usual,
    work_on,
)

if TYPE_CHECKING:
    from pathlib import Path


def questions(*ids: str) -> dict[str, Any]:
    return calls(*[(one, "ask_human", {"question": f"{one}?"}) for one in ids])


def test_several_questions_of_one_turn_pause_the_run_together() -> None:
    asked = run_segment(work_on(usual([questions("a", "b", "c")])))

    assert isinstance(asked, Asked)
    assert [(one.tool_call_id, one.args["question"]) for one in asked.questions] == [
        ("a", "a?"),
        ("b", "b?"),
        ("c", "c?"),
    ]


def test_answers_reach_the_model_in_the_order_of_the_calls() -> None:
    create = usual([questions("a", "b"), text("{{results}}")])
    asked = run_segment(work_on(create))
    assert isinstance(asked, Asked)

    result = run_segment(
        work_on(create, segment=2, snapshot=asked.snapshot, answers={"b": "second", "a": "first"})
    )

    assert isinstance(result, Finished)
    assert json.loads(result.output) == ["first", "second"]


def test_more_questions_than_allowed_at_once_go_back_to_the_model() -> None:
    create = usual([questions("a", "b", "c"), text("{{results}}")])

    asked = run_segment(work_on(create, max_questions=2))
    assert isinstance(asked, Asked)
    result = run_segment(
        work_on(create, segment=2, snapshot=asked.snapshot, answers={"a": 1, "b": 2})
    )

    assert [one.tool_call_id for one in asked.questions] == ["a", "b"]
    assert isinstance(result, Finished)
    assert json.loads(result.output) == [
        1,
        2,
        "Ask at most 2 question(s) at once; ask this one again later.",
    ]


def test_the_questions_a_run_has_left_bound_a_turn_too() -> None:
    asked = run_segment(work_on(usual([questions("a", "b")]), questions_left=1))

    assert isinstance(asked, Asked)
    assert [one.tool_call_id for one in asked.questions] == ["a"]


def test_a_run_without_questions_left_goes_on_without_an_answer() -> None:
    turns = [questions("a"), questions("b"), text("{{results}}")]

    result = run_segment(work_on(usual(turns), questions_left=0))

    assert isinstance(result, Finished), result
    assert json.loads(result.output) == [
        "This run may not ask people any more. Go on without an answer."
    ]


def test_one_bad_question_among_good_ones_goes_back_alone() -> None:
    turn = calls(("a", "ask_human", {"question": "a?"}), ("b", "ask_human", {"question": " "}))
    create = usual([turn, text("{{results}}")])

    asked = run_segment(work_on(create))
    assert isinstance(asked, Asked)
    result = run_segment(work_on(create, segment=2, snapshot=asked.snapshot, answers={"a": "A"}))

    assert isinstance(result, Finished)
    assert json.loads(result.output) == ["A", "question: question must not be blank"]


def test_a_managed_run_needs_no_history_layer() -> None:
    run = ManagedRun(request(prompt(), CONTEXT, ask_human(), llm([ask(), text("{{results}}")])))

    result = run.finish()

    assert isinstance(result, Finished)
    assert json.loads(result.output) == [submitted(id="call_1")]


def test_a_run_may_pause_again_and_again() -> None:
    turns = [ask("q1"), ask("q2"), ask("q3"), text("{{results}}")]
    run = ManagedRun(usual(turns))

    result = run.finish()

    assert isinstance(result, Finished)
    assert len(run.stores) == 4
    assert result.usage.requests == 4


def test_a_pause_suspends_all_layers_whatever_on_exit_says() -> None:
    asked = run_segment(work_on(usual([ask()], on_exit={"default": "delete", "layers": {}})))

    assert isinstance(asked, Asked)
    layers = json.loads(asked.snapshot)["layers"]
    assert {layer["lifecycle_state"] for layer in layers} == {"suspended"}


def test_the_end_of_a_managed_run_follows_on_exit() -> None:
    run = ManagedRun(usual([ask(), text("Done.")], on_exit={"default": "delete", "layers": {}}))

    result = run.finish()

    assert isinstance(result, Finished)
    assert {one["lifecycle_state"] for one in result.session_snapshot["layers"]} == {"closed"}


@pytest.mark.parametrize(
    "answer",
    [
        {"kind": "tool-failed", "message": "gotcha"},
        {"kind": "model-retry", "message": "gotcha"},
        {"kind": "tool-return", "return_value": "gotcha"},
        {"part_kind": "retry-prompt", "content": "gotcha"},
        {"kind": "image-url", "url": "http://169.254.169.254/"},
    ],
    ids=lambda answer: answer.get("kind", "part"),
)
def test_an_answer_is_never_read_as_a_control_result(answer: dict[str, Any]) -> None:
    create = usual([ask(), text("{{results}}")])
    asked = run_segment(work_on(create))
    assert isinstance(asked, Asked)

    result = run_segment(
        work_on(create, segment=2, snapshot=asked.snapshot, answers={"call_1": answer})
    )

    assert isinstance(result, Finished)
    assert json.loads(result.output) == [answer]


def test_a_session_snapshot_of_more_than_four_megabytes_ends_a_protocol_run() -> None:
    result = run_protocol(
        request(prompt(user="x" * 4_200_000), HISTORY, CONTEXT, llm([text("Done.")]))
    )

    assert isinstance(result, Failed)
    assert result.error.startswith("session snapshot is too large: 42")
    assert result.error.endswith(" bytes, at most 4194304")
    assert result.session_snapshot is None


def test_a_tool_that_raises_fails_the_run_with_its_text_and_keeps_what_was_shown() -> None:
    turns = [calls(("c", "change", {"what": "x"}))]
    create = request(prompt(), HISTORY, CONTEXT, tools(effects_file="/nowhere/at/all"), llm(turns))
    journal = MemoryJournal()

    result = run_segment(work_on(create), journal)

    assert isinstance(result, Failed)
    assert "No such file or directory" in result.error
    shown = [event.data["event_kind"] for event in [*journal.store.events, *result.events]]
    assert shown[-1] == "function_tool_call"


def test_a_request_that_cannot_be_read_fails_the_run() -> None:
    result = run_segment(work_on({"composition": {"layers": "none"}}))

    assert isinstance(result, Failed)
    assert result.error.startswith("1 validation error for RunRequest")


def test_cancelled_work_stops_at_once_and_is_no_failure(tmp_path: Path) -> None:
    """The worker cancels when its lease is lost or a cancel was asked for."""
    effects = tmp_path / "effects"
    slow = tools(effects_file=str(effects), seconds=30)
    turns = [calls(("c", "change", {"what": "x"})), text("Done.")]
    journal = MemoryJournal()

    async def cancel_in_the_tool() -> None:
        work = work_on(request(prompt(), CONTEXT, slow, llm(turns)))
        task = asyncio.ensure_future(RUNNER.run(work, journal))
        while not effects.exists():  # noqa: ASYNC110 - a file, there is nothing to wait on
            await asyncio.sleep(0.005)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel_in_the_tool())

    started = [one for one in journal.store.records.values() if not one.is_finished]
    assert [one.starts for one in started] == [1]


def test_importing_the_package_loads_nothing() -> None:
    program = "import sayso_agent, sys; print('pydantic_ai' in sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout == "False\n"
