"""``anthropic``: Claude at Anthropic's own API, or at an address that speaks its format.

The credentials are those of the Dify plugin ``langgenius/anthropic`` (its provider schema).
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic_ai.models import Model

    from sayso_agent.outgoing import Outgoing
    from sayso_agent.providers.base import ModelSpec

_ANTHROPIC_BASE: Final = "https://api.anthropic.com"


@asynccontextmanager
async def anthropic(spec: ModelSpec, outgoing: Outgoing) -> AsyncIterator[Model]:
    """Return a Claude model, at the address given as ``anthropic_api_url`` or Anthropic's own."""
    key = spec.required("anthropic_api_key", "api_key")
    base = spec.text("anthropic_api_url", "base_url") or _ANTHROPIC_BASE
    async with outgoing.client(base, hosts=spec.hosts) as client:
        provider = AnthropicProvider(api_key=key, base_url=base, http_client=client)
        yield AnthropicModel(spec.model, provider=provider)
