"""dify-agent §4: the stream of events, and polling for them."""

from __future__ import annotations

import json
import random
from datetime import timedelta
from typing import Any

import pytest

from support.conversations import UNKNOWN, client_of, events_of, finished_run
from support.functions import ASK, SAY, Functions


def stream(functions: Functions, run_id: str, **options: Any) -> str:
    return functions.call("GET", f"/runs/{run_id}/events/sse", **options).body


def test_s04_a_frame_is_id_event_data_and_a_blank_line() -> None:
    functions = Functions()
    run_id = finished_run(functions)
    first = events_of(functions, run_id)[0]

    body = stream(functions, run_id)

    data = json.dumps(first, separators=(",", ":"))
    assert body.startswith(f"id: 1-0\nevent: run_started\ndata: {data}\n\n")
    assert body.endswith("\n\n")
    assert "\r" not in body


@pytest.mark.parametrize(
    ("query", "headers", "first"),
    [
        ({"after": "2-0"}, {"Last-Event-ID": "1-0"}, "3-0"),
        ({}, {"Last-Event-ID": "1-0"}, "2-0"),
        ({"after": ""}, {"Last-Event-ID": "1-0"}, "2-0"),
        ({}, {}, "1-0"),
        ({"after": "0-0"}, {}, "1-0"),
    ],
)
def test_s04_after_goes_before_last_event_id_and_empty_is_none(
    query: dict[str, str], headers: dict[str, str], first: str
) -> None:
    functions = Functions()

    body = stream(functions, finished_run(functions), query=query, headers=headers)

    assert body.startswith(f"id: {first}\n")


def test_s04_stored_events_are_replayed_and_live_ones_follow() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    functions.wiring.during_sleep = functions.settle

    body = stream(functions, run_id)

    assert "event: run_started\n" in body
    assert "event: run_succeeded\n" in body


def test_s04_silence_is_a_comment() -> None:
    functions = Functions()

    assert stream(functions, functions.create(SAY), query={"after": "1-0"}) == ": keepalive\n\n"


def test_s04_no_answer_takes_longer_than_a_client_waits_for_a_byte() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    start = functions.clock.now()

    stream(functions, run_id, query={"after": "1-0"})

    assert functions.clock.now() - start < timedelta(seconds=30)


def test_s04_the_stream_ends_with_the_terminal_event() -> None:
    functions = Functions()
    start = functions.clock.now()

    body = stream(functions, finished_run(functions))

    assert body.count("event: run_succeeded\n") == 1
    assert body.rsplit("event: ", 1)[1].startswith("run_succeeded\n")
    assert functions.clock.now() == start


def test_s04_a_cursor_behind_the_end_is_held_open_and_gets_nothing_again() -> None:
    functions = Functions()
    run_id = finished_run(functions)
    last = events_of(functions, run_id)[-1]["id"]
    start = functions.clock.now()

    body = stream(functions, run_id, query={"after": last})

    assert body == ": keepalive\n\n"
    assert functions.clock.now() - start == timedelta(seconds=25)


@pytest.mark.parametrize("mark", ["\x85", "\u2028", "\u2029"])
def test_s04_line_ends_of_clients_are_escaped(mark: str) -> None:
    functions = Functions()
    run_id = finished_run(functions, [{"text": f"a{mark}b"}])

    body = stream(functions, run_id)

    assert mark not in body
    assert f"\\u{ord(mark):04x}" in body
    *_, last = client_of(functions, "r1").stream_events(run_id)
    assert last.data["output"] == f"a{mark}b"


def test_s04_an_unknown_run_is_404_before_the_stream() -> None:
    answer = Functions().call("GET", f"/runs/{UNKNOWN}/events/sse", query={"after": "bad"})

    assert (answer.status, answer.json) == (404, {"detail": "run not found"})


def test_s04_1_a_page_has_three_members_and_pages_follow_each_other() -> None:
    functions = Functions()
    run_id = finished_run(functions, ASK)
    client = client_of(functions, "r1")

    pages = client.all_events(run_id, limit=1)

    assert pages == client.all_events(run_id)
    assert functions.call("GET", f"/runs/{run_id}/events").json.keys() == {
        "run_id",
        "events",
        "next_cursor",
    }


@pytest.mark.parametrize("after", ["0-0", "3-0", "99-0", "7", "5-3", "18446744073709551615-0"])
def test_s04_1_the_cursor_of_an_empty_page_is_the_given_one(after: str) -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    cancelled = functions.call("GET", f"/runs/{run_id}/events", query={"after": after})

    page = cancelled.json

    assert page["next_cursor"] == (page["events"][-1]["id"] if page["events"] else after)
    assert bool(page["events"]) is (after == "0-0")


def test_s04_1_polling_and_streaming_show_the_same_events() -> None:
    functions = Functions()
    run_id = finished_run(functions, ASK)

    streamed = [
        json.loads(line[6:])
        for line in stream(functions, run_id).splitlines()
        if line.startswith("data: ")
    ]

    assert streamed == events_of(functions, run_id)


@pytest.mark.parametrize(
    "after", ["abc", "$", "-", "+", "1-2-3", "1-0 ", " 1-0", "1-", "-1", "\uff11-0", "1e3"]
)
@pytest.mark.parametrize("suffix", ["events", "events/sse"])
def test_s04_1_a_malformed_cursor_is_422(after: str, suffix: str) -> None:
    functions = Functions()
    path = f"/runs/{finished_run(functions)}/{suffix}"

    answer = functions.call("GET", path, query={"after": after})

    assert answer.status == 422
    assert answer.json["detail"][0]["loc"] == ["query", "after"]


def test_s04_1_an_empty_cursor_of_a_page_is_422() -> None:
    functions = Functions()
    path = f"/runs/{finished_run(functions)}/events"

    assert functions.call("GET", path, query={"after": ""}).status == 422


@pytest.mark.parametrize("seed", range(5))
def test_s04_text_of_200_kb_read_with_reconnects_at_random_points_equal_polling(
    seed: int,
) -> None:
    chance = random.Random(seed)  # noqa: S311 - a test repeats its choices
    functions = Functions()
    text = "".join(chance.choice(["word "] * 9 + ["ü\u2028🤖"]) for _ in range(40_000))
    assert len(text.encode()) > 200_000
    run_id = finished_run(functions, [{"text": text}])
    polled = events_of(functions, run_id)

    found: list[dict[str, Any]] = []
    while not found or found[-1]["type"] != "run_succeeded":
        after = found[-1]["id"] if found else "0-0"
        body = stream(functions, run_id, query={"after": after})
        cut = body[: chance.randint(1, len(body) * 2)]  # the connection breaks somewhere
        found += [
            json.loads(frame.partition("data: ")[2]) for frame in cut.split("\n\n")[:-1] if frame
        ]

    assert found == polled
    assert found[-1]["data"]["output"] == text
