"""Who may do what through which route: API keys, roles, surfaces, as tables.

Tenant and app come from the key alone (DESIGN decision 3). A route that is not in ``ROUTE_ROLES``
cannot be served with a key: ``role_may`` refuses it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sayso.domain.form import RecipientType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.ids import AppId, TenantId


class Role(StrEnum):
    """What an API key is for."""

    SERVICE = "service"
    OPENAPI = "openapi"
    CONSOLE = "console"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """The record of one API key; the key itself is never stored."""

    id: str
    tenant: TenantId
    app: AppId
    role: Role
    default_policy: Mapping[str, Any] | None = None
    """``human_input`` of runs that bring none."""
    disabled: bool = False
    limits: Mapping[str, int] = field(default_factory=dict)


_ALL = frozenset(Role)
_RUNS = frozenset({Role.SERVICE, Role.CONSOLE, Role.ADMIN})

ROUTE_ROLES: Mapping[str, frozenset[Role]] = MappingProxyType(
    {
        "POST /runs": _RUNS,
        "POST /runs/{run_id}/cancel": _RUNS,
        "GET /runs/{run_id}": _RUNS,
        "GET /runs/{run_id}/events": _RUNS,
        "GET /runs/{run_id}/events/sse": _RUNS,
        "GET /v1/form/human_input/{form_token}": frozenset({Role.SERVICE, Role.ADMIN}),
        "POST /v1/form/human_input/{form_token}": frozenset({Role.SERVICE, Role.ADMIN}),
    }
)
"""Route key → roles that may use it. Form pages are not here: the link is their credential."""


def role_may(role: Role, route: str) -> bool:
    """Tell whether a key of this role may use the route."""
    return role in ROUTE_ROLES.get(route, frozenset())


class Surface(StrEnum):
    """The API through which somebody touches a form (human-input §6)."""

    PAGE = "page"
    SERVICE_API = "service_api"


SURFACE_RECIPIENTS: Mapping[Surface, frozenset[RecipientType]] = MappingProxyType(
    {
        Surface.PAGE: frozenset(
            {
                RecipientType.STANDALONE_WEB_APP,
                RecipientType.EMAIL_MEMBER,
                RecipientType.EMAIL_EXTERNAL,
            }
        ),
        Surface.SERVICE_API: frozenset({RecipientType.STANDALONE_WEB_APP}),
    }
)


def surface_may(surface: Surface, recipient: RecipientType) -> bool:
    """Tell whether a link of that recipient type works on the surface (human-input §6.1)."""
    return recipient in SURFACE_RECIPIENTS[surface]
