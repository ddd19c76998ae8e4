"""§15: coming back at any point ends in what an uninterrupted reader sees (B5, B6, B15, D21)."""

from __future__ import annotations

import random
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.links import Link
from sayso.store.keys import run_pk
from support.functions import ASK, SERVICE, Functions
from support.human_input import NOTE, WEBAPP, Forms, Json, node
from support.workflow_client import State, WorkflowClient

if TYPE_CHECKING:
    from collections.abc import Callable

    from sayso.domain.ids import RunId

ALL = "0-0"
SNAPSHOT = {"include_state_snapshot": "true"}
STAY = {"continue_on_pause": "true"}
STEPS = 5
POLICY: Json = {"form": node(NOTE), "timeout": 10, "timeout_unit": "minute"}
TWICE: list[Json] = [
    {"calls": [{**ASK[0]["calls"][0], "id": "call_1"}, {**ASK[0]["calls"][0], "id": "call_2"}]},
    {"calls": [{**ASK[0]["calls"][0], "id": "call_3"}]},
    {"text": "{{results}}"},
]


class Story:
    """A run with two pauses, told step by step: two forms, then one that nobody answers."""

    def __init__(self) -> None:
        self.functions = Functions()
        policy = {
            "delivery_methods": [WEBAPP],
            "form": node(NOTE),
            "timeout": 10,
            "timeout_unit": "minute",
        }
        self.run_id: RunId = self.functions.create(TWICE, human_input=policy)
        self.steps: list[Callable[[], object]] = [
            self.functions.settle,
            lambda: self._answer(0),
            lambda: self._answer(1),
            self.functions.settle,
            self.functions.settle,
        ]
        self._start = self.functions.clock.now()

    def go_on(self, number: int) -> None:
        """Take a step at its own instant, however long readers were held before it."""
        last = len(self.steps) - 1
        minutes = 60 if number == last else 2 * number
        self.functions.clock.set(self._start + timedelta(minutes=minutes))
        self.steps[number]()

    def _answer(self, number: int) -> None:
        context = self.functions.wiring.context
        pause = context.stores.runs.pauses(self.run_id)[-1]
        form_id = list(pause.forms.values())[number]
        token = self.functions.wiring.links.sign(Link(form_id=form_id, recipient=1, revision=1))
        self.functions.post_form(token, action="approve", note=str(number))

    def reader(self, **options: Any) -> WorkflowClient:
        """Return a client of the run."""
        return WorkflowClient(functions=self.functions, run_id=self.run_id, key=SERVICE, **options)


@cache
def uninterrupted() -> State:
    """Return what somebody sees who reads the whole story at once."""
    story = Story()
    for number in range(STEPS):
        story.go_on(number)
    reader = story.reader(last_id=ALL)
    reader.connect()
    assert reader.state.status == "succeeded"
    assert sorted(form["is"] for form in reader.state.forms.values()) == [
        "filled",
        "filled",
        "timeout",
    ]
    return reader.state


# --- D21: the client model


@pytest.mark.parametrize("point", range(6))
@pytest.mark.parametrize("reloads", [False, True])
@pytest.mark.parametrize("query", [{}, SNAPSHOT, STAY, SNAPSHOT | STAY], ids=str)
def test_D21_reconnecting_at_any_point_ends_in_the_same_state(
    query: dict[str, str], point: int, *, reloads: bool
) -> None:
    """Without a snapshot who has seen something goes on by its cursor."""
    story = Story()
    reader = story.reader(query=query)
    for number in range(STEPS):
        if number == point:
            reader.connect()
            if reloads:
                reader.reload()
            reader.connect()
        story.go_on(number)

    if not reader.last_id:  # who has seen nothing of a finished run asks where it stands
        reader.query = SNAPSHOT | query
    reader.connect()

    assert reader.state == uninterrupted()


