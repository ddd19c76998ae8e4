"""Random requests to every route: no server error, no answer that ``openapi.json`` leaves out.

``SCHEMATHESIS_CASES`` says how many in all; a few hundred by default.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from support.conversations import UNKNOWN, asked_run, failed_run, finished_run
from support.functions import ADMIN, OPENAPI, SAY, Functions
from support.template import ROOT
from support.wsgi import FunctionsApp

if TYPE_CHECKING:
    from schemathesis import Case

DOCUMENT: dict[str, Any] = json.loads((ROOT / "openapi.json").read_text(encoding="utf-8"))
OPERATIONS = [
    (method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods
]
CASES = int(os.environ.get("SCHEMATHESIS_CASES", "300"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


class Places:
    """Functions with runs and forms in many states, and the ids that reach them."""

    def __init__(self) -> None:
        self.functions = Functions()
        paused = self.functions.paused_run()
        answered = self.functions.paused_run()
        link = self.functions.token(answered)
        self.functions.post_form(link, action="approve", reason="late")
        new = self.functions.create(SAY)
        self.functions.wiring.queue.drop()
        ended = [ended(self.functions) for ended in (finished_run, asked_run, failed_run)]
        tokens = [self.functions.token(paused, 1), self.functions.token(paused, 2), link]
        forms = [self.functions.form(run).form.id for run in (paused, answered)]
        self.names: dict[str, list[str]] = {
            "run_id": [paused, answered, new, *ended, UNKNOWN],
            "token": tokens,
            "form_token": [*tokens, *(f"{token}:submit" for token in tokens)],
            "form_id": [*forms, UNKNOWN],
            "member_id": ["m-1", UNKNOWN],
            "app_id": ["refunds"],
            "number": ["1", "2", "9"],
        }


@pytest.mark.slow
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_no_request_brings_an_answer_that_is_not_documented(method: str, path: str) -> None:
    places = Places()
    app = FunctionsApp(places.functions)
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    schema.app = app
    operation = schema[path][method]
    modes = st.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE])

    @settings(
        max_examples=max(1, CASES // len(OPERATIONS)),
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def send(data: st.DataObject) -> None:
        case: Case[Any] = data.draw(operation.as_strategy(generation_mode=data.draw(modes)))
        for name in case.path_parameters or {}:
            if data.draw(st.integers(0, 9)):  # else what schemathesis thought of
                case.path_parameters[name] = data.draw(st.sampled_from(places.names[name]))
        headers = dict(case.headers or {})
        key = data.draw(st.sampled_from([ADMIN, ADMIN, ADMIN, OPENAPI, "unknown", None]))
        headers.pop("Authorization", None)
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        case.headers = headers  # type: ignore[assignment]  # it takes any mapping
        response = case.call()
        case.validate_response(response, checks=CHECKS)

    send()

    assert app.requests > 0
