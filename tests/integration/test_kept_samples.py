"""What an older version has stored, queued and told is understood by this code.

The reverse refuses loudly and loses nothing (DESIGN §3 Snapshot, I8).
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.transitions import FormStatus, RunStatus
from sayso.ports import Update
from sayso.store.keys import journal_prefix, pause_key, run_key, run_pk
from sayso.testing.queue import QueuedMessage
from support.functions import Functions, sqs_event
from support.kept import SAMPLES, Kept, load

if TYPE_CHECKING:
    from sayso.domain.ids import RunId
    from sayso.domain.run import ObjectRef, Run

VERSIONS = sorted(path.name for path in SAMPLES.iterdir() if path.is_dir())
MANAGED = {"Sayso-Events": "managed"}


@pytest.fixture(params=VERSIONS)
def kept(request: pytest.FixtureRequest) -> Kept:
    return load(request.param)


def answer(functions: Functions, run_id: RunId) -> int:
    token = functions.token(run_id)
    return functions.post_form(token, action="approve", reason="late", comment="Fine.").status


def run_of(functions: Functions, run_id: RunId) -> Run:
    run = functions.wiring.context.stores.runs.get(run_id)
    assert run is not None
    return run


def events_of(functions: Functions, run_id: RunId) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = functions.call(
        "GET", f"/runs/{run_id}/events", headers=MANAGED
    ).json["events"]
    return events


def sweep_after(functions: Functions, span: timedelta) -> None:
    functions.clock.advance(span)
    functions.invoke("timeout_sweep", {"source": "aws.scheduler"}, 55)
    functions.settle()


def test_a_question_of_the_older_version_is_answered_and_its_run_goes_on(kept: Kept) -> None:
    functions, run_id = kept.functions, kept.runs["asked"]

    assert answer(functions, run_id) == 303
    functions.settle()

    assert functions.status(run_id) == "succeeded"
    assert "Fine." in events_of(functions, run_id)[-1]["data"]["output"]


def test_an_answer_given_to_the_older_version_reaches_the_model(kept: Kept) -> None:
    functions, run_id = kept.functions, kept.runs["answered"]

    sweep_after(functions, timedelta(minutes=2))

    assert functions.status(run_id) == "succeeded"
    assert '"approve"' in events_of(functions, run_id)[-1]["data"]["output"]


def test_a_worker_of_the_older_version_is_replaced_and_nothing_is_said_twice(kept: Kept) -> None:
    functions, run_id = kept.functions, kept.runs["interrupted"]
    before = events_of(functions, run_id)

    sweep_after(functions, timedelta(minutes=2))

    assert functions.status(run_id) == "paused"
    assert events_of(functions, run_id)[: len(before)] == before
    assert answer(functions, run_id) == 303
    functions.settle()
    assert functions.status(run_id) == "succeeded"


def test_events_of_an_ended_run_read_as_they_did(kept: Kept) -> None:
    assert events_of(kept.functions, kept.runs["ended"]) == kept.events


def test_an_unanswered_question_of_the_older_version_times_out(kept: Kept) -> None:
    functions, run_id = kept.functions, kept.runs["asked"]

    sweep_after(functions, timedelta(hours=37))

    assert functions.form(run_id).form.status is FormStatus.TIMEOUT
    assert functions.status(run_id) == "succeeded"


def test_a_run_of_the_older_version_is_cancelled(kept: Kept) -> None:
    functions, run_id = kept.functions, kept.runs["asked"]

    functions.call("POST", f"/runs/{run_id}/cancel", json_body={})

    assert functions.status(run_id) == "cancelled"
    assert functions.form(run_id).form.status is FormStatus.CANCELLED


def test_every_message_of_the_older_version_is_understood(kept: Kept) -> None:
    now = kept.functions.clock.now()

    for number, message in enumerate(kept.messages):
        queued = QueuedMessage(
            queue=message["queue"],  # type: ignore[arg-type] # one of the three, by its test below
            body=json.loads(message["body"]),
            due_at=now,
            number=number,
        )
        assert kept.functions.deliver(queued) == {"batchItemFailures": []}

    kinds = {json.loads(message["body"])["kind"] for message in kept.messages}
    assert kinds == {"start", "resume", "continue", "timeout", "mail"}
    assert {message["queue"] for message in kept.messages} == {"starts", "wakes", "deliveries"}


# --- the reverse: what newer code left behind ---


def test_a_snapshot_of_a_newer_version_leaves_the_run_paused_and_its_answer_kept() -> None:
    kept = load(VERSIONS[-1])
    functions, run_id = kept.functions, kept.runs["asked"]
    known = _replace_snapshot(functions, run_id, _of_a_newer_version(functions, run_id))

    assert answer(functions, run_id) == 303
    functions.settle()

    run = run_of(functions, run_id)
    assert run.status is RunStatus.PAUSED
    assert run.refusal is not None
    assert "schema_version 99" in run.refusal
    decision = functions.form(run_id).form.decision
    assert decision is not None

    # Code that knows the version goes on with the very answer.
    _replace_snapshot(functions, run_id, known)
    sweep_after(functions, timedelta(minutes=2))
    assert functions.status(run_id) == "succeeded"
    assert "Fine." in events_of(functions, run_id)[-1]["data"]["output"]


def test_a_journal_of_a_newer_version_ends_the_run_readably_and_repeats_nothing() -> None:
    kept = load(VERSIONS[-1])
    functions, run_id = kept.functions, kept.runs["interrupted"]
    table = functions.wiring.table
    items = table.query(run_pk(run_id), prefix=journal_prefix(1))
    table.put_many([{**item, "version": 99} for item in items])

    sweep_after(functions, timedelta(minutes=2))

    run = run_of(functions, run_id)
    assert (run.status, run.reason) == (RunStatus.FAILED, "journal_mismatch")
    assert run.error is not None
    assert "journal format 99" in run.error
    assert len(table.query(run_pk(run_id), prefix=journal_prefix(1))) == len(items)


@pytest.mark.parametrize("queue", ["wakes", "deliveries"])
def test_a_message_of_an_unknown_kind_comes_again_until_a_person_sees_it(queue: str) -> None:
    functions = load(VERSIONS[-1]).functions
    event = sqs_event(queue, json.dumps({"kind": "hibernate", "run_id": "1"}))

    if queue == "deliveries":
        assert functions.invoke("deliver", event, 60)["batchItemFailures"]
    else:
        with pytest.raises(Exception, match="come again"):
            functions.invoke("resume", event, 900)


def _of_a_newer_version(functions: Functions, run_id: RunId) -> ObjectRef:
    """Store a run's snapshot as newer code would have, and return where."""
    documents = functions.wiring.context.stores.documents
    run = run_of(functions, run_id)
    assert run.snapshot is not None
    document = {**json.loads(documents.get(run.snapshot)), "schema_version": 99}
    return documents.put(run.tenant, run_id, "snapshots/1", json.dumps(document).encode())


def _replace_snapshot(functions: Functions, run_id: RunId, ref: ObjectRef) -> ObjectRef:
    """Let run and pause name another snapshot; return the one they named."""
    run = run_of(functions, run_id)
    assert run.snapshot is not None
    assert run.pause_id is not None
    for key in (run_key(run_id), pause_key(run_id, run.pause_id)):
        write = Update(key=key, set={"snapshot": f"{ref.digest} {ref.key}"})
        functions.wiring.table.write(write, attempt="newer code")
    return replace(run.snapshot)
