"""dify-agent §10 to §12: history, session snapshots, what becomes of layers at the end."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.run import Face
from sayso.domain.segment import Asked, Failed, Finished
from sayso_agent.layers.base import EmptyLayerConfig, Layer
from sayso_agent.layers.registry import BUILT_IN, build_registry
from sayso_agent.runner import PydanticAgentRunner
from support.segments import (
    CONTEXT,
    HISTORY,
    MemoryJournal,
    WatchedModels,
    ask,
    ask_human,
    calls,
    failed_text,
    llm,
    prompt,
    request,
    run_protocol,
    text,
    usual,
    work_on,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LLM = llm([text("Done.")])


def state(name: str, lifecycle: str = "suspended", **runtime_state: Any) -> dict[str, Any]:
    return {"name": name, "lifecycle_state": lifecycle, "runtime_state": runtime_state}


def snapshot(*layers: dict[str, Any], version: int = 1) -> dict[str, Any]:
    return {"schema_version": version, "layers": list(layers)}


def messages_of(result: Any) -> list[dict[str, Any]]:
    (history,) = [one for one in result.session_snapshot["layers"] if one["name"] == "history"]
    messages: list[dict[str, Any]] = history["runtime_state"]["messages"]
    return messages


def kinds(result: Any) -> list[str]:
    return [part["part_kind"] for message in messages_of(result) for part in message["parts"]]


def test_s10_messages_of_a_success_are_stored() -> None:
    result = run_protocol(usual([text("Done.")]))

    assert isinstance(result, Finished)
    assert kinds(result) == ["user-prompt", "text"]


def test_s10_messages_of_a_deferred_ending_are_stored_with_the_call_open() -> None:
    result = run_protocol(usual([ask()]))

    assert isinstance(result, Asked)
    assert kinds(result) == ["user-prompt", "tool-call"]


def test_s10_r2_messages_of_a_failure_are_stored() -> None:
    result = run_protocol(usual([calls(("c", "ask_human", {"question": ""}))]))

    assert isinstance(result, Failed)
    assert result.session_snapshot is not None
    assert kinds(result)[:3] == ["user-prompt", "tool-call", "tool-return"]


def test_s10_r2_a_failure_before_the_model_keeps_the_restored_history() -> None:
    first = run_protocol(usual([text("Done.")]))
    assert isinstance(first, Finished)
    create = usual([text("Again.")], session_snapshot=first.session_snapshot)
    create["composition"]["layers"][-1]["config"]["model_provider"] = "no-such-provider"

    second = run_protocol(create, run_id="run-2")

    assert isinstance(second, Failed)
    assert messages_of(second) == messages_of(first)


def test_s10_instructions_are_not_part_of_the_messages() -> None:
    create = request(prompt(user="Go.", prefix="Secret rule."), HISTORY, CONTEXT, LLM)

    result = run_protocol(create)

    assert "Secret rule." not in str(messages_of(result))


def test_s10_history_takes_no_config() -> None:
    error = failed_text(request(prompt(), {**HISTORY, "config": {"limit": 3}}, CONTEXT, LLM))

    assert error.startswith("1 validation error for EmptyLayerConfig")


def test_s11_every_layer_in_composition_order() -> None:
    result = run_protocol(request(prompt(), CONTEXT, ask_human(), LLM))

    assert isinstance(result, Finished)
    assert result.session_snapshot == snapshot(
        state("prompt"), state("execution_context"), state("ask_human"), state("llm")
    )


def test_s11_active_is_refused() -> None:
    error = failed_text(request(prompt(), session_snapshot=snapshot(state("prompt", "active"))))

    assert "LifecycleState.ACTIVE is internal-only and cannot appear in session snapshots." in error


@pytest.mark.parametrize("got", [["llm", "prompt"], ["prompt"], ["prompt", "llm", "x"]], ids=str)
def test_s11_other_names_or_another_order(got: list[str]) -> None:
    layers = [prompt(), {"name": "llm", "type": "plain.prompt"}]

    error = failed_text(request(*layers, session_snapshot=snapshot(*map(state, got))))

    assert error == (
        "CompositorSessionSnapshot layer names must match compositor layers in order. Expected"
        f" [prompt, llm], got [{', '.join(got)}]."
    )


def test_s11_unsupported_version() -> None:
    error = failed_text(request(prompt(), session_snapshot=snapshot(state("prompt"), version=3)))

    assert error == "Unsupported compositor session snapshot schema_version: 3."


def test_s11_a_closed_layer_cannot_be_entered() -> None:
    error = failed_text(request(prompt(), session_snapshot=snapshot(state("prompt", "closed"))))

    assert error == "Layer 'prompt' is closed; CLOSED snapshots cannot be entered."


def test_s11_a_new_layer_is_entered_with_its_state() -> None:
    first = run_protocol(usual([text("Done.")]))
    assert isinstance(first, Finished)
    layers = [{**one, "lifecycle_state": "new"} for one in first.session_snapshot["layers"]]

    second = run_protocol(
        usual([text("Done.")], session_snapshot=snapshot(*layers)), run_id="run-2"
    )

    assert kinds(second) == ["user-prompt", "text"] * 2


@pytest.mark.parametrize(
    ("runtime_state", "error"),
    [
        ({"messages": [{"kind": "unknown"}]}, "1 validation error for PydanticAIHistoryRuntime"),
        ({"messages": [], "extra": 1}, "1 validation error for PydanticAIHistoryRuntimeState"),
    ],
    ids=["message", "extra"],
)
def test_s11_bad_state(runtime_state: dict[str, Any], error: str) -> None:
    create = request(
        prompt(),
        HISTORY,
        session_snapshot=snapshot(state("prompt"), state("history", **runtime_state)),
    )

    assert failed_text(create).startswith(error)


def test_s12_on_exit_decides_by_name_then_by_default() -> None:
    create = request(
        prompt(), CONTEXT, LLM, on_exit={"default": "delete", "layers": {"prompt": "suspend"}}
    )

    result = run_protocol(create)

    assert isinstance(result, Finished)
    assert {one["name"]: one["lifecycle_state"] for one in result.session_snapshot["layers"]} == {
        "prompt": "suspended",
        "execution_context": "closed",
        "llm": "closed",
    }


def test_s12_on_exit_applies_to_a_question_too() -> None:
    result = run_protocol(usual([ask()], on_exit={"default": "delete", "layers": {}}))

    assert isinstance(result, Asked)
    assert {one["lifecycle_state"] for one in result.session_snapshot["layers"]} == {"closed"}


class Noting(Layer[EmptyLayerConfig]):
    """Notes when it is entered and left."""

    type_id = "noting"

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Note both ends."""
        NOTES.append(f"+{self.name}")
        yield
        NOTES.append(f"-{self.name}")


NOTES: list[str] = []


async def _enter_two() -> None:
    registry = build_registry([*BUILT_IN, Noting])
    runner = PydanticAgentRunner(registry=registry, models=WatchedModels())
    layers = [{"name": name, "type": "noting"} for name in "ab"]
    create = request(prompt(), *layers, CONTEXT, LLM)
    result = await runner.run(work_on(create, face=Face.PROTOCOL), MemoryJournal())
    assert isinstance(result, Finished)


def test_s12_layers_enter_first_to_last_and_exit_last_to_first() -> None:
    NOTES.clear()

    asyncio.run(_enter_two())

    assert NOTES == ["+a", "+b", "-b", "-a"]
