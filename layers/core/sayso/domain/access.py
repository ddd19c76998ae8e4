"""Who may do what through which route: API keys, roles, surfaces, as tables (human-input §6.1).

Tenant and app come from the key alone (DESIGN decision 3). A route that is not in ``ROUTE_ROLES``
cannot be served with a key: ``role_may`` refuses it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

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


_RUNS = frozenset({Role.SERVICE, Role.CONSOLE, Role.ADMIN})
_SERVICE = frozenset({Role.SERVICE, Role.ADMIN})
_OPENAPI = frozenset({Role.OPENAPI, Role.ADMIN})
_CONSOLE = frozenset({Role.CONSOLE, Role.ADMIN})

ROUTE_ROLES: Mapping[str, frozenset[Role]] = MappingProxyType(
    {
        "POST /runs": _RUNS,
        "POST /runs/{run_id}/cancel": _RUNS,
        "GET /runs/{run_id}": _RUNS,
        "GET /runs/{run_id}/events": _RUNS,
        "GET /runs/{run_id}/events/sse": _RUNS,
        "GET /v1/workflow/{run_id}/events": _SERVICE,
        "GET /console/api/workflow/{run_id}/events": _CONSOLE,
        "GET /v1/form/human_input/{form_token}": _SERVICE,
        "POST /v1/form/human_input/{form_token}": _SERVICE,
        "GET /openapi/v1/apps/{app_id}/human-input-forms/{form_token}": _OPENAPI,
        "POST /openapi/v1/apps/{app_id}/human-input-forms/{form_token}": _OPENAPI,
        "GET /console/api/form/human_input/{form_token}": _CONSOLE,
        "POST /console/api/form/human_input/{form_token}": _CONSOLE,
        "POST /console/api/forms/{form_id}/extend": _CONSOLE,
        "POST /console/api/forms/{form_id}/withdraw": _CONSOLE,
        "POST /console/api/forms/{form_id}/recipients/{number}/revoke": _CONSOLE,
        "POST /console/api/delivery-test": _CONSOLE,
        "GET /console/api/members": _CONSOLE,
        "PUT /console/api/members/{member_id}": _CONSOLE,
        "DELETE /console/api/members/{member_id}": _CONSOLE,
    }
)
"""Route key → roles that may use it. Form pages and the public form JSON are not here: the link is
their credential."""


def role_may(role: Role, route: str) -> bool:
    """Tell whether a key of this role may use the route."""
    return role in ROUTE_ROLES.get(route, frozenset())


def may_try_out(role: Role) -> bool:
    """Tell whether a key of this role may start runs of the console (DESIGN decision 3)."""
    return role in _CONSOLE


class Surface(StrEnum):
    """The API through which somebody touches a form, or is told about it."""

    PAGE = "page"
    """The approver's page and the public form JSON."""
    SERVICE_API = "service_api"
    OPENAPI = "openapi"
    CONSOLE = "console"
    WEB = "web"
    """Streams that users of a web app are shown; no route of ours serves them."""


SURFACE_RECIPIENTS: Final[Mapping[Surface, frozenset[RecipientType]]] = MappingProxyType(
    {
        Surface.PAGE: frozenset(
            {
                RecipientType.STANDALONE_WEB_APP,
                RecipientType.EMAIL_MEMBER,
                RecipientType.EMAIL_EXTERNAL,
            }
        ),
        Surface.SERVICE_API: frozenset({RecipientType.STANDALONE_WEB_APP}),
        Surface.OPENAPI: frozenset({RecipientType.STANDALONE_WEB_APP}),
        Surface.CONSOLE: frozenset({RecipientType.CONSOLE, RecipientType.BACKSTAGE}),
        Surface.WEB: frozenset({RecipientType.STANDALONE_WEB_APP}),
    }
)
"""Surface → types of recipients whose links work there."""


def surface_may(surface: Surface, recipient: RecipientType) -> bool:
    """Tell whether a link of that recipient type works on the surface."""
    return recipient in SURFACE_RECIPIENTS[surface]
