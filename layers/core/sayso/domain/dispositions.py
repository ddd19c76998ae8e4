"""Which token readers of a surface are shown, and where else a form is answered (human-input §6.3)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from sayso.domain.access import Surface, surface_may
from sayso.domain.form import RecipientType
from sayso.domain.invocation import TRIED_OUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sayso.domain.form import Recipient


class Channel(StrEnum):
    """What an API caller is told about where else a form can be answered (§2.3)."""

    EMAIL = "email"
    WEB_APP = "web_app"
    CONSOLE = "console"


CHANNELS: Final[Mapping[RecipientType, Channel]] = MappingProxyType(
    {
        RecipientType.EMAIL_MEMBER: Channel.EMAIL,
        RecipientType.EMAIL_EXTERNAL: Channel.EMAIL,
        RecipientType.STANDALONE_WEB_APP: Channel.WEB_APP,
        RecipientType.CONSOLE: Channel.CONSOLE,
        RecipientType.BACKSTAGE: Channel.CONSOLE,
    }
)

_BEST_FIRST: Final = (
    RecipientType.BACKSTAGE,
    RecipientType.CONSOLE,
    RecipientType.STANDALONE_WEB_APP,
)
"""Order in which a token is chosen. Mailed ones never: such a link is in its mail only."""

_OF_INVOCATION: Final[Mapping[str, Surface]] = MappingProxyType(
    {"": Surface.SERVICE_API, "service-api": Surface.SERVICE_API}
    | {"openapi": Surface.OPENAPI, "web-app": Surface.WEB}
)
"""A run whose request does not say came through an API key, which is the service API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disposition:
    """How readers of one surface get at a form."""

    recipient: Recipient | None
    """Whose token they are shown; None: others answer."""
    approval_channels: tuple[Channel, ...]


def surface_of(invoke_from: str) -> Surface | None:
    """Return the surface of a run's readers; None for runs of the console and of no surface."""
    assert TRIED_OUT.isdisjoint(_OF_INVOCATION)
    return _OF_INVOCATION.get(invoke_from)


def disposition(recipients: Iterable[Recipient], surface: Surface | None) -> Disposition:
    """Return the best token among the recipients a surface may act on, and the other channels.

    Without a surface every token may be shown, and there are no other channels.
    """
    listed = list(recipients)
    allowed = [one for one in listed if surface is None or surface_may(surface, one.type)]
    best = min(
        (one for one in allowed if one.type in _BEST_FIRST),
        key=lambda one: (_BEST_FIRST.index(one.type), one.number),
        default=None,
    )
    others = {CHANNELS[one.type] for one in listed if one not in allowed}
    return Disposition(recipient=best, approval_channels=tuple(sorted(others)))
