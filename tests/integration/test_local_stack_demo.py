"""`make demo` on the real functions: a run asks, a person answers, the run goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sayso_local.demo import Steps, play
from sayso_local.sample import create_request, openai_model, scripted_model
from stub_model.server import stub_model

if TYPE_CHECKING:
    from sayso_local.stack import LocalStack

pytestmark = pytest.mark.stack


def test_the_answer_of_a_person_reaches_the_result(
    local_stack: LocalStack, capsys: pytest.CaptureFixture[str]
) -> None:
    play(local_stack, create_request(scripted_model()), Steps())

    last_line = capsys.readouterr().out.splitlines()[-1]
    assert "the run has ended" in last_line
    assert "Fine with me" in last_line


def test_the_answer_reaches_a_model_behind_http(
    local_stack: LocalStack, capsys: pytest.CaptureFixture[str]
) -> None:
    """The real client of an OpenAI-compatible address, streaming included."""
    with stub_model() as address:
        play(local_stack, create_request(openai_model(address)), Steps())

    last_line = capsys.readouterr().out.splitlines()[-1]
    assert "Fine with me" in last_line
