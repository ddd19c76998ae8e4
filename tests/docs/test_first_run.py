"""The README's first run, copied and pasted against a local stack."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from docs.pages import README, Block, blocks_of
from sayso_local import browser
from sayso_local.api import ENDED, Api, wait_for

if TYPE_CHECKING:
    from sayso_local.stack import LocalStack

pytestmark = [
    pytest.mark.stack,
    pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed"),
]
NOTE = "Fine with me."


def _blocks() -> list[Block]:
    """Return the shell blocks between the first run's heading and the next one."""
    text = README.read_text()
    begin, end = text.index("\n## Your first run\n"), text.index("\n## Deploy it\n")
    lines = range(text.count("\n", 0, begin), text.count("\n", 0, end))
    return [one for one in blocks_of(README) if one.language == "sh" and one.number in lines]


def _paste(*texts: str) -> str:
    """Run blocks one after another in one shell and return what they print."""
    script = "\n".join(texts)
    done = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout


def test_the_first_run_of_the_readme_ends_with_what_a_person_decided(
    local_stack: LocalStack,
) -> None:
    settings, create, follow, look = [block.text for block in _blocks()]
    here = re.sub(r"^API=.*$", f"API={local_stack.url}", settings, flags=re.MULTILINE)
    here = re.sub(r"^KEY=.*$", f"KEY={local_stack.api_key}", here, flags=re.MULTILINE)

    run_id = _paste(here, create).strip()
    found = _paste(here, f"RUN={run_id}", follow).strip()
    link = found.removeprefix('"form_url":"').removesuffix('"')
    form = browser.read_form(browser.open_page(link))
    browser.post(link, form, browser.fill(form, text=NOTE, button="deploy"))
    wait_for("the run to end", lambda: Api(local_stack).status(run_id) in ENDED or None)
    ended = _paste(here, f"RUN={run_id}", look)

    assert here != settings
    assert '"output":"A person said:' in ended
    assert NOTE in ended
    assert '"status":"succeeded"' in ended
