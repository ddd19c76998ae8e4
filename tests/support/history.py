"""Checks the invariants of DESIGN §6 on what is stored of a run that has come to rest.

What clients saw, and what stands in logs, is checked where there are clients and logs:
``tests/crash/checks.py``.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sayso.domain.run import AuditEntry, Face
from sayso.domain.transitions import FormStatus, RunStatus
from sayso.store.codec import audit_digest, from_ms
from sayso.store.form_codec import definition_digest
from sayso.store.keys import AUDIT, credential_key, form_pk, run_pk

if TYPE_CHECKING:
    from sayso.domain.form import AskedForm, Form
    from sayso.domain.ids import RunId
    from sayso.domain.run import Pause, Run
    from sayso.store.stores import Stores

TERMINAL_EVENTS = {
    RunStatus.SUCCEEDED: "run_succeeded",
    RunStatus.FAILED: "run_failed",
    RunStatus.CANCELLED: "run_cancelled",
    RunStatus.EXPIRED: "run_failed",
}
_UNRESUMED = {RunStatus.CANCELLED, RunStatus.EXPIRED}


@dataclass
class Findings:
    """What was checked and what was found, by invariant."""

    checks: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    def expect(self, invariant: str, condition: object, text: object) -> None:
        """Count a check; note a violation when the condition does not hold."""
        self.checks[invariant] += 1
        if not condition:
            self.violations.append(f"{invariant}: {text}")


def check_run(stores: Stores, run_id: RunId) -> None:
    """Fail when an invariant is broken. The run must have come to rest."""
    findings = Findings()
    look_at_run(stores, run_id, findings)
    assert not findings.violations, findings.violations


def look_at_run(stores: Stores, run_id: RunId, findings: Findings) -> None:
    """Check all that is stored of a run."""
    run = stores.runs.get(run_id)
    assert run is not None
    findings.expect("I7", run.status.is_final, f"the run did not end, it is {run.status}")
    _look_at_events(stores, run, findings)
    _look_at_operations(stores, run, findings)
    pauses = stores.runs.pauses(run_id)
    _look_at_pauses(pauses, run, findings)
    for pause in pauses:
        forms = stores.forms.asked(list(pause.forms.values())) if pause.forms else []
        findings.expect("I5", len(forms) == len(pause.forms), "a form of a pause is missing")
        for asked in forms:
            _look_at_form(stores, asked, run, findings)
        if pause.id == run.pause_id:
            _look_at_answers(stores, [one.form for one in forms], run, findings)
        if pause.snapshot is not None and run.status.is_final:
            stores.documents.get(pause.snapshot)  # refuses bytes that are not those of the digest
            findings.expect("I8", True, "the snapshot is what was stored")
    _look_at_audit(stores, run_pk(run_id), run.audits, findings)
    credential = stores.table.get(credential_key(run_id))
    findings.expect("I10", credential is None, "the credentials outlived the run")


def forms_of(stores: Stores, run_id: RunId) -> list[AskedForm]:
    """Return all forms that a run ever asked, in order."""
    pauses = stores.runs.pauses(run_id)
    return [
        form
        for pause in pauses
        if pause.forms
        for form in stores.forms.asked(list(pause.forms.values()))
    ]


def _look_at_events(stores: Stores, run: Run, findings: Findings) -> None:
    events = stores.events.read(run.id, after=0, limit=10_000)
    numbers = [event.number for event in events]
    in_order = numbers == list(range(1, len(events) + 1))
    findings.expect("I11", in_order, f"events are numbered {numbers}")
    findings.expect("I11", run.last_event == len(events), "the run counts other events")
    terminal = [e.number for e in events if e.type in set(TERMINAL_EVENTS.values())]
    findings.expect("I11", terminal == [len(events)], f"terminal events at {terminal}")
    agree = run.status.is_final and events[-1].type == TERMINAL_EVENTS[run.status]
    findings.expect("I11", agree, f"{run.status} ended with {events[-1].type}")
    shown = [json.dumps(e.data) for e in events if e.type == "pydantic_ai_event"]
    findings.expect("I11", len(shown) == len(set(shown)), f"an event is doubled: {shown}")


def _look_at_operations(stores: Stores, run: Run, findings: Findings) -> None:
    for item in stores.table.query(run_pk(run.id), prefix="JOURNAL#"):
        findings.expect("I2", item["starts"] <= 3, f"started {item['starts']} times")
        finished = {"outcome", "outcome_key"} & item.keys()
        if run.status is RunStatus.SUCCEEDED:
            findings.expect("I2", finished, f"{item['sk']} has no result")


def _look_at_pauses(pauses: list[Pause], run: Run, findings: Findings) -> None:
    resumed = [pause for pause in pauses if pause.resumed_at is not None]
    findings.expect(
        "I2",
        run.segment == 1 + len(resumed),
        f"segment {run.segment} after {len(resumed)} resumed pauses",
    )
    for pause in pauses:
        if pause.resumed_at is None:
            ended = run.status in _UNRESUMED and pause.id == run.pause_id
            findings.expect("I2", ended, f"a pause was never resumed, the run is {run.status}")


def _look_at_form(stores: Stores, asked: AskedForm, run: Run, findings: Findings) -> None:
    form, content = asked.form, asked.content
    findings.expect("I6", form.status.is_final, f"form {form.id} waits in an ended run")
    digest = definition_digest(content.definition)
    same = digest == content.digest == form.content_digest
    findings.expect("I5", same, "the content is not what its digest says")
    decided = (form.status is FormStatus.SUBMITTED) == (form.decision is not None)
    findings.expect("I1", decided, f"form {form.status} with decision {form.decision is not None}")
    if form.ended_at is not None:
        findings.expect("I6", form.ended_at <= run.updated_at, "a form ended after its run")
    if form.decision is not None:
        in_time = form.decision.decided_at < form.deadline
        findings.expect("I6", in_time, "a decision after the deadline counts")
    _look_at_decision(stores, form, findings)
    _look_at_audit(stores, form_pk(form.id), form.audits, findings, form.audit_digest)


def _look_at_decision(stores: Stores, form: Form, findings: Findings) -> None:
    entries = stores.table.query(form_pk(form.id), prefix=AUDIT)
    said = [entry for entry in entries if entry["what"] == "submitted"]
    expected = int(form.decision is not None)
    findings.expect("I9", len(said) == expected, f"{len(said)} entries of {expected} decisions")
    for entry in said:
        facts = json.loads(entry["facts"])
        findings.expect("I5", facts["shown"] == form.content_digest, "decided on other content")
        at = form.decision.decided_at if form.decision else None
        findings.expect("I9", from_ms(entry["at"]) == at, "audit and decision differ in time")


def _look_at_audit(
    stores: Stores, pk: str, count: int, findings: Findings, last_digest: str | None = None
) -> None:
    """Check that no entry is missing and that each names the one before."""
    items = stores.table.query(pk, prefix=AUDIT)
    entries = [
        AuditEntry(
            number=int(item["sk"].removeprefix(AUDIT)),
            at=from_ms(item["at"]),
            what=item["what"],
            facts=json.loads(item["facts"]),
            previous_digest=item["previous"],
        )
        for item in items
    ]
    numbers = [entry.number for entry in entries]
    findings.expect("I9", numbers == list(range(1, count + 1)), f"audit entries {numbers}")
    if last_digest is None:
        return
    before = ""
    for entry in entries:
        findings.expect("I9", entry.previous_digest == before, "the chain of the audit is broken")
        before = audit_digest(entry)
    findings.expect("I9", before == last_digest, "the audit was changed")


def _look_at_answers(stores: Stores, forms: list[Form], run: Run, findings: Findings) -> None:
    """Check that the last answers stand in the output of an agent that gives them back."""
    if run.status is not RunStatus.SUCCEEDED or run.face is not Face.MANAGED or not forms:
        return
    last = stores.events.read(run.id, after=run.last_event - 1, limit=1)[0]
    output = json.loads(last.data["output"])
    for form in forms:
        answer = output[form.tool_call_id]
        if form.decision is None:
            findings.expect("I1", answer["status"] != "submitted", "nobody decided that")
        else:
            kept = answer["values"] == dict(form.decision.values)
            findings.expect("I3", kept, "the answer did not reach the model")
