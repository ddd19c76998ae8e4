"""dify-agent §13: one end, written with its event; cancel, retention, limits."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sayso_agent.runner import REQUEST_LIMIT
from support.conversations import (
    R2,
    RUN_ROUTES,
    asked_run,
    cancel,
    events_of,
    failed_run,
    finished_run,
)
from support.dify_client import ENDED, TERMINAL
from support.functions import ASK, SAY, Functions, MemoryWiring

RETENTION = timedelta(days=3)


def cancelled_run(functions: Functions) -> str:
    run_id = functions.create(SAY)
    cancel(functions, run_id, reason="user")
    return run_id


ENDINGS = pytest.mark.parametrize("ended", [finished_run, asked_run, failed_run, cancelled_run])


@ENDINGS
def test_s13_a_run_has_one_terminal_event_and_it_is_the_last(ended: Any) -> None:
    functions = Functions()

    types = [event["type"] for event in events_of(functions, ended(functions))]

    assert types[0] == "run_started"
    assert [kind for kind in types if kind in TERMINAL] == types[-1:]


@ENDINGS
def test_s13_updated_at_is_the_instant_of_the_terminal_event(ended: Any) -> None:
    functions = Functions()
    run_id = ended(functions)

    run = functions.call("GET", f"/runs/{run_id}").json

    assert run["updated_at"] == events_of(functions, run_id)[-1]["created_at"]


def test_s13_status_and_terminal_event_show_together() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    seen: set[tuple[bool, bool]] = set()

    def look(*_: object) -> None:
        ended = functions.status(run_id) in ENDED
        terminal = events_of(functions, run_id)[-1]["type"] in TERMINAL
        seen.add((ended, terminal))

    original = functions.wiring.table.transact

    def transact(*args: Any, **options: Any) -> None:
        look()
        original(*args, **options)
        look()

    functions.wiring.table.transact = transact  # type: ignore[method-assign]  # looks in between
    functions.settle()

    assert seen == {(False, False), (True, True)}


def test_s13_cancel_is_idempotent_and_the_first_reason_wins() -> None:
    functions = Functions()
    run_id = functions.create(SAY)

    answers = [cancel(functions, run_id, reason=reason) for reason in ("first", "second")]

    assert [answer.json["status"] for answer in answers] == ["cancelled", "cancelled"]
    assert events_of(functions, run_id)[-1]["data"] == {"reason": "first", "message": None}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"reason": "r", "message": "m"}, "m"),
        ({"reason": "r"}, "r"),
        ({}, None),
    ],
)
def test_s13_the_error_of_a_cancelled_run_is_message_else_reason(
    body: dict[str, str], error: str | None
) -> None:
    functions = Functions()
    run_id = functions.create(SAY)

    cancel(functions, run_id, **body)

    run = functions.call("GET", f"/runs/{run_id}").json
    assert (run["status"], run["error"]) == ("cancelled", error)


def test_s13_nothing_follows_a_cancel() -> None:
    functions = Functions()
    run_id = cancelled_run(functions)

    functions.settle()

    assert [event["type"] for event in events_of(functions, run_id)] == [
        "run_started",
        "run_cancelled",
    ]


@pytest.mark.parametrize(("method", "path"), RUN_ROUTES)
def test_s13_after_the_retention_everything_is_404(method: str, path: str) -> None:
    functions = Functions()
    run_id = finished_run(functions)
    body: dict[str, Any] | None = {} if method == "POST" else None

    functions.clock.advance(RETENTION - timedelta(milliseconds=1))
    before = functions.call(method, path.format(run_id), json_body=body).status
    functions.clock.advance(timedelta(milliseconds=1))
    after = functions.call(method, path.format(run_id), json_body=body)

    assert before in {200, 409}
    assert (after.status, after.json) == (404, {"detail": "run not found"})


def test_s13_the_default_retention_is_259200_seconds() -> None:
    assert MemoryWiring().settings.retention.total_seconds() == 259_200


def test_s13_credentials_are_gone_with_the_end_of_the_run() -> None:
    functions = Functions()
    finished_run(functions)

    assert "Done." not in str(
        [item for key, item in functions.wiring.table._items.items() if key.sk == "CREDENTIAL"]
    )


def test_s13_the_default_limit_is_500_model_requests() -> None:
    assert REQUEST_LIMIT == 500


def test_s13_the_default_limit_is_3600_seconds_of_work() -> None:
    assert MemoryWiring().settings.max_active.total_seconds() == 3600


def test_s13_a_run_over_its_time_fails_with_the_text_of_the_contract() -> None:
    functions = Functions()
    run_id = functions.create(SAY)
    record = functions.wiring.context.stores.journal.record

    def slow(*args: Any, **options: Any) -> Any:
        functions.clock.advance(timedelta(hours=1))
        return record(*args, **options)

    functions.wiring.context.stores.journal.record = slow  # type: ignore[method-assign]  # time
    functions.settle()

    run = functions.call("GET", f"/runs/{run_id}", headers=R2).json
    data = events_of(functions, run_id, headers=R2)[-1]["data"]
    assert run["status"] == "failed"
    assert run["error"] == "Agent run exceeded the configured limit of 3600 seconds"
    assert run["error_type"] == data["error_type"] == "agent_run_limit_exceeded"
    assert data["session_snapshot"]["schema_version"] == 1
    assert data["usage"]["latency"] >= 3600


def test_s13_a_worker_that_dies_leaves_no_run_running_for_ever() -> None:
    functions = Functions()
    run_id = functions.create(ASK)
    functions.wiring.queue.drop()

    functions.clock.advance(timedelta(minutes=2))
    functions.invoke("timeout_sweep", {"source": "aws.scheduler"}, 55)
    functions.settle()

    assert functions.status(run_id) == "succeeded"
