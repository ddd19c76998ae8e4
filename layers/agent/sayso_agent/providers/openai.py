"""``openai`` and whatever speaks its chat-completions format."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic_ai.models import Model

    from sayso_agent.outgoing import Outgoing
    from sayso_agent.providers.base import ModelSpec

_OPENAI_BASE: Final = "https://api.openai.com/v1"
NO_KEY: Final = "none"
"""The SDK wants a key; servers that need none ignore it."""


@asynccontextmanager
async def openai(spec: ModelSpec, outgoing: Outgoing) -> AsyncIterator[Model]:
    """Return an OpenAI model, at the address given as ``openai_api_base`` or OpenAI's own."""
    key = spec.required("openai_api_key", "api_key")
    base = _with_version(spec.text("openai_api_base", "endpoint_url", "base_url") or _OPENAI_BASE)
    async with outgoing.client(base, hosts=spec.hosts) as client:
        provider = OpenAIProvider(base_url=base, api_key=key, http_client=client)
        yield OpenAIChatModel(spec.model, provider=provider)


@asynccontextmanager
async def openai_compatible(spec: ModelSpec, outgoing: Outgoing) -> AsyncIterator[Model]:
    """Return a model of a server that speaks OpenAI's format, at ``endpoint_url``."""
    base = spec.required("endpoint_url", "openai_api_base", "base_url")
    key = spec.text("api_key", "openai_api_key") or NO_KEY
    async with outgoing.client(base, hosts=spec.hosts) as client:
        provider = OpenAICompatibleProvider(
            spec.provider, base_url=base, api_key=key, http_client=client
        )
        yield OpenAIChatModel(spec.text("endpoint_model_name") or spec.model, provider=provider)


def _with_version(base: str) -> str:
    """Add the version to a bare address, which is how the contract's clients write it."""
    scheme, _, rest = base.rstrip("/").partition("://")
    return f"{scheme}://{rest}" if "/" in rest else f"{scheme}://{rest}/v1"
