"""Headers of pages."""

from __future__ import annotations

from sayso.http.security_headers import security_headers


def test_a_page_may_load_nothing_but_its_own_style_and_send_only_to_us() -> None:
    assert security_headers("abc") == {
        "Content-Security-Policy": (
            "default-src 'none'; style-src 'nonce-abc'; form-action 'self'; base-uri 'none';"
            " frame-ancestors 'none'"
        ),
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
