"""Programs and people around a stack: what they do, and what they were told (ok, fail, unknown)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import timedelta
from email import message_from_bytes, policy
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

from crash.deployment import API_KEY, APPROVER, LINK_KEY
from sayso.domain.errors import UnknownLinkError
from sayso.domain.ids import FormId, RunId
from sayso.domain.links import LinkSigner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from crash.double.others import Mail
    from crash.stack import Stack
    from sayso.ports import Item, Key
    from support.functions import Answer

Outcome = Literal["ok", "fail", "unknown"]

SOON = timedelta(seconds=20)
"""How long somebody waits before he tries again."""
TRIES = 6
_FORM_HEADERS = {
    "content-type": "application/x-www-form-urlencoded",
    "origin": "null",
    "sec-fetch-site": "same-origin",
}
LINKS = LinkSigner({1: LINK_KEY.encode()}, current=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One request and what its sender knows of it."""

    what: Literal["create", "open", "submit", "cancel", "read"]
    target: str
    """Id of the form or run."""
    said: tuple[str, ...] = ()
    """Of a submission: action and comment; of an opened form: the digest that was shown; of a
    create: its idempotency key."""
    outcome: Outcome
    status: int | None


@dataclass
class Callers:
    """All who use one stack."""

    stack: Stack
    history: list[Told] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    """Error bodies, to look for secrets in."""
    comments: list[str] = field(default_factory=list)
    changed_by_reading: list[str] = field(default_factory=list)
    """GETs after which something else than a limiter was different."""
    reads: dict[str, list[list[Any]]] = field(default_factory=dict)
    """Run → the event lists that readers saw."""
    _tokens: dict[str, dict[str, None]] = field(default_factory=dict)
    _read_mails: int = 0

    # --- requests ---

    def create(self, request: Mapping[str, Any], key: str = "") -> RunId | None:
        """Create a run; None when the caller does not know of one."""
        body = json.dumps(request)
        headers = _keyed() | ({"idempotency-key": key} if key else {})
        answer = self.stack.request("POST", "/runs", headers=headers, body=body)
        outcome = self._outcome(answer)
        run_id = answer.json["run_id"] if answer and outcome == "ok" else ""
        self._note("create", run_id, outcome, answer, (key,))
        return RunId(run_id) if run_id else None

    def open(self, token: str) -> str | None:
        """Open a form and return the digest that came with it, None when there is no form."""
        before = self._stored()
        answer = self.stack.request("GET", f"/form/{token}")
        if self._stored() != before:
            self.changed_by_reading.append(form_of(token))
        outcome = self._outcome(answer)
        found = re.search(r'name="form_nonce" value="([^"]+)"', answer.body) if answer else None
        said = (found[1],) if found else ()
        self._note("open", form_of(token), outcome, answer, said)
        return found[1] if found else None

    def submit(self, token: str, digest: str, action: str, comment: str) -> Outcome:
        """Send an answer as a browser does."""
        self.comments.append(comment)
        fields = {"form_nonce": digest, "action": action, "comment": comment}
        answer = self.stack.request(
            "POST", f"/form/{token}", headers=_FORM_HEADERS, body=urlencode(fields)
        )
        outcome = self._outcome(answer)
        self._note("submit", form_of(token), outcome, answer, (action, comment))
        return outcome

    def cancel(self, run_id: RunId) -> Outcome:
        """Cancel a run."""
        headers = {**_keyed(), "content-type": "application/json"}
        answer = self.stack.request("POST", f"/runs/{run_id}/cancel", headers=headers, body="{}")
        outcome = self._outcome(answer)
        self._note("cancel", run_id, outcome, answer)
        return outcome

    def read(self, run_id: RunId) -> Outcome:
        """Read all events of a run."""
        before = self._stored()
        answer = self.stack.request("GET", f"/runs/{run_id}/events", headers=_keyed())
        if self._stored() != before:
            self.changed_by_reading.append(run_id)
        outcome = self._outcome(answer)
        if answer and outcome == "ok":
            self.reads.setdefault(run_id, []).append(answer.json["events"])
        self._note("read", run_id, outcome, answer)
        return outcome

    def _outcome(self, answer: Answer | None) -> Outcome:
        if answer is None or answer.status >= 500:
            return "unknown"
        return "ok" if answer.status < 400 else "fail"

    def _note(
        self,
        what: Literal["create", "open", "submit", "cancel", "read"],
        target: str,
        outcome: Outcome,
        answer: Answer | None,
        said: tuple[str, ...] = (),
    ) -> None:
        status = answer.status if answer else None
        if answer and outcome != "ok" and what != "submit":
            self.bodies.append(answer.body)
        told = Told(what=what, target=target, said=said, outcome=outcome, status=status)
        self.history.append(told)

    def _stored(self) -> dict[Key, Item]:
        """Return everything but the counters of the limiter."""
        if len(self.stack.frames) or self.stack.gate is None or self._others_act():
            return {}
        items = self.stack.cloud.table.snapshot()
        return {key: item for key, item in items.items() if not key.pk.startswith("RATE#")}

    def _others_act(self) -> bool:
        """Whether the plan lets others act inside of requests, so that changes prove nothing."""
        plan = getattr(self.stack.gate, "plan", {})
        return bool({"twin", "rival", "slow", "zombie"} & set(plan.values()))

    # --- actors ---

    def creator(
        self,
        request: Mapping[str, Any],
        then: Callable[[RunId], None] = lambda _: None,
        key: str = "",
    ) -> Iterator[timedelta]:
        """Create a run, again when the answer did not come; with a key, it is one run."""
        for _ in range(TRIES):
            run_id = self.create(request, key)
            if run_id is not None:
                then(run_id)
                return
            yield SOON

    def person(
        self,
        *,
        address: str = APPROVER,
        action: str = "approve",
        after: timedelta = timedelta(seconds=90),
        clicks: int = 1,
    ) -> Iterator[timedelta]:
        """Answer each question once its mail is there."""
        answered: set[str] = set()
        while True:
            for token in self.tokens(address):
                if form_of(token) not in answered:
                    answered.add(form_of(token))
                    yield after
                    yield from self._answer(token, action, clicks)
            yield timedelta(seconds=30)

    def _answer(self, token: str, action: str, clicks: int) -> Iterator[timedelta]:
        comment = f"comment-{len(self.comments)}-that-no-log-may-hold"
        for _ in range(TRIES):
            digest = self.open(token)
            if digest is not None:
                outcomes = [self.submit(token, digest, action, comment) for _ in range(clicks)]
                if "unknown" not in outcomes:
                    return
            elif self.history[-1].outcome == "fail":
                return
            yield SOON

    def canceller(self, run_id: RunId, after: timedelta) -> Iterator[timedelta]:
        """Cancel a run after a while, again when the answer did not come."""
        yield after
        for _ in range(TRIES):
            if self.cancel(run_id) != "unknown":
                return
            yield SOON

    def reader(self, run_id: RunId, every: timedelta) -> Iterator[timedelta]:
        """Look at a run again and again."""
        while True:
            yield every
            self.read(run_id)

    def tokens(self, address: str = APPROVER) -> list[str]:
        """Return the tokens of all mails to an address, oldest first, each once."""
        for mail in self.stack.cloud.mailbox.sent[self._read_mails :]:
            self._tokens.setdefault(mail.to, {})[token_in(mail)] = None
        self._read_mails = len(self.stack.cloud.mailbox.sent)
        return list(self._tokens.get(address, {}))

    def count(self, what: str, outcome: Outcome) -> int:
        """Return how many requests of a kind ended so."""
        return sum(one.what == what and one.outcome == outcome for one in self.history)


def token_in(mail: Mail) -> str:
    """Return the token of a mail's link."""
    body = message_from_bytes(mail.raw, policy=policy.default).get_body(("plain",))
    assert body is not None
    found = re.search(r"/form/([\w-]+)", body.get_content())
    assert found is not None
    return found[1]


def form_of(token: str) -> FormId:
    """Return the form that a token opens, or an empty text."""
    try:
        return LINKS.verify(token).form_id
    except UnknownLinkError:
        return FormId("")


def _keyed() -> dict[str, str]:
    return {"authorization": f"Bearer {API_KEY}", "content-type": "application/json"}
