"""Checks the invariants on everything: what is stored, what clients were told, what was logged."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING

from crash.agent import SECRET_SCRIPT_MARK
from crash.deployment import API_KEY, APPROVER, LINK_KEY
from sayso.aws.credentials import PlainVault
from sayso.aws.directory import key_digest
from sayso.domain.ids import RunId
from sayso.domain.run import Audience
from sayso.store.stores import open_stores
from sayso.testing.clock import SequenceIds
from support.history import Findings, forms_of, look_at_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crash.callers import Callers, Told
    from crash.double.others import Bucket
    from crash.stack import Stack
    from sayso.domain.form import AskedForm
    from sayso.ports import Item
    from sayso.store.stores import Stores

SWEEP_PERIOD = timedelta(minutes=1)
INVOCATION = timedelta(minutes=15)
"""Longest time of a function."""
_FOREIGN_REQUESTS = (("GET", ""), ("GET", "/events"), ("POST", "/cancel"))
OTHER_KEY = "sk-the-key-of-another-tenant"


class _Objects:
    """The bucket, read past all faults."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def put_once(self, key: str, data: bytes) -> None:
        """Write nothing."""
        raise AssertionError(key, data)

    def get(self, key: str) -> bytes | None:
        """Return bytes."""
        return self._bucket.objects.get(key)

    def delete_prefix(self, prefix: str) -> None:
        """Delete nothing."""
        raise AssertionError(prefix)


def stores_of(stack: Stack) -> Stores:
    """Return the stores of a stack, read past all faults."""
    return open_stores(
        stack.cloud.table,
        _Objects(stack.cloud.bucket),
        SequenceIds("check"),
        PlainVault(),
        retention=timedelta(days=3),
    )


def other_tenants_key() -> Item:
    """Return the record of a key that must see nothing."""
    pk = f"KEY#{key_digest(OTHER_KEY)}"
    return {"pk": pk, "sk": "KEY", "id": "k2", "tenant": "o", "app": "o", "role": "admin"}


def run_ids(stack: Stack) -> list[RunId]:
    """Return all runs, also those whose creator does not know of them."""
    keys = stack.cloud.table.snapshot()
    return sorted(RunId(key.pk.removeprefix("RUN#")) for key in keys if key.sk == "RUN")


def check_all(stack: Stack, callers: Callers, output: str, faults: int) -> Findings:
    """Check every invariant, after everything has come to rest.

    Args:
        stack: At rest, no fault planned any more.
        callers: What they were told.
        output: What the functions logged.
        faults: How many there were; each may cost one more period of the sweep.
    """
    findings = Findings()
    stores = stores_of(stack)
    forms: dict[str, AskedForm] = {}
    for run_id in run_ids(stack):
        look_at_run(stores, run_id, findings)
        forms |= {one.form.id: one for one in forms_of(stores, run_id)}
        _check_time(stores, run_id, faults, findings)
    _check_submissions(callers.history, forms, findings)
    _check_creates(callers, stack, findings)
    _check_segments(stack, stores, forms, findings)
    _check_reads(callers, stores, findings)
    _check_secrets(callers, output, findings)
    _check_tenants(stack, faults, findings)
    _check_objects(stack, findings)
    for violation in stack.agent.broken:
        findings.violations.append(violation)
    findings.checks["I2"] += stack.agent.checks
    for line in _errors_in(output):
        findings.violations.append(f"unexpected error: {line}")
    return findings


def _check_time(stores: Stores, run_id: RunId, faults: int, findings: Findings) -> None:
    run = stores.runs.get(run_id)
    assert run is not None
    late = run.updated_at - run.deadline
    allowed = SWEEP_PERIOD * (2 + faults)
    resumed = [pause.resumed_at for pause in stores.runs.pauses(run_id) if pause.resumed_at]
    if resumed and max(resumed) >= run.deadline:
        allowed += INVOCATION  # answered in time and told late: it may work, but not for ever
    findings.expect("I7", late <= allowed, f"the run ended {late} after its deadline")


def _check_submissions(
    history: list[Told], forms: Mapping[str, AskedForm], findings: Findings
) -> None:
    sent = defaultdict(list)
    for told in history:
        if told.what == "submit":
            sent[told.target].append(told)
        if told.what == "open" and told.said:
            digest = forms[told.target].form.content_digest
            findings.expect("I5", told.said[0] == digest, "other content was shown")
    for form_id, submissions in sent.items():
        decision = forms[form_id].form.decision
        accepted = {one.said for one in submissions if one.outcome == "ok"}
        findings.expect("I1", len(accepted) <= 1, "two answers were accepted")
        stands = decision and (decision.action_id, decision.values["comment"])
        for said in accepted:
            findings.expect("I3", stands == said, f"{said} was accepted, {stands} stands")
        if stands is not None:
            findings.expect("I4", stands in {one.said for one in submissions}, "nobody sent it")
        for one in submissions:
            refused = one.outcome == "fail"
            findings.expect(
                "I13",
                not (refused and stands == one.said),
                f"refused with {one.status}, but stands",
            )


