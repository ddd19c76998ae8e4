"""Each provider carries a whole run over its own wire format: a question, then an answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from botocore.httpsession import URLLib3Session

from sayso.domain.segment import Asked, Failed, Finished
from sayso.ports import StoredCredential
from sayso_agent.layers.plugin_llm import DifyPluginLLMLayerConfig
from sayso_agent.models import Models
from sayso_agent.outgoing import Outgoing, OutgoingRefusedError
from sayso_agent.providers.base import ModelConfigError
from sayso_agent.providers.table import PROVIDERS, SCRIPTED
from stub_model.bedrock import StubBedrock
from stub_model.providers import LIMITED, TOO_MANY, stub_providers
from support.segments import (
    CONTEXT,
    HISTORY,
    MemoryJournal,
    ask_human,
    failed_text,
    llm,
    prompt,
    request,
    run_protocol,
    run_segment,
    submitted,
    work_on,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stub_model.providers import Stub

Json = dict[str, Any]

AWS = {"aws_region": "eu-central-1", "aws_secret_access_key": "secret-of-tests"}
CREDENTIALS: dict[str, Json] = {
    "openai": {"openai_api_base": "ROOT", "openai_api_key": "KEY"},
    "openai_api_compatible": {"endpoint_url": "ROOT/v1", "api_key": "KEY"},
    "azure_openai": {
        "openai_api_base": "ROOT",
        "openai_api_key": "KEY",
        "openai_api_version": "2024-10-21",
        "base_model_name": "gpt-4o",
        "auth_method": "api_key",
    },
    "ollama": {"base_url": "ROOT", "api_key": "KEY"},
    "anthropic": {"anthropic_api_url": "ROOT", "anthropic_api_key": "KEY"},
    "bedrock": {**AWS, "aws_access_key_id": "KEY"},
    "gemini": {"google_api_key": "KEY", "base_url": "ROOT"},
}
"""The members that the plugin of a provider asks for."""

MODELS = {"anthropic": "claude-haiku-4-5", "bedrock": "amazon.nova-pro-v1:0"}
PATHS = {
    "openai": "/v1/chat/completions",
    "openai_api_compatible": "/v1/chat/completions",
    "azure_openai": "/openai/deployments/model-x/chat/completions?api-version=2024-10-21",
    "ollama": "/v1/chat/completions",
    "anthropic": "/v1/messages",
    "bedrock": (
        "https://bedrock-runtime.eu-central-1.amazonaws.com"
        "/model/amazon.nova-pro-v1:0/converse-stream"
    ),
    "gemini": "/v1beta/models/model-x:streamGenerateContent?alt=sse",
}
TEMPERATURE: dict[str, tuple[str, ...]] = {
    "bedrock": ("inferenceConfig", "temperature"),
    "gemini": ("generationConfig", "temperature"),
}
"""Where the setting stands in a request, where not on top."""

every_provider = pytest.mark.parametrize("provider", sorted(CREDENTIALS))


@pytest.fixture
def stub() -> Iterator[Stub]:
    with stub_providers() as running:
        yield running


@pytest.fixture(autouse=True)
def bedrock(monkeypatch: pytest.MonkeyPatch) -> StubBedrock:
    """Take the place of AWS's HTTP client: no test may reach AWS."""
    running = StubBedrock()
    monkeypatch.setattr(URLLib3Session, "send", lambda _session, asked: running.send(asked))
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    return running


def asking(provider: str, stub: Stub, key: str = "key-of-tests", **config: Any) -> Json:
    """Return a create request whose model asks a person."""
    values = {
        name: value.replace("ROOT", stub.root).replace("KEY", key)
        for name, value in CREDENTIALS[provider].items()
    }
    layer = llm(
        [],
        **{
            "plugin_id": f"langgenius/{provider}",
            "model_provider": provider,
            "model": MODELS.get(provider, "model-x"),
            "credentials": values,
            **config,
        },
    )
    return request(prompt(), HISTORY, CONTEXT, ask_human(), layer)


def test_every_provider_is_tested() -> None:
    assert CREDENTIALS.keys() == PROVIDERS.keys() - {SCRIPTED}


