"""The template's parameters on this machine."""

from __future__ import annotations

import pytest

from sayso_local.stack import local_parameters
from support.template import TEMPLATE, section


@pytest.mark.parametrize("limits", [None, "real"])
def test_every_local_parameter_is_one_of_the_template(
    limits: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if limits:
        monkeypatch.setenv("LIMITS", limits)
    else:
        monkeypatch.delenv("LIMITS", raising=False)

    parameters = local_parameters("http://127.0.0.1:8080")

    assert set(parameters) <= set(section(TEMPLATE, "Parameters"))
    assert ("FormRateLimit" in parameters) == (limits is None)
    assert parameters["PublicBaseUrl"] == "http://127.0.0.1:8080"
