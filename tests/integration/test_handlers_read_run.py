"""Reading runs and events through the handler: status, pages, streams (dify-agent §1, §4)."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from sayso.domain.run import EventDraft
from support.functions import ADMIN, ASK, OTHER, SAY, Functions, http_event

UNKNOWN = "00000000-0000-4000-8000-000000000000"
SUFFIXES = ["", "/events", "/events/sse"]


def finished() -> tuple[Functions, str]:
    functions = Functions()
    run_id = functions.create(SAY)
    functions.settle()
    return functions, run_id


def stream(functions: Functions, run_id: str, **options: Any) -> list[dict[str, Any]]:
    """Read a stream as clients do: frames end with a blank line, the payload is one line."""
    body = functions.call("GET", f"/runs/{run_id}/events/sse", **options).body
    assert body.endswith("\n\n")
    events = []
    for frame in body.removesuffix("\n\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in frame.splitlines())
        if "data" in fields:
            event = json.loads(fields["data"])
            assert (fields["id"], fields["event"]) == (event["id"], event["type"])
            assert list(fields) == ["id", "event", "data"]
            events.append(event)
    return events


def test_a_run_is_shown_with_exactly_five_members() -> None:
    functions, run_id = finished()

    assert functions.call("GET", f"/runs/{run_id}").json == {
        "run_id": run_id,
        "status": "succeeded",
        "created_at": "2026-01-05T09:00:00.000000Z",
        "updated_at": "2026-01-05T09:00:00.000000Z",
        "error": None,
    }


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("run_id", [UNKNOWN, "abc", "a%2Fb", '"', "🤖", "x" * 3000])
def test_an_unknown_run_is_404_on_every_route_before_anything_else(
    run_id: str, suffix: str
) -> None:
    answer = Functions().call("GET", f"/runs/{run_id}{suffix}", query={"limit": "0"})

    assert (answer.status, answer.json) == (404, {"detail": "run not found"})


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_run_of_another_tenant_is_unknown(suffix: str) -> None:
    functions, run_id = finished()

    answer = functions.call("GET", f"/runs/{run_id}{suffix}", key=OTHER)

    assert (answer.status, answer.json) == (404, {"detail": "run not found"})


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_reading_needs_a_key(suffix: str) -> None:
    functions, run_id = finished()

    answer = functions.call("GET", f"/runs/{run_id}{suffix}", key=None)

    assert (answer.status, answer.json) == (401, {"detail": "missing authorization header"})


def test_a_percent_encoded_id_is_the_same_run() -> None:
    functions, run_id = finished()

    assert functions.call("GET", f"/runs/{run_id.replace('-', '%2D')}").json["run_id"] == run_id


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_head_is_get_without_content(suffix: str) -> None:
    functions, run_id = finished()
    before = functions.clock.now()

    head = functions.call("HEAD", f"/runs/{run_id}{suffix}")
    get = functions.call("GET", f"/runs/{run_id}{suffix}")

    assert (head.status, head.headers, head.body) == (get.status, get.headers, "")
    assert functions.clock.now() == before


def test_pages_follow_each_other_until_an_empty_one() -> None:
    functions, run_id = finished()
    path = f"/runs/{run_id}/events"
    whole = functions.call("GET", path).json["events"]

    found: list[Any] = []
    cursor = "0-0"
    while page := functions.call("GET", path, query={"after": cursor, "limit": "2"}).json:
        assert page.keys() == {"run_id", "events", "next_cursor"}
        if not page["events"]:
            break
        assert len(page["events"]) <= 2
        assert page["next_cursor"] == page["events"][-1]["id"]
        cursor = page["next_cursor"]
        found += page["events"]

    assert found == whole
    assert page["next_cursor"] == cursor
    assert whole[0]["type"] == "run_started"
    assert whole[-1]["type"] == "run_succeeded"
    assert [event["id"] for event in whole] == [f"{n}-0" for n in range(1, len(whole) + 1)]


def test_a_cursor_without_its_second_half_is_taken_and_given_back() -> None:
    functions, run_id = finished()

    page = functions.call("GET", f"/runs/{run_id}/events", query={"after": "5000"}).json

    assert page == {"run_id": run_id, "events": [], "next_cursor": "5000"}


@pytest.mark.parametrize(
    ("query", "loc"),
    [
        ({"after": "abc"}, ["query", "after"]),
        ({"after": ""}, ["query", "after"]),
        ({"limit": "501"}, ["query", "limit"]),
        ({"limit": "x"}, ["query", "limit"]),
    ],
)
def test_a_malformed_query_is_422(query: dict[str, str], loc: list[str]) -> None:
    functions, run_id = finished()

    answer = functions.call("GET", f"/runs/{run_id}/events", query=query)

    assert answer.status == 422
    assert answer.json["detail"][0]["loc"] == loc


def append_events(functions: Functions, run_id: str, *texts: str) -> None:
    """Store events behind the last one, as a worker would."""
    stores = functions.wiring.context.stores
    run = stores.runs.get(run_id)  # type: ignore[arg-type]
    assert run is not None
    drafts = [EventDraft(type="pydantic_ai_event", data={"text": text}) for text in texts]
    for put in stores.events.puts(run, drafts, functions.clock.now(), 0):
        functions.wiring.table.write(put, attempt="test")


def test_a_page_stops_before_4_mb_but_has_at_least_one_event() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    append_events(functions, run_id, *("x" * 3_000_000 for _ in range(3)), "y" * 5_000_000)

    path, cursor, numbers = f"/runs/{run_id}/events", "0-0", []
    while events := functions.call("GET", path, query={"after": cursor}).json["events"]:
        numbers.append([event["id"] for event in events])
        cursor = events[-1]["id"]

    assert numbers == [["1-0", "2-0"], ["3-0"], ["4-0"], ["5-0"]]


@pytest.mark.parametrize("suffix", ["/events", "/events/sse"])
def test_one_event_that_fits_no_answer_goes_compressed(suffix: str) -> None:
    """Lambda counts the answer as JSON in JSON: each quote of a snapshot becomes four bytes."""
    functions = Functions()
    run_id = functions.create(SAY)
    append_events(functions, run_id, '"' * 2_000_000)

    answer = functions.call(
        "GET",
        f"/runs/{run_id}{suffix}",
        query={"after": "1-0"},
        headers={"accept-encoding": "gzip, deflate"},
    )

    assert answer.headers["content-encoding"] == "gzip"
    assert '\\"' * 2_000_000 in answer.body


def test_numbers_that_json_does_not_know_are_null() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    append_events(functions, run_id, [float("nan"), {"x": float("-inf")}])  # type: ignore[arg-type]

    events = functions.call("GET", f"/runs/{run_id}/events").json["events"]

    assert events[-1]["data"] == {"text": [None, {"x": None}]}


def test_a_stream_stops_before_4_mb_and_goes_on_at_the_cursor() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    append_events(functions, run_id, *("x" * 3_000_000 for _ in range(2)))

    first = stream(functions, run_id)
    second = stream(functions, run_id, query={"after": first[-1]["id"]})

    assert [event["id"] for event in first] == ["1-0", "2-0"]
    assert [event["id"] for event in second] == ["3-0"]


def test_a_stream_replays_the_very_events_of_polling_and_ends_with_the_terminal_one() -> None:
    functions, run_id = finished()
    before = functions.clock.now()

    answer = functions.call("GET", f"/runs/{run_id}/events/sse")

    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert (
        stream(functions, run_id)
        == (functions.call("GET", f"/runs/{run_id}/events").json["events"])
    )
    assert functions.clock.now() == before


@pytest.mark.parametrize(
    ("query", "headers", "first"),
    [
        ({"after": "2-0"}, {"Last-Event-ID": "1-0"}, "3-0"),
        ({"after": ""}, {"Last-Event-ID": "1-0"}, "2-0"),
        ({}, {"Last-Event-ID": "1-0"}, "2-0"),
        ({}, {"Last-Event-ID": ""}, "1-0"),
        ({}, {}, "1-0"),
    ],
)
def test_the_cursor_of_a_stream_is_after_then_last_event_id_then_the_start(
    query: dict[str, str], headers: dict[str, str], first: str
) -> None:
    functions, run_id = finished()

    assert stream(functions, run_id, query=query, headers=headers)[0]["id"] == first


def test_a_malformed_last_event_id_is_422_at_its_header() -> None:
    functions, run_id = finished()

    answer = functions.call(
        "GET", f"/runs/{run_id}/events/sse", headers={"Last-Event-ID": "latest"}
    )

    assert answer.status == 422
    assert answer.json["detail"][0]["loc"] == ["header", "last-event-id"]


def test_a_reader_of_a_running_run_is_held_until_its_end() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    start = functions.clock.now()

    def later() -> None:
        if functions.clock.now() - start >= timedelta(seconds=7):
            functions.settle()

    functions.wiring.during_sleep = later

    events = stream(functions, run_id)

    assert events[-1]["type"] == "run_succeeded"
    assert functions.clock.now() - start == timedelta(seconds=7)


def test_a_reader_is_held_25_seconds_at_most() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    start = functions.clock.now()

    events = stream(functions, run_id)

    assert [event["type"] for event in events] == ["run_started"]
    assert functions.clock.now() - start == timedelta(seconds=25)


def test_a_held_reader_never_outlasts_the_function() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    start = functions.clock.now()
    headers = {"authorization": f"Bearer {ADMIN}"}
    path = f"/runs/{run_id}/events/sse"
    function, event = http_event("GET", path, headers=headers, body=None, query={})

    functions.invoke(function, event, seconds=10)

    assert functions.clock.now() - start == timedelta(seconds=6)


def test_a_silent_stream_is_a_comment_and_asks_the_table_once_a_second() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    calls = len(functions.wiring.faults.calls)

    answer = functions.call("GET", f"/runs/{run_id}/events/sse", query={"after": "1-0"})

    assert answer.body == ": keepalive\n\n"
    assert len(functions.wiring.faults.calls) - calls == 27  # the run, the start, each second


def test_a_cursor_behind_the_terminal_event_is_held_without_asking_the_table() -> None:
    functions, run_id = finished()
    last = functions.call("GET", f"/runs/{run_id}/events").json["next_cursor"]
    calls, start = len(functions.wiring.faults.calls), functions.clock.now()

    answer = functions.call("GET", f"/runs/{run_id}/events/sse", query={"after": last})

    assert answer.body == ": keepalive\n\n"
    assert functions.clock.now() - start == timedelta(seconds=25)
    assert len(functions.wiring.faults.calls) - calls == 2


def test_a_paused_run_is_answered_at_once_with_a_long_retry() -> None:
    functions = Functions()
    run_id = functions.paused_run()
    start = functions.clock.now()

    answer = functions.call("GET", f"/runs/{run_id}/events/sse")

    assert answer.body.startswith("retry: 15000\n\n")
    assert functions.clock.now() == start


def test_a_reader_is_let_go_when_the_run_pauses() -> None:
    functions = Functions()
    run_id = functions.create(ASK, human_input={"delivery_methods": [{"type": "webapp"}]})
    start = functions.clock.now()
    functions.wiring.during_sleep = functions.settle

    answer = functions.call("GET", f"/runs/{run_id}/events/sse")

    assert answer.body.startswith("retry: 15000\n\n")
    assert functions.clock.now() - start == timedelta(seconds=1)


def test_line_ends_that_clients_split_at_are_escaped() -> None:
    functions = Functions()
    run_id = functions.create([{"text": "a\x85b\u2028c\u2029d\re\x0bf\x1cg ü 🤖"}])
    functions.settle()

    body = functions.call("GET", f"/runs/{run_id}/events/sse").body

    assert not set(body) & set("\x85\u2028\u2029\r\x0b\x1c")
    assert "ü 🤖" in body
    assert (
        stream(functions, run_id)[-1]["data"]["output"] == "a\x85b\u2028c\u2029d\re\x0bf\x1cg ü 🤖"
    )


MANAGED = {"Sayso-Events": "managed"}


def test_only_readers_that_ask_see_managed_events() -> None:
    functions = Functions()
    run_id = functions.paused_run()
    path = f"/runs/{run_id}/events"

    plain = [event["type"] for event in functions.call("GET", path).json["events"]]
    asked = functions.call("GET", path, headers=MANAGED).json["events"]

    assert {"human_input_required", "run_paused"}.isdisjoint(plain)
    assert [event["type"] for event in asked[-2:]] == ["human_input_required", "run_paused"]


def test_a_question_brings_the_link_of_the_web_app_and_of_nobody_else() -> None:
    functions = Functions()
    run_id = functions.paused_run()
    form = functions.form(run_id).form

    events = functions.call("GET", f"/runs/{run_id}/events", headers=MANAGED).json["events"]

    token = functions.token(run_id, recipient=1)
    assert events[-2]["data"] == {
        "form_id": form.id,
        "tool_call_id": "call_1",
        "question": "Refund order 17?",
        "deadline": "2026-01-06T21:00:00.000000Z",
        "form_token": token,
        "form_url": f"{functions.form(run_id).content.base_url}/form/{token}",
        "approval_channels": ["console", "email"],
    }
    assert functions.token(run_id, recipient=2) not in json.dumps(events)


def test_a_question_that_only_mailed_people_may_answer_brings_no_link() -> None:
    functions = Functions()
    run_id = functions.create(ASK, human_input={})
    functions.settle()

    events = functions.call("GET", f"/runs/{run_id}/events", headers=MANAGED).json["events"]

    assert events[-2]["data"]["form_token"] is None
    assert events[-2]["data"]["form_url"] is None


def test_an_answered_question_brings_no_link_any_more() -> None:
    functions = Functions()
    run_id = functions.paused_run()
    functions.post_form(functions.token(run_id), action="approve", reason="late")

    events = functions.call("GET", f"/runs/{run_id}/events", headers=MANAGED).json["events"]

    (question,) = [event for event in events if event["type"] == "human_input_required"]
    assert question["data"]["form_token"] is None


def test_extras_of_revision_2_are_shown_on_demand_only() -> None:
    functions, run_id = finished()
    path = f"/runs/{run_id}/events"

    safe = functions.call("GET", path).json["events"]
    wide = functions.call("GET", path, headers={"Sayso-Events": "r2, managed"}).json["events"]

    assert safe[-1]["data"].keys() == {"output", "session_snapshot"}
    assert wide[-1]["data"].keys() == {"output", "session_snapshot", "usage"}
    deltas = [event["agent_message_delta"] for event in wide if "agent_message_delta" in event]
    assert deltas[0] == "Done."


def test_a_run_whose_retention_is_over_is_unknown() -> None:
    functions, run_id = finished()

    functions.clock.advance(timedelta(days=3))

    assert functions.call("GET", f"/runs/{run_id}").status == 404