@every_provider
def test_a_run_asks_and_goes_on_with_the_answer(
    provider: str, stub: Stub, bedrock: StubBedrock
) -> None:
    create = asking(provider, stub)
    journal = MemoryJournal()

    asked = run_segment(work_on(create), journal)
    assert isinstance(asked, Asked), asked
    (question,) = asked.questions
    answer = {question.tool_call_id: submitted(comment="Fine by me.")}
    finished = run_segment(work_on(create, segment=2, snapshot=asked.snapshot, answers=answer))

    assert question.args["question"] == "Refund 1,240.00 EUR to Marta Oliveira?"
    assert isinstance(finished, Finished), finished
    assert finished.output.startswith("The person has decided: ")
    assert "Fine by me." in finished.output
    assert (finished.usage.requests, finished.usage.input_tokens) == (2, 22)
    kinds = [event.data["event_kind"] for event in journal.store.events]
    assert kinds[0] == "part_start"
    assert [one.path for one in (*stub.asked, *bedrock.asked)] == [PATHS[provider]] * 2
    assert all("key-of-tests" in one.key for one in (*stub.asked, *bedrock.asked))


@every_provider
def test_model_settings_are_passed_on(provider: str, stub: Stub, bedrock: StubBedrock) -> None:
    run_protocol(asking(provider, stub, model_settings={"temperature": 0.25}))

    (asked,) = (*stub.asked, *bedrock.asked)
    place: Any = asked.body
    for member in TEMPERATURE.get(provider, ("temperature",)):
        place = place[member]
    assert place == 0.25


@every_provider
def test_too_many_requests_end_the_run_with_the_provider_s_words(
    provider: str, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")

    result = run_protocol(asking(provider, stub, key=LIMITED))

    assert isinstance(result, Failed)
    assert (result.error, result.reason) == (TOO_MANY, "InvokeRateLimitError")


@pytest.mark.parametrize(
    "spelled", ["langgenius/anthropic/anthropic", "langgenius/anthropic", "anthropic"]
)
def test_a_provider_is_found_by_the_path_of_its_plugin(spelled: str, stub: Stub) -> None:
    result = run_protocol(asking("anthropic", stub, model_provider=spelled))

    assert isinstance(result, Asked), result


@pytest.mark.parametrize("spelled", ["langgenius/gemini/google", "google"])
def test_gemini_is_found_by_the_name_its_plugin_gives_it(spelled: str, stub: Stub) -> None:
    result = run_protocol(asking("gemini", stub, model_provider=spelled))

    assert isinstance(result, Asked), result


@pytest.mark.parametrize(
    ("provider", "credentials", "error"),
    [
        ("azure_openai", {}, "the azure_openai provider needs credentials.openai_api_base"),
        (
            "azure_openai",
            {"openai_api_base": "https://models.example"},
            "the azure_openai provider needs credentials.openai_api_key",
        ),
        (
            "azure_openai",
            {"auth_method": "entra_id_service_principal", "azure_client_secret": "s"},
            (
                "the azure_openai provider signs in with an API key only, not by"
                " 'entra_id_service_principal'"
            ),
        ),
        ("ollama", {}, "the ollama provider needs credentials.base_url"),
        ("anthropic", {}, "the anthropic provider needs credentials.anthropic_api_key"),
        ("gemini", {}, "the gemini provider needs credentials.google_api_key"),
        ("bedrock", {}, "the bedrock provider needs credentials.aws_region"),
        (
            "bedrock",
            {"aws_region": "eu-central-1", "aws_access_key_id": "AKIA"},
            (
                "the bedrock provider needs credentials.aws_access_key_id and"
                " credentials.aws_secret_access_key"
            ),
        ),
        (
            "bedrock",
            {"aws_region": "eu-central-1"},
            (
                "the bedrock provider needs credentials.aws_access_key_id and"
                " credentials.aws_secret_access_key"
            ),
        ),
        (
            "bedrock",
            {"aws_region": "x.evil.example/#", "aws_access_key_id": "AKIA"},
            "the bedrock provider needs the name of an AWS region, got 'x.evil.example/#'",
        ),
        (
            "bedrock",
            {"aws_region": "eu-central-1", "bedrock_endpoint_url": "https://evil.example"},
            "Bedrock is called at AWS's own endpoint only; leave out the address of another",
        ),
    ],
)
def test_what_is_missing_is_said(provider: str, credentials: Json, error: str, stub: Stub) -> None:
    assert failed_text(asking(provider, stub, credentials=credentials)) == error


@pytest.mark.parametrize(
    ("provider", "member"),
    [
        ("azure_openai", "openai_api_base"),
        ("ollama", "base_url"),
        ("anthropic", "anthropic_api_url"),
        ("gemini", "base_url"),
    ],
)
def test_an_internal_address_is_refused(provider: str, member: str) -> None:
    given = {"api_key": "key-of-tests", member: "http://169.254.169.254"}

    with pytest.raises(OutgoingRefusedError, match="is not a public one"):
        opened(provider, given)


def test_an_azure_address_of_the_new_kind_is_asked_without_a_version(stub: Stub) -> None:
    credentials = {
        "openai_api_base": f"{stub.root}/openai/v1/",
        "openai_api_key": "key-of-tests",
        "openai_api_version": "2024-10-21",
    }

    result = run_protocol(asking("azure_openai", stub, credentials=credentials))

    assert isinstance(result, Asked), result
    assert [one.path for one in stub.asked] == ["/openai/v1/chat/completions"]


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("us-gov-west-1", "bedrock-runtime.us-gov-west-1.amazonaws.com"),
        ("cn-northwest-1", "bedrock-runtime.cn-northwest-1.amazonaws.com.cn"),
    ],
)
def test_bedrock_is_called_at_the_endpoint_of_the_region(
    region: str, host: str, stub: Stub, bedrock: StubBedrock
) -> None:
    credentials = {**AWS, "aws_access_key_id": "AKIA", "aws_region": region}

    run_protocol(asking("bedrock", stub, credentials=credentials))

    assert bedrock.asked[0].path.startswith(f"https://{host}/model/")


