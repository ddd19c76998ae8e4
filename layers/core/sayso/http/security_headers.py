"""Headers of every page: nothing is loaded, framed, cached, indexed, or told to other sites.

Sources: CSP level 3; OWASP HTTP headers cheat sheet. The path of a page is a secret, hence
``no-referrer`` and ``no-store``.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_FIXED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Referrer-Policy": "no-referrer",
        "Strict-Transport-Security": "max-age=63072000",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "X-Robots-Tag": "noindex, nofollow",
    }
)


def security_headers(nonce: str) -> dict[str, str]:
    """Return the headers of one page.

    Args:
        nonce: Style nonce of this response, unpredictable and never used again.
    """
    policy = (
        f"default-src 'none'; style-src 'nonce-{nonce}'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    return {"Content-Security-Policy": policy, **_FIXED}
