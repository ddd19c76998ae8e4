"""Clients whose calls are answered by ``Stubber``, which checks them against the service model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from botocore.stub import Stubber

from sayso.aws.clients import Clients

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from botocore.client import BaseClient

    MakeStub = Callable[[BaseClient], Stubber]


@pytest.fixture(scope="session")
def clients() -> Iterator[Clients]:
    """Clients with sample credentials; nothing they send leaves the process."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        patch.setenv("AWS_ACCESS_KEY_ID", "sample")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "sample")
        yield Clients("eu-west-1")


@pytest.fixture
def stub() -> Iterator[MakeStub]:
    """Return what puts a stub on a client; each must have been used up in the end."""
    stubbers: list[Stubber] = []

    def make(client: BaseClient) -> Stubber:
        stubber = Stubber(client)
        stubber.activate()
        stubbers.append(stubber)
        return stubber

    yield make
    for stubber in stubbers:
        stubber.deactivate()
        stubber.assert_no_pending_responses()
