"""A stack as a version of the code left it: what is stored, what is queued, what was told.

``python -m support.kept v2`` keeps a sample of a new version, once, when a format changes.
A sample of a released version is never made anew: what stands in it is what lies in somebody's
table. Before the first release ``v1`` may be, when a format changes on purpose.
"""

from __future__ import annotations

import base64
import json
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from crash.double.wire import item_from_wire, item_to_wire
from sayso.domain.errors import ServiceUnavailableError
from sayso.domain.ids import RunId
from sayso.testing.faults import Faults
from support.functions import ASK, WEBAPP_AND_MAIL, Functions
from support.template import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

SAMPLES = ROOT / "tests" / "samples"
RUNS = ("asked", "answered", "interrupted", "ended")
"""Waits; was answered and not resumed; lost its worker after a model call; has ended."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A stack of an older version, in the functions of today."""

    functions: Functions
    runs: Mapping[str, RunId]
    events: list[dict[str, Any]]
    """Of the ended run, as its readers were told."""
    messages: list[dict[str, str]]
    """One of each kind that the version sent."""


def load(version: str) -> Kept:
    """Return the stack of a version."""
    document = json.loads((SAMPLES / version / "stack.json").read_text())
    functions = Functions()
    functions.clock.set(datetime.fromisoformat(document["at"]))
    functions.wiring.table.put_many([item_from_wire(item) for item in document["items"]])
    for key, data in document["objects"].items():
        functions.wiring.objects.objects[key] = base64.b64decode(data)
    return Kept(
        functions=functions,
        runs={name: RunId(run_id) for name, run_id in document["runs"].items()},
        events=document["events"],
        messages=document["messages"],
    )


def keep(version: str) -> None:
    """Write the sample of a version that has none yet."""
    folder = SAMPLES / version
    folder.mkdir(parents=True)
    functions = Functions()
    runs = _play(functions)
    items = functions.wiring.table.snapshot().values()
    objects = functions.wiring.objects.objects
    document = {
        "at": functions.clock.now().isoformat(),
        "runs": runs,
        "events": _events(functions, runs["ended"]),
        "messages": _messages(functions, runs["asked"]),
        "items": [item_to_wire(item) for item in items],
        "objects": {key: base64.b64encode(data).decode() for key, data in objects.items()},
    }
    text = json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True)
    (folder / "stack.json").write_text(f"{text}\n")


def _play(functions: Functions) -> dict[str, RunId]:
    ended = functions.paused_run()
    _answer(functions, ended)
    functions.settle()
    asked = functions.paused_run()
    answered = functions.paused_run()
    _answer(functions, answered)
    interrupted = functions.create(ASK, human_input=WEBAPP_AND_MAIL)
    faults = Faults()
    for _ in range(10):
        faults.fail_next(ServiceUnavailableError("down"), operation="put_once")
    functions.wiring.objects._faults = faults
    try:
        functions.deliver(functions.wiring.queue.pop_due()[-1])
    except Exception as error:  # noqa: BLE001 - the worker gives up, that is the point
        print(f"the worker gave up: {type(error).__name__}")
    functions.clock.advance(timedelta(seconds=1))
    return dict(zip(RUNS, (asked, answered, interrupted, ended), strict=True))


def _answer(functions: Functions, run_id: RunId) -> None:
    answer = functions.post_form(functions.token(run_id), action="approve", reason="late")
    assert answer.status == 303, answer.body


def _events(functions: Functions, run_id: RunId) -> list[dict[str, Any]]:
    headers = {"Sayso-Events": "managed"}
    events: list[dict[str, Any]] = functions.call(
        "GET", f"/runs/{run_id}/events", headers=headers
    ).json["events"]
    return events


def _messages(functions: Functions, run_id: RunId) -> list[dict[str, str]]:
    form_id = functions.form(run_id).form.id
    queue = functions.wiring.queue
    queue.drop()
    queue.start(run_id)
    queue.resume(run_id)
    queue.continue_(run_id)
    queue.time_out([form_id], delay=timedelta())
    queue.mail([form_id])
    return [{"queue": one.queue, "body": json.dumps(dict(one.body))} for one in queue.messages]


if __name__ == "__main__":
    keep(sys.argv[1])
