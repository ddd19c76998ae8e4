"""Makes the model that a composition asks for (dify-agent §7.3).

Credentials come from the request, or from the stack's secret by provider name. A stored secret
only ever goes to the hosts stored beside it, and an address from the request is used only with
credentials from the same request (DESIGN §8).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from sayso_agent.providers.base import ModelConfigError, ModelSpec
from sayso_agent.providers.table import ADDRESSES, ALIASES, PROVIDERS, SCRIPTED, SECRETS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from pydantic_ai.models import Model

    from sayso.ports import StoredCredential
    from sayso_agent.layers.plugin_llm import DifyPluginLLMLayerConfig
    from sayso_agent.outgoing import Outgoing
    from sayso_agent.providers.base import Provider, Secret

MIN_SECRET_CHARS: Final = 8


class Models:
    """Makes models. One for all segments."""

    def __init__(
        self,
        *,
        outgoing: Outgoing,
        stored_credentials: Callable[[str], StoredCredential | None],
        scripted: bool,
    ) -> None:
        self._outgoing = outgoing
        self._stored = stored_credentials
        self._known = {name for name in PROVIDERS if scripted or name != SCRIPTED}

    def open(self, config: DifyPluginLLMLayerConfig) -> AbstractAsyncContextManager[Model]:
        """Return the model of a ``dify.plugin.llm`` layer, open for as long as the context is.

        Raises:
            ModelConfigError: The provider is unknown or not built in, or its credentials do not
                fit.
        """
        name = self.provider_name(config)
        return _load(name)(self.spec(name, config), self._outgoing)

    def check(self, config: DifyPluginLLMLayerConfig) -> None:
        """Tell whether there is such a provider here, without looking at its credentials.

        Raises:
            ModelConfigError: The provider is unknown or not built in.
        """
        _load(self.provider_name(config))

    def secrets(self, config: DifyPluginLLMLayerConfig) -> set[str]:
        """Return the texts that nobody may be told, whoever quotes them.

        Not those that are too short to be a secret, and would be found in any text.
        """
        try:
            stored = self.spec(self.provider_name(config), config).credentials
        except ModelConfigError:
            stored = {}
        values = [one.get(name) for one in (config.credentials, stored) for name in SECRETS]
        return {
            one for one in values if isinstance(one, str) and len(one.strip()) >= MIN_SECRET_CHARS
        }

    def provider_name(self, config: DifyPluginLLMLayerConfig) -> str:
        """Return the last part of the name, which clients may spell as the path of a plugin.

        Raises:
            ModelConfigError: There is no such provider here.
        """
        spelled = (config.model_provider or config.plugin_id).rpartition("/")[2]
        name = ALIASES.get(spelled, spelled)
        if name in self._known:
            return name
        message = (
            f"unknown model provider {config.model_provider!r}, known are:"
            f" {', '.join(sorted(self._known))}"
        )
        raise ModelConfigError(message)

    def spec(self, name: str, config: DifyPluginLLMLayerConfig) -> ModelSpec:
        """Return the model with the credentials that may be used for it.

        Raises:
            ModelConfigError: The request names an address, but brings no credentials for it.
        """
        given = config.credentials
        stored = None if _any_of(given, SECRETS) else self._stored(name)
        if stored is None:
            return ModelSpec(provider=name, model=config.model, credentials=given)
        if _any_of(given, ADDRESSES):
            message = (
                "an address in the request's credentials is used only with credentials from the"
                " same request; leave it out to use the stored credential"
            )
            raise ModelConfigError(message)
        return ModelSpec(
            provider=name,
            model=config.model,
            credentials=stored.values,
            hosts=frozenset(host.lower() for host in stored.hosts),
        )


def _load(name: str) -> Provider:
    row = PROVIDERS[name]
    try:
        module = import_module(f"sayso_agent.providers.{row.module}")
    except ImportError as error:
        message = (
            f"the model provider {name!r} is not part of this deployment's agent layer; whoever"
            f" deploys it can add {row.build_word!r} to PROVIDERS of `make build`"
        )
        raise ModelConfigError(message) from error
    provider: Provider = getattr(module, row.function)
    return provider


def _any_of(credentials: Mapping[str, Secret], names: tuple[str, ...]) -> bool:
    return any(credentials.get(name) not in (None, "") for name in names)
