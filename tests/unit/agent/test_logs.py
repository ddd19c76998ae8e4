"""Nothing of a model call gets into the logs, whatever the SDKs log."""

from __future__ import annotations

import io
import logging
import uuid
from typing import TYPE_CHECKING

import pytest

from sayso import observability
from sayso.domain.segment import Asked, Failed
from stub_model.providers import LIMITED, stub_providers
from support.segments import CONTEXT, HISTORY, ask_human, llm, prompt, request, run_protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

LIBRARIES = ("httpx", "httpx2", "httpcore2", "openai", "anthropic", "google_genai", "botocore")
MEMBERS = {
    "openai": ("openai_api_base", "openai_api_key"),
    "anthropic": ("anthropic_api_url", "anthropic_api_key"),
    "gemini": ("base_url", "google_api_key"),
}


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Return what the root logger writes, set up as Lambda does it."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"test-{uuid.uuid4()}")
    observability.logger.cache_clear()
    root, stream = logging.getLogger(), io.StringIO()
    handler, level = logging.StreamHandler(stream), root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield stream
    root.setLevel(level)
    root.removeHandler(handler)
    observability.logger.cache_clear()


def call(provider: str, key: str) -> object:
    """Let a model answer once."""
    base, secret = MEMBERS[provider]
    with stub_providers() as stub:
        layer = llm(
            [],
            model_provider=provider,
            model="claude-haiku-4-5" if provider == "anthropic" else "model-x",
            credentials={base: stub.root, secret: key},
        )
        return run_protocol(request(prompt(), HISTORY, CONTEXT, ask_human(), layer))


def test_http_clients_would_log_addresses(lines: io.StringIO) -> None:
    """If this fails, they have become discreet, and what follows proves nothing."""
    call("openai", "key-of-tests")

    assert "/v1/chat/completions" in lines.getvalue()


@pytest.mark.parametrize("provider", sorted(MEMBERS))
def test_a_model_call_is_not_logged(provider: str, lines: io.StringIO) -> None:
    observability.logger()

    answered, refused = call(provider, "key-of-tests"), call(provider, LIMITED)

    assert isinstance(answered, Asked)
    assert isinstance(refused, Failed)
    assert lines.getvalue() == ""


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_is_not_heard(library: str, lines: io.StringIO) -> None:
    observability.logger()

    logging.getLogger(f"{library}.part").error("key-of-tests")

    assert lines.getvalue() == ""


def test_we_are_heard(lines: io.StringIO, capsys: pytest.CaptureFixture[str]) -> None:
    observability.log_event("segment_ended", segment=1)

    assert "segment_ended" in capsys.readouterr().out
    assert lines.getvalue() == "", "not twice"
