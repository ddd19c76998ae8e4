"""The guards that keep the promises of DESIGN §6, and how each is disabled."""

from __future__ import annotations

from dataclasses import dataclass

_STORE = "layers/core/sayso/store"
_USECASES = "layers/core/sayso/usecases"
_DOMAIN = "layers/core/sayso/domain"
_AGENT = "layers/agent/sayso_agent"


@dataclass(frozen=True, slots=True)
class Guard:
    """One guard: the text that makes it stands exactly once in a file."""

    name: str
    path: str
    text: str
    disabled: str
    """What stands in its place when it is disabled."""


GUARDS = (
    Guard(
        "the submit's condition on the status",
        f"{_STORE}/forms.py",
        "when=(waiting, *when))",
        "when=when)",
    ),
    Guard(
        "all conditions of the submit",
        f"{_STORE}/form_history.py",
        "when=(*when, same))\n    item = audit_item(audit_key(form_pk(form.id), audit.number), audit, entry.ttl)\n"
        '    return [update, Put(item=item, when=(Missing("pk"),))]',
        "when=())\n    item = audit_item(audit_key(form_pk(form.id), audit.number), audit, entry.ttl)\n"
        "    return [update, Put(item=item)]",
    ),
    Guard(
        "the content digest",
        f"{_STORE}/forms.py",
        '            Equals("content_digest", shown_digest),\n',
        "",
    ),
    Guard(
        "the deadline in the submit's condition",
        f"{_STORE}/forms.py",
        '            Above("deadline", to_ms(now)),\n            Equals("content',
        '            Equals("content',
    ),
    Guard(
        "the deadline in the timeout's condition",
        f"{_STORE}/forms.py",
        'when = (AtMost("deadline", to_ms(now)),)',
        "when = ()",
    ),
    Guard(
        "the history's length in the condition",
        f"{_STORE}/form_history.py",
        "when=(*when, same))",
        "when=when)",
    ),
    Guard(
        "an entry of the history is never overwritten",
        f"{_STORE}/form_history.py",
        'Put(item=item, when=(Missing("pk"),))]',
        "Put(item=item)]",
    ),
    Guard(
        "the lease's epoch",
        f"{_STORE}/leases.py",
        '(Equals("status", RunStatus.RUNNING), Equals("epoch", run.epoch))',
        '(Equals("status", RunStatus.RUNNING),)',
    ),
    Guard(
        "the lease must have run out before a takeover",
        f"{_STORE}/runs.py",
        '(Equals("epoch", held["epoch"]), AtMost("lease_until", to_ms(now)))',
        '(Equals("epoch", held["epoch"]),)',
    ),
    Guard(
        "the attempt id",
        f"{_STORE}/commit.py",
        "item.get(ATTEMPT) == attempt",
        "False",
    ),
    Guard(
        "the `started` record of a tool call",
        f"{_AGENT}/journal.py",
        "                await self._write(lambda: self._journal.mark_started(operation))",
        "                pass",
    ),
    Guard(
        "a recorded result is replayed",
        f"{_AGENT}/journal.py",
        "if record is not None and record.is_finished:\n            return",
        "if False:\n            return",
    ),
    Guard(
        "a tool is not started for ever",
        f"{_AGENT}/journal.py",
        "if request.max_starts and starts >= request.max_starts:",
        "if False:",
    ),
    Guard(
        "`resumed_at`",
        f"{_STORE}/pauses.py",
        'when=(Missing("resumed_at"),)',
        "when=()",
    ),
    Guard(
        "the state in the resume's condition",
        f"{_STORE}/pauses.py",
        '                Equals("status", RunStatus.PAUSED),\n                Equals("pause_id", pause.id),\n'
        '                Equals("epoch", run.epoch),\n',
        "",
    ),
    Guard(
        "the snapshot's digest",
        f"{_STORE}/objects.py",
        "if digest_of(plain) != ref.digest:",
        "if False:",
    ),
    Guard(
        "an unknown snapshot version is refused",
        f"{_AGENT}/snapshots.py",
        'while (version := document.get("schema_version")) != SCHEMA_VERSION:',
        'while False and (version := document.get("schema_version")):',
    ),
    Guard(
        "the sweep's resume repair",
        f"{_USECASES}/sweep_form.py",
        "        ask_to_resume(form, context)",
        "        pass",
    ),
    Guard(
        "the sweep takes over dead workers",
        f"{_USECASES}/sweep_run.py",
        "        tell(context, lambda: message(run.id), run_id=run.id)",
        "        pass",
    ),
    Guard(
        "the sweep tells what is untold of a waiting form",
        f"{_USECASES}/sweep_form.py",
        "    tell_people([whole], telling)",
        "    pass",
    ),
    Guard(
        "a new run is due until somebody works on it",
        f"{_USECASES}/create_run.py",
        "due_at=now + UNTOLD_AFTER,",
        "due_at=None,",
    ),
    Guard(
        "the re-check after a pause",
        f"{_USECASES}/tell_people.py",
        "if all(form.status is not FormStatus.WAITING for form in stand):",
        "if False:",
    ),
    Guard(
        "the terminal event in the transaction of the status",
        f"{_STORE}/runs.py",
        "        writes += self._events.puts(run, events, now, self.ttl(run))\n        writes += self.audits",
        "        self.commit([*writes, *self.audits(run, audit), *closing], run)\n"
        "        self.commit(self._events.puts(run, events, now, self.ttl(run)), run)\n"
        "        return ended\n        writes += self.audits",
    ),
    Guard(
        "the last event in the journal's condition",
        f"{_STORE}/journal.py",
        'when=(*still_held(run), Equals("last_event", run.last_event)),',
        "when=still_held(run),",
    ),
    Guard(
        "no pause after a cancel",
        f"{_STORE}/pauses.py",
        "when = (*still_held(run), NO_CANCEL)",
        "when = still_held(run)",
    ),
    Guard(
        "no tool starts after a cancel",
        f"{_STORE}/journal.py",
        "when=(*still_held(run), NO_CANCEL))",
        "when=still_held(run))",
    ),
    Guard(
        "forms end with their run",
        f"{_USECASES}/ending.py",
        "    return writes\n",
        "    return []\n",
    ),
    Guard(
        "credentials go with the run",
        f"{_STORE}/runs.py",
        "[self.update(ended, when), Delete(key=credential_key(run.id))]",
        "[self.update(ended, when)]",
    ),
    Guard(
        "a decided run is resumed at its deadline, not expired",
        f"{_USECASES}/sweep_run.py",
        "elif run.deadline <= now and not _must_resume(run, context):",
        "elif run.deadline <= now:",
    ),
    Guard(
        "a run that is worked on ends at its deadline",
        f"{_USECASES}/worker.py",
        "if self._deadline is not None and self._deadline <= self._context.clock.now():",
        "if False:",
    ),
    Guard(
        "one attempt to send a mail at a time",
        f"{_STORE}/recipients.py",
        "                free,\n",
        "",
    ),
    Guard(
        "the token's MAC",
        f"{_DOMAIN}/links.py",
        "if not hmac.compare_digest(mac, self._mac(key_id, purpose, head)):",
        "if False:",
    ),
    Guard(
        "the link's revision",
        f"{_USECASES}/open_form.py",
        "        or recipient.revision != link.revision\n",
        "",
    ),
    Guard(
        "the tenant of a run",
        f"{_USECASES}/read_run.py",
        "run is None or run.tenant != tenant or over",
        "run is None or over",
    ),
    Guard(
        "objects are written once",
        "layers/core/sayso/aws/objects.py",
        ', IfNoneMatch="*")',
        ")",
    ),
    Guard(
        "reads of a partition are strongly consistent",
        "layers/core/sayso/aws/table.py",
        '"ConsistentRead": True,\n            "ScanIndexForward"',
        '"ConsistentRead": False,\n            "ScanIndexForward"',
    ),
    Guard(
        "the idempotency key of a create request",
        f"{_STORE}/claims.py",
        "return Put(item=item, when=(free,))",
        "return Put(item=item)",
    ),
)
