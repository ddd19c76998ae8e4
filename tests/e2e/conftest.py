"""One local stack for all end-to-end tests, whose leases are short so that takeovers are quick."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import sync_playwright

from e2e.scenes import asking
from e2e.stage import Stage
from sayso.domain.transitions import RunStatus
from sayso_local.places import find_places
from sayso_local.stack import running_stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from sayso.domain.ids import RunId

LEASE_SECONDS = 3


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    """The real template on the emulator, behind one port."""
    parameters = {"LeaseSeconds": str(LEASE_SECONDS)}
    with running_stack(find_places(), port=0, parameters=parameters) as stack:
        yield Stage(stack)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; closed after each module, since its event loop would be in others' way."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def waiting(stage: Stage) -> RunId:
    """A run that waits for an answer, which no test gives."""
    run_id = stage.create(asking())
    stage.records.wait_until(run_id, RunStatus.PAUSED)
    return run_id


@pytest.fixture(scope="module")
def link(stage: Stage, waiting: RunId) -> str:
    """The link of its form."""
    (form,) = stage.records.forms(waiting)
    return stage.link_to(form)
