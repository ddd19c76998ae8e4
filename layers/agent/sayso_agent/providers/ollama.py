"""``ollama``: a server of one's own, found by its base address, which speaks OpenAI's format too.

The credentials are those of the Dify plugin ``langgenius/ollama``: ``base_url`` is the server's
root, and ``api_key`` is for the rare one that asks for a key.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.providers.ollama import OllamaProvider

from sayso_agent.providers.openai import NO_KEY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic_ai.models import Model

    from sayso_agent.outgoing import Outgoing
    from sayso_agent.providers.base import ModelSpec


@asynccontextmanager
async def ollama(spec: ModelSpec, outgoing: Outgoing) -> AsyncIterator[Model]:
    """Return a model of the server at ``base_url``."""
    root = spec.required("base_url", "endpoint_url", "openai_api_base").rstrip("/")
    base = root if root.endswith("/v1") else f"{root}/v1"
    # Never empty: the provider would look into the environment for a key then.
    key = spec.text("api_key", "openai_api_key") or NO_KEY
    async with outgoing.client(base, hosts=spec.hosts) as client:
        provider = OllamaProvider(base_url=base, api_key=key, http_client=client)
        yield OllamaModel(spec.model, provider=provider)
