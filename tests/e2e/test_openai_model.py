"""The main job with a real client of an OpenAI-compatible model, over HTTP, in pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from e2e.models import model_server
from e2e.scenes import MODEL_KEY, comment, filled, openai, somebody, to_mail
from e2e.web import get, submit

if TYPE_CHECKING:
    from e2e.stage import Stage

pytestmark = pytest.mark.stack


def test_a_model_over_http_asks_and_gets_the_answer(stage: Stage) -> None:
    address, said = somebody(), comment()
    with model_server() as model:
        run_id = stage.create(openai(model.url, human_input=to_mail(address)))
        link = stage.mailed_link(address)
        answered = submit(link, filled(get(link).text, "approve", said))
        output = stage.output(run_id)

    assert answered.status == 303
    assert said in output
    assert (len(model.calls), model.streams) == (2, 2)
    shown = [event["data"] for event in stage.events(run_id)]
    assert any("part_delta" in str(data.get("event_kind")) for data in shown)
    assert MODEL_KEY not in stage.log
