"""Checks the API key of a request. Every route but form pages and ``$default`` goes through here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.domain.access import role_may
from sayso.domain.errors import AuthenticationError, NotAllowedError
from sayso.http.routes import as_get

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sayso.domain.access import ApiKey
    from sayso.ports import Directory


def authenticate(headers: Mapping[str, str], route: str, directory: Directory) -> ApiKey:
    """Return the key that a request brings, if it may use the route.

    Texts and order of checks are those of dify-agent §3.

    Args:
        headers: By lower-case name.
        route: Route key of the API; HEAD counts as its GET.
        directory: Knows the keys.

    Raises:
        AuthenticationError: No key, or none that is known and enabled.
        NotAllowedError: The role of the key may not use this route.
    """
    header = headers.get("authorization")
    if header is None:
        raise AuthenticationError("missing authorization header")
    scheme, _, secret = header.strip().partition(" ")
    secret = secret.strip()
    if scheme.lower() != "bearer" or not secret:
        raise AuthenticationError("invalid authorization scheme")
    key = directory.find_key(secret)
    if key is None or key.disabled:
        raise AuthenticationError("invalid bearer token")
    if not role_may(key.role, as_get(route)):
        message = f"a key of role {key.role.value!r} may not use {route!r}"
        raise NotAllowedError(message)
    return key
