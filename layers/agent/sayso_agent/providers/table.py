"""The model providers there are: how each is made, and which SDK it needs.

A new provider is a row here and a module beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

SCRIPTED: Final = "scripted"


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """One provider.

    Its module is named, not imported: an SDK is slow to import and may be missing in the layer.
    """

    module: str
    """Module in ``sayso_agent.providers``."""
    function: str
    """The ``Provider`` in it."""
    build_word: str
    """Names its SDK in ``make build PROVIDERS="…"``."""


PROVIDERS: Final[Mapping[str, ProviderRow]] = {
    "openai": ProviderRow("openai", "openai", "openai"),
    "openai_api_compatible": ProviderRow("openai", "openai_compatible", "openai"),
    "azure_openai": ProviderRow("azure_openai", "azure_openai", "openai"),
    "ollama": ProviderRow("ollama", "ollama", "openai"),
    "anthropic": ProviderRow("anthropic", "anthropic", "anthropic"),
    "bedrock": ProviderRow("bedrock", "bedrock", "bedrock"),
    "gemini": ProviderRow("gemini", "gemini", "gemini"),
    SCRIPTED: ProviderRow("scripted", "scripted", "openai"),
}

ALIASES: Final[Mapping[str, str]] = {"google": "gemini"}
"""The plugin ``langgenius/gemini`` calls its provider ``google``."""

ADDRESSES: Final = (
    "endpoint_url",
    "openai_api_base",
    "base_url",
    "anthropic_api_url",
    "aws_region",
    "bedrock_endpoint_url",
    "bedrock_proxy_url",
)
"""Credentials, of whatever provider, that say where calls go."""

SECRETS: Final = (
    "openai_api_key",
    "api_key",
    "anthropic_api_key",
    "google_api_key",
    "aws_access_key_id",
    "aws_secret_access_key",
    "aws_session_token",
    "bedrock_api_key",
    "azure_client_secret",
    "script",
)
"""Credentials, of whatever provider, that prove who calls: a request with one brings its own."""
