"""Which function serves which route: the template's routes, once more, as a table.

A test compares it with the template in both directions. The ``$default`` route answers 405 by it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT: Final = "$default"

FUNCTION_ROUTES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "create_run": ("POST /runs", "POST /runs/{run_id}/cancel"),
        "read_run": (
            "GET /runs/{run_id}",
            "HEAD /runs/{run_id}",
            "GET /runs/{run_id}/events",
            "HEAD /runs/{run_id}/events",
            "GET /runs/{run_id}/events/sse",
            "HEAD /runs/{run_id}/events/sse",
            "GET /v1/workflow/{run_id}/events",
            "HEAD /v1/workflow/{run_id}/events",
            "GET /console/api/workflow/{run_id}/events",
            "HEAD /console/api/workflow/{run_id}/events",
        ),
        "submit_form": (
            "GET /form/{token}",
            "HEAD /form/{token}",
            "POST /form/{token}",
            "GET /api/form/human_input/{form_token}",
            "HEAD /api/form/human_input/{form_token}",
            "POST /api/form/human_input/{form_token}",
            "POST /api/form/human_input/{form_token}/upload-token",
            "POST /api/form/human_input/files/upload",
            "POST /api/form/human_input/files/remote-upload",
        ),
        "console": (
            "GET /v1/form/human_input/{form_token}",
            "HEAD /v1/form/human_input/{form_token}",
            "POST /v1/form/human_input/{form_token}",
            "GET /openapi/v1/apps/{app_id}/human-input-forms/{form_token}",
            "HEAD /openapi/v1/apps/{app_id}/human-input-forms/{form_token}",
            "POST /openapi/v1/apps/{app_id}/human-input-forms/{form_token}",
            "GET /console/api/form/human_input/{form_token}",
            "HEAD /console/api/form/human_input/{form_token}",
            "POST /console/api/form/human_input/{form_token}",
            "POST /console/api/forms/{form_id}/extend",
            "POST /console/api/forms/{form_id}/withdraw",
            "POST /console/api/forms/{form_id}/recipients/{number}/revoke",
            "POST /console/api/delivery-test",
            "GET /console/api/members",
            "HEAD /console/api/members",
            "PUT /console/api/members/{member_id}",
            "DELETE /console/api/members/{member_id}",
            DEFAULT,
        ),
    }
)
"""Function → route keys."""


def methods_of(path: str) -> tuple[str, ...]:
    """Return the methods that a path has, sorted; none for an unknown path."""
    parts = path.split("/")
    found = {
        method
        for routes in FUNCTION_ROUTES.values()
        for method, _, template in (route.partition(" ") for route in routes)
        if template and _fits(parts, template.split("/"))
    }
    return tuple(sorted(found))


def _fits(parts: list[str], template: list[str]) -> bool:
    return len(parts) == len(template) and all(
        part == wanted or (wanted.startswith("{") and part != "")
        for part, wanted in zip(parts, template, strict=True)
    )


def as_get(route: str) -> str:
    """Return the route key under which a HEAD request is looked up: that of its GET."""
    method, separator, path = route.partition(" ")
    return f"GET{separator}{path}" if method == "HEAD" else route