def _check_creates(callers: Callers, stack: Stack, findings: Findings) -> None:
    """Check that there are as many runs as callers know of, and those whose answer was lost."""
    creates = [told for told in callers.history if told.what == "create"]
    runs = run_ids(stack)
    accepted = {told.target for told in creates if told.outcome == "ok"}
    sure_keys = {told.said for told in creates if told.outcome == "ok"}
    lost = [told.said for told in creates if told.outcome != "ok"]
    unsure = lost.count(("",)) + len({key for key in lost if key != ("",)} - sure_keys)
    findings.expect("I3", accepted <= set(runs), "an accepted run is not stored")
    between = len(accepted) <= len(runs) <= len(accepted) + unsure
    findings.expect("I13", between, f"{len(runs)} runs, {len(accepted)} accepted, {unsure} unsure")
    for key in sure_keys - {("",)}:
        same = {told.target for told in creates if told.said == key and told.outcome == "ok"}
        findings.expect("I13", len(same) == 1, "one key made several runs")
    findings.expect("I4", not callers.changed_by_reading, "reading changed something")


def _check_segments(
    stack: Stack, stores: Stores, forms: Mapping[str, AskedForm], findings: Findings
) -> None:
    """Check that each worker of a segment was given the same, and what people decided."""
    given: dict[tuple[str, int], tuple[bytes | None, str]] = {}
    for seen in stack.agent.seen:
        what = (seen.snapshot, json.dumps(seen.answers, sort_keys=True))
        before = given.setdefault((seen.run_id, seen.segment), what)
        findings.expect("I8", before == what, "two workers of a segment were given other state")
    for (run_id, segment), (snapshot, text) in given.items():
        asked = [
            one.form
            for one in forms.values()
            if one.form.run_id == run_id and one.form.segment == segment - 1
        ]
        answers = json.loads(text) or {}
        for form in asked:
            answer = answers.get(form.tool_call_id, {"status": "missing", "values": {}})
            if form.decision is not None:
                same = answer["values"] == dict(form.decision.values)
                findings.expect("I3", same, "the model was given another answer")
            else:
                findings.expect("I1", answer["status"] != "submitted", "nobody decided that")
        if asked:
            pause = stores.runs.pause(RunId(run_id), asked[0].pause_id)
            assert pause is not None
            assert pause.snapshot is not None
            same_bytes = stores.documents.get(pause.snapshot) == snapshot
            findings.expect("I8", same_bytes, "the worker was given another snapshot")
    for identity, count in stack.agent.recorded.items():
        findings.expect("I2", count == 1, f"{identity} was recorded {count} times")


def _check_reads(callers: Callers, stores: Stores, findings: Findings) -> None:
    for run_id, lists in callers.reads.items():
        stored = stores.events.read(RunId(run_id), after=0, limit=10_000)
        ids = [f"{event.number}-0" for event in stored if event.audience is Audience.ALL]
        for events in lists:
            read = [event["id"] for event in events]
            findings.expect("I11", ids[: len(read)] == read, "a reader saw what is not stored")


def _check_secrets(callers: Callers, output: str, findings: Findings) -> None:
    secrets = [API_KEY, LINK_KEY, APPROVER, SECRET_SCRIPT_MARK, *callers.comments]
    secrets += callers.tokens()
    said = "\n".join([output, *callers.bodies])
    for secret in secrets:
        findings.expect("I10", secret not in said, f"{secret!r} was logged or told")


def _check_tenants(stack: Stack, faults: int, findings: Findings) -> None:
    headers = {"authorization": f"Bearer {OTHER_KEY}", "content-type": "application/json"}
    for run_id in run_ids(stack):
        for method, path in _FOREIGN_REQUESTS[: 1 if faults else None]:
            answer = stack.request(method, f"/runs/{run_id}{path}", headers=headers, body="{}")
            status = answer.status if answer else None
            findings.expect("I12", status == 404, f"another tenant got {status} for {path!r}")


def _check_objects(stack: Stack, findings: Findings) -> None:
    bucket = stack.cloud.bucket
    keys = [key for key, _ in bucket.puts]
    findings.expect("I8", len(keys) == len(set(keys)), "an object was written twice")


def _errors_in(output: str) -> list[str]:
    """Return log lines that say that something went wrong that no fault explains."""
    lines = (line for line in output.splitlines() if '"level":"ERROR"' in line)
    return [line for line in lines if '"event":"' in line]
