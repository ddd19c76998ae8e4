"""Calls the run API and the mailbox of a local stack, as a program of a user would."""

from __future__ import annotations

import http.client
import json
import re
import time
import urllib.parse
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeVar, cast

from sayso_local.errors import LocalStackError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sayso_local.cfn import JsonObject, JsonValue
    from sayso_local.stack import LocalStack

ENDED = {"succeeded", "failed", "cancelled", "expired"}
POLL_SECONDS = 0.1
PATIENCE_SECONDS = 60.0
Found = TypeVar("Found")


class Api:
    """One stack's API with its first key."""

    def __init__(self, stack: LocalStack) -> None:
        self._stack = stack

    def create_run(self, request: dict[str, object]) -> str:
        """Start a run; return its id.

        Raises:
            LocalStackError: It was not accepted.
        """
        answer = self._call("POST", "/runs", request, expect=HTTPStatus.ACCEPTED)
        assert isinstance(answer, dict)
        return str(answer["run_id"])

    def status(self, run_id: str) -> str:
        """Return a run's status."""
        answer = self._call("GET", f"/runs/{run_id}")
        assert isinstance(answer, dict)
        return str(answer["status"])

    def events(self, run_id: str) -> list[JsonObject]:
        """Return a run's events so far; pages are read until one is empty."""
        found: list[JsonObject] = []
        cursor = "0-0"
        while True:
            page = self._call("GET", f"/runs/{run_id}/events?after={cursor}")
            assert isinstance(page, dict)
            # The contract says: a list of objects.
            events = cast("list[JsonObject]", page["events"])
            if not events:
                return found
            found += events
            cursor = str(page["next_cursor"])

    def mails(self) -> list[JsonObject]:
        """Return all mails, oldest first."""
        # The mailbox lists objects.
        return cast("list[JsonObject]", self._call("GET", "/_mail/messages"))

    def _call(
        self,
        method: str,
        path: str,
        body: dict[str, object] | None = None,
        *,
        expect: HTTPStatus = HTTPStatus.OK,
    ) -> JsonValue:
        """Make one request and decode its answer."""
        address = urllib.parse.urlsplit(self._stack.url)
        connection = http.client.HTTPConnection(address.netloc, timeout=40)
        headers = {"Authorization": f"Bearer {self._stack.api_key}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            connection.request(method, path, json.dumps(body) if body else None, headers)
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        if response.status != expect:
            said = f"{method} {path} answered {response.status}: {text[:300]}"
            raise LocalStackError(f"{said}; see {self._stack.log}")
        answer: JsonValue = json.loads(text)
        return answer


def wait_for(what: str, look: Callable[[], Found | None]) -> Found:
    """Look again and again until there is something.

    Raises:
        LocalStackError: Nothing came in a minute.
    """
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < give_up_at:
        if (found := look()) is not None:
            return found
        time.sleep(POLL_SECONDS)
    raise LocalStackError(f"waited {PATIENCE_SECONDS:.0f} s in vain for {what}")


def form_link(mail: JsonObject) -> str | None:
    """Return the form's link in a mail's text."""
    found = re.search(r"https?://\S+/form/[^\s>)\]]+", str(mail["text"]))
    return found[0] if found else None


def final_output(events: list[JsonObject]) -> str:
    """Return what a run ended with.

    Raises:
        LocalStackError: It did not succeed.
    """
    last = events[-1]
    if last.get("type") != "run_succeeded":
        raise LocalStackError(f"the run ended with {json.dumps(last)[:300]}")
    data = last["data"]
    assert isinstance(data, dict)
    return json.dumps(data["output"], ensure_ascii=False)
