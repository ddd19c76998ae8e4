"""Examples are what they say: requests are accepted, code runs, JSON is JSON."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from docs.pages import README, blocks, blocks_of
from sayso.aws.secrets import _parse as parse_link_keys
from sayso.aws_wiring import credential_in
from sayso.domain.access import Surface
from sayso.domain.ask_result import _RESULTS
from sayso.domain.policy import HumanInputPolicy
from sayso.http.request import HttpRequest
from sayso.http.schemas import CancelRunRequest, parse_create_run
from sayso.http.submission_body import read_submission
from sayso_agent.compositor import compose
from sayso_agent.layers.ask_human import DifyAskHumanLayerConfig, normalise
from sayso_agent.layers.base import Layer
from sayso_agent.layers.registry import BUILT_IN, build_registry
from sayso_agent.protocol import RunRequest
from sayso_agent.providers.scripted import _read as read_script
from sayso_agent.providers.table import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from docs.pages import Block

HERE_DOCUMENT = re.compile(r"<<'EOF'.*?\n(.*?)\nEOF\n", re.DOTALL)


def _check_create_run(text: str) -> None:
    value = json.loads(text)
    parse_create_run(value)
    composition = compose(RunRequest.model_validate(value), build_registry(BUILT_IN))
    config: Any = composition.layers["llm"].config
    assert config.model_provider in PROVIDERS
    if script := config.credentials.get("script"):
        _check_script(script)


def _check_script(text: str) -> None:
    for turn in read_script(text):
        for call in turn.calls:
            assert isinstance(call.args, dict)
            normalise(call.args, DifyAskHumanLayerConfig())


def _check_ask(text: str) -> None:
    asked = normalise(json.loads(text), DifyAskHumanLayerConfig())
    assert asked.title


def _check_answer(text: str) -> None:
    answer = json.loads(text)
    assert set(answer) == {"status", "action", "values", "message", "rendered_content"}
    assert answer["status"] in _RESULTS.values()


def _check_model_secret(text: str) -> None:
    for provider in json.loads(text):
        assert provider in PROVIDERS
        assert credential_in(text, provider)


def _check_submission(text: str) -> object:
    request = HttpRequest(method="POST", route="", path="", body=text)
    return read_submission(request, Surface.SERVICE_API)


CHECKS: Mapping[str, Callable[[str], object]] = {
    "": json.loads,
    "answer": _check_answer,
    "ask_human": _check_ask,
    "cancel": CancelRunRequest.model_validate_json,
    "create_run": _check_create_run,
    "human_input": HumanInputPolicy.model_validate_json,
    "link_keys": parse_link_keys,
    "model_secret": _check_model_secret,
    "script": _check_script,
    "submit_form": _check_submission,
}


@pytest.mark.parametrize("block", blocks("json"), ids=str)
def test_json_is_what_its_tag_says(block: Block) -> None:
    CHECKS[block.tag](block.text)


def test_every_check_has_an_example() -> None:
    assert {block.tag for block in blocks("json")} == set(CHECKS)


def test_the_first_request_of_the_readme_is_accepted() -> None:
    texts = [HERE_DOCUMENT.search(block.text) for block in blocks_of(README)]
    bodies = [match[1] for match in texts if match]

    assert len(bodies) == 1
    _check_create_run(bodies[0])


@pytest.mark.parametrize("block", blocks("python", ""), ids=str)
def test_python_blocks_run_and_make_layers(block: Block) -> None:
    names: dict[str, Any] = {"__name__": "docs_example"}

    exec(compile(block.text, str(block), "exec"), names)  # noqa: S102 - our own docs

    made = [one for one in names.values() if isinstance(one, type) and issubclass(one, Layer)]
    types = [one for one in made if one is not Layer]
    registry = build_registry([*BUILT_IN, *types])
    request = {"composition": {"layers": [{"name": "x", "type": types[0].type_id}]}}
    assert compose(RunRequest.model_validate(request), registry).tools()


def test_there_is_no_block_that_nothing_checks() -> None:
    checked = {"json", "mermaid", "python", "sh", "text", "toml"}

    assert {block.language for page in {b.page for b in _all()} for block in blocks_of(page)} <= (
        checked
    )


def _all() -> list[Block]:
    return [*blocks("json"), *blocks("sh"), *blocks("text"), *blocks("python"), *blocks("")]
