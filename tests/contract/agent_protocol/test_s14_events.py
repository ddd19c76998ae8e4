"""dify-agent §14: stream events in the form that all clients can read."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import BinaryContent
from pydantic_ai.messages import (
    FilePart,
    FinalResultEvent,
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    OutputToolCallEvent,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
)

from sayso.domain.run import EventDraft, Face
from sayso.domain.segment import Asked
from sayso_agent.deltas import MAX_DELTA_CHARS, append_joined
from sayso_agent.events import model_event, tool_event
from support.segments import (
    CONTEXT,
    HISTORY,
    MemoryJournal,
    ask,
    ask_human,
    calls,
    llm,
    prompt,
    request,
    run_protocol,
    run_segment,
    text,
    tools,
    usual,
    work_on,
)

CALL = ToolCallPart(tool_name="look_up", args='{"what": 1}', tool_call_id="c")
CALL_KEYS = {
    "part_kind": "tool-call",
    "tool_name": "look_up",
    "args": '{"what": 1}',
    "tool_call_id": "c",
}


@pytest.mark.parametrize(
    ("event", "data"),
    [
        (
            PartStartEvent(index=0, part=TextPart("Hi")),
            {
                "event_kind": "part_start",
                "index": 0,
                "part": {"part_kind": "text", "content": "Hi"},
            },
        ),
        (
            PartStartEvent(index=1, part=ThinkingPart("Hm", signature="s")),
            {
                "event_kind": "part_start",
                "index": 1,
                "part": {"part_kind": "thinking", "content": "Hm"},
            },
        ),
        (
            PartStartEvent(index=2, part=CALL),
            {"event_kind": "part_start", "index": 2, "part": CALL_KEYS},
        ),
        (
            PartDeltaEvent(index=0, delta=TextPartDelta("x")),
            {
                "event_kind": "part_delta",
                "index": 0,
                "delta": {"part_delta_kind": "text", "content_delta": "x"},
            },
        ),
        (
            PartDeltaEvent(index=0, delta=ThinkingPartDelta(content_delta="x")),
            {
                "event_kind": "part_delta",
                "index": 0,
                "delta": {"part_delta_kind": "thinking", "content_delta": "x"},
            },
        ),
        (
            PartDeltaEvent(index=0, delta=ToolCallPartDelta(args_delta="x", tool_call_id="c")),
            {
                "event_kind": "part_delta",
                "index": 0,
                "delta": {"part_delta_kind": "tool_call", "args_delta": "x", "tool_call_id": "c"},
            },
        ),
        (
            PartEndEvent(index=0, part=TextPart("Hi")),
            {"event_kind": "part_end", "index": 0, "part": {"part_kind": "text", "content": "Hi"}},
        ),
        (
            FinalResultEvent(tool_name=None, tool_call_id=None),
            {"event_kind": "final_result", "tool_name": None, "tool_call_id": None},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_s14_2_model_events_have_only_keys_all_clients_know(
    event: Any, data: dict[str, Any]
) -> None:
    assert model_event(event) == EventDraft(type="pydantic_ai_event", data=data)


@pytest.mark.parametrize(
    "event",
    [
        PartStartEvent(index=0, part=FilePart(BinaryContent(b"x", media_type="image/png"))),
        PartDeltaEvent(index=0, delta=ThinkingPartDelta(signature_delta="s")),
        PartDeltaEvent(index=0, delta=ToolCallPartDelta(tool_name_delta="look")),
        OutputToolCallEvent(part=CALL),
    ],
    ids=lambda event: type(event).__name__,
)
def test_s14_2_what_clients_do_not_know_is_dropped(event: Any) -> None:
    assert model_event(event) is None


def once(_name: str) -> int:
    return 1


def test_s14_2_function_tool_call() -> None:
    draft = tool_event(FunctionToolCallEvent(part=CALL, args_valid=True), 3, once)

    assert draft is not None
    assert draft.data == {
        "event_kind": "function_tool_call",
        "part": CALL_KEYS,
        "args_valid": True,
    }
    assert draft.identity == "3.function_tool_call.c.1"


@pytest.mark.parametrize(
    ("outcome", "shown"),
    [("success", "success"), ("failed", "failed"), ("retried", "failed"), ("denied", "failed")],
)
def test_s14_2_function_tool_result_has_key_part_and_an_old_outcome(
    outcome: Any, shown: str
) -> None:
    part = ToolReturnPart(tool_name="look_up", content={"a": 1}, tool_call_id="c", outcome=outcome)

    draft = tool_event(FunctionToolResultEvent(part=part), 1, once)

    assert draft is not None
    assert draft.data == {
        "event_kind": "function_tool_result",
        "part": {
            "part_kind": "tool-return",
            "tool_name": "look_up",
            "content": {"a": 1},
            "tool_call_id": "c",
            "outcome": shown,
        },
    }


def test_s14_2_events_of_output_tools_are_dropped() -> None:
    assert tool_event(OutputToolCallEvent(part=CALL), 1, once) is None


def joined(*deltas: Any) -> list[Any]:
    drafts: list[EventDraft] = []
    for index, delta in deltas:
        draft = model_event(PartDeltaEvent(index=index, delta=delta))
        assert draft is not None
        append_joined(drafts, draft)
    return [draft.data["delta"] for draft in drafts]


def test_s14_text_deltas_of_one_part_are_joined() -> None:
    words = [(0, TextPartDelta(word)) for word in ("All ", "is ", "well.")]

    assert joined(*words) == [{"part_delta_kind": "text", "content_delta": "All is well."}]


def test_s14_joined_deltas_have_at_most_4096_characters() -> None:
    deltas = joined(*[(0, TextPartDelta("x" * 1000)) for _ in range(10)])

    lengths = [len(delta["content_delta"]) for delta in deltas]
    assert lengths == [4000, 4000, 2000]
    assert MAX_DELTA_CHARS == 4096


def test_s14_deltas_of_other_parts_and_kinds_are_kept_apart() -> None:
    deltas = joined(
        (0, TextPartDelta("a")),
        (1, TextPartDelta("b")),
        (1, ThinkingPartDelta(content_delta="c")),
        (1, ToolCallPartDelta(args_delta="{", tool_call_id="x")),
        (1, ToolCallPartDelta(args_delta="}", tool_call_id="y")),
        (1, ToolCallPartDelta(args_delta={"a": 1}, tool_call_id="y")),
    )

    assert len(deltas) == 6


def kinds(create: dict[str, Any], **changes: Any) -> list[str]:
    """Return the kinds of the events of a protocol run, in their order."""
    journal = MemoryJournal()
    result = run_segment(work_on(create, face=Face.PROTOCOL, **changes), journal)
    events = [*journal.store.events, *result.events]
    assert {event.type for event in events} == {"pydantic_ai_event"}
    return [event.data["event_kind"] for event in events]


def test_s14_1_text() -> None:
    assert kinds(usual([text("A" * 60)])) == [
        "part_start",
        "final_result",
        "part_delta",
        "part_end",
    ]


def test_s14_1_question() -> None:
    assert kinds(usual([ask()])) == [
        "part_start",
        "final_result",
        "part_end",
        "function_tool_call",
    ]


def test_s14_1_resume() -> None:
    first = run_protocol(usual([ask()]))
    assert isinstance(first, Asked)
    create = usual(
        [ask(), text("Done.")],
        session_snapshot=first.session_snapshot,
        deferred_tool_results={"calls": {"call_1": "yes"}},
    )

    assert kinds(create, run_id="run-2") == [
        "function_tool_call",
        "function_tool_result",
        "part_start",
        "final_result",
        "part_end",
    ]


def test_s14_1_bad_arguments() -> None:
    assert kinds(usual([ask(question=""), text("No.")])) == [
        "part_start",
        "final_result",
        "part_end",
        "function_tool_call",
        "function_tool_result",
        "part_start",
        "final_result",
        "part_end",
    ]


def test_s14_1_failure_before_the_model() -> None:
    result = run_protocol(request(prompt(user=" "), CONTEXT, llm([text("x")])))

    assert result.events == []


def test_s14_1_tools() -> None:
    turns = [calls(("a", "look_up", {"what": "x"}), ("b", "look_up", {"what": "y"})), text("Ok.")]
    create = request(prompt(), HISTORY, CONTEXT, ask_human(), tools(), llm(turns))

    assert kinds(create)[-7:] == [
        "function_tool_call",
        "function_tool_call",
        "function_tool_result",
        "function_tool_result",
        "part_start",
        "final_result",
        "part_end",
    ]
