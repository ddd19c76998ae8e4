"""The table of routes that ``$default`` answers by."""

from __future__ import annotations

import pytest

from sayso.http.routes import methods_of


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/runs", ("POST",)),
        ("/runs/1", ("GET", "HEAD")),
        ("/runs/1/cancel", ("POST",)),
        ("/form/x", ("GET", "HEAD", "POST")),
        ("/runs/", ()),
        ("/runs//events", ()),
        ("/", ()),
        ("/other", ()),
        ("/runs/1/events/sse/more", ()),
    ],
)
def test_a_path_has_the_methods_of_its_routes(path: str, methods: tuple[str, ...]) -> None:
    assert methods_of(path) == methods
