"""However much an operation shows, its events fit into one write."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sayso.domain.run import EventDraft
from sayso.domain.segment import MAX_EVENTS_OF_END, MAX_EVENTS_OF_OPERATION, Finished
from sayso_agent.deltas import fitted
from support.segments import MemoryJournal, calls, run_segment, text, tools, usual, work_on

Json = dict[str, Any]


def draft(data: Json) -> EventDraft:
    return EventDraft(type="pydantic_ai_event", data=data)


def delta(index: int, words: str) -> Json:
    return {
        "event_kind": "part_delta",
        "index": index,
        "delta": {"part_delta_kind": "text", "content_delta": words},
    }


def other(kind: str, number: int) -> Json:
    return {"event_kind": kind, "part": {"number": number}}


def said(drafts: list[EventDraft], index: int) -> str:
    """Return the text that the deltas of a part make."""
    return "".join(
        one.data["delta"]["content_delta"]
        for one in drafts
        if one.data["event_kind"] == "part_delta" and one.data["index"] == index
    )


events = st.lists(
    st.one_of(
        st.builds(delta, st.integers(0, 2), st.text(max_size=5000)),
        st.builds(
            other,
            st.sampled_from(["part_start", "part_end", "function_tool_call", "final_result"]),
            st.integers(0, 9),
        ),
    ),
    max_size=40,
)


@given(events=events, limit=st.integers(1, 20))
def test_there_are_never_more_than_the_limit_and_they_keep_their_order(
    events: list[Json], limit: int
) -> None:
    fit = fitted([draft(one) for one in events], limit)

    kept = [one.data for one in fit if one.data["event_kind"] != "part_delta"]
    rest = iter([one for one in events if one["event_kind"] != "part_delta"])
    assert len(fit) <= limit
    assert all(one in rest for one in kept), "a subsequence"


@given(events=events)
def test_what_fits_is_left_alone(events: list[Json]) -> None:
    drafts = [draft(one) for one in events]

    assert fitted(drafts, len(drafts)) == drafts


@given(words=st.lists(st.text(min_size=1, max_size=3000), max_size=60), limit=st.integers(2, 10))
def test_no_word_of_a_text_is_lost_by_joining(words: list[str], limit: int) -> None:
    drafts = [draft(delta(0, one)) for one in words] + [draft(other("part_end", 0))]

    fit = fitted(drafts, limit)

    assert len(fit) <= limit
    assert said(fit, 0) == "".join(words)
    assert fit[-1] == drafts[-1]


def test_the_least_telling_events_go_first() -> None:
    drafts = [
        draft(one)
        for number in range(3)
        for one in (
            other("part_start", number),
            delta(number, "x"),
            other("part_end", number),
            other("function_tool_call", number),
        )
    ]

    kinds = [one.data["event_kind"] for one in fitted(drafts, 5)]

    assert kinds == ["part_start", "part_end", *["function_tool_call"] * 3]


class MeasuringJournal(MemoryJournal):
    """Knows how many events came at once."""

    counts: list[int]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.counts = []

    async def record(self, operation: Any, outcome: Any, events: Any) -> None:
        """Record, and count."""
        self.counts.append(len(events))
        await super().record(operation, outcome, events)


def test_a_text_of_a_megabyte_is_shown_whole_in_one_write() -> None:
    long = "All is well. " * 80_000
    journal = MeasuringJournal()

    result = run_segment(work_on(usual([text(long)])), journal)

    assert isinstance(result, Finished)
    assert result.output == long
    assert [count <= MAX_EVENTS_OF_OPERATION for count in journal.counts] == [True]
    first, *_ = journal.store.events
    assert first.data["part"]["content"] + said(journal.store.events, 0) == long


def test_a_turn_of_many_calls_shows_each_call_and_the_results_that_fit() -> None:
    many = calls(*((f"c{number}", "look_up", {"what": str(number)}) for number in range(150)))
    create = usual([many, text("Done.")])
    create["composition"]["layers"].insert(0, tools())
    journal = MeasuringJournal()

    result = run_segment(work_on(create), journal)

    assert isinstance(result, Finished)
    assert max(journal.counts) == MAX_EVENTS_OF_OPERATION
    assert len(result.events) <= MAX_EVENTS_OF_END
    asked = [f"c{number}" for number in range(150)]
    assert ids_of("function_tool_call", journal) == asked
    answered = ids_of("function_tool_result", journal)
    assert answered == asked[: len(answered)]
    assert len(answered) > MAX_EVENTS_OF_OPERATION // 2
    assert journal.store.shown[-1]["part"] == {"part_kind": "text", "content": "Done."}


def ids_of(kind: str, journal: MemoryJournal) -> list[str]:
    """Return the call ids of all events of a kind."""
    shown = [one.data for one in journal.store.events]
    return [one["part"]["tool_call_id"] for one in shown if one["event_kind"] == kind]
