"""``azure_openai``: OpenAI's models as deployments of an Azure resource.

The credentials are those of the Dify plugin ``langgenius/azure_openai`` (its provider schema). The
model's name is that of the deployment, which says nothing about what it can do: that is what
``base_model_name`` is for.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.azure import AzureProvider

from sayso_agent.providers.base import ModelConfigError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic_ai.models import Model

    from sayso_agent.outgoing import Outgoing
    from sayso_agent.providers.base import ModelSpec

_DEFAULT_VERSION: Final = "2025-04-01-preview"
"""The plugin's own default, so that credentials that work there work here."""
_KEY_METHODS: Final = ("", "api_key")


@asynccontextmanager
async def azure_openai(spec: ModelSpec, outgoing: Outgoing) -> AsyncIterator[Model]:
    """Return the model of a deployment at ``openai_api_base``.

    An address that ends in ``/v1`` has no versions; any other is asked for
    ``openai_api_version``.
    """
    if (method := spec.text("auth_method")) not in _KEY_METHODS:
        message = f"the azure_openai provider signs in with an API key only, not by {method!r}"
        raise ModelConfigError(message)
    base = spec.required("openai_api_base", "endpoint_url", "base_url").rstrip("/")
    key = spec.required("openai_api_key", "api_key")
    version = None if base.endswith("/v1") else spec.text("openai_api_version") or _DEFAULT_VERSION
    async with outgoing.client(base, hosts=spec.hosts) as client:
        provider = AzureProvider(
            azure_endpoint=base, api_version=version, api_key=key, http_client=client
        )
        profile = provider.model_profile(spec.text("base_model_name") or spec.model)
        yield OpenAIChatModel(spec.model, provider=provider, profile=profile)
