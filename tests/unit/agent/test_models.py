"""Which model a composition gets, with whose credentials."""

from __future__ import annotations

import http.server
import json
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from sayso.domain.errors import SnapshotRefusedError
from sayso.domain.run import Face
from sayso.domain.segment import Asked, Failed, Finished
from sayso.ports import StoredCredential
from sayso_agent.layers.plugin_llm import DifyPluginLLMLayerConfig
from sayso_agent.models import Models
from sayso_agent.outgoing import Outgoing
from sayso_agent.providers.base import ModelConfigError
from sayso_agent.runner import build_runner
from stub_model.server import stub_model
from support.segments import (
    CONTEXT,
    HISTORY,
    RUNNER,
    MemoryJournal,
    ask_human,
    failed_text,
    llm,
    prompt,
    request,
    run_protocol,
    run_segment,
    submitted,
    text,
    usual,
    work_on,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = {"openai_api_key": "sk-request"}
KNOWN = "anthropic, azure_openai, bedrock, gemini, ollama, openai, openai_api_compatible"


def openai(**config: Any) -> dict[str, Any]:
    """Return a model layer of the openai provider."""
    return llm([], **{"model_provider": "openai", "model": "gpt-x", **config})


def asking(layer: dict[str, Any]) -> dict[str, Any]:
    return request(prompt(), HISTORY, CONTEXT, ask_human(), layer)


@pytest.mark.parametrize("path", ["", "/v1"], ids=["bare", "with version"])
def test_openai_is_reached_at_the_address_of_the_request(path: str) -> None:
    with stub_model() as base:
        credentials = {**KEY, "openai_api_base": base.removesuffix("/v1") + path}
        create = asking(openai(credentials=credentials))
        journal = MemoryJournal()
        asked = run_segment(work_on(create), journal)
        assert isinstance(asked, Asked), asked
        answer = {"call_1": submitted(comment="Fine by me.")}
        finished = run_segment(work_on(create, segment=2, snapshot=asked.snapshot, answers=answer))

    assert asked.questions[0].args["question"] == "Refund 1,240.00 EUR to Marta Oliveira?"
    assert isinstance(finished, Finished)
    assert "Fine by me." in finished.output
    assert (finished.usage.requests, finished.usage.input_tokens) == (2, 22)
    assert len(journal.store.events) == 4, "start, result, one joined delta, end"


@pytest.mark.parametrize(
    "credentials",
    [
        {"endpoint_url": "BASE", "api_key": "sk-x"},
        {"endpoint_url": "BASE", "api_key": "sk-x", "endpoint_model_name": "other"},
        {"openai_api_base": "BASE", "openai_api_key": "sk-x"},
        {"endpoint_url": "BASE"},
    ],
    ids="+".join,
)
@pytest.mark.parametrize(
    "provider", ["openai_api_compatible", "langgenius/openai_api_compatible/openai_api_compatible"]
)
def test_compatible_servers_are_reached_with_either_spelling(
    credentials: dict[str, Any], provider: str
) -> None:
    with stub_model() as base:
        given = {key: base if value == "BASE" else value for key, value in credentials.items()}
        layer = openai(model_provider=provider, credentials=given)
        result = run_protocol(asking(layer))

    assert isinstance(result, Asked), result


@pytest.mark.parametrize(
    ("layer", "error"),
    [
        (openai(credentials={}), "the openai provider needs credentials.openai_api_key"),
        (
            openai(model_provider="openai_api_compatible", credentials={"api_key": "k"}),
            "the openai_api_compatible provider needs credentials.endpoint_url",
        ),
        (
            openai(model_provider="nobody"),
            f"unknown model provider 'nobody', known are: {KNOWN}, scripted",
        ),
    ],
    ids=["key", "address", "unknown"],
)
def test_what_is_missing_is_said(layer: dict[str, Any], error: str) -> None:
    assert failed_text(asking(layer)) == error


def test_an_internal_address_fails_the_run_with_the_reason() -> None:
    runner = build_runner(
        scripted=False, allow_internal=False, stored_credentials=lambda _provider: None
    )
    create = asking(openai(credentials={**KEY, "openai_api_base": "http://127.0.0.1:1/v1"}))

    result = run_segment(work_on(create, face=Face.PROTOCOL), runner=runner)

    assert isinstance(result, Failed)
    assert result.error == "the host '127.0.0.1' is not a public one and may not be called"


def test_the_scripted_model_is_off_unless_it_is_turned_on() -> None:
    runner = build_runner(
        scripted=False, allow_internal=False, stored_credentials=lambda _provider: None
    )

    result = run_segment(work_on(usual([text("x")])), runner=runner)

    assert isinstance(result, Failed)
    assert result.error == f"unknown model provider 'scripted', known are: {KNOWN}"


@pytest.mark.parametrize(
    "script", ["", "{", "[]", '[{"says": 1}]', '[{"calls": [{"name": "x"}]}]', '{"text": "x"}']
)
def test_a_script_that_is_none_fails_the_run_readably(script: str) -> None:
    error = failed_text(asking(llm([], credentials={"script": script})))

    assert error.startswith("credentials.script of the scripted model must be a JSON list of turns")


def test_a_turn_of_a_script_may_be_empty() -> None:
    result = run_protocol(usual([{}, text("Well then.")]))

    assert isinstance(result, Finished)
    assert result.output == "Well then."


def test_a_provider_that_is_not_in_the_layer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sayso_agent.providers.openai", None)

    error = failed_text(asking(openai(credentials=KEY)))

    assert error == (
        "the model provider 'openai' is not part of this deployment's agent layer; whoever deploys"
        " it can add 'openai' to PROVIDERS of `make build`"
    )


def test_the_last_turn_of_a_script_repeats() -> None:
    first = run_protocol(usual([text("One."), text("Two.")]))
    assert isinstance(first, Finished)

    outputs = [first.output]
    for number in (2, 3):
        create = usual([text("One."), text("Two.")], session_snapshot=first.session_snapshot)
        first = run_protocol(create, run_id=f"run-{number}")
        assert isinstance(first, Finished)
        outputs.append(first.output)

    assert outputs == ["One.", "Two.", "Two."]


def chosen(stored: StoredCredential | None, credentials: dict[str, Any]) -> Any:
    """Return what a provider would be given."""
    models = Models(
        outgoing=Outgoing(allow_internal=False),
        stored_credentials=lambda provider: stored if provider == "openai" else None,
        scripted=False,
    )
    return models.spec("openai", config(credentials))


def config(credentials: dict[str, Any]) -> DifyPluginLLMLayerConfig:
    return DifyPluginLLMLayerConfig(
        plugin_id="p", model_provider="openai", model="m", credentials=credentials
    )


STORED = StoredCredential(values={"openai_api_key": "sk-stored"}, hosts=("api.openai.com",))


def test_credentials_of_the_request_go_before_stored_ones() -> None:
    spec = chosen(STORED, KEY)

    assert (spec.text("openai_api_key"), spec.hosts) == ("sk-request", None)


def test_a_stored_credential_is_bound_to_its_hosts() -> None:
    spec = chosen(STORED, {})

    assert (spec.text("openai_api_key"), spec.hosts) == ("sk-stored", {"api.openai.com"})


@pytest.mark.parametrize("member", ["openai_api_base", "endpoint_url", "base_url"])
def test_an_address_of_the_request_is_not_used_with_a_stored_credential(member: str) -> None:
    with pytest.raises(ModelConfigError, match="only with credentials from the same request"):
        chosen(STORED, {member: "https://evil.example"})


def test_secrets_do_not_show_in_representations() -> None:
    assert "sk-request" not in repr(chosen(None, KEY))
    assert "sk-request" not in repr(config(KEY))
    assert "sk-stored" not in repr(STORED)


class Refusing(http.server.BaseHTTPRequestHandler):
    """Answers every request with the status and body of the server."""

    def do_POST(self) -> None:
        """Refuse."""
        server: Any = self.server
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = json.dumps(server.body).encode()
        self.send_response(server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Log nothing."""


@contextmanager
def refusing(status: int, body: Any) -> Iterator[str]:
    server: Any = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    server.status, server.body = status, body
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def test_a_provider_error_ends_the_run_with_the_provider_s_words() -> None:
    with refusing(401, {"error": {"message": "Incorrect API key.", "error_type": "Auth"}}) as base:
        result = run_protocol(asking(openai(credentials={**KEY, "openai_api_base": base})))

    assert isinstance(result, Failed)
    assert (result.error, result.reason) == ("Incorrect API key.", "Auth")


@pytest.mark.parametrize("stored", [False, True], ids=["of the request", "of the stack"])
def test_a_key_that_a_provider_quotes_is_crossed_out(stored: bool) -> None:
    with refusing(401, {"error": {"message": "No such key: sk-quoted-key."}}) as base:
        credentials = {"openai_api_key": "sk-quoted-key", "openai_api_base": base}
        entry = StoredCredential(values=credentials, hosts=("127.0.0.1",))
        runner = build_runner(
            scripted=False,
            allow_internal=True,
            stored_credentials=lambda _provider: entry if stored else None,
        )
        create = asking(openai(credentials={} if stored else credentials))
        result = run_segment(work_on(create), runner=runner)

    assert isinstance(result, Failed)
    assert result.error == "No such key: ***."


def test_a_run_whose_provider_was_left_out_stays_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    with stub_model() as base:
        create = asking(openai(credentials={**KEY, "openai_api_base": base}))
        asked = run_segment(work_on(create))
    assert isinstance(asked, Asked)
    monkeypatch.setitem(sys.modules, "sayso_agent.providers.openai", None)
    answer = {"call_1": submitted(comment="Fine by me.")}

    with pytest.raises(SnapshotRefusedError, match="not part of this deployment's agent layer"):
        RUNNER.check(work_on(create, segment=2, snapshot=asked.snapshot, answers=answer))
