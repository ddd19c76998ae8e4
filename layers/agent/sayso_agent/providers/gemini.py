"""``gemini``: Google's models by an API key, without a project of Google Cloud.

The credential is that of the Dify plugin ``langgenius/gemini``, whose provider is called
``google``.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from pydantic_ai.models.google import GoogleModel
from pydantic_ai.providers.google import GoogleProvider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic_ai.models import Model

    from sayso_agent.outgoing import Outgoing
    from sayso_agent.providers.base import ModelSpec

_GOOGLE_BASE: Final = "https://generativelanguage.googleapis.com"


@asynccontextmanager
async def gemini(spec: ModelSpec, outgoing: Outgoing) -> AsyncIterator[Model]:
    """Return a Gemini model, at the address given as ``base_url`` or Google's own."""
    key = spec.required("google_api_key", "api_key")
    base = spec.text("base_url") or _GOOGLE_BASE
    async with outgoing.client(base, hosts=spec.hosts) as client:
        provider = GoogleProvider(api_key=key, base_url=base, http_client=client)
        try:
            yield GoogleModel(spec.model, provider=provider)
        finally:
            provider.client.close()  # it has a second client, for calls that do not wait
