"""What a provider is given to make a model from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractAsyncContextManager

    from pydantic_ai.models import Model

    from sayso_agent.outgoing import Outgoing

Secret = str | int | float | bool | None


class ModelConfigError(ValueError):
    """The composition's model cannot be made; the text tells the caller what to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """One model, with the credentials that may be used for it."""

    provider: str
    model: str
    credentials: Mapping[str, Secret] = field(repr=False)
    hosts: frozenset[str] | None = None
    """Where the credentials may go; None: they came with the request, which may say where."""

    def text(self, *names: str) -> str:
        """Return the first credential of these names that is a non-blank text, else an empty one."""
        for name in names:
            value = self.credentials.get(name)
            if isinstance(value, str) and value.strip():
                return value.strip()
        return ""

    def required(self, *names: str) -> str:
        """Return the first credential of these names that is a non-blank text.

        Raises:
            ModelConfigError: There is none; the text asks for the first name.
        """
        if not (value := self.text(*names)):
            message = f"the {self.provider} provider needs credentials.{names[0]}"
            raise ModelConfigError(message)
        return value


class Provider(Protocol):
    """Makes models of one kind."""

    def __call__(self, spec: ModelSpec, outgoing: Outgoing) -> AbstractAsyncContextManager[Model]:
        """Return the model, open for as long as the context is.

        Raises:
            ModelConfigError: A credential is missing or does not fit.
        """