def test_bedrock_takes_a_key_of_its_own_kind(stub: Stub, bedrock: StubBedrock) -> None:
    credentials = {"aws_region": "eu-central-1", "bedrock_api_key": "bedrock-key"}

    run_protocol(asking("bedrock", stub, credentials=credentials))

    assert bedrock.asked[0].key == "Bearer bedrock-key"


BEDROCK_HOST = "bedrock-runtime.eu-central-1.amazonaws.com"
ENTRIES = {
    "anthropic": StoredCredential(
        values={"anthropic_api_key": "sk-stored", "anthropic_api_url": "https://evil.example"},
        hosts=("api.anthropic.com",),
    ),
    "gemini": StoredCredential(
        values={"google_api_key": "sk-stored", "base_url": "https://evil.example"},
        hosts=("generativelanguage.googleapis.com",),
    ),
    "bedrock": StoredCredential(
        values={"aws_region": "us-east-1"}, hosts=("bedrock-runtime.eu-central-1.amazonaws.com",)
    ),
}


def opened(
    provider: str, credentials: Json, stored: StoredCredential | None = None, **options: Any
) -> str:
    """Open the model of a provider and return where it would call."""
    models = Models(
        outgoing=Outgoing(allow_internal=False, **options),
        stored_credentials=lambda name: stored if name == provider else None,
        scripted=False,
    )
    config = DifyPluginLLMLayerConfig(
        plugin_id="p",
        model_provider=provider,
        model=MODELS.get(provider, "model-x"),
        credentials=credentials,
    )

    async def open_it() -> str:
        async with models.open(config) as model:
            return str(model.base_url)

    return asyncio.run(open_it())


@pytest.mark.parametrize("provider", sorted(ENTRIES))
def test_a_stored_credential_goes_to_its_hosts_only(provider: str) -> None:
    with pytest.raises(OutgoingRefusedError, match="the stored credential may not be sent to"):
        opened(provider, {}, ENTRIES[provider])


@pytest.mark.parametrize(
    ("provider", "given"),
    [
        ("anthropic", {"anthropic_api_url": "https://evil.example"}),
        ("bedrock", {"aws_region": "us-east-1"}),
        ("bedrock", {"bedrock_endpoint_url": "https://evil.example"}),
        ("bedrock", {"bedrock_proxy_url": "evil.example:80"}),
    ],
)
def test_an_address_of_the_request_is_not_used_with_a_stored_credential(
    provider: str, given: Json
) -> None:
    with pytest.raises(ModelConfigError, match="only with credentials from the same request"):
        opened(provider, given, ENTRIES[provider])


def test_the_rights_of_the_function_are_used_when_the_stack_s_secret_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key-of-the-role")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-role")
    entry = StoredCredential(values={"aws_region": "eu-central-1"}, hosts=(BEDROCK_HOST,))

    assert opened("bedrock", {}, entry) == f"https://{BEDROCK_HOST}"


@pytest.mark.parametrize(
    ("provider", "base"),
    [
        ("anthropic", "https://api.anthropic.com"),
        ("gemini", "https://generativelanguage.googleapis.com"),
        ("openai", "https://api.openai.com/v1"),
    ],
)
def test_without_an_address_it_is_the_provider_s_own(provider: str, base: str) -> None:
    async def public(_host: str, _port: int) -> list[str]:
        return ["93.184.216.34"]

    where = opened(provider, {"api_key": "key-of-tests"}, resolve=public)

    assert where.rstrip("/") == base