@pytest.mark.parametrize("seed", range(20))
def test_D21_connections_that_break_anywhere_end_in_the_same_state(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - a test repeats its choices
    story = Story()
    reader = story.reader(query=chance.choice([{}, SNAPSHOT]))

    for number in range(STEPS):
        reader.connect(chance.randint(0, 6000))
        story.go_on(number)
    reader.query = SNAPSHOT
    while reader.state.status != "succeeded":
        reader.connect(chance.randint(0, 12_000))

    assert reader.state == uninterrupted()


def test_D21_live_rebuilt_and_replayed_readers_see_the_same_frames() -> None:
    story = Story()
    live = story.reader(last_id=ALL)
    for number in range(STEPS):
        live.connect()
        story.go_on(number)
    live.connect()
    replayed = story.reader(last_id=ALL)
    replayed.connect()

    of_replay = {frame.id: frame.event for frame in replayed.frames}

    assert {frame.id: frame.event for frame in live.frames if frame.id} == of_replay
    assert len(of_replay) == len(replayed.frames)


# --- the order of a rebuild


def test_s15_rebuild_of_a_paused_run_has_the_contracts_order() -> None:
    forms = Forms(POLICY)

    events = reader_of(forms, query=SNAPSHOT).connect()

    assert events == [
        "workflow_started",
        "node_started",
        "node_finished",
        "node_started",
        "human_input_required",
        "workflow_paused",
    ]


def reader_of(forms: Forms, **options: Any) -> WorkflowClient:
    return WorkflowClient(functions=forms.functions, run_id=forms.run_id, key=SERVICE, **options)


def test_s15_rebuild_starts_with_a_ping_and_an_initial_start() -> None:
    forms = Forms(POLICY)
    forms.post({"note": "x"})
    forms.functions.settle()
    reader = reader_of(forms, query=SNAPSHOT)

    body = reader.body()
    reader.connect()

    assert body.startswith("event: ping\n\nevent: workflow_started\n")
    assert [one["reason"] for one in reader.of("workflow_started")] == ["initial"]


def test_s15_rebuild_and_live_tell_the_same_of_a_form() -> None:
    forms = Forms(POLICY)
    live, rebuilt = reader_of(forms, last_id=ALL), reader_of(forms, query=SNAPSHOT)
    live.connect()
    rebuilt.connect()

    for event in ("human_input_required", "workflow_paused"):
        assert live.of(event) == rebuilt.of(event)


def test_B7_rebuild_shows_rendered_text_and_stored_defaults() -> None:
    content = "Pay {{#order.amount#}}?\n\n{{#$output.note#}}"
    default = {"type": "variable", "selector": ["order", "draft"], "value": ""}
    forms = Forms(
        {
            "form": node(NOTE | {"default": default}, form_content=content),
            "variables": {"order": {"amount": "3200", "draft": "As agreed"}},
        }
    )
    reader = reader_of(forms, query=SNAPSHOT)
    reader.connect()

    (asked,) = reader.of("human_input_required")

    assert asked["form_content"] == "Pay 3200?\n\n{{#$output.note#}}"
    assert asked["resolved_default_values"] == {"note": "As agreed"}


def test_s15_only_the_last_frame_of_a_rebuild_moves_the_place_of_a_reader() -> None:
    reader = reader_of(Forms(POLICY), query=SNAPSHOT)
    reader.connect()

    assert [frame.id for frame in reader.frames[:-1]] == [""] * (len(reader.frames) - 1)
    assert reader.frames[-1].id


# --- finished runs, cursors


def finished() -> Forms:
    forms = Forms(POLICY)
    forms.post({"note": "x"})
    forms.functions.settle()
    return forms


def test_s15_finished_run_is_a_single_frame() -> None:
    forms = finished()
    start = forms.functions.clock.now()

    assert reader_of(forms).connect() == ["workflow_finished"]
    assert forms.functions.clock.now() == start


def test_s15_who_has_seen_the_end_is_told_it_again_and_comes_no_more() -> None:
    reader = reader_of(finished(), last_id=ALL)
    reader.connect()

    assert reader.connect() == ["workflow_finished"]


def test_s15_cursor_is_exclusive_and_may_stand_between_frames_of_one_event() -> None:
    forms = finished()
    everything = reader_of(forms, last_id=ALL)
    everything.connect()

    for number, frame in enumerate(everything.frames[:-1]):
        again = reader_of(forms, last_id=frame.id)
        again.connect()
        assert again.frames == everything.frames[number + 1 :]


def test_s15_cursor_outside_of_the_log_falls_back_to_the_rebuild() -> None:
    forms = Forms(POLICY)

    assert reader_of(forms, last_id="999-0").connect() == reader_of(forms, query=SNAPSHOT).connect()


def test_s15_paused_run_at_the_tail_falls_back_to_the_rebuild() -> None:
    forms = Forms(POLICY)
    reader = reader_of(forms, last_id=ALL)
    reader.connect()

    assert reader.connect() == reader_of(forms, query=SNAPSHOT).connect()


# --- how long a reader is held (DESIGN §7)


def held(forms: Forms, **options: Any) -> float:
    start = forms.functions.clock.now()
    reader_of(forms, **options).connect()
    return (forms.functions.clock.now() - start).total_seconds()


def test_s15_paused_run_answers_at_once_with_a_long_retry() -> None:
    forms = Forms(POLICY)

    assert held(forms) == 0
    assert reader_of(forms).body().startswith("retry: 15000\n\nevent: ping\n\n")


def test_s15_who_wants_to_stay_is_held_for_five_seconds() -> None:
    assert held(Forms(POLICY), query=STAY) == 5


def test_s15_running_run_is_held_for_25_seconds_and_never_silent() -> None:
    functions = Functions()
    run_id = functions.create(ASK, human_input={"delivery_methods": [WEBAPP]})
    reader = WorkflowClient(functions=functions, run_id=run_id, key=SERVICE, last_id="1-1")
    start = functions.clock.now()

    assert reader.body() == "event: ping\n\n"
    assert functions.clock.now() - start == timedelta(seconds=25)


def test_s15_pause_ends_the_stream_unless_the_reader_stays() -> None:
    forms = Forms(POLICY)

    def answer() -> None:
        forms.functions.wiring.during_sleep = lambda: None
        forms.post({"note": "x"})
        forms.functions.settle()

    forms.functions.wiring.during_sleep = answer
    leaving = reader_of(forms).connect()
    staying = reader_of(forms, query=STAY).connect()

    assert leaving[-1] == "workflow_paused"
    assert staying[: len(leaving)] == leaving
    assert staying[-1] == "workflow_finished"


def test_s15_pause_that_is_over_ends_no_stream() -> None:
    events = reader_of(finished(), last_id=ALL).connect()

    assert "workflow_paused" in events
    assert events[-1] == "workflow_finished"


# --- B5, B6, B15


def test_B5_closing_a_stream_at_any_time_changes_nothing_stored() -> None:
    story = Story()

    table = story.functions.wiring.table
    for number in range(STEPS):
        before = table.query(run_pk(story.run_id))
        for query in ({}, SNAPSHOT, STAY):
            story.reader(query=query).connect(50)
        assert table.query(run_pk(story.run_id)) == before
        story.go_on(number)

    assert story.functions.status(story.run_id) == "succeeded"


def test_B6_reconnecting_makes_no_run_and_asks_nobody_twice() -> None:
    forms = Forms(POLICY)
    mails = len(forms.functions.wiring.mailer.sent)

    for _ in range(5):
        reader_of(forms, query=SNAPSHOT).connect()
    forms.functions.settle()

    assert len(forms.functions.wiring.mailer.sent) == mails
    assert forms.functions.wiring.queue.pop_due() == []


def test_B15_ids_stay_the_same_in_every_stream() -> None:
    forms = finished()
    streams = [reader_of(forms, last_id=ALL), reader_of(forms, query=SNAPSHOT)]

    for stream in streams:
        stream.connect()

    assert streams[0].state == streams[1].state
    assert set(streams[0].state.forms) == {forms.form.id}
