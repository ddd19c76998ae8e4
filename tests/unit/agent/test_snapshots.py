"""Sayso's own snapshot of a paused run: format, digest, migrations, refusals."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from sayso.domain.errors import SnapshotRefusedError
from sayso.domain.segment import Asked, Failed, Finished
from sayso_agent.snapshots import SCHEMA_VERSION, dump_paused, load_paused
from support.segments import (
    CONTEXT,
    HISTORY,
    ask,
    ask_human,
    calls,
    llm,
    prompt,
    request,
    run_segment,
    runner_of_tests,
    submitted,
    text,
    tools,
    usual,
    work_on,
)

SAMPLES = Path(__file__).parent / "snapshots"
CREATE = request(
    prompt(user="Go on.", prefix="Secret rule."),
    HISTORY,
    CONTEXT,
    ask_human(),
    tools(),
    llm(
        [
            calls(("look", "look_up", {"what": "x"}), ("q1", "ask_human", {"question": "One?"})),
            text("{{results}}"),
        ]
    ),
)
ANSWERS = {"q1": submitted(comment="yes")}


def paused(create: dict[str, Any] = CREATE) -> Asked:
    asked = run_segment(work_on(create))
    assert isinstance(asked, Asked), asked
    return asked


def resumed(snapshot: bytes) -> Any:
    return run_segment(work_on(CREATE, segment=2, snapshot=snapshot, answers=ANSWERS))


def changed(snapshot: bytes, **members: Any) -> bytes:
    return json.dumps(json.loads(snapshot) | members).encode()


def test_the_document_holds_neither_instructions_nor_credentials_nor_the_request() -> None:
    document = paused().snapshot.decode()

    assert "Secret rule." not in document
    assert "credentials" not in document
    assert json.loads(document).keys() == {
        "schema_version",
        "code_version",
        "request_digest",
        "layers",
        "conversation",
    }


def test_the_messages_stand_in_it_once() -> None:
    document = paused().snapshot.decode()

    assert document.count('"content":"x is fine"') == 1


def test_reading_and_writing_changes_nothing() -> None:
    snapshot = paused().snapshot

    assert dump_paused(load_paused(snapshot, request_digest="digest-1")) == snapshot


def test_a_paused_run_goes_on_from_it_with_its_usage() -> None:
    first = paused()

    result = resumed(first.snapshot)

    assert isinstance(result, Finished)
    assert json.loads(result.output) == ["x is fine", ANSWERS["q1"]]
    assert (first.usage.requests, result.usage.requests) == (1, 2)
    assert result.usage.tool_calls == 1


def test_every_version_has_a_kept_sample() -> None:
    names = sorted(path.name for path in SAMPLES.glob("v*.json"))

    assert names == [f"v{version}.json" for version in range(1, SCHEMA_VERSION + 1)]


@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("v*.json")), ids=lambda path: path.stem)
def test_a_run_goes_on_from_the_sample_of_every_version(sample: Path) -> None:
    result = resumed(sample.read_bytes())

    assert isinstance(result, Finished), result
    assert json.loads(result.output) == ["x is fine", ANSWERS["q1"]]


def test_an_older_document_is_brought_up_step_by_step() -> None:
    older = changed(paused().snapshot, schema_version=-1, layers="old")
    steps: Any = {
        -1: lambda document: document | {"schema_version": 0, "layers": "older"},
        0: lambda document: document | {"schema_version": 1, "layers": []},
    }

    state = load_paused(older, request_digest="digest-1", migrations=steps)

    assert state.layers == []
    assert state.pending_ids() == {"q1"}


REFUSED: list[tuple[str, Any, str]] = [
    ("newer version", lambda one: changed(one, schema_version=99), "has schema_version 99"),
    ("no version", lambda one: changed(one, schema_version=None), "has schema_version None"),
    ("other request", lambda one: changed(one, request_digest="x"), "belongs to another request"),
    ("cut", lambda one: one[:-5], "it is no JSON document"),
    ("list", lambda _one: b"[]", "it is no JSON object"),
    ("no layers", lambda one: changed(one, layers=None), "members do not fit, the first at ''"),
    (
        "bad conversation",
        lambda one: changed(one, conversation={"messages": [{"kind": "x"}]}),
        "members do not fit, the first at 'messages.0'",
    ),
    ("other layers", lambda one: changed(one, layers=[]), "layer names must match"),
]


@pytest.mark.parametrize(
    ("damage", "reason"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_a_snapshot_that_cannot_be_used_is_refused_before_the_answer_is_consumed(
    damage: Any, reason: str
) -> None:
    work = work_on(CREATE, segment=2, snapshot=damage(paused().snapshot), answers=ANSWERS)

    with pytest.raises(SnapshotRefusedError, match=reason):
        runner_of_tests().check(work)

    result = run_segment(work)
    assert isinstance(result, Failed), "nor does the run go on"


def test_a_snapshot_that_can_be_used_is_accepted_with_and_without_answers() -> None:
    snapshot = paused().snapshot

    runner_of_tests().check(work_on(CREATE, segment=2, snapshot=snapshot, answers=ANSWERS))
    runner_of_tests().check(work_on(CREATE, segment=2, snapshot=snapshot))


def test_a_first_segment_has_nothing_to_check() -> None:
    runner_of_tests().check(work_on(CREATE))


def test_code_that_lacks_a_layer_type_refuses() -> None:
    work = work_on(CREATE, segment=2, snapshot=paused().snapshot, answers=ANSWERS)
    older = runner_of_tests(test_layers=False)

    with pytest.raises(SnapshotRefusedError, match=r"'test\.tools' is not registered"):
        older.check(work)


def test_code_that_lacks_the_model_provider_refuses() -> None:
    work = work_on(CREATE, segment=2, snapshot=paused().snapshot, answers=ANSWERS)
    other = runner_of_tests(scripted=False)

    with pytest.raises(SnapshotRefusedError, match="unknown model provider 'scripted'"):
        other.check(work)


def test_code_that_does_not_offer_the_tool_refuses() -> None:
    create = usual([ask()])
    snapshot = paused(create).snapshot
    create["composition"]["layers"][3] = ask_human(tool_name="renamed")

    with pytest.raises(SnapshotRefusedError, match=r"does not offer: ask_human$"):
        runner_of_tests().check(work_on(create, segment=2, snapshot=snapshot))


@pytest.mark.parametrize("answers", [{}, {"q2": 1}, {"q1": 1, "q2": 2}], ids=str)
def test_a_run_is_never_resumed_without_exactly_one_result_for_each_question(
    answers: dict[str, Any],
) -> None:
    work = work_on(CREATE, segment=2, snapshot=paused().snapshot, answers=answers)

    with pytest.raises(SnapshotRefusedError, match=r"waits for results of \['q1'\], got those of"):
        runner_of_tests().check(work)

    result = run_segment(work)
    assert isinstance(result, Failed)
    assert result.usage is not None
    assert result.usage.requests == 0, "no model call was paid for"


def test_a_message_takes_at_most_320_bytes_compressed() -> None:
    """DESIGN §9; a corpus of 100 messages, a sentence of text and a small result in each."""
    turns = [calls((f"c{n}", "change", {"what": f"order {n * 7919 % 1000}"})) for n in range(49)]
    create = request(prompt(), HISTORY, CONTEXT, ask_human(), tools(), llm([*turns, ask()]))

    snapshot = paused(create).snapshot

    messages = len(json.loads(snapshot)["conversation"]["messages"])
    assert messages == 100
    assert len(gzip.compress(snapshot)) / messages <= 320
