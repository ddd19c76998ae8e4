"""Wire models of the create request: both revisions, forbidden extras, masked credentials."""

from __future__ import annotations

from typing import Any

import pytest

from sayso.domain.requests import METADATA_POLICY
from sayso.http.invalid import MAX_ENTRIES, InvalidRequestError
from sayso.http.schemas import CancelRunRequest, parse, parse_create_run

LAYER = {"name": "prompt", "type": "plain.prompt"}
COMPOSITION: dict[str, Any] = {"schema_version": 1, "layers": [LAYER]}


def entries_of(value: Any) -> list[dict[str, Any]]:
    with pytest.raises(InvalidRequestError) as error:
        parse_create_run(value)
    return error.value.entries


def test_the_body_of_an_unmodified_client_is_taken() -> None:
    """Revision 1 as it serialises itself (dify-agent §5.1)."""
    body = {
        "composition": {
            "schema_version": 1,
            "layers": [
                {
                    "name": "prompt",
                    "type": "plain.prompt",
                    "deps": {},
                    "metadata": {},
                    "config": {"prefix": "Be brief.", "suffix": [], "user": "Hi"},
                }
            ],
        },
        "purpose": "workflow_node",
        "idempotency_key": None,
        "metadata": {},
        "session_snapshot": None,
        "deferred_tool_results": None,
        "on_exit": {"default": "suspend", "layers": {}},
    }

    assert parse_create_run(body).model_dump(mode="json") == {**body, "human_input": None}


def test_an_extra_member_is_refused_as_observed() -> None:
    assert entries_of({"composition": COMPOSITION, "foo": 1}) == [
        {
            "type": "extra_forbidden",
            "loc": ["body", "foo"],
            "msg": "Extra inputs are not permitted",
            "input": 1,
        }
    ]


def test_a_missing_composition_is_refused_as_observed() -> None:
    assert entries_of({}) == [
        {"type": "missing", "loc": ["body", "composition"], "msg": "Field required", "input": {}}
    ]


@pytest.mark.parametrize("version", [1, "1", 1.0, 2])
def test_the_schema_version_is_a_lax_integer_of_any_value(version: Any) -> None:
    request = parse_create_run({"composition": {**COMPOSITION, "schema_version": version}})

    assert request.composition.schema_version == int(version)


@pytest.mark.parametrize("config", [None, {}, '{"prefix": "x"}', "no json", [1], 5])
def test_the_config_of_a_layer_is_its_own_business(config: Any) -> None:
    layer = {**LAYER, "config": config}

    assert parse_create_run({"composition": {"layers": [layer]}}).composition.layers[0].config == (
        config
    )


def snapshot(state: str) -> dict[str, Any]:
    layer = {"name": "prompt", "lifecycle_state": state, "runtime_state": {}}
    return {
        "composition": COMPOSITION,
        "session_snapshot": {"schema_version": 1, "layers": [layer]},
    }


@pytest.mark.parametrize("state", ["new", "suspended", "closed"])
def test_a_snapshot_with_outside_states_is_taken(state: str) -> None:
    assert parse_create_run(snapshot(state)).session_snapshot is not None


def test_an_active_layer_in_a_snapshot_is_refused_with_the_exact_text() -> None:
    (entry,) = entries_of(snapshot("active"))

    assert entry == {
        "type": "value_error",
        "loc": ["body", "session_snapshot", "layers", 0, "lifecycle_state"],
        "msg": (
            "Value error, LifecycleState.ACTIVE is internal-only and cannot appear in session"
            " snapshots."
        ),
        "input": "active",
        "ctx": {"error": {}},
    }


@pytest.mark.parametrize(
    ("member", "value", "place"),
    [
        ("deferred_tool_results", {"approvals": {}}, ["deferred_tool_results", "approvals"]),
        ("on_exit", {"default": "keep"}, ["on_exit", "default"]),
        ("purpose", "play", ["purpose"]),
        ("metadata", [], ["metadata"]),
        ("human_input", {"channel": "sms"}, ["human_input", "channel"]),
        ("human_input", {"timeout": 0}, ["human_input", "timeout"]),
        (
            "metadata",
            {METADATA_POLICY: {"timeout_unit": "year"}},
            ["metadata", METADATA_POLICY, "timeout_unit"],
        ),
    ],
)
def test_a_mistake_is_named_by_its_place(member: str, value: Any, place: list[str]) -> None:
    (entry,) = entries_of({"composition": COMPOSITION, member: value})

    assert entry["loc"] == ["body", *place]


def test_credentials_are_not_echoed_wherever_they_stand() -> None:
    secret = "sk-do-not-echo"
    layer = {
        "type": "dify.plugin.llm",
        "config": {"credentials": {"key": secret}},
        "metadata": {"text": f'{{"credentials": "{secret}"}}'},
    }
    found = entries_of(
        {"composition": {"layers": [layer]}, "credentials": secret, "on_exit": [secret]}
        | {"on_exit": {"credentials": [secret]}}
    )

    assert len(found) == 3
    assert secret not in str(found)
    assert "***" in str(found)


def test_a_flood_of_mistakes_is_cut() -> None:
    body: dict[str, Any] = {"composition": COMPOSITION} | {str(n): n for n in range(1000)}

    assert len(entries_of(body)) == MAX_ENTRIES


def test_a_long_input_is_not_repeated() -> None:
    (entry,) = entries_of({"composition": COMPOSITION, "foo": "x" * 50_000})

    assert entry["input"] == "(too long to repeat)"


def test_a_cancel_takes_nulls_and_refuses_what_could_not_be_stored() -> None:
    nulls = {"reason": None, "message": None}

    assert parse(CancelRunRequest, nulls, ["body"]) == CancelRunRequest()
    with pytest.raises(InvalidRequestError):
        parse(CancelRunRequest, {"reason": "x" * 10_001}, ["body"])
    with pytest.raises(InvalidRequestError):
        parse(CancelRunRequest, [], ["body"])
