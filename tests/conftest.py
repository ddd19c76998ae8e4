"""What all tests share: one local stack for those that need it, started when the first one asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sayso_local.stack import LocalStack


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep all tests of the local stack in one worker, so that only one stack is started."""
    for item in items:
        if item.get_closest_marker("stack") or item.get_closest_marker("e2e"):
            item.add_marker(pytest.mark.xdist_group("stack"))


@pytest.fixture(scope="session")
def local_stack() -> Iterator[LocalStack]:
    """The real template on the emulator, behind one port; nothing is in it."""
    from sayso_local.places import find_places  # noqa: PLC0415 - fast tests do without boto3
    from sayso_local.stack import running_stack  # noqa: PLC0415

    with running_stack(find_places(), port=0, parameters={}) as stack:
        yield stack
