"""What the page function imports stays light: it answers people who wait (DESIGN §9)."""

from __future__ import annotations

import subprocess
import sys

import pytest

NEEDED_BY_THE_PAGE = (
    "sayso.settings",
    "sayso.observability",
    "sayso.system",
    "sayso.aws.clients",
    "sayso.aws.table",
    "sayso.aws.queue",
    "sayso.aws.secrets",
    "sayso.store.limiter",
    "sayso.domain.links",
)
HEAVY = ("pydantic", "jinja2", "bleach", "pydantic_ai", "boto3", "s3transfer", "asyncio")
WITHOUT_AWS = ("sayso.ports", "sayso.settings", "sayso.system", "sayso.store.limiter")


def loaded_by(modules: tuple[str, ...]) -> set[str]:
    """Return the top-level modules that a fresh interpreter has after importing these."""
    code = (
        f"import {', '.join(modules)}, sys; print(*{{name.split('.')[0] for name in sys.modules}})"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    return set(output.split())


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        (NEEDED_BY_THE_PAGE, HEAVY),
        (WITHOUT_AWS, (*HEAVY, "botocore", "aws_lambda_powertools")),
    ],
    ids=["page", "without AWS"],
)
def test_nothing_heavy_is_imported(modules: tuple[str, ...], heavy: tuple[str, ...]) -> None:
    assert loaded_by(modules).intersection(heavy) == set()


def test_in_memory_ports_need_no_aws() -> None:
    modules = ("table", "clock", "queue", "timers", "mailer", "objects", "access", "faults")

    loaded = loaded_by(tuple(f"sayso.testing.{name}" for name in modules))

    assert loaded.isdisjoint({"botocore", "boto3", "aws_lambda_powertools", "pydantic"})
