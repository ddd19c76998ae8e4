"""dify-agent §15: the limits at a glance, as far as they show over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from sayso.domain.run import EventDraft
from sayso.http.cursors import DEFAULT_LIMIT, MAX_LIMIT
from sayso.http.sse import HOLD_SECONDS
from support.conversations import events_of
from support.functions import SAY, Functions, create_request


def test_s15_pages_hold_100_events_and_500_at_most() -> None:
    assert (DEFAULT_LIMIT, MAX_LIMIT) == (100, 500)


def test_s15_a_page_is_cut_at_its_limit() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    stores = functions.wiring.context.stores
    run = stores.runs.get(run_id)
    assert run is not None
    drafts = [EventDraft(type="pydantic_ai_event", data={"n": number}) for number in range(600)]
    for put in stores.events.puts(run, drafts, functions.clock.now(), 0):
        functions.wiring.table.write(put, attempt="test")

    assert len(events_of(functions, run_id)) == 100
    assert len(events_of(functions, run_id, query={"limit": "500"})) == 500


def test_s15_a_reader_is_held_for_less_than_the_30_seconds_of_a_client() -> None:
    assert HOLD_SECONDS < 30


@pytest.mark.parametrize(
    "members",
    [
        {"metadata": {f"k{number}": "v" for number in range(5_000)}},
        {"metadata": {"deep": {"a": [[[[{"b": None}]]]]}}},
        {"idempotency_key": "x" * 10_000},
    ],
)
def test_s15_nothing_else_is_bounded_below_the_size_of_a_body(members: dict[str, Any]) -> None:
    answer = Functions().call("POST", "/runs", json_body=create_request(SAY, **members))

    assert answer.status == 202


def test_s15_prompts_may_be_as_long_as_a_body() -> None:
    functions = Functions()
    request = create_request(SAY)
    request["composition"]["layers"][0]["config"] = {"user": ["word " * 100_000] * 7}

    answer = functions.call("POST", "/runs", json_body=request)
    functions.settle()

    assert answer.status == 202
    assert functions.status(answer.json["run_id"]) == "succeeded"
